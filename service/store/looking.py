"""A look at the disk: what is visible in a folder, and what the disk says of single names."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from service.errors import AppError, NoteNotFound, PathRefused, VaultDenied
from service.guards.paths import VaultPath
from service.store.root import Root
from service.store.watching import Watching, is_seen

UNSURE_NS: Final = 2_000_000_000
"""Nanoseconds for which a file that has just changed may change again without another time stamp, on the coarsest disks."""

NO_MARK: Final = 0
"""The mark of a file that may have changed since, whatever its times say."""

_ANSWERS: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EACCES, errno.EPERM, errno.ENAMETOOLONG})
"""What the disk says when something is not there for us, and will not be before an event tells so."""

_FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def mark(seen: os.stat_result) -> int:
    """Equal for two looks at a file only if it has not changed in between; NO_MARK when times cannot tell."""
    if max(seen.st_mtime_ns, seen.st_ctime_ns) > time.time_ns() - UNSURE_NS:
        return NO_MARK
    return hash((seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)) or 1


class Looking:
    """Looks below one root. Not thread-safe.

    `has_missed` once something was passed over for a reason that goes by itself (too many open files, a faulty disk): nobody
    will tell that it went, so all has to be looked at again.
    """

    def __init__(self, root: Root) -> None:
        self._root = root
        self.has_missed = False

    def at(self, folder: VaultPath, names: Mapping[str, bool]) -> Iterator[tuple[str, os.stat_result | None]]:
        """What the disk says of some names in a folder: None for what is not there."""
        descriptor = self._open(folder)
        if descriptor is None:
            yield from ((name, None) for name in names)
            return
        try:
            for name in names:
                try:
                    yield name, os.stat(name, dir_fd=descriptor, follow_symlinks=False)
                except OSError as error:
                    self._note(error)
                    yield name, None
        finally:
            os.close(descriptor)

    def into(self, folder: VaultPath, watching: Watching | None) -> Iterator[tuple[str, os.stat_result | None]]:
        """What is visible in a folder: regular files with what the disk says of them, folders with None.

        It is watched from before it is listed.

        Raises:
            OSError: it could not be watched, though it can be read.
        """
        held = self._open(folder)
        if held is None:
            return
        try:
            failure = None if watching is None else _failure(lambda: watching.add(folder, held))
            try:
                descriptor = os.open(".", _FOLDER_FLAGS, dir_fd=held)
            except OSError as error:
                self._note(error)
                return
            try:
                if failure is not None:
                    raise failure
                yield from self._entries(descriptor, folder)
            finally:
                os.close(descriptor)
        finally:
            os.close(held)

    def _entries(self, descriptor: int, folder: VaultPath) -> Iterator[tuple[str, os.stat_result | None]]:
        try:
            with os.scandir(descriptor) as entries:
                for entry in entries:
                    if not is_seen(folder, entry.name):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        yield entry.name, None
                        continue
                    try:
                        seen = entry.stat(follow_symlinks=False)
                    except OSError as error:
                        self._note(error)
                        continue
                    if stat.S_ISREG(seen.st_mode):
                        yield entry.name, seen
        except OSError as error:  # what was seen is still good
            self._note(error)

    def _open(self, folder: VaultPath) -> int | None:
        try:
            return self._root.open_folder(folder)
        except (NoteNotFound, PathRefused, VaultDenied):
            return None
        except (AppError, OSError):
            self.has_missed = True
            return None

    def _note(self, error: OSError) -> None:
        self.has_missed |= error.errno not in _ANSWERS


def _failure(work: Callable[[], None]) -> OSError | None:
    try:
        work()
    except OSError as error:
        return error
    return None
