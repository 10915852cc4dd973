"""The git directory: made by us, or the owner's own; its branch, its head, its health.

Ours lies in the state folder, is bare, and is healed when a crash left something behind. A repository that the owner
named (`STRONGROOM_HISTORY_DIR`) keeps its branch; its hooks, filters, attributes and user settings are never used, and a
stranger's lock or an unfinished merge there means: commit nothing, say so, try again later.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dulwich.refs import DiskRefsContainer, Ref

from service.errors import HistoryHeld
from service.history import gitlock, layout
from service.history.commits import CommitText, parse
from service.history.gitlock import ForeignLock, GitLock
from service.history.model import Setup, shown
from service.history.objects import COMMIT, TREE, ObjectMissing, Objects
from service.history.trees import EMPTY_TREE

_ZERO: Final = "0" * 40
_STALE_LOCK_S: Final = 5.0
"""Seconds after which a lock in our own directory belongs to nobody: git holds them for milliseconds."""
_REFLOG_BYTES: Final = 200_000
_MOVE: Final = re.compile(rb"(?P<old>[0-9a-f]{40}) (?P<new>[0-9a-f]{40}) ")
_UNFINISHED: Final = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisect",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
}


@dataclass(frozen=True, slots=True)
class Head:
    """Where the branch stands: its ref, the commit's id (None before the first) and that commit's tree."""

    ref: str
    commit: str | None
    tree: str | None


class GitDir:
    """An open git directory. Whoever changes it holds the history lock.

    Args:
        setup: names the directory; ours is made when it is missing.

    Raises:
        Misconfigured: the named directory is no repository that can be used.
        HistoryHeld: the state folder cannot be written.
    """

    def __init__(self, setup: Setup) -> None:
        self.path, self.is_ours = layout.place(setup)
        if self.is_ours:
            layout.make(self.path)
        else:
            layout.check_usable(self.path)
        self.objects = Objects(self.path / "objects")
        self._refs = DiskRefsContainer(str(self.path))
        self._is_swept = False

    def close(self) -> None:
        """Give back descriptors."""
        self.objects.close()

    def head(self) -> Head:
        """Where the branch stands, without looking whether it is sound. Reading needs no lock."""
        ref = self._symbolic_head()
        value = self._read_ref(ref)
        if value is None:
            return Head(ref, None, None)
        try:
            return Head(ref, value, self.commit_text(value).tree)
        except ObjectMissing as error:
            raise self._damaged(value) from error

    def commit_text(self, commit: str) -> CommitText:
        """A commit's header and message.

        Raises:
            ObjectMissing: it is not there, or no commit.
        """
        try:
            return parse(self.objects.read(commit, COMMIT))
        except ValueError as error:
            raise ObjectMissing(commit) from error

    def read_tree(self, tree: str) -> bytes:
        """A tree's raw content.

        Raises:
            HistoryHeld: it is missing: the history is damaged.
        """
        if tree == EMPTY_TREE:
            return b""
        try:
            return self.objects.read(tree, TREE)
        except ObjectMissing as error:
            raise self._damaged(tree) from error

    def heal(self) -> tuple[str, ...]:
        """Put right what a crash left behind; the caller holds the history lock. Returns what was done, as sentences.

        Raises:
            HistoryHeld: something stands in the way that is not ours to remove.
        """
        done = [f"removed a leftover lock of ours: {path.name}" for path in gitlock.remove_ours(self.path)]
        if not self.is_ours:
            self._check_idle()
            return tuple(done)
        for path in gitlock.locks(self.path):
            if _outlived(path):
                path.unlink(missing_ok=True)
                done.append(f"removed a stale lock: {path.name}")
        if not self._is_swept:
            self.objects.sweep()
            self._is_swept = True
        return (*done, *self._recover_head())

    def advance(self, head: Head, commit: str, who: str, note: str) -> None:
        """Move the branch from `head` to `commit`, if it still stands there (compare and swap, durable).

        Raises:
            HistoryHeld: somebody else moved it, or holds its lock.
        """
        target = self.path / head.ref
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with GitLock(self.path, target) as lock:
                if self._read_ref(head.ref) != head.commit:
                    raise HistoryHeld(
                        "another program moved the history's branch meanwhile; the next commit continues from there."
                    )
                lock.put(f"{commit}\n".encode("ascii"))
        except ForeignLock as error:
            raise self.locked(error.path) from error
        self._log(head, commit, who, note)

    def is_shallow(self) -> bool:
        """Whether the owner's repository was cloned without its older commits, on purpose."""
        return (self.path / "shallow").exists()

    def index_lock(self) -> GitLock:
        """The lock of the owner's index."""
        return GitLock(self.path, self.path / "index")

    def _symbolic_head(self) -> str:
        raw = self._refs.read_loose_ref(Ref(b"HEAD")) or b""
        if raw.startswith(b"ref: refs/heads/"):
            return raw[5:].strip().decode("utf-8", "surrogateescape")
        if self.is_ours and not raw:
            return layout.BRANCH
        raise HistoryHeld(
            f"HEAD in {self.path} stands on no branch; put it back with: git --git-dir {self.path} symbolic-ref HEAD {layout.BRANCH}"
        )

    def _read_ref(self, ref: str) -> str | None:
        name = Ref(os.fsencode(ref))
        raw = self._refs.read_loose_ref(name) or self._refs.get_packed_refs().get(name)
        return raw.decode("ascii", "replace") if raw else None

    def _check_idle(self) -> None:
        for name, what in _UNFINISHED.items():
            if os.path.lexists(self.path / name):
                raise HistoryHeld(
                    f"{what} is under way in {self.path}; finish or abort it, then history goes on by itself."
                )
        for path in gitlock.locks(self.path):
            raise self.locked(path)

    def locked(self, path: Path) -> HistoryHeld:
        """The refusal when git itself, or a leftover of it, holds a lock."""
        return HistoryHeld(
            f"git is at work in {self.path} ({path.name}); tried again at the next commit. If no git runs, remove that file."
        )

    def _damaged(self, object_id: str) -> HistoryHeld:
        return HistoryHeld(
            f"the history in {self.path} is damaged (object {object_id[:12]} is missing or unreadable); restore it from a backup."
        )

    def _recover_head(self) -> Iterator[str]:
        """Put the branch back on the newest sound commit that the log of its moves names."""
        ref = self._symbolic_head()
        value = self._read_ref(ref)
        if value is not None and self._is_sound(value):
            return
        for candidate in self._logged(ref):
            if candidate != value and self._is_sound(candidate):
                self._put_back(ref, candidate)
                yield f"the branch pointed nowhere after a crash; put it back on {candidate[:12]}"
                return
        if value is not None:
            raise self._damaged(value)

    def _put_back(self, ref: str, commit: str) -> None:
        with GitLock(self.path, self.path / ref) as lock:
            lock.put(f"{commit}\n".encode("ascii"))
        for name in (ref, "HEAD"):
            log = self.path / "logs" / name
            moves = [(_MOVE.match(line), line) for line in log.read_bytes().splitlines(keepends=True)]
            named = {move[side].decode("ascii") for move, _ in moves if move for side in ("old", "new")}
            broken = {found for found in named - {_ZERO} if not self._is_sound(found)}
            for found in broken:
                self.objects.drop_torn(found)
            kept = [line for move, line in moves if move and not broken & {move["old"].decode(), move["new"].decode()}]
            log.write_bytes(b"".join(kept))

    def _is_sound(self, commit: str) -> bool:
        try:
            tree = self.commit_text(commit).tree
            return tree == EMPTY_TREE or self.objects.is_sound(tree, TREE)
        except ObjectMissing:
            return False

    def _logged(self, ref: str) -> list[str]:
        try:
            with open(self.path / "logs" / ref, "rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - _REFLOG_BYTES))
                lines = file.read().splitlines()
        except OSError:
            return []
        return [move["new"].decode("ascii") for move in map(_MOVE.match, reversed(lines)) if move]

    def _log(self, head: Head, commit: str, who: str, note: str) -> None:
        moved = f"{head.commit or _ZERO} {commit} {who} {int(time.time())} +0000\tcommit: {shown(note)}\n"
        line = moved.encode("utf-8", "replace")
        for name in (head.ref, "HEAD"):
            path = self.path / "logs" / name
            if not self.is_ours and not path.exists():
                continue  # the owner keeps no such log
            path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(path, flags, 0o644)
            try:
                os.write(descriptor, line)
            finally:
                os.close(descriptor)


def _outlived(path: Path) -> bool:
    """Whether a lock in our directory belongs to nobody any more; waits for one that may still be alive."""
    while True:
        try:
            age_s = time.time() - path.lstat().st_mtime
        except FileNotFoundError:
            return False
        if age_s < 0 or age_s >= _STALE_LOCK_S:
            return True
        time.sleep(0.05)
