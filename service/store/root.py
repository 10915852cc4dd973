"""The vault's root as one descriptor, and the only way from it to a folder below.

Names are resolved by the kernel relative to that descriptor: openat2 with BENEATH, NO_MAGICLINKS and NO_SYMLINKS
(Linux 5.6), or, where it is missing or a seccomp profile forbids it (ENOSYS, EPERM), a walk of one `O_NOFOLLOW` openat
per component. Nothing is checked first and used later, so a name swapped in between leads nowhere.

A mount can be lost or made again while we run. `check` notices: as long as nothing is at the path, or an empty folder
is where another one was (the place where the mount was), the vault is missing; once a folder with something in it is
there again, the descriptor is pointed at it and work goes on. An owner who really put a new, empty vault in the place
of the old restarts the service.
"""

from __future__ import annotations

import copy
import errno
import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from service.errors import AppError, NoteNotFound, PathRefused, VaultMissing
from service.guards.folders import Scope
from service.guards.paths import VaultPath
from service.store import faults, names
from service.store.syscalls import NO_SUCH_CALL, OpenHow, openat2

_RESOLVE_NO_MAGICLINKS: Final = 0x02
_RESOLVE_NO_SYMLINKS: Final = 0x04
_RESOLVE_BENEATH: Final = 0x08
_RESOLVE: Final = _RESOLVE_BENEATH | _RESOLVE_NO_MAGICLINKS | _RESOLVE_NO_SYMLINKS
_FOLDER_FLAGS: Final = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
_MAX_RACES: Final = 64  # EAGAIN means a rename ran meanwhile; more than this many in a row is an attack, not luck


class Root:
    """The open root of the vault. `path` is asked only whether the vault is still there; files are reached by `fd`.

    Args:
        path: the vault's folder; a symbolic link is followed once, here.
        use_openat2: None asks the kernel.

    Raises:
        VaultMissing: when the folder is not there.
    """

    def __init__(self, path: Path, *, use_openat2: bool | None = None) -> None:
        self.path = path
        self.scope: Scope | None = None
        self.whole = self
        self._reopening = threading.Lock()
        try:
            self.fd = os.open(path, _FOLDER_FLAGS)
        except OSError as error:
            raise VaultMissing(
                f"the vault folder {str(path)!r} is not there ({error.strerror}); mount or create it."
            ) from error
        self.has_openat2 = _openat2_works(self.fd) if use_openat2 is None else use_openat2

    def limited(self, scope: Scope) -> Root:
        """The same root, from which no way leads to anything outside the folders of `scope`. Nothing of it is to be closed."""
        view = copy.copy(self)
        view.scope = scope
        return view

    def names_shown(self, folder: VaultPath) -> frozenset[str] | None:
        """The only names of `folder` that there are in this view; None when there are all.

        Above the folders of a scope these are the names on the way to those that are there: a bare way, nothing beside it.
        """
        if self.scope is None or self.scope.holds(folder):
            return None
        below = {one.parts[len(folder.parts)] for one in self.scope.below(folder) if self._is_there(one)}
        return frozenset(below)

    def require(self, path: VaultPath) -> None:
        """Make sure that a file of this path belongs to the view.

        Raises:
            NoteNotFound: it does not, whether it is there or not.
        """
        if self.scope is not None and not self.scope.holds(path):
            raise NoteNotFound(str(path))

    def close(self) -> None:
        """Give the descriptor back; the root is of no use afterwards."""
        os.close(self.fd)

    def is_same(self) -> bool:
        """Whether the path still leads to the folder that we hold. Two system calls."""
        try:
            there = os.stat(self.path)
        except OSError:
            return False
        held = os.fstat(self.fd)
        return (there.st_dev, there.st_ino) == (held.st_dev, held.st_ino) and held.st_nlink > 0

    def check(self) -> None:
        """Make sure that the vault is still there, and follow it when it was mounted again.

        Raises:
            VaultMissing: nothing is there, or an empty folder that is not the one we opened.
        """
        if self.is_same():
            return
        with self._reopening:
            if not self.is_same():
                self._reopen()

    @contextmanager
    def folder(self, path: VaultPath) -> Iterator[int]:
        """An open descriptor (O_PATH) of the folder `path`, closed afterwards.

        Raises:
            NoteNotFound: when it does not exist.
            PathRefused: OUTSIDE_VAULT when a symbolic link stands in the way, INVALID_PATH when a part is no folder.
        """
        descriptor = self.open_folder(path)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def open_folder(self, path: VaultPath) -> int:
        """As `folder`, for a caller that closes the descriptor itself."""
        if not self._is_shown(path):
            raise NoteNotFound(str(path))
        return self._open(path)

    def _is_shown(self, folder: VaultPath) -> bool:
        """Whether a folder, if it is there, belongs to the view or is on the way to what does."""
        if self.scope is None or not folder.parts or self.scope.holds(folder):
            return True
        return any(self._is_there(one) for one in self.scope.below(folder))

    def _is_there(self, folder: VaultPath) -> bool:
        """Whether anything has this name, at the end of a way of real folders."""
        try:
            parent = self._open(folder.parent)
        except (AppError, OSError):
            return False
        try:
            return names.exists(parent, folder.name) is not None
        finally:
            os.close(parent)

    def _open(self, path: VaultPath) -> int:
        try:
            if not path.parts:
                return os.open(".", _FOLDER_FLAGS, dir_fd=self.fd)
            return self._openat2(path) if self.has_openat2 else self._walk(path)
        except OSError as error:
            raise _in_our_words(error, path) from error

    def _openat2(self, path: VaultPath) -> int:
        how = OpenHow(flags=_FOLDER_FLAGS, mode=0, resolve=_RESOLVE)
        name = os.fsencode(str(path))
        for _ in range(_MAX_RACES):
            try:
                return openat2(self.fd, name, how)
            except OSError as error:
                if error.errno != errno.EAGAIN:
                    raise
        raise OSError(errno.ELOOP, "the folder kept moving")

    def _walk(self, path: VaultPath) -> int:
        descriptor = os.open(".", _FOLDER_FLAGS, dir_fd=self.fd)
        for part in path.parts:
            parent = descriptor
            try:
                descriptor = _step(parent, part)
            finally:
                os.close(parent)
        return descriptor

    def _reopen(self) -> None:
        try:
            found = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise VaultMissing("the vault is not there: its folder is gone. Mount it again, or restart.") from error
        try:
            if not os.listdir(found):
                raise VaultMissing(
                    "the vault is not there: another, empty folder is in its place, most likely because a mount was "
                    "lost. Mount it again; if the vault is really empty now, restart."
                )
            held = os.open(".", _FOLDER_FLAGS, dir_fd=found)
        finally:
            os.close(found)
        os.dup2(held, self.fd, inheritable=False)  # at once, so that nobody ever sees a closed root
        os.close(held)


def _step(parent: int, part: str) -> int:
    if part in ("", ".", ".."):  # no `VaultPath` has one; without openat2 nothing else would stop `..`
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
    try:
        return os.open(part, _FOLDER_FLAGS | os.O_NOFOLLOW, dir_fd=parent)
    except NotADirectoryError:
        # O_NOFOLLOW with O_DIRECTORY gives ENOTDIR for a link as well; only the sentence depends on which it is.
        if stat.S_ISLNK(os.stat(part, dir_fd=parent, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from None
        raise
    except ValueError as error:  # NUL, which no `VaultPath` from a guard holds
        raise OSError(errno.EINVAL, "NUL in a name") from error


def _openat2_works(root_fd: int) -> bool:
    try:
        os.close(openat2(root_fd, b".", OpenHow(flags=_FOLDER_FLAGS, mode=0, resolve=_RESOLVE)))
    except OSError as error:
        if error.errno in NO_SUCH_CALL:
            return False
        raise
    return True


def _in_our_words(error: OSError, path: VaultPath) -> AppError | OSError:
    if error.errno in (errno.ELOOP, errno.EXDEV):
        return PathRefused(
            "OUTSIDE_VAULT", "that path goes through a symbolic link, which is not followed; use the real path."
        )
    if error.errno == errno.ENOTDIR:
        return PathRefused("INVALID_PATH", f"{str(path)!r} is a file, not a folder; name the folder it lies in.")
    if error.errno == errno.ENOENT:
        return NoteNotFound(str(path))
    return faults.in_our_words(error, str(path), None) or error
