"""The vault's root as one descriptor, and the only way from it to a folder below.

Names are resolved by the kernel relative to that descriptor: openat2 with BENEATH, NO_MAGICLINKS and NO_SYMLINKS
(Linux 5.6), or, where it is missing or a seccomp profile forbids it (ENOSYS, EPERM), a walk of one `O_NOFOLLOW` openat
per component. Nothing is checked first and used later, so a name swapped in between leads nowhere.
"""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from service.errors import NoteNotFound, PathRefused, VaultMissing
from service.guards.paths import VaultPath

_SYS_OPENAT2: Final = 437  # the same number on x86-64 and arm64
_RESOLVE_NO_MAGICLINKS: Final = 0x02
_RESOLVE_NO_SYMLINKS: Final = 0x04
_RESOLVE_BENEATH: Final = 0x08
_RESOLVE: Final = _RESOLVE_BENEATH | _RESOLVE_NO_MAGICLINKS | _RESOLVE_NO_SYMLINKS
_FOLDER_FLAGS: Final = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
_MAX_RACES: Final = 64  # EAGAIN means a rename ran meanwhile; more than this many in a row is an attack, not luck


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


class Root:
    """The open root of the vault. `path` is for people and for doctor; it is never handed to the kernel again.

    Raises:
        VaultMissing: when the folder is not there.
    """

    def __init__(self, path: Path, *, use_openat2: bool | None = None) -> None:
        self.path = path
        try:
            self.fd = os.open(path, _FOLDER_FLAGS)
        except OSError as error:
            raise VaultMissing(
                f"the vault folder {str(path)!r} is not there ({error.strerror}); mount or create it."
            ) from error
        self.has_openat2 = _openat2_works(self.fd) if use_openat2 is None else use_openat2

    def close(self) -> None:
        """Give the descriptor back; the root is of no use afterwards."""
        os.close(self.fd)

    @contextmanager
    def folder(self, path: VaultPath) -> Iterator[int]:
        """An open descriptor (O_PATH) of the folder `path`, closed afterwards.

        Raises:
            NoteNotFound: when it does not exist.
            PathRefused: OUTSIDE_VAULT when a symbolic link stands in the way, NOT_A_FILE when a part is no folder.
        """
        descriptor = self.open_folder(path)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def open_folder(self, path: VaultPath) -> int:
        """As `folder`, for a caller that closes the descriptor itself."""
        try:
            if not path.parts:
                return os.open(".", _FOLDER_FLAGS, dir_fd=self.fd)
            return self._openat2(path) if self.has_openat2 else self._walk(path)
        except OSError as error:
            raise _in_our_words(error, path) from error

    def _openat2(self, path: VaultPath) -> int:
        how = _OpenHow(flags=_FOLDER_FLAGS, mode=0, resolve=_RESOLVE)
        name = os.fsencode(str(path))
        for _ in range(_MAX_RACES):
            try:
                return _openat2(self.fd, name, how)
            except OSError as error:
                if error.errno != errno.EAGAIN:
                    raise
        raise OSError(errno.ELOOP, "the folder kept moving")

    def _walk(self, path: VaultPath) -> int:
        descriptor = os.open(".", _FOLDER_FLAGS, dir_fd=self.fd)
        for part in path.parts:
            parent = descriptor
            try:
                descriptor = os.open(part, _FOLDER_FLAGS | os.O_NOFOLLOW, dir_fd=parent)
            finally:
                os.close(parent)
        return descriptor


def _openat2(dir_fd: int, name: bytes, how: _OpenHow) -> int:
    if b"\0" in name:
        raise OSError(errno.EINVAL, "NUL in a name")
    descriptor: int = _libc().syscall(
        ctypes.c_long(_SYS_OPENAT2),
        ctypes.c_int(dir_fd),
        ctypes.c_char_p(name),
        ctypes.byref(how),
        ctypes.c_size_t(ctypes.sizeof(how)),
    )
    if descriptor < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return descriptor


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _openat2_works(root_fd: int) -> bool:
    try:
        os.close(_openat2(root_fd, b".", _OpenHow(flags=_FOLDER_FLAGS, mode=0, resolve=_RESOLVE)))
    except OSError as error:
        if error.errno in (errno.ENOSYS, errno.EPERM, errno.E2BIG, errno.EINVAL):
            return False
        raise
    return True


def _in_our_words(error: OSError, path: VaultPath) -> Exception:
    if error.errno in (errno.ELOOP, errno.EXDEV):
        return PathRefused(
            "OUTSIDE_VAULT", "that path goes through a symbolic link, which is not followed; use the real path."
        )
    if error.errno == errno.ENOTDIR:
        return PathRefused("NOT_A_FILE", f"a part of {str(path)!r} is no folder.")
    if error.errno == errno.ENOENT:
        return NoteNotFound(str(path))
    if error.errno == errno.ENAMETOOLONG:
        return PathRefused("INVALID_PATH", "the path is too long for this file system.")
    return error
