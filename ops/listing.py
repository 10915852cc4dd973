"""What of a folder goes into a backup: everything, save locks, caches, a passphrase in clear, and the database, which is
taken otherwise."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ops.door import SOCKET_NAME
from service.auth.passphrase import INITIAL_FILE
from service.store import db, staging

DATABASE: Final = f"state/{db.FILE_NAME}"
LOCK_ENDINGS: Final = (".lock", ".lock.next")
_NOT_TAKEN: Final = frozenset(f"{DATABASE}{ending}" for ending in ("", "-wal", "-shm", "-journal")) | {
    "state/history.seen",
    f"state/{SOCKET_NAME}",
    f"state/{INITIAL_FILE}",  # a passphrase in clear has no business in a file that is copied about
}
_WORTHLESS: Final = (f"{staging.PREFIX}part-", f"{staging.PREFIX}probe-")


@dataclass(frozen=True, slots=True)
class Item:
    """Something in a folder, as it was when listed; `base` is its name relative to `dir_fd`."""

    name: str
    base: str
    dir_fd: int
    status: os.stat_result

    @property
    def stamp(self) -> tuple[int, ...]:
        return stamp_of(self.status)


def stamp_of(status: os.stat_result) -> tuple[int, ...]:
    """What says that a file is still the one that was read: inode, size, both times, mode."""
    return (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_mode)


def mode_of(status: os.stat_result) -> int:
    """The permission bits."""
    return stat.S_IMODE(status.st_mode) & 0o777


def walk(name: str, root: Path | str, unreadable: set[str], dir_fd: int | None = None) -> Iterator[Item]:
    """`root` and everything below, in the order of names, folders before what is in them; no link is followed."""
    try:
        folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=dir_fd)
    except FileNotFoundError:
        return
    except OSError:
        unreadable.add(name)
        return
    try:
        yield Item(name, ".", folder, os.fstat(folder))
        for base in sorted(os.listdir(folder)):
            inside = f"{name}/{base}"
            try:
                status = os.stat(base, dir_fd=folder, follow_symlinks=False)
            except FileNotFoundError:
                continue
            if _is_skipped(inside, base, status):
                continue
            if stat.S_ISDIR(status.st_mode):
                yield from walk(inside, base, unreadable, folder)
            else:
                yield Item(inside, base, folder, status)
    finally:
        os.close(folder)


def _is_skipped(name: str, base: str, status: os.stat_result) -> bool:
    """Locks, the owner's door, the database (taken otherwise), what can be made again, and our own files that hold nothing of their own.

    A version that waits for its exchange is taken along: after a kill it may be the only copy of somebody's words, and the
    sweep at start settles it on the new machine as it would have on the old one.
    """
    if base.startswith(_WORTHLESS):
        return True
    if base.startswith(f"{staging.PREFIX}guard-"):
        return status.st_nlink > 1
    return name.startswith("state/") and (base.endswith(LOCK_ENDINGS) or name in _NOT_TAKEN)
