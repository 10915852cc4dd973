"""Telling a call that is made a second time: the note is then what the first one made of the version that was read.

A client that lost an answer asks again with the same words. The version does not fit any more, but when undoing the change
gives exactly the bytes of the expected version, it is the same call, and nothing needs to be done. Anything else that has
happened to the note makes it a conflict.
"""

from __future__ import annotations

import hashlib
import string
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from service.errors import AppError
from service.guards import outgoing
from service.guards.outgoing import View
from service.vault import task_lines, text, through
from service.vault.parts import tasks
from service.vault.parts.task_fields import Kind
from service.vault.parts.tasks import Task
from service.vault.task_settings import Meaning, TaskSettings
from service.vault.text import NoteText
from service.vault.through import Piece

MAX_GUESSED_CHARS: Final = 200_000
"""Characters of a note in which boxes are tried that no setting names: some hundred versions of it are hashed then."""

_GUESSED: Final = string.ascii_letters + string.digits + string.punctuation


def find(note: NoteText, line: int, expected_hash: str, settings: TaskSettings) -> tuple[int, int] | None:
    """On which lines a task that was on `line` of the expected version stands now, and the next one (0 without one).

    Args:
        note: as it is now, in which the task may have been made done.
        expected_hash: any prefix of the SHA-256 of the expected version, well-formed.
    """
    view = outgoing.view(note.text)
    if view.withheld or not note.is_exact:
        return None
    found = {task.line: task for task in tasks.of(view.text)}
    symbols = settings.open_symbols
    if len(view.raw) <= MAX_GUESSED_CHARS:
        symbols = (*symbols, *(symbol for symbol in _GUESSED if settings.meaning(symbol) is Meaning.OPEN))
    wanted = expected_hash.strip().lower()
    for at, next_line in ((line, 0), (line + 1, line), (line, line + 1)):
        for pieces in _undone(view.text, found, (at, next_line), settings, symbols):
            if _hash(note, view, pieces).startswith(wanted):
                return at, next_line
    return None


def _undone(
    shown: str, found: Mapping[int, Task], lines: tuple[int, int], settings: TaskSettings, symbols: Sequence[str]
) -> Iterator[list[Piece]]:
    """The ways in which the change can be undone, of a task and the next one on these lines."""
    at, next_line = lines
    task, following = found.get(at), found.get(next_line)
    if task is None or settings.meaning(task.symbol) is not Meaning.DONE or (next_line and following is None):
        return
    away: list[Piece] = []
    if following is not None:
        away = [
            Piece(following.start, task.start, "") if next_line < at else Piece(task.end, following.end, ""),
        ]
    field = task.field(Kind.DONE)
    put_in = task_lines.put_in(Kind.DONE, field.value, field.style) if field else ""
    dates: list[list[Piece]] = [[]]
    if field is not None and shown.endswith(put_in, 0, field.end):
        dates.insert(0, [Piece(field.end - len(put_in), field.end, "")])
    for date in dates:
        for symbol in symbols:
            pieces = [Piece(task.symbol_at, task.symbol_at + len(task.symbol), symbol), *date, *away]
            yield sorted(pieces, key=lambda piece: piece.start)


def _hash(note: NoteText, view: View, pieces: list[Piece]) -> str:
    try:
        raw, _ = through.pieced(view, pieces)
        return hashlib.sha256(text.encode(note.with_text(raw), "")).hexdigest()
    except AppError:  # something hidden lies in what would be taken out
        return ""
