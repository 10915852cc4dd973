"""A file that was taken out of its place: is it what we expected there, and is nobody still writing into it?

Many programs keep a file open while they write. Only a lease can tell: it is refused while anybody has the file open
for writing, and whoever opens it later waits until we let go. Where there are no leases (a network file system, a file
that belongs to somebody else), the bytes alone are compared; doctor says that protection is weaker then.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from enum import Enum, auto
from typing import Final

from service.errors import Busy
from service.guards.paths import VaultPath
from service.store.reading import READ_FLAGS, read_descriptor
from service.store.syscalls import NO_LEASES, Folder, Kernel

MAX_WAIT_S: Final = 2.0
"""How long a program may keep the old file open for writing before we put it back."""

_PAUSE_S: Final = 0.001


class Verdict(Enum):
    """What was found, and whether the name is gone now."""

    DROPPED = auto()  # as expected, and removed
    LEFT = auto()  # as expected, but it could not be removed
    OTHER = auto()  # something else: keep it
    HELD_OPEN = auto()  # as expected so far, but somebody has it open for writing
    UNREADABLE = auto()  # nobody can say: keep it


def drop_if_same(
    folder: Folder, name: str, expected: bytes, *, inode: int | None = None, wait_s: float = MAX_WAIT_S
) -> Verdict:
    """Remove `name` when it holds `expected` and nobody can be writing into it.

    Args:
        inode: when given, it must also be this very file.
    """
    deadline = time.monotonic() + wait_s
    while True:
        try:
            verdict = _try(folder, name, expected, inode)
        except OSError as error:
            return Verdict.OTHER if error.errno in (errno.ELOOP, errno.ENXIO) else Verdict.UNREADABLE
        if verdict is not Verdict.HELD_OPEN or time.monotonic() >= deadline:
            return verdict
        time.sleep(_PAUSE_S)


def wait_until_closed(folder: Folder, path: VaultPath, wait_s: float = MAX_WAIT_S) -> None:
    """Wait while somebody has the file open for writing, so that nobody is disturbed in the middle of saving.

    Raises:
        Busy: it stayed open for longer than `wait_s`.
    """
    deadline = time.monotonic() + wait_s
    while _is_held_open(folder, path.name):
        if time.monotonic() >= deadline:
            raise Busy(repr(str(path)), wait_s)
        time.sleep(_PAUSE_S)


def _is_held_open(folder: Folder, name: str) -> bool:
    try:
        descriptor = os.open(name, READ_FLAGS, dir_fd=folder.fd)
    except OSError:
        return False  # the look that follows has the words for it
    try:
        return _lease(folder.kernel, descriptor) is False
    finally:
        os.close(descriptor)


def _try(folder: Folder, name: str, expected: bytes, inode: int | None) -> Verdict:
    descriptor = os.open(name, READ_FLAGS, dir_fd=folder.fd)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or inode not in (None, found.st_ino):
            return Verdict.OTHER
        leased = _lease(folder.kernel, descriptor)
        if read_descriptor(descriptor, len(expected) + 1) != expected:
            return Verdict.OTHER
        if leased is False or (leased and not folder.kernel.has_lease(descriptor)):
            return Verdict.HELD_OPEN
        try:
            folder.kernel.unlink(folder.fd, name)
        except OSError:
            return Verdict.LEFT
        return Verdict.DROPPED
    finally:
        os.close(descriptor)  # gives the lease back


def _lease(kernel: Kernel, descriptor: int) -> bool | None:
    """True with a lease, False when somebody writes, None where there are no leases."""
    try:
        kernel.take_lease(descriptor)
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EINTR):
            return False
        if error.errno in NO_LEASES:
            return None
        raise
    return True
