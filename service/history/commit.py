"""The commit engine: journalled writes per grant, then whatever else changed, as commits on the branch.

Its caller holds the history lock. The writer lock is taken for a moment only: after the walk, to read the journal and look
again at files that tools changed meanwhile; so vault writes go on during a commit, and none is credited to the wrong hand.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from service.clock import Clock
from service.errors import HistoryHeld, NoSpace
from service.history import guard, index, journal, trees
from service.history.commits import Trailers, Wording
from service.history.contents import Taken, take
from service.history.exclusions import OwnIgnore
from service.history.gitdir import GitDir, Head
from service.history.gitlock import ForeignLock, GitLock
from service.history.journal import Journal, Row
from service.history.model import FILE_MODE, FOLDER_MODE, Action, Blob, CommitReport, Deletions, Problem, Setup, Trouble
from service.history.objects import BLOB, id_of
from service.history.packs import Writer
from service.history.scan import KeepGoing, Limit, Scan, own_ignores, scan
from service.history.seen import WORTH_WRITING, Seen, SeenStore
from service.history.steps import Built, Step, build
from service.history.view import Meanwhile, View
from service.store.lock import Lock
from service.store.root import Root

SMALL: Final = Limit(files=200, size_bytes=20_000_000)
"""What is read and committed in the server's own process; more goes into a child."""
MIN_FREE_BYTES: Final = 16_000_000
"""Free space below which no commit starts: the state database must still be able to write."""
TOOLS: Final = "tools"
OUTSIDE: Final = "outside"
_MAX_LOOKED_BACK: Final = 1_000


class TooMuchHere(Exception):
    """The commit is large enough for a process of its own."""


class Committer:
    """Makes commits. Every method needs the history lock held.

    Args:
        writer_lock: the vault's, taken inside the history lock, never the other way round.
    """

    def __init__(
        self, setup: Setup, git: GitDir, root: Root, entries: Journal, *, writer_lock: Lock, clock: Clock
    ) -> None:
        self._setup, self._git, self._root, self._journal = setup, git, root, entries
        self._writer_lock, self._clock = writer_lock, clock
        self._wording = Wording.of(setup.author, setup.message)
        self._store = SeenStore(setup.state)

    def close(self) -> None:
        """Write the cache, if it has learnt something."""
        self._store.close()

    def full(
        self, reason: str, deletions: Deletions, keep_going: KeepGoing, *, limit: Limit | None = None
    ) -> CommitReport:
        """Commit the journal per grant, then whatever else changed in the vault.

        Raises:
            HistoryHeld: the deletion guard objects, or the git directory is in no state to be written.
            VaultMissing: the vault is not there.
            NoSpace: the disk of the git directory is nearly full.
            TooMuchHere: there is more to read than `limit`.
        """
        healed = self._ready()
        self._root.check()
        head = self._git.head()
        known = self._store.load(self._git.read_tree, head.tree)
        last_seq = self._journal.last_seq()
        found = scan(self._root, known, keep_going, is_owners=not self._git.is_ours, limit=limit)
        if found.is_over_limit:
            self._store.keep(known, 0)
            raise TooMuchHere
        with self._writing() as writer:
            taken = self._take(found.candidates, known, found, writer, keep_going)
            rows, meanwhile = self._tools_meanwhile(last_seq, known, found, writer, keep_going)
            steps = self._told(rows, head, found.own)
            view = View(known, found, taken, meanwhile)
            committed = view.committed_after(steps)
            differing = view.outside(committed, steps)
            outside = _guarded(committed, differing, deletions)
            if outside:
                steps.append(Step(outside, Trailers(reason), self._clock.now()))
            emptied = guard.emptied(committed, outside)
            with self._index_held(is_needed=bool(steps or healed)) as index_lock:
                built = self._finish(writer, head, steps, rows)
                self._remember(known, built, view.read_now(), found.own)
                self._put_index(index_lock, known)
        return _report(built, tuple(found.problems), healed, emptied, len(differing) - len(outside))

    def flush(self) -> CommitReport:
        """Commit the journal alone; the vault is not looked at.

        Raises:
            HistoryHeld, NoSpace: as `full`.
        """
        if self._journal.pending() is None:
            return CommitReport((), 0, 0, 0, (), ())
        healed = self._ready()
        rows = self._journal.rows()
        head = self._git.head()
        return self._publish(head, self._told(rows, head, own_ignores(self._root)), rows, healed)

    def present(self) -> dict[str, Blob]:
        """What the files that history keeps hold on disk; what cannot be read counts as its last version."""
        self._root.check()
        known = self._store.load(self._git.read_tree, self._git.head().tree)
        found = scan(self._root, known, _go_on, is_owners=not self._git.is_ours)
        taken = take(
            self._root,
            found.candidates,
            known,
            found,
            put=lambda data: id_of(BLOB, data),
            max_bytes=self._setup.max_file_bytes,
            keep_going=_go_on,
        )
        gone = set(found.gone)
        held = {path: blob for path, blob in known.committed.items() if path not in gone}
        held.update({path: now.blob for path, now in taken.items()})
        self._store.keep(known, 0)
        return held

    def record(self, steps: Sequence[Step]) -> CommitReport:
        """Commit exactly these changes; for restores, whose blobs are in history already."""
        healed = self._ready()
        return self._publish(self._git.head(), steps, (), healed)

    def _publish(self, head: Head, steps: Sequence[Step], rows: Sequence[Row], healed: tuple[str, ...]) -> CommitReport:
        with self._writing() as writer, self._index_held(is_needed=True) as index_lock:
            built = self._finish(writer, head, steps, rows)
            if index_lock is not None:
                known = self._store.load(self._git.read_tree, built.head.tree)
                self._put_index(index_lock, known)
                self._store.keep(known, len(built.changes))
        return _report(built, (), healed)

    def _finish(self, writer: Writer, head: Head, steps: Sequence[Step], rows: Sequence[Row]) -> Built:
        """Objects, then the branch, then the journal."""
        built = build(self._git, writer, head, steps, self._wording, zone=self._clock.zone)
        writer.finish()
        self._git.objects.settle({blob for row in rows for blob in (row.before, row.after) if blob is not None})
        if built.commits:
            if rows:
                self._journal.intend(built.commits[-1], rows[-1].seq)
            self._git.advance(head, built.commits[-1], self._setup.author, f"{len(built.changes)} files")
        if rows:
            self._journal.drop(rows[-1].seq)
        return built

    def _remember(self, known: Seen, built: Built, taken_now: Mapping[str, Taken], own: OwnIgnore) -> None:
        news = len(taken_now) + len(built.changes) + WORTH_WRITING * (known.ignore_digest != own.digest)
        known.move_to(self._git.read_tree, built.head.tree)
        for path, taken in taken_now.items():
            if known.committed.get(path) == taken.blob:
                known.note(path, taken.blob, taken.look)
        known.ignore_digest = own.digest
        self._store.keep(known, news)

    def _ready(self) -> tuple[str, ...]:
        disk = os.statvfs(self._git.path)
        if disk.f_bavail * disk.f_frsize < MIN_FREE_BYTES:
            raise NoSpace("history")
        healed = self._git.heal()
        self._journal.settle(self._is_on_branch)
        return healed

    def _is_on_branch(self, commit: str) -> bool:
        found = self._git.head().commit
        for _ in range(_MAX_LOOKED_BACK):
            if found is None or found == commit:
                return found == commit
            found = next(iter(self._git.commit_text(found).parents), None)
        return False

    def _take(
        self, wanted: Iterable[str], known: Seen, found: Scan, writer: Writer, keep_going: KeepGoing
    ) -> dict[str, Taken]:
        return take(
            self._root,
            wanted,
            known,
            found,
            put=lambda data: writer.put(BLOB, data),
            max_bytes=self._setup.max_file_bytes,
            keep_going=keep_going,
        )

    def _tools_meanwhile(
        self, last_seq: int, known: Seen, found: Scan, writer: Writer, keep_going: KeepGoing
    ) -> tuple[list[Row], Meanwhile]:
        """The journal, and a second look at every file that a tool changed since the walk began.

        Under the writer lock no tool is half-way through, so a file that differs from the journal's last word was changed
        from outside after it.
        """
        with self._writer_lock.writing():
            rows = self._journal.rows()
            names = sorted({row.path for row in rows if row.seq > last_seq})
            again = Scan(found.own)
            taken = self._take(names, known, again, writer, keep_going)
        left = frozenset(problem.path for problem in again.problems if problem.trouble is not Trouble.VANISHED)
        return rows, Meanwhile({path: taken.get(path) for path in names if path not in left}, left)

    def _told(self, rows: Sequence[Row], head: Head, own: OwnIgnore) -> list[Step]:
        """The journal as steps; rows whose text a power cut took are left out."""
        sound = [row for row in rows if not own.hides(row.path) and self._is_kept(row)]
        read, tree = self._git.read_tree, head.tree

        def known(path: str) -> str | None:
            found = trees.file_at(read, tree, path)
            return None if found is None else found.id

        def below(path: str) -> list[str]:
            found = trees.lookup(read, tree, path)
            is_folder = found is not None and found.mode == FOLDER_MODE
            return [name for name, _ in trees.flatten(read, found.id, path + "/")] if found and is_folder else []

        def blob(path: str, object_id: str | None) -> Blob | None:
            found = trees.file_at(read, tree, path)
            return None if object_id is None else Blob(found.mode if found else FILE_MODE, object_id)

        return [
            Step(
                {path: blob(path, object_id) for path, object_id in batch.changes.items()},
                Trailers(OUTSIDE if batch.grant_id is None else TOOLS, batch.label),
                batch.at,
            )
            for batch in journal.batches(sound, known, below, skips_known=not self._git.is_ours)
        ]

    def _is_kept(self, row: Row) -> bool:
        return all(blob is None or self._git.objects.is_sound(blob, BLOB) for blob in (row.before, row.after))

    @contextmanager
    def _writing(self) -> Iterator[Writer]:
        writer = Writer(self._git.objects)
        try:
            yield writer
        except NoSpace:
            writer.give_back()
            raise
        finally:
            writer.abandon()

    @contextmanager
    def _index_held(self, *, is_needed: bool) -> Iterator[GitLock | None]:
        """The lock of the owner's index, when the repository is the owner's and something will be written."""
        if self._git.is_ours or not is_needed:
            yield None
            return
        index.read(self._git.path / "index")  # raises when it holds a conflict
        try:
            with self._git.index_lock() as lock:
                yield lock
        except ForeignLock as error:
            raise self._git.locked(error.path) from error

    def _put_index(self, lock: GitLock | None, known: Seen) -> None:
        if lock is not None:
            old = index.read(self._git.path / "index")
            lock.put(index.written(old, self._root, known.committed, known.look_of))


def _go_on() -> None:
    """There is time."""


def _guarded(
    committed: Mapping[str, Blob], outside: dict[str, Blob | None], deletions: Deletions
) -> dict[str, Blob | None]:
    """`outside` as far as it may be committed.

    Raises:
        HistoryHeld: too much is gone at once, and nobody said that it may be.
    """
    why = None if deletions is Deletions.ACCEPT or not outside else guard.objection(committed, outside)
    if why is None:
        return outside
    if deletions is Deletions.GUARD:
        raise HistoryHeld(why)
    return {path: blob for path, blob in outside.items() if blob is not None}


def _report(
    built: Built,
    problems: tuple[Problem, ...],
    healed: tuple[str, ...],
    emptied: tuple[str, ...] = (),
    held_back: int = 0,
) -> CommitReport:
    count = Counter(change.action for change in built.changes)
    return CommitReport(
        built.commits,
        count[Action.ADDED],
        count[Action.CHANGED] + count[Action.RENAMED],
        count[Action.REMOVED],
        problems,
        healed,
        emptied,
        held_back,
    )
