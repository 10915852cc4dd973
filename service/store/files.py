"""The vault's files: read, walk, create, replace, trash. Every door takes a `VaultPath` and nothing else.

A reader sees the old note or the new one. No write goes without a look at what it replaces: `replace` and `trash` take the
bytes they were decided on and refuse with `NoteChanged` when the disk holds others. `permit` is called at the last moment
before a change becomes visible; when it raises, nothing has changed.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import stat
import time
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from service.errors import NoSpace, NoteChanged, NoteExists, NoteNotFound, PathAmbiguous, PathRefused, TooLarge
from service.guards import limits, paths
from service.guards.paths import ROOT, VaultPath
from service.store.root import Root

VERSION_CHARS: Final = 12
_READ_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NEW_FILE_MODE: Final = 0o644

Permit = Callable[[], None]
"""Called just before a change becomes visible; raises when it may not."""


def version_of(data: bytes) -> str:
    """The version of a note: the first 12 hex digits of SHA-256 over its raw bytes."""
    return hashlib.sha256(data).hexdigest()[:VERSION_CHARS]


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file as it was read: `path` is spelled as on disk, `mtime_ns` is nanoseconds since 1970."""

    path: VaultPath
    data: bytes
    mode: int
    mtime_ns: int

    @property
    def version(self) -> str:
        return version_of(self.data)


@dataclass(frozen=True, slots=True)
class Entry:
    """A file seen while walking. Times are nanoseconds since 1970, sizes bytes."""

    path: VaultPath
    size_bytes: int
    mtime_ns: int


class VaultFiles:
    """The files below one root. Threads may share it; whoever changes files holds the writer lock."""

    def __init__(self, root: Root) -> None:
        self.root = root

    def locate(self, path: VaultPath) -> VaultPath:
        """`path` as the disk spells it: the exact name, else the one that is equal under NFC, else without outer blanks.

        Raises:
            NoteNotFound: nothing answers to it.
            PathAmbiguous: two names do.
        """
        found = ROOT
        for part in path.parts:
            found = found.child(self._spelled(found, part, path))
        return found

    def read(self, path: VaultPath, max_bytes: int = limits.MAX_NOTE_BYTES) -> FileContent:
        """Read one regular file whole.

        Raises:
            NoteNotFound, PathAmbiguous: as `locate`.
            PathRefused: OUTSIDE_VAULT for a symbolic link, NOT_A_FILE for a folder, FIFO, socket or device.
            TooLarge: more than `max_bytes`.
        """
        path = self.locate(path)
        with self.root.folder(path.parent) as folder:
            return _read_at(folder, path, max_bytes)

    def walk(self, folder: VaultPath = ROOT, suffixes: tuple[str, ...] = paths.SEARCHED_SUFFIXES) -> Iterator[Entry]:
        """Every visible file with one of `suffixes` at or below `folder`, in no promised order.

        Hidden names and symbolic links are never listed; a folder that cannot be read is passed over.
        """
        pending = [self.locate(folder)]
        while pending:
            here = pending.pop()
            for name, entry in self._scan(here):
                if entry.is_dir(follow_symlinks=False):
                    pending.append(here.child(name))
                elif entry.is_file(follow_symlinks=False) and name.lower().endswith(suffixes):
                    try:
                        seen = entry.stat(follow_symlinks=False)
                    except OSError:
                        continue  # gone meanwhile
                    yield Entry(here.child(name), seen.st_size, seen.st_mtime_ns)

    def folders(self) -> Iterator[VaultPath]:
        """Every visible folder, the root first."""
        pending = [ROOT]
        while pending:
            here = pending.pop()
            yield here
            pending += [here.child(name) for name, entry in self._scan(here) if entry.is_dir(follow_symlinks=False)]

    def create(self, path: VaultPath, data: bytes, permit: Permit, mode: int = _NEW_FILE_MODE) -> FileContent:
        """Make a new file, and its folders; never overwrites.

        Raises:
            NoteExists: the name is taken, also by another spelling of the same letters.
            NoSpace: the disk is full; nothing was changed.
        """
        path = self._make_folders(path)
        with self.root.folder(path.parent) as folder:
            if _twin(folder, path.name):
                raise NoteExists(str(path))
            temporary = _write_temporary(folder, data, mode)
            try:
                permit()
                os.link(temporary, path.name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
            except FileExistsError as error:
                raise NoteExists(str(path)) from error
            finally:
                os.unlink(temporary, dir_fd=folder)
            _sync_folder(folder)
            return _read_at(folder, path, limits.MAX_NOTE_BYTES)

    def replace(self, old: FileContent, data: bytes, permit: Permit, mode: int | None = None) -> FileContent:
        """Put `data` in the place of `old`, keeping the file's mode unless another is given.

        Raises:
            NoteChanged: the disk no longer holds `old.data`.
            NoSpace: the disk is full; nothing was changed.
        """
        with self.root.folder(old.path.parent) as folder:
            temporary = _write_temporary(folder, data, old.mode if mode is None else mode)
            try:
                found = _read_at(folder, old.path, limits.MAX_NOTE_BYTES)
                if found.data != old.data:
                    raise NoteChanged(str(old.path), old.version, found.version)
                permit()
                os.rename(temporary, old.path.name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                os.unlink(temporary, dir_fd=folder)
                raise
            _sync_folder(folder)
            return _read_at(folder, old.path, limits.MAX_NOTE_BYTES)

    def move(self, old: FileContent, to: VaultPath, permit: Permit) -> FileContent:
        """Give a file another name, making the folders on the way; never overwrites.

        Raises:
            NoteChanged: the disk no longer holds `old.data`.
            NoteExists: the name is taken, also by another spelling of the same letters.
        """
        to = self._make_folders(to)
        with self.root.folder(old.path.parent) as source, self.root.folder(to.parent) as target:
            if any(
                (to.parent, twin) != (old.path.parent, old.path.name)
                for twin in _names_equal_under_nfc(target, to.name)
            ):
                raise NoteExists(str(to))
            found = _read_at(source, old.path, limits.MAX_NOTE_BYTES)
            if found.data != old.data:
                raise NoteChanged(str(old.path), old.version, found.version)
            permit()
            try:
                os.link(old.path.name, to.name, src_dir_fd=source, dst_dir_fd=target, follow_symlinks=False)
            except FileExistsError as error:
                raise NoteExists(str(to)) from error
            os.unlink(old.path.name, dir_fd=source)
            _sync_folder(target)
            _sync_folder(source)
        return FileContent(to, old.data, old.mode, old.mtime_ns)

    def trash(self, old: FileContent, permit: Permit) -> VaultPath:
        """Move a file into `.trash/`, keeping its folders; a taken name gets a time stamp. Returns where it went.

        Raises:
            NoteChanged: the disk no longer holds `old.data`.
        """
        there = ROOT.child(paths.TRASH)
        for part in old.path.parts:
            there = there.child(part)
        try:
            return self.move(old, there, permit).path
        except NoteExists:
            stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()) + "-" + secrets.token_hex(2)
            suffix = there.name[len(there.stem) :]
            return self.move(old, there.parent.child(f"{there.stem} {stamp}{suffix}"), permit).path

    def put(
        self, path: VaultPath, data: bytes, mode: int, permit: Permit, expected: FileContent | None = None
    ) -> FileContent:
        """Write any tracked path exactly as named (no look at other spellings), making its folders: for restoring.

        Args:
            expected: what `read_tracked` found there, or None when nothing may be there.

        Raises:
            NoteChanged, NoteExists: the disk holds something else.
        """
        return self.create(path, data, permit, mode) if expected is None else self.replace(expected, data, permit, mode)

    def read_tracked(self, path: VaultPath, max_bytes: int = limits.MAX_NOTE_BYTES) -> FileContent:
        """As `read`, for a path exactly as it is named."""
        with self.root.folder(path.parent) as folder:
            return _read_at(folder, path, max_bytes)

    def remove(self, old: FileContent, permit: Permit) -> None:
        """Remove a file for good, if it still holds `old.data`: for restoring to a time when it was not there.

        Raises:
            NoteChanged: the disk no longer holds `old.data`.
        """
        with self.root.folder(old.path.parent) as folder:
            found = _read_at(folder, old.path, limits.MAX_NOTE_BYTES)
            if found.data != old.data:
                raise NoteChanged(str(old.path), old.version, found.version)
            permit()
            os.unlink(old.path.name, dir_fd=folder)
            _sync_folder(folder)

    def _spelled(self, folder: VaultPath, name: str, asked: VaultPath) -> str:
        with self.root.folder(folder) as descriptor:
            for candidate in (name, name.strip()):
                try:
                    os.stat(candidate, dir_fd=descriptor, follow_symlinks=False)
                except OSError:
                    continue
                return candidate
            twins = _names_equal_under_nfc(descriptor, name)
        if len(twins) > 1:
            raise PathAmbiguous(str(asked))
        if not twins:
            raise NoteNotFound(str(asked))
        return twins[0]

    def _scan(self, folder: VaultPath) -> Iterator[tuple[str, os.DirEntry[str]]]:
        descriptor = self.root.open_folder(folder)
        try:
            readable = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=descriptor)
        except OSError:
            return
        finally:
            os.close(descriptor)
        try:
            with os.scandir(readable) as entries:
                for entry in entries:
                    if not paths.is_hidden(entry.name) and not paths.has_invisible(entry.name):
                        yield entry.name, entry
        finally:
            os.close(readable)

    def _make_folders(self, path: VaultPath) -> VaultPath:
        here = ROOT
        for part in path.parts[:-1]:
            try:
                here = here.child(self._spelled(here, part, path))
            except NoteNotFound:
                with self.root.folder(here) as descriptor:
                    os.mkdir(part, dir_fd=descriptor)
                    _sync_folder(descriptor)
                here = here.child(part)
        return here.child(path.name)


def _read_at(folder: int, path: VaultPath, max_bytes: int) -> FileContent:
    try:
        descriptor = os.open(path.name, _READ_FLAGS, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ENOENT:
            raise NoteNotFound(str(path)) from error
        if error.errno == errno.ELOOP:
            raise PathRefused(
                "OUTSIDE_VAULT", "that path is a symbolic link, which is not followed; use the real path."
            ) from error
        if error.errno in (errno.ENXIO, errno.ENODEV):
            raise PathRefused("NOT_A_FILE", f"{str(path)!r} is not a regular file.") from error
        raise
    with os.fdopen(descriptor, "rb") as file:
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            raise PathRefused("NOT_A_FILE", f"{str(path)!r} is not a regular file.")
        if before.st_size > max_bytes:
            raise TooLarge(repr(str(path)), before.st_size, max_bytes)
        data = file.read(max_bytes + 1)
        if len(data) > max_bytes:
            raise TooLarge(repr(str(path)), len(data), max_bytes)
        return FileContent(path, data, stat.S_IMODE(before.st_mode), before.st_mtime_ns)


def _write_temporary(folder: int, data: bytes, mode: int) -> str:
    name = f".syncthing.strongroom-{secrets.token_hex(8)}.tmp"
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)
    except OSError as error:
        os.unlink(name, dir_fd=folder)
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise NoSpace("vault") from error
        raise
    return name


def _sync_folder(folder: int) -> None:
    descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _twin(folder: int, name: str) -> bool:
    return any(twin != name for twin in _names_equal_under_nfc(folder, name))


def _names_equal_under_nfc(folder: int, name: str) -> list[str]:
    wanted = unicodedata.normalize("NFC", name)
    descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    try:
        return [found for found in os.listdir(descriptor) if unicodedata.normalize("NFC", found) == wanted]
    finally:
        os.close(descriptor)
