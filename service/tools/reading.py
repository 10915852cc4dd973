"""Tools that give a note's text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from pydantic import Field

from service.errors import AppError
from service.guards import limits, paths
from service.tools import notices
from service.tools.arguments import NotePath
from service.tools.context import Ctx, given, room
from service.tools.register import ToolSpec
from service.vault import excerpts, notes
from service.vault.excerpts import Excerpt, Span
from service.vault.notes import Note

_HEAD_CHARS: Final = 1700  # of an answer, kept for its first line and every notice there is
_BETWEEN: Final = "\n\n---\n\n"


def read_note(
    ctx: Ctx,
    path: NotePath,
    start_line: int = 1,
    end_line: int | None = None,
    start_column: Annotated[int, Field(description="Only to go on inside a very long line.")] = 1,
) -> str:
    """Read a note, whole or from start_line to end_line (from 1, inclusive).

    First line: [path | N bytes | version HASH]; then notices in brackets, then the text, without what a person who opens
    the note would not see. A long note is cut; the notice names the line to go on from.
    """
    note = notes.read(room(ctx).vault, paths.note(path))
    return _shown(ctx, note, Span(start_line, end_line, start_column), limits.MAX_RESULT_CHARS - _HEAD_CHARS)


def read_notes(
    ctx: Ctx, paths: Annotated[list[str], Field(min_length=1, max_length=10, description="Vault-relative.")]
) -> str:
    """Read up to ten notes at once, each as read_note gives it, with --- between.

    One that cannot be read is reported in its place as [path] CODE: reason.
    """
    found = [_found(ctx, raw, number) for number, raw in enumerate(paths)]
    sizes = [len(note.view.text) if isinstance(note, Note) else 0 for note in found]
    shares = excerpts.fair_shares(sizes, limits.MAX_RESULT_CHARS - _HEAD_CHARS * len(found))
    return _BETWEEN.join(
        _shown(ctx, note, Span(), share) if isinstance(note, Note) else note
        for note, share in zip(found, shares, strict=True)
    )


def _found(ctx: Ctx, raw: str, number: int) -> Note | str:
    try:
        return notes.read(room(ctx).vault, paths.note(raw))
    except AppError as error:
        return f"[{notices.asked(raw, f'paths[{number}]')}] {error.code}: {error}"


def _shown(ctx: Ctx, note: Note, span: Span, max_chars: int) -> str:
    told = notices.of(note.view, given(room(ctx), [note.path]), room(ctx).tools)
    part = excerpts.excerpt(note.view.text, span, max_chars)
    head = f"[{note.path} | {note.size_bytes} bytes | version {note.version}]"
    where = [] if note.view.withheld else _where(note, span, part)
    return "\n".join([head, *(f"[{notice}]" for notice in told), *where, part.text])


def _where(note: Note, span: Span, part: Excerpt) -> Sequence[str]:
    """Which lines these are, and how to get the rest."""
    told = []
    if part.next_line is not None:
        column = f", start_column={part.next_column}" if part.next_column > 1 else ""
        told.append(
            f"[cut: lines {part.first}-{part.last} of {part.lines}; go on with start_line={part.next_line}{column}]"
        )
    elif part.last < part.first and not span.is_whole:
        told.append(f"[nothing there: the note has {part.lines} lines]")
    elif not span.is_whole:
        told.append(f"[lines {part.first}-{part.last} of {part.lines}]")
    if not note.content.is_exact:
        told.append("[not UTF-8: what could not be read stands as U+FFFD, and the note cannot be changed here]")
    return told


SPECS: Final = (ToolSpec(read_note, "Read a note", "notes"), ToolSpec(read_notes, "Read several notes", "notes"))
