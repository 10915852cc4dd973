"""Every visible file and folder of the vault as it is now, kept in memory and brought up to date whenever it is asked for.

What is told is never older than the question: `Census.now` looks first. Hidden names are not there, links are never
followed, and a folder that cannot be read is empty. Whoever keeps something about files is told of each that may have
changed; a file that may have changed gets a new object, so what hangs on an object is true as long as it is listed.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Generic, TypeAlias, TypeVar

from service.errors import AppError
from service.guards import paths
from service.guards.folders import Scope
from service.guards.paths import ROOT, VaultPath
from service.store.root import Root

UNSURE_NS: Final = 2_000_000_000
"""Nanoseconds for which a file that has just changed may change again without another time stamp, on the coarsest disks."""

NO_MARK: Final = 0
"""The mark of a file that may have changed since, whatever its times say."""

_WAIT_S: Final = 0.1
_FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class File:
    """One visible file as it was last seen. `mtime_ns` counts from 1970; equal marks of one path mean the same content."""

    __slots__ = ("mark", "mtime_ns", "path", "size_bytes")

    def __init__(self, path: VaultPath, size_bytes: int, mtime_ns: int, mark: int) -> None:
        self.path = path
        self.size_bytes = size_bytes
        self.mtime_ns = mtime_ns
        self.mark = mark


F = TypeVar("F", bound=File)
Make: TypeAlias = Callable[[VaultPath, int, int, int], F]
"""Makes the object for a file, as `File` itself does."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Listing(Generic[F]):
    """What is visible directly in one folder. Never changed, only replaced; equal only to itself."""

    path: VaultPath
    files: Mapping[str, F] = field(default_factory=dict)
    folders: tuple[str, ...] = ()


Folders: TypeAlias = Mapping[VaultPath, Listing[F]]
"""All visible folders by their paths, the vault's root among them. A snapshot: it does not change any more."""


class Census(Generic[F]):
    """The files and folders below one root. Thread-safe.

    Args:
        make: makes the objects that stand for files.
        on_change: told of each file that came, went or may have changed: its path, what it was and what it is now. Called
            while the census is being taken, from one thread at a time.
    """

    def __init__(self, root: Root, make: Make[F], on_change: Callable[[VaultPath, F | None, F | None], None]) -> None:
        self._root = root
        self._make = make
        self._on_change = on_change
        self._lock = threading.Lock()
        self._folders: dict[VaultPath, Listing[F]] = {}
        self._told: Folders[F] = MappingProxyType({})
        self._is_told = False

    def now(self, check: Callable[[], None] = lambda: None) -> Folders[F]:
        """The folders as they are: everything that had happened when this was called is in it.

        Args:
            check: called between two folders; raises to give up, which loses nothing.

        Raises:
            VaultMissing: the vault is not there.
        """
        with held(self._lock, check):
            self._root.check()
            self._walk(check)
            if not self._is_told:
                self._told, self._is_told = MappingProxyType(dict(self._folders)), True
            return self._told

    def _walk(self, check: Callable[[], None]) -> None:
        pending, reached = [ROOT], set[VaultPath]()
        while pending:
            check()
            here = pending.pop()
            reached.add(here)
            pending += [here.child(name) for name in self._look(here).folders]
        for path in [path for path in self._folders if path not in reached]:
            self._replace(path, None)

    def _look(self, path: VaultPath) -> Listing[F]:
        """Look at one folder; tell what has changed in it."""
        known = self._folders.get(path, _empty(path))
        files: dict[str, F] = {}
        folders: list[str] = []
        is_same = path in self._folders
        unsure_after_ns = time.time_ns() - UNSURE_NS
        for name, seen in _visible(self._root, path):
            if seen is None:
                folders.append(name)
                continue
            is_unsure = max(seen.st_mtime_ns, seen.st_ctime_ns) > unsure_after_ns
            mark = NO_MARK if is_unsure else _mark(seen)
            before = known.files.get(name)
            if before is None or mark == NO_MARK or mark != before.mark:
                before = self._make(path.child(name), seen.st_size, seen.st_mtime_ns, mark)
                is_same = False
            files[name] = before
        found = tuple(sorted(folders))
        if is_same and len(files) == len(known.files) and found == known.folders:
            return known
        return self._replace(path, Listing(path, files, found))

    def _replace(self, path: VaultPath, found: Listing[F] | None) -> Listing[F]:
        known = self._folders.get(path, _empty(path))
        now = _empty(path) if found is None else found
        self._is_told = False
        for name in known.files.keys() | now.files.keys():
            before, after = known.files.get(name), now.files.get(name)
            if before is not after:
                self._on_change(path.child(name), before, after)
        if found is None:
            del self._folders[path]
        else:
            self._folders[path] = found
        return now


def within(folders: Folders[F], scope: Scope) -> Folders[F]:
    """The same as if there were nothing outside the folders of `scope`: above them a bare way, nothing beside it."""
    kept: dict[VaultPath, Listing[F]] = {}
    for path, listing in folders.items():
        if scope.holds(path):
            kept[path] = listing
            continue
        way = {one.parts[len(path.parts)] for one in scope.below(path) if _is_there(folders, one)}
        if way or path == ROOT:
            kept[path] = Listing(
                path,
                {name: found for name, found in listing.files.items() if name in way},
                tuple(name for name in listing.folders if name in way),
            )
    return kept


@contextmanager
def held(lock: threading.Lock, check: Callable[[], None]) -> Iterator[None]:
    """Hold a lock, waiting for it no longer than `check` allows."""
    while not lock.acquire(timeout=_WAIT_S):
        check()
    try:
        yield
    finally:
        lock.release()


def _empty(path: VaultPath) -> Listing[F]:
    return Listing(path)


def _is_there(folders: Folders[F], path: VaultPath) -> bool:
    around = folders.get(path.parent)
    return around is not None and (path.name in around.files or path.name in around.folders)


def _mark(seen: os.stat_result) -> int:
    return hash((seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)) or 1


def _visible(root: Root, folder: VaultPath) -> Iterator[tuple[str, os.stat_result | None]]:
    """The names of what is visible in a folder; regular files with what the disk says of them, folders with None."""
    try:
        with root.folder(folder) as there:
            descriptor = os.open(".", _FOLDER_FLAGS, dir_fd=there)
    except (OSError, AppError):
        return
    try:
        with os.scandir(descriptor) as entries:
            for entry in entries:
                if not paths.is_visible(entry.name) or (not folder.parts and entry.name.startswith("~")):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    yield entry.name, None
                    continue
                try:
                    seen = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                if stat.S_ISREG(seen.st_mode):
                    yield entry.name, seen
    except OSError:
        return  # the disk gave up half-way: what was seen is still good
    finally:
        os.close(descriptor)
