"""Look through the vault's folders. Hidden names are never seen, links never followed, and what vanishes is passed over."""

from __future__ import annotations

import os
import stat
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
    for path, entry in _below(root, folder):
        if not path.has_suffix(suffixes):
            continue
        try:
            seen = entry.stat(follow_symlinks=False)
        except OSError:
            continue
        if stat.S_ISREG(seen.st_mode):
            yield Entry(path, seen.st_size, seen.st_mtime_ns)


def everything(root: Root) -> Iterator[VaultPath]:
    """Every visible file and folder."""
    for path, _ in _below(root, ROOT):
        yield path


def _below(root: Root, folder: VaultPath) -> Iterator[tuple[VaultPath, os.DirEntry[str]]]:
    """Everything visible below `folder`; an entry is good for questions only until the next one is asked for."""
    pending = [folder]
    while pending:
        here = pending.pop()
        for entry in _visible(root, here):
            path = here.child(entry.name)
            if entry.is_dir(follow_symlinks=False):
                pending.append(path)
            yield path, entry


def _visible(root: Root, folder: VaultPath) -> Iterator[os.DirEntry[str]]:
    shown = root.names_shown(folder)
    try:
        with root.folder(folder) as held:
            descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=held)
    except (OSError, AppError):
        return
    try:
        with os.scandir(descriptor) as entries:  # an entry asks through this descriptor, so it stays open meanwhile
            for entry in entries:
                if shown is not None and entry.name not in shown:
                    continue
                if paths.is_visible(entry.name) and not _is_odd(folder, entry.name):
                    yield entry
    finally:
        os.close(descriptor)


def _is_odd(folder: VaultPath, name: str) -> bool:
    return not folder.parts and name.startswith("~")  # no path may begin with it, so nothing could read it
