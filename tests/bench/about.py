"""On what machine, with which versions and when a run was made: no figure means anything without."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from tests.bench.engines import Peers
from tests.support.service import ROOT


def machine(peers: Peers) -> dict[str, str]:
    """In the order in which the page tells it."""
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "Strongroom": _ours(),
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "memory": f"{_total_kb() / 1024**2:.0f} GiB",
        "kernel": f"{platform.system()} {platform.release()}",
        "load when it began": " ".join(f"{load:.2f}" for load in os.getloadavg()),
        "Python": platform.python_version(),
        **{name: _version(name) for name in ("mcp", "uvicorn", "stringzilla")},
        "ripgrep": _first_line("rg", "--version"),
        **peers.versions(),
    }


def _ours() -> str:
    commit = _first_line("git", "-C", str(ROOT), "describe", "--always", "--dirty")
    return f"{_version('strongroom')}, commit {commit}".replace("not installed, ", "")


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _first_line(*command: str) -> str:
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        return "not installed"
    return said.partition("\n")[0].removeprefix("ripgrep ") or "unknown"


def _processor() -> str:
    found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    return found[1] if found else platform.machine()


def _total_kb() -> int:
    found = re.search(r"MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text(encoding="utf-8"))
    return int(found[1]) if found else 0
