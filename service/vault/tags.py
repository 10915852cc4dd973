"""Which tags there are, and how often: over the vault, or in one note.

Tags that differ in letter case or encoding are one, called as it is written most often. A nested tag counts for those
above it, too (Obsidian help, "Tags": nested tags).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from service.errors import BadArgument
from service.guards import paths
from service.guards.paths import ROOT, VaultPath
from service.vault import notes, survey
from service.vault.model import Page, Vault, page_of
from service.vault.notes import Note
from service.vault.parts import tags
from service.vault.parts.tags import TagUse
from service.vault.picture.kept import Check
from service.vault.picture.note import Note as Known
from service.vault.survey import Survey


@dataclass(frozen=True, slots=True)
class TagCount:
    """A tag and how often it is used.

    Args:
        name: as it is written most often; where all uses are nested in it, as most of those begin.
        count: uses of it and of tags nested in it.
        own: uses of just it.
        notes: how many notes those are in.
        lines: of a single note, the lines they stand in.
    """

    name: str
    count: int
    own: int
    notes: int
    lines: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Counted:
    """The tags of the vault: those used most come first. `skipped` notes could not be looked at, `left_out` folders are
    low-trust."""

    page: Page[TagCount]
    skipped: int
    left_out: tuple[VaultPath, ...]


@dataclass(slots=True)
class _Tally:
    own: int = 0
    count: int = 0
    notes: int = 0
    spellings: Counter[str] = field(default_factory=Counter)
    lines: dict[int, None] = field(default_factory=dict)

    def add(self, other: _Tally) -> None:
        """Count what was counted in other notes as well."""
        self.own += other.own
        self.count += other.count
        self.notes += other.notes
        self.spellings.update(other.spellings)


@dataclass(slots=True)
class _Part:
    """The tags of the notes of one folder."""

    tallies: dict[str, _Tally] = field(default_factory=dict)
    skipped: int = 0


def count(vault: Vault, *, limit: int, offset: int = 0) -> Counted:
    """The tags of all notes that do not come from outside.

    Raises:
        Unavailable: it took too long.
    """
    return survey.make(vault, lambda sweep: _count(sweep, limit, offset), ROOT, suffixes=paths.MARKDOWN_SUFFIXES)


def asked(tag: str) -> str:
    """The key of a tag that somebody asks for, with or without its `#`; empty when none is asked for.

    Raises:
        BadArgument: it is no tag.
    """
    if not tag:
        return ""
    key = tags.key(tag.strip().removeprefix("#"))
    if not key or key.isdecimal() or any(char.isspace() for char in key):
        raise BadArgument("that is no tag; give one such as 'work' or 'work/sub'. list_tags lists them.")
    return key


def has(note: Known, key: str) -> bool:
    """Whether a note has the tag with that key, or one nested in it: in its text or in its front matter."""
    return note.path.has_suffix(paths.MARKDOWN_SUFFIXES) and any(tags.is_within(use.name, key) for use in note.tags)


def of_note(vault: Vault, path: VaultPath, *, limit: int, offset: int = 0) -> tuple[Note, Page[TagCount]]:
    """The tags of one note, with their lines.

    Raises:
        NoteNotFound, PathRefused, TooLarge: as `notes.read`.
    """
    note = notes.read(vault, path)
    tallies: dict[str, _Tally] = {}
    _add(tallies, tags.of(note.view.text), with_lines=True)
    return note, page_of(_sorted(tallies), limit, offset)


def _count(sweep: Survey, limit: int, offset: int) -> Counted:
    tallies: dict[str, _Tally] = {}
    skipped = 0
    for part in sweep.parts(_in_folder):
        skipped += part.skipped
        for key, tally in part.tallies.items():
            tallies.setdefault(key, _Tally()).add(tally)
    return Counted(page_of(_sorted(tallies), limit, offset), skipped, tuple(sweep.left_out))


def _in_folder(notes: Sequence[Known], check: Check) -> _Part:
    part = _Part()
    for note in notes:
        check()
        if note.is_shown:
            _add(part.tallies, note.tags, with_lines=False)
        else:
            part.skipped += 1
    return part


def _add(tallies: dict[str, _Tally], uses: Iterable[TagUse], *, with_lines: bool) -> None:
    """Count the uses of one note."""
    here: set[str] = set()
    for use in uses:
        name = use.name.strip("/")
        own = tags.key(name)
        parts = name.split("/")
        for depth, key in enumerate((*tags.above(own), own), start=1):
            tally = tallies.setdefault(key, _Tally())
            tally.count += 1
            tally.spellings["/".join(parts[:depth])] += 1
            if key not in here:
                here.add(key)
                tally.notes += 1
            if key == own:
                tally.own += 1
            if with_lines:
                tally.lines[use.line] = None


def _sorted(tallies: dict[str, _Tally]) -> list[TagCount]:
    found = [
        TagCount(_spelling(tally.spellings), tally.count, tally.own, tally.notes, tuple(tally.lines))
        for _, tally in sorted(tallies.items())
    ]
    return sorted(found, key=lambda tag: -tag.count)


def _spelling(spellings: Counter[str]) -> str:
    """The one that is used most; of equals the first by its letters."""
    return min(spellings, key=lambda name: (-spellings[name], name))
