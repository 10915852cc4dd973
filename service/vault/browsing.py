"""What there is: one folder as a person sees it, the vault in numbers, facts of notes whose paths are known."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from service.guards import paths
from service.guards.paths import ROOT, VaultPath
from service.store.files import Entry
from service.vault import frontmatter
from service.vault.listing import deadline, in_time
from service.vault.model import Page, Vault, page_of

_ANY: Final = ("",)  # every name ends in it


@dataclass(frozen=True, slots=True)
class Stats:
    """The vault in numbers. Notes are what is searched; attachments are all other files. Hidden ones count for nothing.

    `recent` are the notes changed last, without those of the low-trust folders named in `left_out`.
    """

    notes: int
    note_bytes: int
    attachments: int
    attachment_bytes: int
    folders: int
    recent: tuple[Entry, ...]
    left_out: tuple[VaultPath, ...]


@dataclass(frozen=True, slots=True)
class Info:
    """Facts of one note. `mtime_ns` is nanoseconds since 1970."""

    path: VaultPath
    size_bytes: int
    mtime_ns: int
    version: str
    has_frontmatter: bool


def directory(vault: Vault, folder: VaultPath, *, limit: int, offset: int = 0) -> Page[Entry | VaultPath]:
    """What lies directly in `folder`: first its folders, then its files of whatever type, each sorted by name.

    Raises:
        NoteNotFound: there is no such folder; names the nearest.
        Unavailable: it took too long.
    """
    found = list(in_time(vault.files.children(folder), deadline()))
    folders = sorted((one for one in found if isinstance(one, VaultPath)), key=lambda one: one.name)
    files = sorted((one for one in found if isinstance(one, Entry)), key=lambda one: one.path.name)
    return page_of([*folders, *files], limit, offset)


def stats(vault: Vault, recent: int) -> Stats:
    """Count everything that is visible.

    Raises:
        Unavailable: it took too long.
    """
    ends_at = deadline()
    notes: list[Entry] = []
    attachments = attachment_bytes = 0
    for entry in in_time(vault.files.walk(ROOT, _ANY), ends_at):
        if entry.path.has_suffix(paths.SEARCHED_SUFFIXES):
            notes.append(entry)
        else:
            attachments += 1
            attachment_bytes += entry.size_bytes
    folders = sum(1 for _ in in_time(vault.files.folders(), ends_at)) - 1
    trusted = [entry for entry in notes if not vault.low_trust.holds(entry.path)]
    apart = (vault.low_trust.around(entry.path) for entry in notes)
    return Stats(
        notes=len(notes),
        note_bytes=sum(entry.size_bytes for entry in notes),
        attachments=attachments,
        attachment_bytes=attachment_bytes,
        folders=folders,
        recent=tuple(heapq.nsmallest(recent, trusted, key=lambda entry: (-entry.mtime_ns, entry.path.parts))),
        left_out=tuple(dict.fromkeys(folder for folder in apart if folder is not None)),
    )


def info(vault: Vault, path: VaultPath) -> Info:
    """Facts of one note, without its text.

    Raises:
        NoteNotFound: names up to three that look alike.
        PathAmbiguous, PathRefused, TooLarge, Unavailable: as `VaultFiles.read`.
    """
    found = vault.files.read(path)
    has_frontmatter = found.path.has_suffix(paths.MARKDOWN_SUFFIXES) and frontmatter.line_count(found.data) > 0
    return Info(found.path, len(found.data), found.mtime_ns, found.version, has_frontmatter)


def paths_of(items: Sequence[Entry | VaultPath]) -> list[VaultPath]:
    """The paths of what a folder holds."""
    return [one.path if isinstance(one, Entry) else one for one in items]


def folders_among(items: Sequence[Entry | VaultPath]) -> list[VaultPath]:
    """Those of what a folder holds that are folders."""
    return [one for one in items if isinstance(one, VaultPath)]
