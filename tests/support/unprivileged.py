"""Run something as a user without rights: root passes every test of permissions vacuously (decisions.md 24).

The child is a fork of this process, so that it needs no right to read Python or the checkout; whatever it imports must be
imported before. When the tests do not run as root, the user who runs them will do.
"""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

STRANGER: Final = 54321
"""A user id that no machine has."""


@dataclass(frozen=True)
class Ended:
    """How it ended: exit code, and what it wrote."""

    code: int
    out: str
    err: str


def run(work: Callable[[], int], uid: int = STRANGER) -> Ended:
    """Do `work` as `uid` in a child process; its value is the exit code, 99 when it raised."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child == 0:
            _be_the_child(work, uid, out, err)
        _, status = os.waitpid(child, 0)
        return Ended(os.waitstatus_to_exitcode(status), _read(out), _read(err))


def give(uid: int, *roots: Path) -> None:
    """Make `uid` the owner of these folders and all in them, and let it reach them."""
    if os.geteuid() != 0:
        return
    for root in roots:
        for path in (root, *root.rglob("*")):
            os.chown(path, uid, uid, follow_symlinks=False)
        for parent in root.parents:
            if parent.stat().st_uid == 0 and parent != Path("/") and parent.stat().st_mode & 0o11 != 0o11:
                parent.chmod(0o711)


def _be_the_child(work: Callable[[], int], uid: int, out: IO[bytes], err: IO[bytes]) -> None:
    code = 99
    try:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
        code = work()
    except BaseException:  # noqa: BLE001  # a child must never go on with the parent's tests
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")
