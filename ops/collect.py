"""Gather what a backup holds, consistently, from a vault and a state that are in use.

Rounds without a lock copy everything whose stamp (inode, size, times) differs from the last one, until little is left;
then one round under the locks, in which also the database is taken through SQLite's backup API. See `backup.py`.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import sqlite3
import stat
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from ops import archive, listing
from ops.archive import Entry, Manifest, Progress
from ops.commands import version
from ops.listing import Item
from ops.opened import Opened
from service.clock import local_now
from service.errors import BadMount, Busy, Misconfigured
from service.store import db

if TYPE_CHECKING:
    from typing_extensions import Buffer  # collections.abc.Buffer is of Python 3.12

MAX_ROUNDS: Final = 4
SMALL_ROUND_BYTES: Final = 16_000_000
"""When a round copied no more than this, the next one may hold the locks: well under a second."""
_DATABASE_TIMEOUT_S: Final = 10.0

_README: Final = """A backup of Strongroom: vault (your notes), state (tokens and history).

`strongroom restore-backup FILE` checks it and puts everything where it belongs.
By hand: `tar -xf FILE`; the notes are in vault/, and `git --git-dir state/history.git log` shows their history.
Keep it as safe as the notes themselves.
"""


@dataclass(frozen=True, slots=True)
class Result:
    """What was written, and by name: links and special files left out, what could not be read, what never held still."""

    files: int
    size_bytes: int
    sha256: str
    links: tuple[str, ...]
    unreadable: tuple[str, ...]
    unsteady: tuple[str, ...]


def write(parts: Opened, stream: BinaryIO, lock_timeout_s: float, progress: Progress) -> Result:
    """Write the whole archive to `stream`, which need not be seekable.

    Raises:
        Busy: the locks were held by others for more than `lock_timeout_s`.
        BadMount: there is no state folder.
    """
    trees = _trees(parts)
    counted = _Counted(stream, progress)
    with tarfile.open(fileobj=counted, mode="w|", format=tarfile.PAX_FORMAT) as tar:
        collector = _Collector(tar)
        collector.add_text(archive.README, _README.encode())
        for _ in range(MAX_ROUNDS):
            if collector.copy(trees) <= SMALL_ROUND_BYTES:
                break
        with parts.history_lock.writing(lock_timeout_s), parts.writer_lock.writing(lock_timeout_s):
            for _ in range(MAX_ROUNDS):
                if collector.copy(trees) == 0:
                    break
            collector.copy_database(parts.settings.state)
        manifest = Manifest(
            version(),
            local_now(parts.clock).isoformat(timespec="seconds"),
            collector.entries,
            collector.left_out,
        )
        collector.add_text(archive.MANIFEST, manifest.to_json())
    files = sum(not entry.is_folder for entry in collector.entries.values())
    links, unreadable = (tuple(sorted(names)) for names in (collector.links, collector.unreadable))
    return Result(files, counted.size_bytes, counted.digest.hexdigest(), links, unreadable, collector.unsteady)


def is_full(error: OSError) -> bool:
    """Whether the disk or the quota is full."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def _trees(parts: Opened) -> Mapping[str, Path]:
    settings = parts.settings
    trees = {"vault": settings.vault, "state": settings.state}
    for name, path in trees.items():
        if not path.is_dir():
            raise BadMount(
                f"the {name} folder {str(path)!r} is not there; mount it, or check STRONGROOM_{name.upper()}."
            )
    if settings.history_dir not in ("", ".git", str(settings.vault / ".git")):
        trees["history"] = Path(settings.history_dir)
    return {name: path.resolve() for name, path in trees.items()}


class _Collector:
    """What was copied so far: `entries` counts, the stamps say whether it still does."""

    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar = tar
        self._stamps: dict[str, tuple[int, ...]] = {}
        self.entries: dict[str, Entry] = {}
        self._written: set[str] = set()
        self.links: set[str] = set()
        self.unreadable: set[str] = set()

    def copy(self, trees: Mapping[str, Path]) -> int:
        """One round: copy what is new or differs, forget what vanished. Returns the bytes copied (folders count 1)."""
        self.links, self.unreadable = set(), set()
        copied, seen = 0, set[str]()
        for tree in sorted(trees, reverse=True):  # the vault first: it is what people look for in a listing
            for item in listing.walk(tree, trees[tree], self.unreadable):
                if stat.S_ISREG(item.status.st_mode) or stat.S_ISDIR(item.status.st_mode):
                    seen.add(item.name)
                    copied += self._copy_item(item)
                else:
                    self.links.add(item.name)
        for name in self.entries.keys() - seen - {listing.DATABASE}:
            del self.entries[name]
            self._stamps.pop(name, None)
        return copied

    def _copy_item(self, item: Item) -> int:
        if self._stamps.get(item.name) == item.stamp:
            return 0
        if stat.S_ISDIR(item.status.st_mode):
            self.entries[item.name] = Entry("", 0, listing.mode_of(item.status), item.status.st_mtime_ns)
            self._add(item.name, self.entries[item.name], None)
            self._stamps[item.name] = item.stamp
            return 1
        try:
            descriptor = os.open(
                item.base, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=item.dir_fd
            )
        except FileNotFoundError:
            return 1  # gone since it was listed; the next round sees that
        except OSError:
            self.unreadable.add(item.name)
            return 0
        with os.fdopen(descriptor, "rb") as file:
            return self._copy_file(item.name, file)

    def _copy_file(self, name: str, file: BinaryIO) -> int:
        before = os.fstat(file.fileno())
        source = _Padded(file, before.st_size)
        entry = Entry("?", before.st_size, listing.mode_of(before), before.st_mtime_ns)
        self._add(name, entry, source)
        self.entries[name] = replace(entry, sha256=source.digest.hexdigest())
        is_still = listing.stamp_of(os.fstat(file.fileno())) == listing.stamp_of(before)
        self._stamps[name] = listing.stamp_of(before) if is_still else ()
        return max(before.st_size, 1)

    def copy_database(self, state: Path) -> None:
        """Add the state's database as SQLite's backup API sees it: one moment, whoever writes meanwhile."""
        path = state / db.FILE_NAME
        if not path.exists():
            return
        data = _snapshot(path)
        entry = Entry(hashlib.sha256(data).hexdigest(), len(data), 0o600, path.stat().st_mtime_ns)
        self._add(listing.DATABASE, entry, io.BytesIO(data))
        self.entries[listing.DATABASE] = entry

    def add_text(self, name: str, data: bytes) -> None:
        """Add the archive's own words: they do not count."""
        self._add(name, Entry("?", len(data), 0o600, 0), io.BytesIO(data))

    @property
    def unsteady(self) -> tuple[str, ...]:
        """Files that changed every time they were read."""
        return tuple(sorted(name for name, stamp in self._stamps.items() if not stamp))

    @property
    def left_out(self) -> tuple[str, ...]:
        """What was written and vanished before the end."""
        return tuple(self._written - self.entries.keys())

    def _add(self, name: str, entry: Entry, source: io.BytesIO | _Padded | None) -> None:
        info = tarfile.TarInfo(name)
        info.type = tarfile.DIRTYPE if source is None else tarfile.REGTYPE
        info.size, info.mode, info.mtime = entry.size_bytes, entry.mode, entry.mtime_ns // 1_000_000_000
        self._tar.addfile(info, source)
        if name not in (archive.README, archive.MANIFEST):
            self._written.add(name)


def _snapshot(path: Path) -> bytes:
    """The database's bytes at one moment, WAL included, checked.

    Raises:
        Misconfigured: SQLite finds it damaged.
        Busy: somebody has held it for too long.
    """
    source, copy = sqlite3.connect(path, timeout=_DATABASE_TIMEOUT_S), sqlite3.connect(":memory:")
    try:
        source.backup(copy)
        if copy.execute("PRAGMA integrity_check").fetchone() != ("ok",):
            raise sqlite3.DatabaseError
        data = bytearray(copy.serialize())
    except sqlite3.OperationalError as error:
        raise Busy("the state's database", _DATABASE_TIMEOUT_S) from error
    except sqlite3.DatabaseError as error:
        raise Misconfigured("the state's database is damaged; bring it back from an older backup.") from error
    finally:
        source.close()
        copy.close()
    data[18:20] = b"\1\1"  # SQLite file format 1.3: written and read without a WAL, since none comes along
    return bytes(data)


class _Padded:
    """A file as exactly `size` bytes, hashed as it is read: cut when it grew, padded when it shrank meanwhile."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self._left = file, size
        self.digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        wanted = self._left if size < 0 else min(size, self._left)
        piece = self._file.read(wanted)
        piece += bytes(wanted - len(piece))
        self._left -= wanted
        self.digest.update(piece)
        return piece


class _Counted(io.RawIOBase):
    """A stream that counts and hashes what goes into it."""

    def __init__(self, stream: BinaryIO, progress: Progress) -> None:
        self._stream, self._progress = stream, progress
        self.size_bytes = 0
        self.digest = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: Buffer, /) -> int:
        piece = bytes(data)
        self._stream.write(piece)
        self.digest.update(piece)
        self.size_bytes += len(piece)
        self._progress(len(piece))
        return len(piece)
