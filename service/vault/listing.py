"""What notes there are: newest first, or as a tree of folders with their counts."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeVar

from service.errors import Unavailable
from service.guards.paths import ROOT, VaultPath
from service.store.files import Entry
from service.vault.model import Page, Vault, page_of

DEADLINE_S: Final = 45.0
"""Seconds that listing may take, below the minute that clients commonly wait. A million files take about half of it."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of the tree: how many notes lie directly in it, and how many in it and below.

    Of a low-trust folder the tree shows that much and not what is in it, since names come from outside too.
    """

    path: VaultPath
    notes: int
    total_notes: int
    is_low_trust: bool = False


@dataclass(frozen=True, slots=True)
class Newest:
    """Notes, and the low-trust folders whose notes are not among them."""

    page: Page[Entry]
    left_out: tuple[VaultPath, ...]


def newest(
    vault: Vault, folder: VaultPath = ROOT, *, limit: int, offset: int = 0, include_low_trust: bool = False
) -> Newest:
    """Notes at and below `folder`, the last changed first; equal times by path.

    Low-trust folders are left out, unless they are included or `folder` is or lies in one.

    Raises:
        NoteNotFound: there is no such folder; names the nearest.
        Unavailable: it took longer than DEADLINE_S.
    """
    entries = sorted(
        in_time(vault.files.walk(folder), deadline()), key=lambda entry: (-entry.mtime_ns, entry.path.parts)
    )
    left_out: dict[VaultPath, None] = {}
    if not include_low_trust and not vault.low_trust.holds(folder):
        kept = []
        for entry in entries:
            around = vault.low_trust.around(entry.path)
            if around is None:
                kept.append(entry)
            else:
                left_out[around] = None
        entries = kept
    return Newest(page_of(entries, limit, offset), tuple(left_out))


def by_path(vault: Vault) -> list[Entry]:
    """Every note, sorted by path as text.

    Raises:
        Unavailable: it took longer than DEADLINE_S.
    """
    return sorted(in_time(vault.files.walk(), deadline()), key=lambda entry: str(entry.path))


def tree(vault: Vault, *, depth: int, limit: int, offset: int = 0) -> Page[Folder]:
    """Every folder down to `depth` below the root, in path order; the root itself first, with the whole count.

    Raises:
        Unavailable: it took longer than DEADLINE_S.
    """
    ends_at = deadline()
    direct: Counter[VaultPath] = Counter(entry.path.parent for entry in in_time(vault.files.walk(), ends_at))
    total: Counter[VaultPath] = Counter()
    for folder, notes in direct.items():
        for length in range(len(folder.parts) + 1):
            total[_ancestor(folder, length)] += notes
    shown = sorted(
        (
            folder
            for folder in in_time(vault.files.folders(), ends_at)
            if len(folder.parts) <= depth and not _is_inside(vault, folder)
        ),
        key=lambda one: one.parts,
    )
    page = page_of(shown, limit, offset)
    return Page(
        tuple(Folder(path, direct[path], total[path], vault.low_trust.holds(path)) for path in page.items),
        page.total,
        page.offset,
    )


def deadline() -> float:
    """The moment, on the monotonic clock, when a listing that begins now has to end."""
    return time.monotonic() + DEADLINE_S


def in_time(found: Iterable[T], ends_at: float) -> Iterator[T]:
    """What is found, until the moment has passed; a thread cannot be cancelled, so it must agree to stop."""
    for one in found:
        if time.monotonic() > ends_at:
            raise Unavailable(f"listing was stopped after {DEADLINE_S:g} s; name a smaller folder and try again.")
        yield one


def _is_inside(vault: Vault, folder: VaultPath) -> bool:
    """Whether a folder lies in a low-trust one, and is not that one itself."""
    return vault.low_trust.around(folder) not in (None, folder)


def _ancestor(folder: VaultPath, length: int) -> VaultPath:
    while len(folder.parts) > length:
        folder = folder.parent
    return folder
