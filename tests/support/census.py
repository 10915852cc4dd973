"""A census that remembers what it has read, and the plain truth of the disk to compare it with."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from service.guards import paths
from service.guards.paths import VaultPath
from service.store.census import Census
from service.store.listings import File
from service.store.root import Root

Truth: TypeAlias = Mapping[str, tuple[Mapping[str, bytes], tuple[str, ...]]]
"""By folder: what each visible file holds, and the names of the visible folders."""


class Kept(File):
    """A file whose bytes are read once, as everything is that hangs on such an object: stale if the object should be new."""

    __slots__ = ("data",)

    def __init__(self, path: VaultPath, size_bytes: int, mtime_ns: int, mark: int) -> None:
        super().__init__(path, size_bytes, mtime_ns, mark)
        self.data: bytes | None = None


class Watched:
    """A vault, its census, and what the census told of changes."""

    def __init__(self, folder: Path, asked: str) -> None:
        self.folder = folder
        self.root = Root(folder)
        self.made = 0
        self.present: dict[VaultPath, Kept] = {}
        self.census = Census[Kept](self.root, self._make, self._noticed, asked)

    def _make(self, path: VaultPath, size_bytes: int, mtime_ns: int, mark: int) -> Kept:
        self.made += 1
        return Kept(path, size_bytes, mtime_ns, mark)

    def _noticed(self, path: VaultPath, before: Kept | None, after: Kept | None, _like: Kept | None) -> None:
        assert self.present.pop(path, None) is before
        if after is not None:
            self.present[path] = after

    def now(self) -> Truth:
        """What the census says, with every file read that was not read before; what it told of must be the same files."""
        folders = self.census.now()
        files = {file.path: file for listing in folders.values() for file in listing.files.values()}
        assert files == self.present
        found: dict[str, tuple[Mapping[str, bytes], tuple[str, ...]]] = {}
        for path, listing in folders.items():
            for file in listing.files.values():
                assert file.path.parent == path
                if file.data is None:
                    file.data = (self.folder / str(file.path)).read_bytes()
            found[str(path)] = ({name: file.data or b"" for name, file in listing.files.items()}, listing.folders)
        return found

    def truth(self) -> Truth:
        """What is on the disk, by looking at all of it."""
        return dict(_looked_at(self.folder, self.folder))


@contextmanager
def watched(folder: Path, asked: str = "events") -> Iterator[Watched]:
    """A census of a folder, closed afterwards."""
    folder.mkdir(exist_ok=True)
    it = Watched(folder, asked)
    try:
        yield it
    finally:
        it.census.close()
        it.root.close()


def _looked_at(vault: Path, folder: Path) -> Iterator[tuple[str, tuple[Mapping[str, bytes], tuple[str, ...]]]]:
    files: dict[str, bytes] = {}
    folders: list[str] = []
    for name in sorted(os.listdir(folder)):
        place = folder / name
        if not paths.is_visible(name) or (folder == vault and name.startswith("~")):
            continue
        mode = place.lstat().st_mode
        if stat.S_ISDIR(mode):
            folders.append(name)
        elif stat.S_ISREG(mode):
            files[name] = place.read_bytes()
    at = "" if folder == vault else str(folder.relative_to(vault))
    yield at, (files, tuple(folders))
    for name in folders:
        yield from _looked_at(vault, folder / name)
