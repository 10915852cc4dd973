"""New bytes, whole and on the disk, that nobody sees yet.

Normally a file without any name (O_TMPFILE): a kill leaves nothing at all. Where there are none, a named part file,
which the sweep at start drops. `publish` gives the bytes their name and never replaces what has it.

Names: `.syncthing.strongroom-*.tmp`. Syncthing takes the prefix for its own temporary files and neither scans nor sends
them; the dot hides them from Obsidian, Obsidian Sync and LiveSync. (Syncthing: lib/fs/tempname.go, lib/ignore/ignore.go.)
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from service.guards.paths import VaultPath
from service.store import placing
from service.store.reading import FileContent
from service.store.syscalls import NO_LINKS, NO_SUCH_CALL, NO_UNNAMED, Folder, repeated

PREFIX: Final = ".syncthing.strongroom-"
_KEPT_ATTRIBUTES: Final = ("user.", "system.posix_acl_access")

Permit = Callable[[], None]
"""Called just before a change becomes visible; raises when it may not."""


def part_name() -> str:
    """The name of a file that is still being written: worth nothing after a kill."""
    return f"{PREFIX}part-{secrets.token_hex(8)}.tmp"


def aside_name(expected: bytes, new: bytes) -> str:
    """The name under which a file waits for its exchange; the two hashes let the sweep tell which version it holds."""
    return f"{PREFIX}{_hash16(expected)}-{_hash16(new)}-{secrets.token_hex(4)}.tmp"


def guard_name() -> str:
    """The name of a second link to a version that somebody else wrote."""
    return f"{PREFIX}guard-{secrets.token_hex(8)}.tmp"


@dataclass(frozen=True, slots=True)
class Dress:
    """What a file wears besides its bytes. None, -1: as the kernel gives it."""

    mode: int
    uid: int = -1
    gid: int = -1
    attributes: tuple[tuple[str, bytes], ...] = ()
    mtime_ns: int | None = None

    @classmethod
    def of_file(cls, folder: int, name: str, mode: int | None = None) -> Dress:
        """That of an existing file, with another mode when one is given."""
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        try:
            found = os.fstat(descriptor)
            attributes = tuple(_attributes(descriptor))
        finally:
            os.close(descriptor)
        return cls(stat.S_IMODE(found.st_mode) if mode is None else mode, found.st_uid, found.st_gid, attributes)

    def put_on(self, descriptor: int) -> None:
        """Dress an open file of ours; what the system refuses (another owner, attributes) is left out."""
        mine = os.fstat(descriptor)
        if (self.uid, self.gid) not in ((-1, -1), (mine.st_uid, mine.st_gid)):
            for uid, gid in ((self.uid, self.gid), (-1, self.gid)):
                with contextlib.suppress(OSError):
                    os.fchown(descriptor, uid, gid)
                    break
        for name, value in self.attributes:
            with contextlib.suppress(OSError):
                repeated(functools.partial(os.setxattr, descriptor, name, value))
        try:
            os.fchmod(descriptor, self.mode)
        except OSError as error:
            if error.errno not in NO_SUCH_CALL:  # file systems with one mode for all
                raise
        if self.mtime_ns is not None:
            times = self.mtime_ns, self.mtime_ns
            repeated(lambda: os.utime(descriptor, ns=times))


class Staged:
    """Bytes on the disk, waiting in `folder` (which the caller keeps open). Made by `staged`."""

    def __init__(self, folder: Folder, data: bytes, dress: Dress) -> None:
        self.data = data
        self._folder, self._kernel, self._dress = folder, folder.kernel, dress
        self.name: str | None = None
        try:
            self.descriptor = self._kernel.open_unnamed(folder.fd)
        except OSError as error:
            if error.errno not in NO_UNNAMED:
                raise
            self.descriptor = -1
            self._write_named(part_name())
        else:
            self._fill()

    def stand_beside(self, name: str) -> None:
        """Take `name`, a random one that nobody has, so that it can be exchanged with the real one.

        The file is closed afterwards: as long as we had it open for writing, nobody could take a lease on it.
        """
        self._take(name)
        os.close(self.descriptor)
        self.descriptor = -1

    def _take(self, name: str) -> None:
        if self.name is None:
            try:
                self._kernel.link_unnamed(self.descriptor, self._folder.fd, name)
            except OSError as error:
                if not _has_no_link(error):
                    raise
                self._write_named(part_name())
            else:
                self.name = name
                return
        self._kernel.rename(self._folder.fd, self.name or "", self._folder.fd, name)
        self.name = name

    def publish(self, name: str, permit: Permit) -> None:
        """Take `name` for good.

        Raises:
            FileExistsError: it is taken; whatever has it is untouched.
        """
        permit()
        if self.name is None:
            try:
                self._kernel.link_unnamed(self.descriptor, self._folder.fd, name)
            except OSError as error:
                if not _has_no_link(error):
                    raise
                self._write_named(part_name())
                permit()
            else:
                return
        if placing.place(self._folder, self.name or "", self._folder, name):
            self.name = None
            return
        # No way to link or to rename without replacing: write under the name itself, which is ours from the first byte.
        self._unlink_name()
        self._write_named(name)
        self.name = None

    def content(self, path: VaultPath, caution: str = "") -> FileContent:
        """What stands at `path` once it is published or exchanged."""
        return FileContent(path, self.data, stat.S_IMODE(self.found.st_mode), self.found.st_mtime_ns, caution)

    def give_up_name(self) -> None:
        """Forget the name: what it now stands for is no longer ours to discard."""
        self.name = None

    def discard(self) -> None:
        """Close the file, and remove the name it still has."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1
        self._unlink_name()

    def _unlink_name(self) -> None:
        if self.name is not None:
            with contextlib.suppress(OSError):  # the sweep takes what stays
                self._kernel.unlink(self._folder.fd, self.name)
            self.name = None

    def _write_named(self, name: str) -> None:
        descriptor = self._kernel.open_new(self._folder.fd, name)
        if self.descriptor >= 0:
            os.close(self.descriptor)
        self.descriptor, self.name = descriptor, name
        self._fill()

    def _fill(self) -> None:
        try:
            self._kernel.write(self.descriptor, self.data)
            self._dress.put_on(self.descriptor)
            self._kernel.sync(self.descriptor)
            self.found = os.fstat(self.descriptor)
        except BaseException:
            self.discard()
            raise


@contextlib.contextmanager
def staged(folder: Folder, data: bytes, dress: Dress) -> Iterator[Staged]:
    """Stage `data` in the file system of the open `folder`; gone afterwards unless it was published."""
    new = Staged(folder, data, dress)
    try:
        yield new
    finally:
        new.discard()


def _attributes(descriptor: int) -> Iterator[tuple[str, bytes]]:
    with contextlib.suppress(OSError):
        for name in os.listxattr(descriptor):
            if name.startswith(_KEPT_ATTRIBUTES):
                yield name, os.getxattr(descriptor, name)


def _has_no_link(error: OSError) -> bool:
    return error.errno in NO_LINKS or isinstance(error, FileNotFoundError)  # ENOENT: there is no /proc


def _hash16(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
