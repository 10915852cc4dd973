"""What the tools for tags answer with."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from service.tools.shapes import LeftOut, NextOffset, Notice, Shape, fitting, named
from service.vault.model import Page
from service.vault.tags import Counted, TagCount

_MAX_LINES: Final = 50


class TagListed(Shape):
    tag: str
    count: Annotated[int, Field(description="Uses of it and of tags nested in it.")]
    own: Annotated[int, Field(description="Uses of just it.")]
    notes: Annotated[int, Field(description="Notes those are in.")]
    lines: Annotated[list[int], Field(description="Of a single note: the first lines they stand in.")]

    @staticmethod
    def of(found: TagCount) -> TagListed:
        return TagListed(
            tag=found.name, count=found.count, own=found.own, notes=found.notes, lines=list(found.lines[:_MAX_LINES])
        )


class TagsListed(Shape):
    tags: Annotated[list[TagListed], Field(description="Those used most first.")]
    total: int
    next_offset: NextOffset
    skipped: Annotated[int, Field(description="Notes too large, unreadable or withheld.")]
    left_out: LeftOut
    notice: Notice

    @staticmethod
    def of_vault(found: Counted) -> TagsListed:
        tags, next_offset = fitting(found.page, TagListed.of)
        return TagsListed(
            tags=tags,
            total=found.page.total,
            next_offset=next_offset,
            skipped=found.skipped,
            left_out=named(found.left_out),
            notice="",
        )

    @staticmethod
    def of_note(page: Page[TagCount], *, is_withheld: bool, notice: str) -> TagsListed:
        tags, next_offset = fitting(page, TagListed.of)
        return TagsListed(
            tags=tags, total=page.total, next_offset=next_offset, skipped=int(is_withheld), left_out=[], notice=notice
        )
