"""What the tools that look around answer with. Sizes are bytes; versions 12 hex digits."""

from __future__ import annotations

from typing import Annotated, Final
from zoneinfo import ZoneInfo

from pydantic import Field

from service.guards.paths import VaultPath
from service.store.files import Entry
from service.tools.shapes import LeftOut, NextOffset, NoteListed, Shape, fitting, moment, named
from service.vault.browsing import Info, Stats
from service.vault.model import Page

_ERROR_CHARS: Final = 500  # of one error, so that fifty of them fit into an answer


class ItemListed(Shape):
    path: str
    is_folder: bool
    modified: Annotated[str, Field(description="ISO 8601, in the owner's zone; empty for a folder.")]
    bytes: int

    @staticmethod
    def of(item: Entry | VaultPath, zone: ZoneInfo) -> ItemListed:
        if isinstance(item, Entry):
            return ItemListed(
                path=str(item.path), is_folder=False, modified=moment(item.mtime_ns, zone), bytes=item.size_bytes
            )
        return ItemListed(path=str(item), is_folder=True, modified="", bytes=0)


class DirectoryListed(Shape):
    items: Annotated[list[ItemListed], Field(description="Folders first, then files of every type, by name.")]
    total: int
    next_offset: NextOffset
    notice: Annotated[str, Field(description="Whose names some are; mostly empty.")]

    @staticmethod
    def of(page: Page[Entry | VaultPath], zone: ZoneInfo, *, notice: str) -> DirectoryListed:
        items, next_offset = fitting(page, lambda item: ItemListed.of(item, zone))
        return DirectoryListed(items=items, total=page.total, next_offset=next_offset, notice=notice)


class StatsTold(Shape):
    notes: int
    bytes: Annotated[int, Field(description="Of all notes.")]
    folders: int
    attachments: Annotated[int, Field(description="Files that are no notes.")]
    attachment_bytes: int
    recent: Annotated[list[NoteListed], Field(description="Changed last.")]
    left_out: LeftOut

    @staticmethod
    def of(found: Stats, zone: ZoneInfo) -> StatsTold:
        return StatsTold(
            notes=found.notes,
            bytes=found.note_bytes,
            folders=found.folders,
            attachments=found.attachments,
            attachment_bytes=found.attachment_bytes,
            recent=[NoteListed.of(entry, zone) for entry in found.recent],
            left_out=named(found.left_out),
        )


class InfoTold(Shape):
    path: str
    error: Annotated[str, Field(description="CODE: reason, and nothing else is known; empty when all went well.")]
    bytes: int | None
    modified: str | None
    version: str | None
    has_frontmatter: bool | None

    @staticmethod
    def of(found: Info, zone: ZoneInfo) -> InfoTold:
        return InfoTold(
            path=str(found.path),
            error="",
            bytes=found.size_bytes,
            modified=moment(found.mtime_ns, zone),
            version=found.version,
            has_frontmatter=found.has_frontmatter,
        )

    @staticmethod
    def failed(named: str, error: str) -> InfoTold:
        error = error if len(error) <= _ERROR_CHARS else error[: _ERROR_CHARS - 1] + "…"
        return InfoTold(path=named, error=error, bytes=None, modified=None, version=None, has_frontmatter=None)


class InfosTold(Shape):
    notes: Annotated[list[InfoTold], Field(description="One for each path, in order.")]
    notice: Annotated[str, Field(description="Whose names some are; mostly empty.")]
