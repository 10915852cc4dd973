"""History as a grant sees it that is limited to some folders: as if the vault had never held anything else.

The commits are the real ones, by their real ids, but each holds a tree of our own making with nothing in it but the folders,
and a commit that changed nothing in them is not there. So everything that `Log` tells (lists, counts, renames, what was when)
ends at their border by itself: a note that came from elsewhere begins there, one that went elsewhere was removed. Of a commit
nothing is told that its author wrote for the whole: its message gives way to a count, and a grant's label or an author's name
that is not the reader's own to `someone else`.

What lies in the trash is left out: its folders are named by other programs too, so it need not have come from here.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from service.guards import paths
from service.guards.folders import Scope
from service.guards.paths import VaultPath
from service.history import trees
from service.history.history import History
from service.history.log import Log
from service.history.model import FOLDER_MODE, Action, Blob, ChangeSet, Pending, Revision
from service.history.stories import Link
from service.store.files import VaultFiles

SOMEONE_ELSE: Final = "someone else"

_Wanted: TypeAlias = "Mapping[bytes, _Wanted | None]"
"""Names of a folder that are kept, whole (None) or in part."""


class LimitedHistory(History):
    """One view of a history. It shares everything with the whole one; it is not to be closed.

    Args:
        whole: commits and restores go through it.
        files: the same view of the vault's files.
        label: the name of the reader's grant.
    """

    is_limited = True

    def __init__(self, whole: History, files: VaultFiles, scope: Scope, label: str) -> None:
        vars(self).update(vars(whole))
        self.files, self._scope = files, scope
        self.log = LimitedLog(whole.log, scope, label, whole.setup.author)

    def present(self) -> dict[str, Blob]:
        """As of the whole, of the folders alone."""
        return {path: blob for path, blob in super().present().items() if self._holds(path)}

    def pending(self) -> Pending | None:
        """As of the whole, of the folders alone."""
        times = [row.at for row in self._journal.rows() if self._holds(row.path)]
        return Pending(min(times), max(times), len(times)) if times else None

    def _holds(self, path: str) -> bool:
        where = VaultPath(tuple(path.split("/")))
        return where.parts[0] != paths.TRASH and self._scope.holds(where)


class LimitedLog(Log):
    """The commits that changed something in the folders of a scope, each with a tree that holds nothing else."""

    def __init__(self, whole: Log, scope: Scope, label: str, author: str) -> None:
        vars(self).update(vars(whole))
        self._whole, self._label, self._author = whole, label, author
        self._wanted = _nested([[os.fsencode(part) for part in folder.parts] for folder in scope.folders])
        self._made: dict[str, bytes] = {}
        self._reduced: dict[str, str] = {}
        self._seen: list[Link] = []
        self._told: list[Link] = []
        self._following = threading.Lock()

    def chain(self) -> list[Link]:
        """The commits that changed something in the folders, newest first."""
        every = self._whole.chain()
        with self._following:
            known = self._seen[0].id if self._seen else None
            fresh = next((place for place, link in enumerate(every) if link.id == known), len(every))
            if fresh == len(every):  # another branch, or the first look
                self._told = []
            found = []
            for place in range(fresh):
                tree = self._of(every[place].tree)
                before = self._of(every[place + 1].tree) if place + 1 < len(every) else trees.EMPTY_TREE
                if tree != before:
                    found.append(replace(every[place], tree=tree))
            self._seen, self._told = every, found + self._told
            return self._told

    def gap(self) -> str:
        """As of the whole."""
        return self._whole.gap()

    def tree_of(self, commit: str) -> str:
        """The tree of any commit, with nothing in it but the folders. Raises as that of the whole."""
        return self._of(self._whole.tree_of(commit))

    def revision(self, commit: str) -> Revision:
        """As of the whole, without what was written for others: see `changes` for the subject."""
        told = self._whole.revision(commit)
        grant = told.grant if told.grant in (None, self._label) else SOMEONE_ELSE
        author = told.author if told.author == self._author else SOMEONE_ELSE
        return Revision(told.id, told.time, author, "", None, grant)

    def _change_set(self, chain: Sequence[Link], place: int, prefix: str) -> ChangeSet:
        told = super()._change_set(chain, place, prefix)
        counts = ((told.added, Action.ADDED), (told.changed, Action.CHANGED), (told.removed, Action.REMOVED))
        subject = ", ".join(f"{count} {action.value}" for count, action in counts if count)
        return replace(told, revision=replace(told.revision, subject=subject))

    def _tree(self, tree: str) -> bytes:
        made = self._made.get(tree)
        return super()._tree(tree) if made is None else made

    def _of(self, tree: str) -> str:
        """The id of a tree with nothing in it but the folders."""
        known = self._reduced.get(tree)
        if known is None:
            known = self._reduced[tree] = self._with(tree, self._wanted)
        return known

    def _with(self, tree: str, wanted: _Wanted) -> str:
        kept: dict[bytes, Blob] = {}
        for name, below in wanted.items():
            found = trees.entry(super()._tree, tree, name)
            if found is None:
                continue
            if below is None:
                kept[name] = found
            elif found.mode == FOLDER_MODE and (inner := self._with(found.id, below)) != trees.EMPTY_TREE:
                kept[name] = Blob(FOLDER_MODE, inner)
        if not kept:
            return trees.EMPTY_TREE
        raw = trees.serialized(kept)
        made = hashlib.sha1(b"tree %d\0%s" % (len(raw), raw), usedforsecurity=False).hexdigest()
        self._made[made] = raw
        return made


def _nested(folders: Sequence[Sequence[bytes]]) -> _Wanted:
    """The names on the way to the folders, the shortest of nested ones alone."""
    wanted: dict[bytes, _Wanted | None] = {}
    for name in dict.fromkeys(folder[0] for folder in folders):
        below = [folder[1:] for folder in folders if folder[0] == name]
        wanted[name] = _nested(below) if all(below) else None
    return wanted
