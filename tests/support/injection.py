"""Faults at single system calls, by strace: which calls of a program change something, and what one of them answers.

The calls are found by recording a run, not listed by hand. strace counts calls from the start of the process, so a program
must make the same ones each time; a fault that strikes before the operation begins is told.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

CHANGING: Final = (
    "write,pwrite64,writev,pwritev,openat,mkdir,mkdirat,rmdir,link,linkat,symlink,symlinkat,unlink,unlinkat,rename,renameat,"
    "renameat2,truncate,ftruncate,fallocate,chmod,fchmod,fchmodat,chown,fchown,fchownat,setxattr,fsetxattr,utimensat,fsync,"
    "fdatasync,sync_file_range,copy_file_range,sendfile"
)
"""System calls that change files or bring them to the disk; `openat` when it makes one."""

FAULTS: Final = ("KILL", "EIO", "ENOSPC", "EINTR")
ROOT: Final = Path(__file__).parents[2]
_CALL: Final = re.compile(r"^(\w+)\((.*)")


@dataclass(frozen=True)
class Call:
    """The n-th call of that name since the process began."""

    name: str
    nth: int
    text: str

    def __str__(self) -> str:
        return f"{self.name}#{self.nth}"


@dataclass(frozen=True)
class Ended:
    """How a program ended: exit code, what it wrote, and the calls that belong to its operation."""

    code: int
    out: str
    calls: Sequence[Call]
    was_struck: bool


@cache
def is_possible() -> bool:
    """Whether strace is here and may trace."""
    if shutil.which("strace") is None:
        return False
    trial = ["strace", "-qq", "-o", os.devnull, "-e", "trace=fsync", "true"]
    return subprocess.run(trial, capture_output=True, check=False).returncode == 0


def traced(words: Sequence[str], fault: tuple[Call, str] | None = None) -> Ended:
    """Run `python WORDS` under strace, with a fault at one call when one is given."""
    inject = []
    if fault is not None:
        call, what = fault
        told = "signal=KILL" if what == "KILL" else f"error={what}"
        inject = ["-e", f"inject={call.name}:{told}:when={call.nth}"]
    with tempfile.NamedTemporaryFile("r", encoding="utf-8", errors="replace") as log:
        done = subprocess.run(
            ["strace", "-qq", "-s", "64", "-o", log.name, "-e", f"trace={CHANGING}", *inject, sys.executable, *words],
            cwd=ROOT,
            env=_environment(),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        calls, was_struck = _read(log.read().splitlines())
    return Ended(done.returncode, done.stdout, calls, was_struck)


def _environment() -> Mapping[str, str]:
    """The same every time, so that the same calls are made."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "TMPDIR")}
    return {**kept, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}


def _read(lines: Sequence[str]) -> tuple[Sequence[Call], bool]:
    """The changing calls between the two marks, and whether the fault struck among them."""
    seen: Counter[str] = Counter()
    calls: list[Call] = []
    is_inside = was_struck = False
    for line in lines:
        found = _CALL.match(line)
        if found is None:
            was_struck = was_struck or (is_inside and "killed by SIGKILL" in line)
            continue
        name, rest = found.groups()
        seen[name] += 1
        if name == "write" and rest.startswith(('2, "BEGIN', '2, "END')):
            is_inside = "BEGIN" in rest
            continue
        if not is_inside or (name == "openat" and "O_CREAT" not in rest and "O_TMPFILE" not in rest):
            continue
        was_struck = was_struck or "(INJECTED)" in rest
        calls.append(Call(name, seen[name], line))
    return calls, was_struck
