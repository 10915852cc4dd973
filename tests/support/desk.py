"""A small vault, somebody who writes in it, and what `on_change` was told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from service.guards import paths
from service.tools.context import Room
from service.vault.model import Actor, Change, Vault
from tests.support.clock import HeldClock
from tests.support.rooms import room_for, settings_for
from tests.support.vaults import lay_out


@dataclass
class Desk:
    """Where a test works. `told` is every change that `on_change` heard of."""

    room: Room
    folder: Path
    clock: HeldClock
    actor: Actor
    told: list[Change] = field(default_factory=list)

    @property
    def vault(self) -> Vault:
        return self.room.vault

    def put(self, notes: Mapping[str, str | bytes]) -> None:
        """Write files straight to the disk, as another program would."""
        lay_out(self.folder, notes)

    def bytes_of(self, path: str) -> bytes:
        return (self.folder / path).read_bytes()


NOTE = paths.writable_note("n.md")
"""The note that most tests work on."""


def desk_in(folder: Path, clock: HeldClock | None = None) -> Desk:
    """A desk over an empty vault below `folder`; it is noon of 2026-03-01, UTC, unless a clock says otherwise."""
    clock = clock or HeldClock.at("2026-03-01T12:00:00")
    settings = settings_for(folder)
    desk = Desk(room_for(settings, clock), settings.vault, clock, Actor("t1", "laptop", permit=lambda: None))

    def remember(actor: Actor, changes: Sequence[Change]) -> None:
        desk.room.history.record(actor, changes)
        desk.told += changes

    desk.room = replace(desk.room, vault=replace(desk.vault, on_change=remember))
    return desk
