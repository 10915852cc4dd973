"""What the tools for headings and sections answer with. Lines count from 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from pydantic import Field

from service.tools.shapes import NoteWritten, Notice, Shape, Version, fitting
from service.vault.model import page_of
from service.vault.outline import Outline
from service.vault.parts.blockids import BlockId
from service.vault.parts.headings import Heading
from service.vault.sections import Added

_MAX_ENTRIES: Final = 500
_MAX_TAGS: Final = 100
_MAX_TAGS_CHARS: Final = 4000
_MAX_HEADING_CHARS: Final = 300


class HeadingListed(Shape):
    level: int
    text: str
    line: int


class BlockListed(Shape):
    id: str
    line: int


class OutlineTold(Shape):
    path: str
    version: Version
    bytes: int
    lines: int
    headings: list[HeadingListed]
    total_headings: int
    blocks: Annotated[list[BlockListed], Field(description="Ids that links can name: [[Note#^id]].")]
    total_blocks: int
    next_line: Annotated[int | None, Field(description="start_line for the rest; null when all is told.")]
    tags: Annotated[list[str], Field(description="The first of them.")]
    total_tags: int
    tasks: int
    open_tasks: int
    notice: Notice

    @staticmethod
    def of(found: Outline, start_line: int, *, notice: str) -> OutlineTold:
        told, next_line = _from(found, start_line)
        tags = _first(found.tags)
        return OutlineTold(
            path=str(found.note.path),
            version=found.note.version,
            bytes=found.note.size_bytes,
            lines=found.note.view.text.count("\n") + 1,
            headings=[one for one in told if isinstance(one, HeadingListed)],
            total_headings=len(found.headings),
            blocks=[one for one in told if isinstance(one, BlockListed)],
            total_blocks=len(found.blocks),
            next_line=next_line,
            tags=tags,
            total_tags=len(found.tags),
            tasks=found.tasks,
            open_tasks=found.open_tasks,
            notice=notice,
        )


class SectionAppended(NoteWritten):
    heading: str
    line: Annotated[int, Field(description="The first new line.")]
    diff: str

    @staticmethod
    def after(added: Added, *, notice: str = "") -> SectionAppended:
        note = NoteWritten.of(added.written)
        return SectionAppended(
            **{**dict(note), "notice": " ".join(filter(None, (note.notice, notice)))},
            heading=_cut(added.heading),
            line=added.line,
            diff=added.diff,
        )


def _from(found: Outline, start_line: int) -> tuple[Sequence[HeadingListed | BlockListed], int | None]:
    """Headings and block ids from a line on, as many as one answer holds, and the line of the first that it does not."""
    entries: list[Heading | BlockId] = [one for one in found.headings if one.line >= start_line]
    entries += [one for one in found.blocks if one.line >= start_line]
    entries.sort(key=lambda one: one.line)
    told, rest = fitting(page_of(entries, _MAX_ENTRIES, 0), _shape, share=0.9)
    if rest is None:
        return told, None
    next_line = entries[rest].line
    return [one for one in told if one.line < next_line], next_line


def _shape(one: Heading | BlockId) -> HeadingListed | BlockListed:
    if isinstance(one, Heading):
        return HeadingListed(level=one.level, text=_cut(one.text), line=one.line)
    return BlockListed(id=_cut(one.name), line=one.line)


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_HEADING_CHARS else f"{text[: _MAX_HEADING_CHARS - 1]}…"


def _first(tags: Sequence[str]) -> list[str]:
    kept: list[str] = []
    left = _MAX_TAGS_CHARS
    for tag in tags[:_MAX_TAGS]:
        left -= len(tag) + 3
        if left < 0:
            break
        kept.append(tag)
    return kept
