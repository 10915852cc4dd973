"""The door to history: one value that commits, remembers tool writes, and reads.

Built once per process from settings, database, vault and locks. Reading takes no lock. `record` runs under the vault's
writer lock and takes none itself; everything else that writes takes the history lock, and inside it, for moments, the
writer lock.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import structlog

from service.clock import Clock
from service.errors import AppError, Busy, Closing, HistoryHeld, VaultMissing
from service.guards.paths import VaultPath
from service.history import child
from service.history.commit import SMALL, Committer, TooMuchHere
from service.history.gitdir import GitDir
from service.history.journal import SCHEMA, Journal, Row
from service.history.log import Log
from service.history.model import Blob, CommitReport, Deletions, Pending, Setup
from service.history.objects import BLOB, id_of, told
from service.history.status import HistoryStatus, StatusBoard
from service.history.steps import Step
from service.store.db import Database
from service.store.files import VaultFiles
from service.store.lock import Lock
from service.vault.model import Actor, Change

SCHEMAS: Final = (SCHEMA,)
"""History's tables, for whoever opens the database."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Locks:
    """The two locks history needs. Order: history, then writer."""

    history: Lock
    writer: Lock


class History:
    """History of one vault.

    Args:
        database: open, with `SCHEMAS` applied.

    Raises:
        Misconfigured: the named git directory cannot be used.
    """

    is_limited = False
    """Whether this is a view for a reader who may not see the whole vault."""

    def __init__(self, setup: Setup, database: Database, files: VaultFiles, locks: Locks, clock: Clock) -> None:
        self.setup, self.files, self.locks, self.clock = setup, files, locks, clock
        self.git = GitDir(setup)
        self.log = Log(self.git)
        self._journal = Journal(database)
        self._status = StatusBoard(database)
        self._committer = Committer(setup, self.git, files.root, self._journal, writer_lock=locks.writer, clock=clock)

    def close(self) -> None:
        """Give back descriptors; the database and the root are the caller's."""
        self._committer.close()
        self.git.close()

    def commit(
        self,
        reason: str,
        *,
        deletions: Deletions = Deletions.GUARD,
        keep_going: Callable[[], None] = lambda: None,
        may_use_child: bool = True,
        lock_timeout_s: float | None = None,
    ) -> CommitReport:
        """Commit whatever changed, tool writes per grant first. Nothing changed, no commit.

        A large commit runs in a child process of low priority, so that this process goes on answering.

        Args:
            keep_going: called often; raises Closing to end the commit before anything becomes visible.
            lock_timeout_s: how long to wait for another commit to end, seconds; None for the lock's own.

        Raises:
            HistoryHeld, VaultMissing, NoSpace, Busy: nothing was committed; the status says so too.
            Closing: `keep_going` said so.
        """
        try:
            report = self._commit(reason, deletions, keep_going, may_use_child, lock_timeout_s)
        except AppError as error:
            if not isinstance(error, Closing | Busy):
                self._failed(str(error), is_held=isinstance(error, HistoryHeld | VaultMissing))
            raise
        except Exception as error:
            self._failed(
                f"a commit ended with a bug of ours ({type(error).__name__}); the log says where.", is_held=False
            )
            raise
        if not report.held_back:
            self._status.succeeded(self.clock.now(), report)
        return report

    def flush(self, lock_timeout_s: float | None = None) -> CommitReport:
        """Commit the tool writes alone, one commit a grant (more where hands took turns on a note).

        Raises:
            HistoryHeld, NoSpace, Busy: they stay in the journal.
        """
        with self.locks.history.writing(lock_timeout_s), _disk_told():
            return self._committer.flush()

    def record(self, actor: Actor, changes: Sequence[Change]) -> None:
        """Remember a tool's write; the vault's `on_change`, called under the writer lock.

        Never fails the write, which has happened: what cannot be journalled is committed as coming from outside.
        """
        try:
            self._journal.append([self._row(actor, change) for change in changes])
        except (AppError, OSError, sqlite3.Error) as error:
            _log.error("journal.failed", error=type(error).__name__, files=len(changes))

    def publish(self, steps: Sequence[Step]) -> CommitReport:
        """Commit exactly these changes, whose blobs are stored; the caller holds the history lock.

        Raises:
            HistoryHeld, NoSpace: nothing was committed.
        """
        with _disk_told():
            return self._committer.record(steps)

    def present(self) -> dict[str, Blob]:
        """What every file that history keeps holds on disk now. Nothing is stored.

        Raises:
            HistoryHeld, VaultMissing, Busy: it cannot be told.
        """
        with self.locks.history.writing(), _disk_told():
            return self._committer.present()

    def pending(self) -> Pending | None:
        """Tool writes that are in no commit yet."""
        return self._journal.pending()

    def was_at(self, path: VaultPath, data: bytes) -> bool:
        """Whether the file at this path once held these bytes, by a commit or by a tool's write."""
        blob, names = id_of(BLOB, data), {str(path), self.log.named(str(path))}
        if any(found is not None and found.id == blob for name in names for _, found in self.log.states(name)):
            return True
        return any(row.path in names and blob in (row.before, row.after) for row in self._journal.rows())

    def status(self) -> HistoryStatus:
        """How the latest commits went, in whatever process they ran."""
        return self._status.read()

    def _commit(
        self,
        reason: str,
        deletions: Deletions,
        keep_going: Callable[[], None],
        may_use_child: bool,
        lock_timeout_s: float | None,
    ) -> CommitReport:
        try:
            with self.locks.history.writing(lock_timeout_s), _disk_told():
                limit = SMALL if may_use_child else None
                return self._committer.full(reason, deletions, keep_going, limit=limit)
        except TooMuchHere:
            return child.commit(self.setup, self.clock.zone, reason, deletions, keep_going)

    def _row(self, actor: Actor, change: Change) -> Row:
        before, after = (
            None if data is None else self.git.objects.write_loose(BLOB, data, is_synced=False)
            for data in (change.before, change.after)
        )
        return Row(0, self.clock.now(), str(change.path), before, after, actor.grant_id, actor.label)

    def _failed(self, why: str, *, is_held: bool) -> None:
        try:
            self._status.failed(self.clock.now(), why, is_held=is_held)
        except (AppError, sqlite3.Error) as trouble:
            _log.error("history.status_failed", error=type(trouble).__name__)


@contextmanager
def _disk_told() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise told(error) from error
