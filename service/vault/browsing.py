"""What there is: one folder as a person sees it, the vault in numbers, facts of notes whose paths are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from service.guards import paths
from service.guards.paths import VaultPath
from service.store.files import Entry
from service.store.listings import Listing
from service.vault import frontmatter, listing, reach
from service.vault.model import Page, Vault, page_of


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
    path = vault.files.open_folder(folder)
    found = listing.now(vault).get(path, Listing(path))
    folders = [path.child(name) for name in sorted(found.folders)]
    files = [listing.entry_of(found.files[name]) for name in sorted(found.files)]
    return page_of([*folders, *files], limit, offset)


def stats(vault: Vault, recent: int) -> Stats:
    """Count everything that is visible.

    Raises:
        Unavailable: it took too long.
    """
    now = listing.now(vault)
    reached = reach.of(vault, now)
    everything = [vault.picture.kept.of(one, listing.totals) for one in now.values()]
    trusted = (vault.picture.kept.of(one, listing.totals) for one in reached.listings)
    return Stats(
        notes=sum(len(one.newest) for one in everything),
        note_bytes=sum(one.note_bytes for one in everything),
        attachments=sum(one.attachments for one in everything),
        attachment_bytes=sum(one.attachment_bytes for one in everything),
        folders=len(now) - 1,
        recent=listing.newest_of(trusted, recent),
        left_out=listing.with_notes(vault, now, reached),
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
