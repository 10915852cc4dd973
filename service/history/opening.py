"""Open history where nobody else has opened its parts: in a child process, in a command, in a test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from service.clock import Clock
from service.history.history import SCHEMAS, History, Locks
from service.history.model import Setup
from service.store.db import Database
from service.store.files import VaultFiles
from service.store.lock import Lock
from service.store.root import Root


@contextmanager
def opened(setup: Setup, clock: Clock) -> Iterator[History]:
    """History with its own root, database and lock files; closed afterwards.

    Raises:
        VaultMissing, Misconfigured: as their makers.
    """
    root = Root(setup.vault)
    try:
        database = Database(setup.state, SCHEMAS)
        try:
            locks = Locks(
                Lock(setup.state / "history.lock", "the history"), Lock(setup.state / "writer.lock", "the vault")
            )
            history = History(setup, database, VaultFiles(root), locks, clock)
            try:
                yield history
            finally:
                history.close()
        finally:
            database.close()
    finally:
        root.close()
