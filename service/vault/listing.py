"""What notes there are: newest first, or as a tree of folders with their counts."""

from __future__ import annotations

import heapq
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Final

from service.errors import Unavailable
from service.guards import paths
from service.guards.paths import ROOT, VaultPath
from service.store.files import Entry
from service.store.listings import File, Folders, Listing
from service.vault import reach
from service.vault.model import Page, Vault, page_of
from service.vault.picture.note import Note
from service.vault.reach import Reach

DEADLINE_S: Final = 45.0
"""Seconds that listing may take, below the minute that clients commonly wait. A million files take about half of it."""


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
    folders = now(vault)
    reached = reach.of(vault, folders, folder, include_low_trust=include_low_trust)
    counted = [vault.picture.kept.of(listing, totals) for listing in reached.listings]
    page = Page(
        newest_of(counted, limit, offset),
        sum(len(one.newest) for one in counted),
        offset,
    )
    return Newest(page, with_notes(vault, folders, reached))


def by_path(vault: Vault) -> list[Entry]:
    """Every note, sorted by path as text.

    Raises:
        Unavailable: it took longer than DEADLINE_S.
    """
    listings = now(vault).values()
    notes = (note for listing in listings for note in vault.picture.kept.of(listing, totals).newest)
    return sorted(map(entry_of, notes), key=lambda entry: str(entry.path))


def tree(vault: Vault, *, depth: int, limit: int, offset: int = 0) -> Page[Folder]:
    """Every folder down to `depth` below the root, in path order; the root itself first, with the whole count.

    Raises:
        Unavailable: it took longer than DEADLINE_S.
    """
    folders = now(vault)
    direct = {path: len(vault.picture.kept.of(listing, totals).newest) for path, listing in folders.items()}
    total: Counter[VaultPath] = Counter()
    for path in sorted(folders, key=lambda one: -len(one.parts)):
        total[path] += direct[path]
        if path.parts:
            total[path.parent] += total[path]
    shown = sorted(
        (path for path in folders if len(path.parts) <= depth and not _is_inside(vault, path)),
        key=lambda one: one.parts,
    )
    page = page_of(shown, limit, offset)
    return Page(
        tuple(Folder(path, direct[path], total[path], vault.low_trust.holds(path)) for path in page.items),
        page.total,
        page.offset,
    )


@dataclass(frozen=True, slots=True)
class Totals:
    """The files of one folder in numbers. Notes are what is searched, the last changed first; attachments all others."""

    newest: tuple[Note, ...]
    note_bytes: int
    attachments: int
    attachment_bytes: int


def totals(listing: Listing[Note]) -> Totals:
    """Count the files of a folder, for `Kept.of`."""
    notes = [note for note in listing.files.values() if note.path.has_suffix(paths.SEARCHED_SUFFIXES)]
    notes.sort(key=_newest_first)
    note_bytes = sum(note.size_bytes for note in notes)
    size_bytes = sum(file.size_bytes for file in listing.files.values())
    return Totals(tuple(notes), note_bytes, len(listing.files) - len(notes), size_bytes - note_bytes)


def newest_of(counted: Iterable[Totals], limit: int, offset: int = 0) -> tuple[Entry, ...]:
    """A page of the notes of several folders, the last changed first."""
    merged = heapq.merge(*(one.newest for one in counted), key=_newest_first)
    return tuple(map(entry_of, islice(merged, offset, offset + limit)))


def with_notes(vault: Vault, folders: Folders[Note], reached: Reach) -> tuple[VaultPath, ...]:
    """Those of the folders left out in which, or below which, there are notes."""
    return tuple(path for path in reached.left_out if _holds_notes(vault, folders, path))


def entry_of(file: File) -> Entry:
    """A file of the picture as an entry of a list."""
    return Entry(file.path, file.size_bytes, file.mtime_ns)


def check_until(ends_at: float) -> None:
    """Raise Unavailable once a listing has taken too long."""
    if time.monotonic() > ends_at:
        raise Unavailable(f"listing was stopped after {DEADLINE_S:g} s; name a smaller folder and try again.")


def now(vault: Vault) -> Folders[Note]:
    """What there is, as it is now. Raises Unavailable when it takes longer than DEADLINE_S."""
    return vault.picture.folders(partial(check_until, time.monotonic() + DEADLINE_S))


def _newest_first(file: File) -> tuple[int, tuple[str, ...]]:
    return -file.mtime_ns, file.path.parts


def _holds_notes(vault: Vault, folders: Folders[Note], path: VaultPath) -> bool:
    """Whether there are notes in a folder or below it; of a note, whether it is one."""
    listing = folders.get(path)
    if listing is None:
        return path.has_suffix(paths.SEARCHED_SUFFIXES)
    if vault.picture.kept.of(listing, totals).newest:
        return True
    return any(_holds_notes(vault, folders, path.child(name)) for name in listing.folders)


def _is_inside(vault: Vault, folder: VaultPath) -> bool:
    """Whether a folder lies in a low-trust one, and is not that one itself."""
    return vault.low_trust.around(folder) not in (None, folder)
