"""A note's text as an answer: a first line that says what it is, notices in brackets, then the text or a part of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from service.guards import limits
from service.guards.paths import VaultPath
from service.tools import notices
from service.tools.context import Ctx, given, room
from service.vault import excerpts
from service.vault.excerpts import Excerpt, Span
from service.vault.notes import Note

HEAD_CHARS: Final = 1700
"""Characters of an answer that are kept for its first line and every notice there is."""

WHOLE: Final = Span()


def note(
    ctx: Ctx,
    note: Note,
    span: Span = WHOLE,
    *,
    max_chars: int = limits.MAX_RESULT_CHARS - HEAD_CHARS,
    goes_on: str = "go on with",
    more: str = "",
    also_from: Sequence[VaultPath] = (),
) -> str:
    """What of a note is shown: the lines asked for, as many as fit.

    Args:
        goes_on: what to write before the line to go on from.
        more: more for the first line.
        also_from: other names under which it lay or lies, which decide whose text it is too.
    """
    told = notices.of(note.view, given(room(ctx), [note.path, *also_from]), room(ctx).tools)
    part = excerpts.excerpt(note.view.text, span, max_chars)
    head = f"[{note.path} | {note.size_bytes} bytes | version {note.version}{more and f' | {more}'}]"
    where = [] if note.view.withheld else _where(note, span, part, goes_on)
    return "\n".join([head, *(f"[{notice}]" for notice in told), *where, part.text])


def _where(note: Note, span: Span, part: Excerpt, goes_on: str) -> Sequence[str]:
    """Which lines these are, and how to get the rest."""
    told = []
    if part.next_line is not None:
        column = f", start_column={part.next_column}" if part.next_column > 1 else ""
        told.append(
            f"[cut: lines {part.first}-{part.last} of {part.lines}; {goes_on} start_line={part.next_line}{column}]"
        )
    elif part.last < part.first and not span.is_whole:
        told.append(f"[nothing there: the note has {part.lines} lines]")
    elif not span.is_whole:
        told.append(f"[lines {part.first}-{part.last} of {part.lines}]")
    if note.is_outline:
        told.append("[outline of a canvas; the file itself is JSON]")
    if not note.content.is_exact:
        told.append("[not UTF-8: what could not be read stands as U+FFFD, and the note cannot be changed here]")
    return told
