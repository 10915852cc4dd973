"""The lower rooms on a temporary vault, for tests that stay inside one process."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from service.auth.budget import Budget
from service.auth.model import Grant
from service.clock import Clock, SystemClock
from service.guards.trust import Folders, LowTrust
from service.history.history import SCHEMAS, History, Locks
from service.history.model import Setup
from service.settings import Settings, kinds, load
from service.store.db import Database
from service.store.files import VaultFiles
from service.store.journal import Journal
from service.store.lock import Lock
from service.store.root import Root
from service.tools.context import Room
from service.vault.model import Vault
from service.vault.picture.picture import Picture

ALL_TOOLSETS: Final = ",".join(kinds.TOOLSETS)


def settings_for(folder: Path, **more: str) -> Settings:
    """Settings with `vault` and `state` below `folder`, both made, and all toolsets on; `more` are settings without their
    prefix."""
    for name in ("vault", "state"):
        (folder / name).mkdir(exist_ok=True)
    environ = {
        "STRONGROOM_VAULT": str(folder / "vault"),
        "STRONGROOM_STATE": str(folder / "state"),
        "STRONGROOM_PORT": "0",
        "STRONGROOM_TOOLSETS": ALL_TOOLSETS,
        "TZ": "UTC",
    }
    return load(environ | {name if name == "TZ" else f"STRONGROOM_{name}": value for name, value in more.items()})


def room_for(settings: Settings, clock: Clock | None = None, root: Root | None = None) -> Room:
    """A room over the vault of `settings`, whose grants never end."""
    clock = clock or SystemClock(settings.zone)
    low_trust = LowTrust.of(settings.low_trust)
    files = VaultFiles(
        root or Root(settings.vault), follows_links=settings.symlinks == "inside", is_apart=low_trust.holds
    )
    lock = Lock(settings.state / "writer.lock", "the vault")
    locks = Locks(Lock(settings.state / "history.lock", "the history"), lock)
    history = History(Setup.of(settings), Database(settings.state, SCHEMAS), files, locks, clock)
    vault = Vault(
        files,
        lock,
        clock,
        on_change=history.record,
        journal=Journal(settings.state),
        picture=Picture(files.root, settings.freshness),
        low_trust=low_trust,
        may_be_active=Folders.of(settings.allow_active),
        write_types=settings.write_types,
        locale=settings.locale,
    )
    return Room(vault, history, settings, clock, _alive, Budget(settings.write_budget))


def close(room: Room) -> None:
    """Give back what the room holds open."""
    room.history.close()
    room.vault.files.close()
    room.vault.files.root.close()


def _alive(_grant: Grant) -> None:
    return None
