"""Reading history: which commits there are, what they changed, which versions a note had, what it said then.

The branch's first parents are the history ("linear on our side"). Commit headers are read once and kept, newest first, so that
asking again reads only what is new. Everything is bounded by what the caller asks for, and reading takes no lock.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from service.errors import HistoryHeld, PathAmbiguous, RevisionNotFound
from service.history import commits, moments, stories, trees
from service.history.gitdir import GitDir
from service.history.model import (
    FOLDER_MODE,
    Action,
    Blob,
    ChangeSet,
    OldFile,
    Revision,
    Version,
    shown,
)
from service.history.objects import BLOB, ObjectMissing
from service.history.steps import file_changes
from service.history.stories import Link, Told
from service.vault.model import Page

MAX_FILES_LISTED: Final = 50
"""Files named for one commit in `changes`; the counts are of all."""
MAX_ASKED_CHARS: Final = 100
"""Characters of a revision's name: an id has 40."""
_RELATIVE: Final = re.compile(r"(?i)(?P<base>.*?)(?P<back>(?:~\d*|\^)*)")
_HEX: Final = re.compile(r"(?i)[0-9a-f]{4,40}")


class Log:
    """The branch's commits. Threads may share it."""

    def __init__(self, git: GitDir) -> None:
        self._git = git
        self._guard = threading.Lock()
        self._chain: list[Link] = []
        self._lost: str | None = None

    def _tree(self, tree: str) -> bytes:
        """A tree's raw content."""
        return self._git.read_tree(tree)

    def chain(self) -> list[Link]:
        """The branch's commits along first parents, newest first."""
        head = self._git.head().commit
        with self._guard:
            fresh: list[Link] = []
            lost: str | None = None
            known = {link.id: place for place, link in enumerate(self._chain[:1])}
            while head is not None and head not in known:
                try:
                    text = self._git.commit_text(head)
                except ObjectMissing as error:
                    if fresh or self._chain:
                        lost = head  # a shallow clone, or a hole far back: history begins here
                        break
                    raise HistoryHeld("the history is damaged: its newest commit cannot be read.") from error
                fresh.append(Link(head, text.tree, text.time))
                head = text.parents[0] if text.parents else None
            is_joined = head is not None and head in known
            self._chain = fresh + (self._chain if is_joined else [])
            self._lost = self._lost if is_joined else lost
            return self._chain

    def gap(self) -> str:
        """When commits further back cannot be read any more: a sentence that says so. Empty for a whole history."""
        self.chain()
        if self._lost is None or self._git.is_shallow():
            return ""
        return f"Older commits cannot be read (object {self._lost[:12]} is damaged or missing); restore the history from a backup."

    def revision(self, commit: str) -> Revision:
        """A commit's time, author, subject and trailers.

        Raises:
            RevisionNotFound: there is no such commit.
        """
        try:
            return commits.revision(commit, self._git.commit_text(commit))
        except ObjectMissing as error:
            raise RevisionNotFound(f"revision {commit[:12]}") from error

    def resolve(self, asked: str) -> str:
        """The commit that `asked` names: an id or the first 4 or more digits of one, `HEAD`, `~3`, `<id>~2`.

        Raises:
            RevisionNotFound: none, or more than one, answers to it.
        """
        if len(asked) > MAX_ASKED_CHARS:  # reading `~` upon `~` takes time by the square of their number
            raise RevisionNotFound("revision of that name", "Give an id that the history lists.")
        match = _RELATIVE.fullmatch(asked.strip())
        base = match["base"] if match else asked.strip()
        chain = self.chain()
        if base.casefold() in ("", "head", "@", "main", "latest"):
            place = 0
        elif _HEX.fullmatch(base):
            found = [place for place, link in enumerate(chain) if link.id.startswith(base.casefold())]
            place = _only(found, asked, self.gap())
        else:
            raise RevisionNotFound(
                f"revision {asked!r}", "Give an id that the history lists, or ~1 for the one before."
            )
        for step in re.findall(r"~\d*|\^", match["back"] if match else ""):
            place += int(step[1:] or 1) if step.startswith("~") else 1
        if not 0 <= place < len(chain):
            raise RevisionNotFound(f"revision {asked!r}", self.gap() or f"It holds {len(chain)} commits.")
        return chain[place].id

    def as_of(self, moment: datetime) -> str:
        """The newest commit that is not later than `moment` (aware), also where a clock was wrong for a while.

        Raises:
            RevisionNotFound: history is younger.
        """
        chain = self.chain()
        place = moments.current_at(moment, [link.time for link in chain])
        if place is not None:
            return chain[place].id
        begins = f"It begins {chain[-1].time:%Y-%m-%d %H:%M} UTC." if chain else "Nothing has been committed yet."
        raise RevisionNotFound(f"state as old as {moment:%Y-%m-%d %H:%M} UTC", self.gap() or begins)

    def tree_of(self, commit: str) -> str:
        """A commit's tree.

        Raises:
            RevisionNotFound: there is no such commit.
        """
        try:
            return self._git.commit_text(commit).tree
        except ObjectMissing as error:
            raise RevisionNotFound(f"revision {commit[:12]}") from error

    def changes(
        self,
        since: datetime | None = None,
        until: datetime | None = None,
        prefix: str = "",
        limit: int = 20,
        offset: int = 0,
    ) -> Page[ChangeSet]:
        """Commits from `since` to `until` (aware, both included) that changed something at or below `prefix`, newest first."""
        chain, find = self.chain(), stories.Finder(self._tree)
        where = self.named(prefix.rstrip("/"))
        matching: list[int] = []
        for place, link in enumerate(chain):
            if (since and link.time < since) or (until and link.time > until):
                continue
            parent = chain[place + 1].tree if place + 1 < len(chain) else None
            if not where or find.anything(link.tree, where) != find.anything(parent, where):
                matching.append(place)
        items = [self._change_set(chain, place, where) for place in matching[offset : offset + limit]]
        return Page(tuple(items), len(matching), offset)

    def note_history(self, path: str, limit: int = 20, offset: int = 0) -> Page[Version]:
        """The versions of the note at `path`, newest first: across removals, and back through exact renames.

        Raises:
            RevisionNotFound: no commit ever held it.
        """
        versions = list(self.stories(self.named(path)))
        if not versions:
            raise no_such(path)
        return Page(
            tuple(self._filled(version) for version in versions[offset : offset + limit]), len(versions), offset
        )

    def stories(self, path: str) -> Iterator[Told]:
        """Every change of the note at exactly `path`, newest first, also under its older names."""
        yield from stories.versions(self._tree, self.chain(), path)

    def read(self, path: str, commit: str) -> OldFile:
        """A file as `commit` held it; a note that was renamed since is found under its name of then.

        Raises:
            RevisionNotFound: it was not there then.
            HistoryHeld: its content is damaged.
        """
        tree = self.tree_of(commit)
        found = self.spelled(tree, path)
        if found is None:
            old = self.name_then(path, commit)
            found = None if old is None else self.spelled(tree, old)
        if found is None:
            raise no_such(path)
        name, blob = found
        return OldFile(self.revision(commit), name, self.blob(blob.id), blob.mode)

    def blob(self, object_id: str) -> bytes:
        """A blob's bytes.

        Raises:
            HistoryHeld: it is missing or damaged.
        """
        try:
            return self._git.objects.read(object_id, BLOB)
        except ObjectMissing as error:
            raise HistoryHeld(
                f"the history is damaged: object {object_id[:12]} cannot be read; restore the history from a backup."
            ) from error

    def named(self, path: str) -> str:
        """How history spells the file or folder at `path`: exactly so, else equal under NFC, else without outer blanks.

        The newest commit decides; a name that no commit held comes back as it is.

        Raises:
            PathAmbiguous: two names are equal under NFC.
        """
        find = stories.Finder(self._tree)
        trees_held = list(dict.fromkeys(link.tree for link in self.chain()))
        trimmed = "/".join(part.strip() for part in path.split("/"))
        for wanted in dict.fromkeys((path, trimmed)) if path else ():
            if any(find.anything(tree, wanted) for tree in trees_held):
                return wanted
            if wanted.isascii():
                continue
            for tree in trees_held:
                if (found := self.spelled(tree, wanted)) is not None:
                    return found[0]
        return path

    def entry(self, tree: str, path: str) -> Blob | None:
        """The file or folder at exactly `path` in a tree."""
        return trees.lookup(self._tree, tree, path)

    def spelled(self, tree: str, path: str) -> tuple[str, Blob] | None:
        """The file or folder at `path` in a tree: the exact name, else the one that is equal under NFC.

        Raises:
            PathAmbiguous: two are.
        """
        read = self._tree
        exact = trees.lookup(read, tree, path)
        if exact is not None:
            return path, exact
        here, name = Blob(FOLDER_MODE, tree), ""
        for part in path.split("/"):
            wanted = unicodedata.normalize("NFC", part)
            listed = trees.named(read, here.id) if here.mode == FOLDER_MODE else {}
            twins = [found for found in listed if found == part] or [
                found for found in listed if unicodedata.normalize("NFC", found) == wanted
            ]
            if len(twins) > 1:
                raise PathAmbiguous(path)
            if not twins:
                return None
            here, name = listed[twins[0]], f"{name}/{twins[0]}" if name else twins[0]
        return name, here

    def name_then(self, path: str, commit: str) -> str | None:
        """The name that the note at `path` had in `commit`, following exact renames back; None when it did not exist."""
        order = {link.id: place for place, link in enumerate(self.chain())}
        if commit not in order:
            return None
        name: str | None = path
        for told in stories.versions(self._tree, self.chain(), path):
            if order[told.link.id] >= order[commit]:
                break
            name = told.old_path or told.path
        return name

    def states(self, path: str) -> Iterator[tuple[str, Blob | None]]:
        """What each commit held at exactly this path (a folder too), newest first, one entry for each change of it."""
        find = stories.Finder(self._tree)
        last: Blob | None = None
        for place, link in enumerate(self.chain()):
            found = find.anything(link.tree, path)
            if found != last or place == 0:
                yield link.id, found
            last = found

    def files(self, tree: str, prefix: str = "") -> Iterator[tuple[str, Blob]]:
        """Every file of a tree, its path behind `prefix`."""
        yield from trees.flatten(self._tree, tree, prefix)

    def _change_set(self, chain: Sequence[Link], place: int, prefix: str) -> ChangeSet:
        link = chain[place]
        parent = chain[place + 1].tree if place + 1 < len(chain) else None
        found = list(trees.differences_at(self._tree, parent, link.tree, prefix.rstrip("/")))
        was = {path: before for path, before, _ in found}
        files = file_changes({path: after for path, _, after in found}, was.get)
        count = Counter(change.action for change in files)
        return ChangeSet(
            self.revision(link.id),
            count[Action.ADDED],
            count[Action.CHANGED] + count[Action.RENAMED],
            count[Action.REMOVED],
            tuple(files[:MAX_FILES_LISTED]),
        )

    def _filled(self, told: Told) -> Version:
        blob = None if told.blob is None else told.blob.id
        return Version(self.revision(told.link.id), told.action, told.path, told.old_path, blob, self._size(blob))

    def _size(self, blob: str | None) -> int | None:
        if blob is None:
            return None
        try:
            return len(self.blob(blob))
        except HistoryHeld:  # one damaged version; the others are worth listing
            return None


def no_such(path: str) -> RevisionNotFound:
    """The refusal when history does not know a name, or not then."""
    return RevisionNotFound(f"{shown(path)!r} there", "Look for its name in the list of changes.")


def _only(places: Sequence[int], asked: str, gap: str) -> int:
    if len(places) != 1:
        why = "More than one begins so; give more digits." if places else gap or "Give an id that the history lists."
        raise RevisionNotFound(f"revision {asked!r}", why)
    return places[0]
