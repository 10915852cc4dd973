"""What the commands about permission work on: settings, database, grants and the audit log, opened together.

Works beside a running server and in its container. The commands are the owner's own word, so no token's resource is asked
about.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from ops.opened import Opened
from service.auth.audit import Audit
from service.auth.clients import Clients
from service.auth.grants import Grants
from service.auth.tables import SCHEMA
from service.clock import Clock
from service.errors import AppError
from service.settings import Settings
from service.store.db import Database
from service.vault import named_folders


@dataclass(frozen=True, slots=True)
class Permits:
    """The parts, for the length of one command."""

    settings: Settings
    clock: Clock
    database: Database
    grants: Grants
    audit: Audit
    clients: Clients

    def missing_folders(self, names: Sequence[str]) -> Sequence[str]:
        """Those of the folders that a grant is limited to which the vault does not have. None where no vault can be read:
        before the first start, and at the edge of a split Strongroom."""
        notes = Opened(self.settings, self.clock)
        try:
            return named_folders.missing(notes.files, names) if names else ()
        except (AppError, OSError):
            return ()
        finally:
            notes.close()


def not_there(folders: Sequence[str]) -> str:
    """The sentence about folders that are perhaps misspelt. Only a hint: the folder may be made later."""
    named = ", ".join(repr(folder) for folder in folders)
    return f"mind: your notes have no folder {named}, so nothing can be seen there until they have."


@contextmanager
def opened() -> Iterator[Permits]:
    """Open what the settings name, and close it afterwards.

    Raises:
        BadSettings: naming every problem.
        BadMount: the state cannot be used.
        Misconfigured: its database cannot be used.
    """
    from ops.opened import load_settings
    from service.clock import SystemClock
    from service.store import mounts

    settings = load_settings()
    mounts.prepare_state(settings.state, settings.vault)
    database, clock = Database(settings.state, (SCHEMA,)), SystemClock(settings.zone)
    try:
        yield Permits(
            settings,
            clock,
            database,
            Grants(database, clock),
            Audit(settings.state, clock),
            Clients(database, clock, settings),
        )
    finally:
        database.close()
