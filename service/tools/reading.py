"""Tools that give a note's text."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from service.errors import AppError
from service.guards import limits, paths
from service.tools import notices, showing
from service.tools.arguments import NotePath
from service.tools.context import Ctx, room, sentence
from service.tools.register import ToolSpec
from service.vault import excerpts, notes
from service.vault.excerpts import Span
from service.vault.notes import Note

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
    return showing.note(ctx, note, Span(start_line, end_line, start_column))


def read_notes(
    ctx: Ctx, paths: Annotated[list[str], Field(min_length=1, max_length=10, description="Vault-relative.")]
) -> str:
    """Read up to ten notes at once, each as read_note gives it, with --- between.

    One that cannot be read is reported in its place as [path] CODE: reason.
    """
    found = [_found(ctx, raw, number) for number, raw in enumerate(paths)]
    sizes = [len(note.view.text) if isinstance(note, Note) else 0 for note in found]
    shares = excerpts.fair_shares(sizes, limits.MAX_RESULT_CHARS - showing.HEAD_CHARS * len(found))
    return _BETWEEN.join(
        showing.note(ctx, note, max_chars=share) if isinstance(note, Note) else note
        for note, share in zip(found, shares, strict=True)
    )


def _found(ctx: Ctx, raw: str, number: int) -> Note | str:
    try:
        return notes.read(room(ctx).vault, paths.note(raw))
    except AppError as error:
        return f"[{notices.asked(raw, f'paths[{number}]')}] {error.code}: {sentence(error)}"


SPECS: Final = (ToolSpec(read_note, "Read a note", "notes"), ToolSpec(read_notes, "Read several notes", "notes"))
