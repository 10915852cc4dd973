"""From changes to commits: build the trees, word the commits, move the branch once, then tidy up the caches.

Order is everything here: objects are durable before the branch moves, the branch moves by compare and swap, and only then do
journal, cache and (in the owner's repository) the index follow. A kill in between leaves the old history or the new one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from service.history import commits, trees
from service.history.commits import Trailers, Wording
from service.history.gitdir import GitDir, Head
from service.history.guard import EMPTY_BLOB
from service.history.model import Action, Blob, FileChange
from service.history.objects import COMMIT, TREE, ObjectMissing
from service.history.packs import Writer


@dataclass(frozen=True, slots=True)
class Step:
    """What becomes one commit: paths and what they hold afterwards (None: nothing)."""

    changes: Mapping[str, Blob | None]
    trailers: Trailers
    at: datetime


@dataclass(frozen=True, slots=True)
class Built:
    """Commits that are stored and not yet on the branch. `changes` are all files they changed, in order."""

    commits: tuple[str, ...]
    head: Head
    changes: tuple[FileChange, ...]


def reader(git: GitDir, writer: Writer) -> trees.ReadTree:
    """Reads trees of the branch and those just written; each is fetched once."""
    fetched: dict[str, bytes] = {trees.EMPTY_TREE: b""}

    def read(tree: str) -> bytes:
        if tree not in fetched:
            try:
                fetched[tree] = writer.read(tree, TREE)
            except ObjectMissing:  # asked again where the failure has words
                fetched[tree] = git.read_tree(tree)
        return fetched[tree]

    return read


def build(git: GitDir, writer: Writer, head: Head, steps: Sequence[Step], wording: Wording, *, zone: ZoneInfo) -> Built:
    """Store one commit a step on top of `head`; a step that changes nothing makes none."""
    read = reader(git, writer)
    tree, parent, ids, told = head.tree, head.commit, [], []
    previous = None if head.commit is None else git.commit_text(head.commit).time
    for step in steps:
        built = trees.change(read, lambda raw: writer.put(TREE, raw), tree, step.changes)
        if built == (tree or trees.EMPTY_TREE):
            continue
        changes = file_changes(step.changes, _looking(read, tree))
        at = _in_order(step.at, previous, steps[-1].at)
        raw = commits.compose(wording, built, parent, at.astimezone(zone), changes=changes, trailers=step.trailers)
        tree, parent, previous = built, writer.put(COMMIT, raw), at
        ids.append(parent)
        told += changes
    return Built(tuple(ids), Head(head.ref, parent, tree), tuple(told))


def file_changes(changes: Mapping[str, Blob | None], before: Callable[[str], Blob | None]) -> list[FileChange]:
    """What happened to each file, exact renames recognised, sorted by path."""
    added: dict[str, list[str]] = {}
    told: list[FileChange] = []
    gone: list[tuple[str, str]] = []
    for path, now in sorted(changes.items()):
        was = before(path)
        if was == now:
            continue
        if now is None:
            gone.append((path, was.id if was else ""))
        elif was is None:
            added.setdefault(now.id, []).append(path)
        else:
            told.append(FileChange(Action.CHANGED, path))
    for path, blob in gone:
        new_path = _claimed(path, added.get(blob, [])) if blob != EMPTY_BLOB else None
        if new_path is None:
            told.append(FileChange(Action.REMOVED, path))
        else:
            added[blob].remove(new_path)
            told.append(FileChange(Action.RENAMED, new_path, path))
    told += [FileChange(Action.ADDED, path) for group in added.values() for path in group]
    return sorted(told, key=lambda change: change.path)


def _claimed(old: str, candidates: Sequence[str]) -> str | None:
    """The new name of a file that went: one with the same last part, else the first."""
    name = old.rpartition("/")[2]
    same = [path for path in candidates if path.rpartition("/")[2] == name]
    return next(iter(same or candidates), None)


def _looking(read: trees.ReadTree, tree: str | None) -> Callable[[str], Blob | None]:
    return lambda path: trees.file_at(read, tree, path)


def _in_order(at: datetime, previous: datetime | None, now: datetime) -> datetime:
    """Times do not run backwards along the branch, unless the clock itself was once ahead."""
    return at if previous is None or previous > now else max(at, previous)
