"""What is behind the doors: the vault, its history, the clockwork and the tools. Opened while the doors already answer.

Starting is recovering: what a kill left is swept away here, before anybody reads or writes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial

import structlog

from service.auth import vouching
from service.auth.audit import Audit
from service.auth.budget import Budget
from service.auth.grants import Grants
from service.clock import Clock
from service.errors import AppError, BadMount, VaultMissing
from service.guards.trust import Folders, LowTrust
from service.history.history import History, Locks
from service.history.model import Setup
from service.jobs.autocommit import Autocommit, Rhythm
from service.jobs.scheduler import Clockwork
from service.jobs.warming import Warming
from service.settings import Settings
from service.store import mounts, together
from service.store.db import Database
from service.store.files import VaultFiles
from service.store.journal import Journal
from service.store.lock import Lock
from service.store.root import Root
from service.tools import catalogue, resources
from service.tools.context import Room
from service.tools.register import ToolSpec, select
from service.tools.server import Workbench
from service.vault import named_folders
from service.vault.model import Actor, Change, OnChange, Vault
from service.vault.picture.picture import Picture

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Inside:
    """Everything behind the doors, connected. `clockwork` commits by itself once it is started.

    `missing_folders` says which of the folders that somebody names are not there.
    """

    workbench: Workbench
    vault: Vault
    history: History
    clockwork: Clockwork
    warming: Warming
    missing_folders: Callable[[Sequence[str]], Sequence[str]]

    def begin(self) -> None:
        """Let things happen by themselves from now on."""
        self.warming.start()
        self.clockwork.start()

    def finish(self) -> None:
        """Let nothing more happen, and make the last commit."""
        self.warming.stop()
        self.clockwork.stop()

    def problems(self) -> Sequence[str]:
        """What keeps it from its work right now, a sentence each."""
        found: list[str] = []
        try:
            self.history.files.root.check()
            mounts.check_vault(self.workbench.room.settings.vault, is_read_only=True)
        except (VaultMissing, BadMount) as error:
            found.append(str(error))
        try:
            found += [f"history: {problem}" for problem in self.clockwork.problems()]
        except (AppError, sqlite3.Error):
            found.append("the state cannot be read; see strongroom doctor.")
        return found


@contextmanager
def opened(
    settings: Settings,
    *,
    database: Database,
    grants: Grants,
    audit: Audit,
    clock: Clock,
    specs: Sequence[ToolSpec] | None = None,
) -> Iterator[Inside]:
    """Build it all, and give it all back at the end.

    Args:
        specs: the tools; None for those of the catalogue.
    """
    specs = catalogue.SPECS if specs is None else specs
    with ExitStack() as held:
        root = Root(settings.vault)
        held.callback(root.close)
        low_trust = LowTrust.of(settings.low_trust)
        files = VaultFiles(root, follows_links=settings.symlinks == "inside", is_apart=low_trust.holds)
        lock = Lock(settings.state / "writer.lock", "the vault")
        held.callback(files.close)
        journal = Journal(settings.state)
        _sweep(files, journal, lock)
        locks = Locks(Lock(settings.state / "history.lock", "the history"), lock)
        history = held.enter_context(closing(History(Setup.of(settings), database, files, locks, clock)))
        picture = held.enter_context(closing(Picture(root, settings.freshness)))
        vault = Vault(
            files,
            lock,
            clock,
            on_change=_noted(history.record, audit),
            journal=journal,
            picture=picture,
            low_trust=low_trust,
            may_be_active=Folders.of(settings.allow_active),
            write_types=settings.write_types,
            locale=settings.locale,
        )
        check, names = vouching.checking(grants.check, clock), tuple(spec.name for spec in specs)
        room = Room(vault, history, settings, clock, check, Budget(settings.write_budget), names)
        rhythm = Rhythm.of(settings)
        warming = Warming(vault.picture)
        held.callback(warming.stop)
        clockwork = Clockwork(Autocommit(history, rhythm, clock), rhythm, before_first=warming.wait)
        workbench = Workbench(room, select(specs, settings), resources.SPEC)
        yield Inside(workbench, vault, history, clockwork, warming, partial(named_folders.missing, files))


def _sweep(files: VaultFiles, journal: Journal, lock: Lock) -> None:
    """Clear away what a kill in mid-write left in the vault, and take back a change of many files that it cut short.

    What was found nowhere else is kept as a copy.
    """
    with lock.writing():
        swept = files.sweep()
        try:
            together.recover(files, journal)
        except (AppError, OSError) as error:  # what is sound can be read and written all the same
            _log.error("change.not_settled", error=type(error).__name__)
    if swept.dropped or swept.recovered:
        _log.warning("vault.swept", dropped=swept.dropped, recovered=[str(path) for path in swept.recovered])


def _noted(record: OnChange, audit: Audit) -> OnChange:
    """Tell the history of a change, and the audit log: who, what was done, how many files, and the first one's path."""

    def on_change(actor: Actor, changes: Sequence[Change]) -> None:
        record(actor, changes)
        if changes:
            audit.note(
                "write", grant=actor.grant_id, what=_done(changes), files=len(changes), path=str(changes[0].path)
            )

    return on_change


def _done(changes: Sequence[Change]) -> str:
    first = changes[0]
    if first.before is None:
        return "created"
    if first.after is None:
        return "moved" if len(changes) > 1 else "deleted"
    return "changed"
