"""Read one regular file whole, as one version of it, and know it again.

Opened with O_NONBLOCK and O_NOFOLLOW, so that a FIFO or a device can neither hang us nor be read; a file that changes
while it is read is read again.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import time
from dataclasses import dataclass
from typing import Final

from service.errors import AppError, Busy, NoteChanged, NoteNotFound, PathRefused, TooLarge
from service.guards.paths import VaultPath
from service.store import faults

VERSION_CHARS: Final = 12
NO_VERSION: Final = "none"
READ_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_TOO_LARGE: Final = "It is out of reach here until its owner splits it."
_MAX_TRIES: Final = 20
_PAUSE_S: Final = 0.005  # grows with each try: about a second in all, longer than an editor takes to save

_Identity = tuple[int, int, int, int, int]


def version_of(data: bytes) -> str:
    """The version of a note: the first 12 hex digits of SHA-256 over its raw bytes."""
    return hashlib.sha256(data).hexdigest()[:VERSION_CHARS]


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file as it was read or written: `path` is spelled as on disk, `mtime_ns` is nanoseconds since 1970.

    `caution` is empty, or a sentence about a write that took place but whose end was not as it should be.
    """

    path: VaultPath
    data: bytes
    mode: int
    mtime_ns: int
    caution: str = ""

    @property
    def version(self) -> str:
        return version_of(self.data)


def read_at(folder: int, path: VaultPath, max_bytes: int) -> FileContent:
    """Read the file `path.name` of the open folder.

    Raises:
        NoteNotFound: it is not there.
        PathRefused: OUTSIDE_VAULT for a symbolic link, NOT_A_FILE for a folder, FIFO, socket or device.
        TooLarge: more than `max_bytes`.
        Busy: it did not hold still for about a second.
    """
    for attempt in range(_MAX_TRIES):
        descriptor = _open(folder, path)
        try:
            found = _read_still(descriptor, path, max_bytes)
        except OSError as error:
            raise _in_our_words(error, path, folder) from error
        finally:
            os.close(descriptor)
        if found is not None:
            return found
        time.sleep(_PAUSE_S * attempt)
    raise Busy(repr(str(path)), sum(range(_MAX_TRIES)) * _PAUSE_S)


def require(folder: int, old: FileContent) -> None:
    """Make sure that the disk still holds `old.data` there.

    Raises:
        NoteChanged: it holds something else, or nothing.
    """
    try:
        found = read_at(folder, old.path, len(old.data) + 1)
    except TooLarge as error:
        raise NoteChanged(str(old.path), old.version, version_at(folder, old.path.name)) from error
    except (NoteNotFound, PathRefused) as error:
        raise NoteChanged(str(old.path), old.version, NO_VERSION) from error
    if found.data != old.data:
        raise NoteChanged(str(old.path), old.version, found.version)


def version_at(folder: int, name: str) -> str:
    """The version of whatever file stands there, of any size; `NO_VERSION` when it cannot be read."""
    try:
        descriptor = os.open(name, READ_FLAGS, dir_fd=folder)
    except OSError:
        return NO_VERSION
    try:
        with os.fdopen(descriptor, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:VERSION_CHARS]
    except OSError:
        return NO_VERSION


def read_descriptor(descriptor: int, max_bytes: int) -> bytes:
    """At most `max_bytes` from the start of an open file."""
    pieces, offset = [], 0
    while offset < max_bytes and (piece := os.pread(descriptor, min(max_bytes - offset, 1 << 20), offset)):
        pieces.append(piece)
        offset += len(piece)
    return b"".join(pieces)


def _open(folder: int, path: VaultPath) -> int:
    try:
        return os.open(path.name, READ_FLAGS, dir_fd=folder)
    except ValueError as error:
        raise PathRefused("INVALID_PATH", "the path holds a NUL character.") from error
    except OSError as error:
        raise _in_our_words(error, path, folder) from error


def _read_still(descriptor: int, path: VaultPath, max_bytes: int) -> FileContent | None:
    before = os.fstat(descriptor)
    if not stat.S_ISREG(before.st_mode):
        raise PathRefused("NOT_A_FILE", f"{str(path)!r} is not a regular file.")
    if before.st_size > max_bytes:
        raise TooLarge(repr(str(path)), before.st_size, max_bytes, way_out=_TOO_LARGE)
    data = read_descriptor(descriptor, max_bytes + 1)
    if len(data) > max_bytes:
        raise TooLarge(repr(str(path)), len(data), max_bytes, way_out=_TOO_LARGE)
    if _identity(before) != _identity(os.fstat(descriptor)) or len(data) != before.st_size:
        return None
    return FileContent(path, data, stat.S_IMODE(before.st_mode), before.st_mtime_ns)


def _identity(found: os.stat_result) -> _Identity:
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _in_our_words(error: OSError, path: VaultPath, folder: int) -> AppError | OSError:
    if error.errno == errno.ENOENT:
        return NoteNotFound(str(path))
    if error.errno == errno.ELOOP:
        return PathRefused("OUTSIDE_VAULT", "that path is a symbolic link, which is not followed; use the real path.")
    if error.errno in (errno.ENXIO, errno.ENODEV, errno.EISDIR):
        return PathRefused("NOT_A_FILE", f"{str(path)!r} is not a regular file.")
    return faults.in_our_words(error, str(path), folder) or error
