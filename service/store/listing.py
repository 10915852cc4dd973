"""Look through the vault's folders. Hidden names are never seen, links never followed, and what vanishes is passed over."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from service.errors import AppError
from service.guards import paths
from service.guards.paths import ROOT, VaultPath
from service.store.root import Root


@dataclass(frozen=True, slots=True)
class Entry:
    """A file seen while walking. Times are nanoseconds since 1970, sizes bytes."""

    path: VaultPath
    size_bytes: int
    mtime_ns: int


def walk(root: Root, folder: VaultPath, suffixes: tuple[str, ...]) -> Iterator[Entry]:
    """Every visible file with one of `suffixes` (in any case) at or below `folder`, in no promised order."""
    for here, entries in _by_folder(root, folder):
        for entry in entries:
            if not entry.name.lower().endswith(suffixes) or not entry.is_file(follow_symlinks=False):
                continue
            try:
                seen = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            yield Entry(here.child(entry.name), seen.st_size, seen.st_mtime_ns)


def folders(root: Root, folder: VaultPath = ROOT) -> Iterator[VaultPath]:
    """Every visible folder at or below `folder`, that one first."""
    for here, _ in _by_folder(root, folder):
        yield here


def everything(root: Root) -> Iterator[VaultPath]:
    """Every visible file and folder."""
    for here, entries in _by_folder(root, ROOT):
        yield from (here.child(entry.name) for entry in entries)


def _by_folder(root: Root, folder: VaultPath) -> Iterator[tuple[VaultPath, list[os.DirEntry[str]]]]:
    pending = [folder]
    while pending:
        here = pending.pop()
        entries = _visible(root, here)
        yield here, entries
        pending += [here.child(entry.name) for entry in entries if entry.is_dir(follow_symlinks=False)]


def _visible(root: Root, folder: VaultPath) -> list[os.DirEntry[str]]:
    try:
        with root.folder(folder) as held:
            descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=held)
    except (OSError, AppError):
        return []
    try:
        with os.scandir(descriptor) as entries:
            return [entry for entry in entries if paths.is_visible(entry.name) and not _is_odd(folder, entry.name)]
    finally:
        os.close(descriptor)


def _is_odd(folder: VaultPath, name: str) -> bool:
    return not folder.parts and name.startswith("~")  # no path may begin with it, so nothing could read it
