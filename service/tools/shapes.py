"""What tools answer with when it is not a note's text: frozen, typed, small. Sizes are bytes; versions 12 hex digits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Annotated, Final, TypeVar
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from service.guards import limits
from service.guards.paths import VaultPath
from service.search.query import Found, Hit
from service.store.files import Entry
from service.vault.listing import Folder, Newest
from service.vault.model import Page
from service.vault.notes import Edited, Written
from service.vault.properties import Properties

_AROUND_CHARS: Final = 2000  # of an answer, for what is told beside the items
_MAX_LEFT_OUT: Final = 3

T = TypeVar("T")
S = TypeVar("S", bound="Shape")

Version = Annotated[str, Field(description="Give it as expected_hash to change exactly this version.")]
Notice = Annotated[str, Field(description="Something the owner should know; mostly empty.")]
NextOffset = Annotated[int | None, Field(description="Where the next page begins; null at the end.")]

LeftOut = Annotated[list[str], Field(description="Low-trust folders that were not looked into.")]


class Shape(BaseModel):
    model_config = ConfigDict(frozen=True)


def fitting(page: Page[T], shape: Callable[[T], S], *, share: float = 1.0) -> tuple[list[S], int | None]:
    """As many items of a page as one answer holds, at least one, and where the next page then begins.

    With a `share`, as many as that part of an answer holds.

    Paths may have hundreds of letters, so a number of items is no bound to their text.
    """
    shapes: list[S] = []
    left = (limits.MAX_LIST_CHARS - _AROUND_CHARS) * share
    for item in page.items:
        one = shape(item)
        left -= len(one.model_dump_json()) + 1
        if left < 0 and shapes:
            break
        shapes.append(one)
    kept = Page(page.items[: len(shapes)], page.total, page.offset)
    return shapes, kept.next_offset


class NoteWritten(Shape):
    path: str
    version: Version
    bytes: int
    notice: Notice

    @staticmethod
    def of(written: Written) -> NoteWritten:
        return NoteWritten(
            path=str(written.path),
            version=written.version,
            bytes=written.size_bytes,
            notice=" ".join(filter(None, (written.caution, written.notice))),
        )


class NoteAppended(NoteWritten):
    diff: str

    @staticmethod
    def after(appended: Written) -> NoteAppended:
        return NoteAppended(**dict(NoteWritten.of(appended)), diff=appended.diff)


class NoteEdited(NoteWritten):
    replaced: Annotated[int, Field(description="Places replaced.")]
    dry_run: Annotated[bool, Field(description="Nothing was written; version and bytes are those it would have.")]
    diff: str

    @staticmethod
    def after(edited: Edited, *, dry_run: bool, notice: str = "") -> NoteEdited:
        note = NoteWritten.of(edited.written)
        return NoteEdited(
            **{**dict(note), "notice": " ".join(filter(None, (note.notice, notice)))},
            replaced=edited.replaced,
            dry_run=dry_run,
            diff=edited.diff,
        )


class NoteDeleted(NoteWritten):
    trashed_to: Annotated[str, Field(description="Where it lies now; undelete_note brings it back.")]

    @staticmethod
    def as_trashed(deleted: Written, trashed_to: str) -> NoteDeleted:
        return NoteDeleted(**dict(NoteWritten.of(deleted)), trashed_to=trashed_to)


class NoteListed(Shape):
    path: str
    modified: Annotated[str, Field(description="ISO 8601, in the owner's zone.")]
    bytes: int

    @staticmethod
    def of(entry: Entry, zone: ZoneInfo) -> NoteListed:
        return NoteListed(path=str(entry.path), modified=moment(entry.mtime_ns, zone), bytes=entry.size_bytes)


class NotesListed(Shape):
    notes: list[NoteListed]
    total: int
    next_offset: NextOffset
    left_out: LeftOut

    @staticmethod
    def of(newest: Newest, zone: ZoneInfo) -> NotesListed:
        notes, next_offset = fitting(newest.page, lambda entry: NoteListed.of(entry, zone))
        return NotesListed(
            notes=notes, total=newest.page.total, next_offset=next_offset, left_out=named(newest.left_out)
        )


class FolderListed(Shape):
    path: Annotated[str, Field(description="Empty for the vault's root.")]
    notes: Annotated[int, Field(description="Directly in it.")]
    total_notes: Annotated[int, Field(description="In it and below.")]

    @staticmethod
    def of(folder: Folder) -> FolderListed:
        return FolderListed(path=str(folder.path), notes=folder.notes, total_notes=folder.total_notes)


class Tree(Shape):
    folders: list[FolderListed]
    total: int
    next_offset: NextOffset
    low_trust: Annotated[
        list[str], Field(description="Low-trust folders among these; what is in them is only counted.")
    ]

    @staticmethod
    def of(page: Page[Folder]) -> Tree:
        folders, next_offset = fitting(page, FolderListed.of)
        shown = page.items[: len(folders)]
        return Tree(
            folders=folders,
            total=page.total,
            next_offset=next_offset,
            low_trust=[str(folder.path) for folder in shown if folder.is_low_trust],
        )


class HitListed(Shape):
    path: str
    line: int
    snippet: str
    score: int

    @staticmethod
    def of(hit: Hit) -> HitListed:
        return HitListed(path=str(hit.path), line=hit.line, snippet=hit.snippet, score=hit.score)


class HitsListed(Shape):
    hits: list[HitListed]
    total: Annotated[
        int, Field(description="Hits in all (lines; ranked: notes); at least so many if total_is_exact is false.")
    ]
    total_is_exact: bool
    total_notes: Annotated[int, Field(description="Notes they are in.")]
    next_offset: NextOffset
    skipped: Annotated[int, Field(description="Notes too large, unreadable or withheld, not searched.")]
    left_out: LeftOut
    notice: Annotated[str, Field(description="Whose text some hits are; what was corrected or found in another form.")]

    @staticmethod
    def of(found: Found, *, notice: str = "") -> HitsListed:
        hits, next_offset = fitting(found.page, HitListed.of)
        return HitsListed(
            hits=hits,
            total=found.page.total,
            total_is_exact=found.is_total_exact,
            total_notes=found.notes,
            next_offset=next_offset,
            skipped=found.skipped,
            left_out=named(found.left_out),
            notice=notice,
        )


class PropertiesListed(Shape):
    path: str
    version: Version
    properties: dict[str, JsonValue]
    notice: Annotated[str, Field(description="Whose text this is; mostly empty.")]

    @staticmethod
    def of(found: Properties, *, notice: str) -> PropertiesListed:
        return PropertiesListed(
            path=str(found.path), version=found.version, properties=dict(found.values), notice=notice
        )


def named(folders: Sequence[VaultPath]) -> list[str]:
    """The first of them, since a vault may have many and an answer is bounded."""
    return [str(folder) for folder in folders[:_MAX_LEFT_OUT]]


def moment(ns: int, zone: ZoneInfo) -> str:
    """Nanoseconds since 1970 as ISO 8601 with whole seconds and the offset of `zone`."""
    return datetime.fromtimestamp(ns // 1_000_000_000, UTC).astimezone(zone).isoformat()
