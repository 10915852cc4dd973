"""How a task's line is rewritten: done, due on another day, and the line of the task that comes after it.

Only named pieces change: the box, one date, one field put in behind the words. The rest of the line keeps its bytes, unlike
in the plugin, which writes the whole line anew and puts fields and rules in its own order and words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from service.vault import recurrence, recurrence_words
from service.vault.parts.task_fields import KEY_OF, SIGN_OF, Kind, Style
from service.vault.parts.tasks import Task
from service.vault.recurrence import Dates
from service.vault.task_settings import TaskSettings
from service.vault.through import Piece

_NOT_IN_NEXT: Final = frozenset({Kind.DONE, Kind.CANCELLED, Kind.CREATED, Kind.ID, Kind.DEPENDS_ON})
"""What a next task does not take over: dates of the old one, and what would make two tasks one (obsidian-tasks#2654)."""


@dataclass(frozen=True, slots=True)
class Next:
    """The line of the task that comes after a recurring one, without its line end; None with a reason when none comes."""

    line: str | None = None
    why_none: str = ""


def done(task: Task, settings: TaskSettings, day: date | None) -> list[Piece]:
    """The pieces that make a task done. `day` None: no date is put to it."""
    pieces = [Piece(task.symbol_at, task.symbol_at + len(task.symbol), settings.done_symbol)]
    return pieces if day is None else [*pieces, dated(task, Kind.DONE, day, settings.style)]


def dated(task: Task, kind: Kind, day: date, style: Style) -> Piece:
    """The piece that gives a task a date: in the place of the one that counts, else behind words and fields."""
    field = task.field(kind)
    if field is not None:
        return Piece(*field.value_span, day.isoformat())
    return Piece(task.tail, task.tail, put_in(kind, day.isoformat(), style))


def following(text: str, task: Task, settings: TaskSettings, done_on: date, today: date) -> Next:
    """The task that comes after a recurring one is done.

    Args:
        text: what `task` was found in.
        done_on: the day that rules `when done` count from.
        today: the created date of the new one, when the settings ask for it.
    """
    words = task.value(Kind.RECURRENCE)
    if words is None:
        return Next()
    rule = recurrence_words.parse(words)
    if rule is None:
        return Next(why_none="Its recurrence rule is none that the Tasks plugin could read, so no next task was made.")
    kept = [kind for kind in _in_order(settings) if task.field(kind) is not None]
    if kept and task.day(kept[0]) is None:
        return Next(why_none=f"Its {kept[0].value} date is on no calendar, so no next task was made.")
    dates = Dates(task.day(Kind.START), task.day(Kind.SCHEDULED), task.day(Kind.DUE))
    then = recurrence.following(rule, dates, done_on, drops_scheduled=settings.drops_scheduled)
    if then is None:
        return Next(why_none="By its recurrence rule it never comes again, so no next task was made.")
    days = {Kind.START: then.start, Kind.SCHEDULED: then.scheduled, Kind.DUE: then.due}
    if kept:  # a lesser date that is on no calendar gets the day of the first, as in the plugin
        days |= {kind: days[kept[0]] for kind in kept if task.day(kind) is None}
    return Next(_next_line(text, task, settings, days, today if settings.sets_created else None))


def _in_order(settings: TaskSettings) -> Sequence[Kind]:
    """The dates that may be the reference, the first one first."""
    if settings.drops_scheduled:
        return Kind.DUE, Kind.START, Kind.SCHEDULED
    return Kind.DUE, Kind.SCHEDULED, Kind.START


def _next_line(
    text: str, task: Task, settings: TaskSettings, days: Mapping[Kind, date | None], created: date | None
) -> str:
    pieces = [Piece(task.symbol_at, task.symbol_at + len(task.symbol), settings.next_symbol)]
    counting = {kind: task.field(kind) for kind in (*days, Kind.CREATED)}
    for field in task.fields:
        day = created if field.kind is Kind.CREATED else days.get(field.kind)
        if day is not None and field is counting[field.kind]:
            pieces.append(Piece(*field.value_span, day.isoformat()))
        elif field.is_trailing and (field.kind in days or field.kind in _NOT_IN_NEXT):
            pieces.append(Piece(_behind_words(text, task, field.start), field.end, ""))
    if created is not None and task.field(Kind.CREATED) is None:
        pieces.append(_created(task, created, days, settings.style))
    if task.block_id[0] < task.end:
        pieces.append(Piece(_behind_words(text, task, task.block_id[0]), task.end, ""))
    return _with(text, task, sorted(pieces, key=lambda piece: (piece.start, piece.end)))


def _created(task: Task, day: date, days: Mapping[Kind, date | None], style: Style) -> Piece:
    """In front of the other dates, as the plugin orders them; behind all else where there are none."""
    dates = [field.start for field in task.fields if field.kind in days and field.is_trailing and days[field.kind]]
    if dates:
        field = put_in(Kind.CREATED, day.isoformat(), style)
        words = field.lstrip()
        return Piece(dates[0], dates[0], words + " " * (len(field) - len(words)))
    return Piece(task.tail, task.tail, put_in(Kind.CREATED, day.isoformat(), style))


def _with(text: str, task: Task, pieces: Sequence[Piece]) -> str:
    """The task's line with pieces put in."""
    kept, at = [], task.start
    for piece in pieces:
        kept += [text[at : piece.start], piece.new]
        at = piece.end
    return "".join([*kept, text[at : task.end]])


def _behind_words(text: str, task: Task, at: int) -> int:
    """Where what stands in front of `at` ends, without the white space between; never in front of the box."""
    first = task.symbol_at + len(task.symbol) + 1
    while at > first and text[at - 1].isspace():
        at -= 1
    return at


def put_in(kind: Kind, value: str, style: Style) -> str:
    """A field as it is put behind what is there; Dataview's with two blanks, as the plugin does (obsidian-tasks#1913)."""
    return f"  [{KEY_OF[kind]}:: {value}]" if style is Style.DATAVIEW else f" {SIGN_OF[kind]} {value}"
