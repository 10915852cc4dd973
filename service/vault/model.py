"""The values that the vault's operations take and give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from service.clock import Clock
from service.guards.paths import VaultPath
from service.guards.trust import ALL_TRUSTED, NONE, Folders, LowTrust
from service.store.files import Permit, VaultFiles
from service.store.journal import Journal
from service.store.lock import Lock
from service.vault.picture.picture import Picture

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class Actor:
    """On whose word a write happens.

    Args:
        grant_id: the token or grant, or `owner` for the owner's own commands.
        label: its name, as history shows it in the `Strongroom-Grant` trailer.
        permit: called at the last moment before a change becomes visible; raises Forbidden once the grant is revoked.
    """

    grant_id: str
    label: str
    permit: Permit


@dataclass(frozen=True, slots=True)
class Change:
    """One file changed through us: bytes before (None: it was not there) and after (None: it is gone)."""

    path: VaultPath
    before: bytes | None
    after: bytes | None


OnChange = Callable[[Actor, Sequence[Change]], None]
"""Told of every write while the writer lock is held; what moves is two changes in one call."""


@dataclass(frozen=True, slots=True)
class Vault:
    """Everything an operation on notes needs. Operations are functions in this package that take it first.

    `locale` is the owner's language for names of days and months (`locales.NAMES`); empty when the vault's settings say it.
    """

    files: VaultFiles
    lock: Lock
    clock: Clock
    on_change: OnChange
    journal: Journal
    picture: Picture
    low_trust: LowTrust = ALL_TRUSTED
    may_be_active: Folders = NONE
    write_types: tuple[str, ...] = ()
    """Suffixes of file types besides notes that may be written."""
    locale: str = ""


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A bounded part of a list: `total` counts the whole, `next_offset` is None at the end."""

    items: tuple[T, ...]
    total: int
    offset: int

    @property
    def next_offset(self) -> int | None:
        following = self.offset + len(self.items)
        return following if following < self.total and self.items else None

    def map(self, change: Callable[[T], U]) -> Page[U]:
        """The same page of what `change` makes of its items."""
        return Page(tuple(map(change, self.items)), self.total, self.offset)


def page_of(items: Sequence[T], limit: int, offset: int) -> Page[T]:
    """Cut one page out of a whole list."""
    return Page(tuple(items[offset : offset + limit]), len(items), offset)
