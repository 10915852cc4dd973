"""What a change of many files needs in order to be taken back: one file in the state folder, whole or not there.

Written and brought to the disk before the first of those files changes, removed after the last. So a journal that is found
at a start tells of a change that a kill cut short. It holds the old bytes of every file that is rewritten, and of the new
ones the hash: what a file holds says whether it was reached, and whether somebody else has written it since.

Undo and no redo: an error in the middle and another program that was faster need the way back in any case, and then a kill
takes the same one.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from service.errors import DiskFault, NoSpace, PathRefused, Unavailable
from service.guards import paths
from service.guards.paths import VaultPath
from service.store.syscalls import Folder, Kernel

FILE_NAME: Final = "change.journal"
_PART: Final = FILE_NAME + ".part"
_DAMAGED: Final = FILE_NAME + ".damaged"
_MAGIC: Final = b"strongroom change 1\n"
_DIGEST_CHARS: Final = 64


class JournalDamaged(Exception):
    """The file is there, but is not what was written."""


@dataclass(frozen=True, slots=True)
class Before:
    """A file that is rewritten: its bytes before, and the SHA-256 (hex) of those after."""

    path: VaultPath
    data: bytes
    new_digest: str


@dataclass(frozen=True, slots=True)
class Renamed:
    """A file or folder that gets another name, both exactly as on the disk."""

    source: VaultPath
    target: VaultPath


@dataclass(frozen=True, slots=True)
class Record:
    """A change of many files in the order in which it is made: rewritten in place first, then renamed.

    The last rename decides: once it has taken place, the change has; until then it can be taken back.
    """

    rewritten: tuple[Before, ...]
    renamed: tuple[Renamed, ...]


def digest(data: bytes) -> str:
    """SHA-256, as a journal has it."""
    return hashlib.sha256(data).hexdigest()


class Journal:
    """The one journal of a state folder. Whoever writes, reads or drops it holds the writer lock."""

    def __init__(self, state: Path, kernel: Kernel | None = None) -> None:
        self._state, self._kernel = state, kernel or Kernel()

    def write(self, record: Record) -> None:
        """Keep `record`, whole and on the disk when this returns.

        Raises:
            NoSpace, DiskFault, Unavailable: it is not kept; nothing else was changed.
        """
        with self._spoken(), self._folder() as folder:
            try:
                descriptor = self._kernel.open_new(folder.fd, _PART)
            except FileExistsError:  # of a kill while it was written
                self._kernel.unlink(folder.fd, _PART)
                descriptor = self._kernel.open_new(folder.fd, _PART)
            try:
                try:
                    self._kernel.write(descriptor, _packed(record))
                    self._kernel.sync(descriptor)
                finally:
                    os.close(descriptor)
                self._kernel.rename(folder.fd, _PART, folder.fd, FILE_NAME)
                self._kernel.sync_folder(folder.fd)
            except BaseException:
                for name in (_PART, FILE_NAME):
                    with contextlib.suppress(OSError):
                        self._kernel.unlink(folder.fd, name)
                raise

    def read(self) -> Record | None:
        """What a change that was cut short has left; None when there is nothing.

        Raises:
            JournalDamaged: it cannot be read as what was written.
            OSError: the disk says no.
        """
        try:
            data = (self._state / FILE_NAME).read_bytes()
        except FileNotFoundError:
            return None
        return _unpacked(data) if data else None

    def drop(self) -> None:
        """The change is complete, or taken back: forget it.

        Raises:
            OSError: it is still there.
        """
        with self._folder() as folder:
            try:
                self._kernel.unlink(folder.fd, FILE_NAME)
            except FileNotFoundError:
                return
            except OSError:
                os.truncate(self._state / FILE_NAME, 0)  # says as much
            self._kernel.sync_folder(folder.fd)

    def set_aside(self) -> str:
        """Give a damaged journal a name of its own, for the owner to look at; that name.

        Raises:
            OSError: it keeps the name it has.
        """
        with self._folder() as folder:
            self._kernel.rename(folder.fd, FILE_NAME, folder.fd, _DAMAGED)
        return _DAMAGED

    def tidy(self) -> None:
        """Where `read` found nothing: remove what a kill left of a journal that was never whole, or that says that it is done."""
        for name in (_PART, FILE_NAME):
            if (self._state / name).exists():
                with self._folder() as folder, contextlib.suppress(OSError):  # then the next one takes its place
                    self._kernel.unlink(folder.fd, name)

    @contextlib.contextmanager
    def _folder(self) -> Iterator[Folder]:
        descriptor = os.open(self._state, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield Folder(self._kernel, descriptor)
        finally:
            os.close(descriptor)

    @contextlib.contextmanager
    def _spoken(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise NoSpace("state") from error
            if error.errno == errno.EIO:
                raise DiskFault("state") from error
            raise Unavailable(
                "the state folder cannot be written, so nothing was changed; see strongroom doctor."
            ) from error


def left_at(state: Path) -> float | None:
    """When a journal that lies in a state folder was written (seconds since 1970), for doctor; None when there is none."""
    try:
        found = (state / FILE_NAME).stat()
    except OSError:
        return None
    return found.st_mtime if found.st_size else None


def _packed(record: Record) -> bytes:
    head = {
        "rewritten": [[str(one.path), len(one.data), one.new_digest] for one in record.rewritten],
        "renamed": [[str(one.source), str(one.target)] for one in record.renamed],
    }
    body = b"".join(
        (_MAGIC, json.dumps(head).encode("ascii"), b"\n", *(one.data for one in record.rewritten)),
    )
    return body + digest(body).encode("ascii")


def _unpacked(data: bytes) -> Record:
    body, said = data[:-_DIGEST_CHARS], data[-_DIGEST_CHARS:]
    if not body.startswith(_MAGIC) or digest(body).encode("ascii") != said:
        raise JournalDamaged
    line_end = body.index(b"\n", len(_MAGIC))
    head = json.loads(body[len(_MAGIC) : line_end])
    rewritten, at = [], line_end + 1
    for path, size, new_digest in head["rewritten"]:
        rewritten.append(Before(_path(path), body[at : at + size], new_digest))
        at += size
    return Record(tuple(rewritten), tuple(Renamed(_path(source), _path(target)) for source, target in head["renamed"]))


def _path(written: str) -> VaultPath:
    try:
        return paths.tracked(written)
    except PathRefused as error:
        raise JournalDamaged from error
