"""What happened to one path along the branch: which commits changed it, and what it was called before.

Renames are followed back where they are exact: in one commit, one name goes and another comes with the same content.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from service.history import trees
from service.history.guard import EMPTY_BLOB
from service.history.model import FOLDER_MODE, Action, Blob
from service.history.steps import file_changes


@dataclass(frozen=True, slots=True)
class Link:
    """One commit of the branch, as the walk needs it."""

    id: str
    tree: str
    time: datetime


class Told(NamedTuple):
    """One change of the note. For a removal `blob` is None; for a rename `path` is the name afterwards."""

    link: Link
    action: Action
    path: str
    old_path: str | None
    blob: Blob | None


class Finder:
    """Looks one path up in many trees; folders that did not change between commits are opened once."""

    def __init__(self, read: trees.ReadTree) -> None:
        self._read = read
        self._cache: dict[tuple[str, str], Blob | None] = {}

    def __call__(self, tree: str | None, path: str) -> Blob | None:
        """The file at `path`; None when there is none."""
        found = self.anything(tree, path)
        return None if found is None or found.mode == FOLDER_MODE else found

    def anything(self, tree: str | None, path: str) -> Blob | None:
        """The file or folder at `path`."""
        return None if tree is None else self._below(tree, path)

    def _below(self, tree: str, path: str) -> Blob | None:
        key = tree, path
        if key not in self._cache:
            name, _, rest = path.partition("/")
            entry = trees.entry(self._read, tree, os.fsencode(name))
            if rest and entry is not None:
                entry = self._below(entry.id, rest) if entry.mode == FOLDER_MODE else None
            self._cache[key] = entry
        return self._cache[key]


def versions(read: trees.ReadTree, chain: Sequence[Link], path: str) -> Iterator[Told]:
    """Every change of the note, newest first, with the name it had."""
    name, find = path, Finder(read)
    for place, link in enumerate(chain):
        parent = chain[place + 1].tree if place + 1 < len(chain) else None
        now, was = find(link.tree, name), find(parent, name)
        if now == was:
            continue
        if now is not None and was is not None:
            yield Told(link, Action.CHANGED, name, None, now)
            continue
        moved = _moved(read, parent, link.tree, name, (now or was).id)  # type: ignore[union-attr]  # one of them is
        if now is None:
            gone = Told(link, Action.REMOVED, name, None, None)
            yield Told(link, Action.RENAMED, moved, name, was) if moved else gone
        elif moved is None:
            yield Told(link, Action.ADDED, name, None, now)
        else:
            yield Told(link, Action.RENAMED, name, moved, now)
            name = moved


def _moved(read: trees.ReadTree, old: str | None, new: str, path: str, blob: str) -> str | None:
    """The other end of an exact rename of `path` between two trees."""
    if old is None or blob == EMPTY_BLOB:
        return None
    found = list(trees.differences(read, old, new))
    others = (entry for name, before, after in found if name != path for entry in (before, after))
    if not any(entry is not None and entry.id == blob for entry in others):
        return None
    was = {name: before for name, before, _ in found}
    for change in file_changes({name: after for name, _, after in found}, was.get):
        if change.old_path is not None and path in (change.path, change.old_path):
            return change.old_path if path == change.path else change.path
    return None
