"""The notes of days, weeks, months, quarters and years: where they belong, their making, and one more line in them.

Where is a matter of the vault's own settings (`periods`); a format that cannot be followed exactly is refused, because a line
in the wrong file is worse than none. A new note begins with the owner's template (`templates`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Final

from service.clock import local_now, today
from service.errors import BadArgument, Forbidden, Misconfigured, NoteExists, NoteNotFound, PathRefused
from service.guards import paths
from service.guards.folders import Scope
from service.guards.paths import VaultPath
from service.vault import harmless, moment, notes, periods, templates, text
from service.vault.model import Actor, Change, Vault
from service.vault.moment import FormatRefusedError
from service.vault.notes import Note, Written
from service.vault.periods import Period
from service.vault.templates import Begun, Occasion
from service.vault.text import LF, NoteText

_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_ITEM: Final = re.compile(
    r"(?P<bullet>[-*+]|[0-9]{1,3}[.)])[ \t]+(?P<box>\[[^\[\]]\](?=[ \t]|$))?[ \t]*(?P<words>.*)", re.DOTALL
)
"""A list item or a task, as somebody gives it."""

_ANOTHER_WAY: Final = (
    "Find the note with list_notes and use append_to_note, or create_note if there is none; "
    "or ask the owner to change the settings of daily and periodic notes."
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a period's note belongs, and what it would begin with."""

    path: VaultPath
    occasion: Occasion


@dataclass(frozen=True, slots=True)
class Made:
    """A period's note that is there now. `template` is the one it began with, as the settings name it; empty for none."""

    written: Written
    created: bool
    template: str


@dataclass(frozen=True, slots=True)
class Appended:
    """A line put into a period's note. `line` is its first line as written, `line_number` counts from 1."""

    written: Written
    created: bool
    line: str
    line_number: int


def day(vault: Vault, raw: str) -> date:
    """The day that `raw` names (YYYY-MM-DD), or today in the owner's zone when it is empty.

    Raises:
        BadArgument: no such day.
    """
    if not raw.strip():
        return today(vault.clock)
    try:
        if not _DAY.fullmatch(raw.strip()):  # fromisoformat takes weeks and other spellings too
            raise ValueError
        return date.fromisoformat(raw.strip())
    except ValueError as error:
        raise BadArgument(f"{raw[:20]!r} is no day; give one as YYYY-MM-DD, such as 2026-03-01.") from error


def place(vault: Vault, on: date, period: Period = Period.DAILY) -> Place:
    """Where the note of the period that a day lies in belongs by the vault's own settings.

    Raises:
        Misconfigured: the format cannot be followed exactly, or the settings lead to where no note may be.
        BadArgument: the period lies outside of the days there are.
        Forbidden: in a limited view, instead of all that would tell where else the settings lead.
    """
    scope = vault.files.root.scope
    if scope is None:
        return _place(vault, on, period)
    try:
        where = _place(vault, on, period)
    except Misconfigured as error:
        raise _elsewhere(scope, period) from error
    if scope.entered(where.path) is None:
        raise _elsewhere(scope, period)
    return where


def _place(vault: Vault, on: date, period: Period) -> Place:
    kept, spoken, zone = periods.kept(vault, period), periods.locale(vault), vault.clock.zone
    first = periods.begins(period, on, periods.week_begins(kept.pattern, spoken))
    try:
        named = moment.written(kept.pattern, moment.at_local(first, 0, 0, 0, zone), spoken)
    except FormatRefusedError as error:
        raise Misconfigured(
            f"this vault names its {period} notes by a format that cannot be followed: {error}. Plain words in it belong in "
            f"brackets, such as [Journal]. {_ANOTHER_WAY}"
        ) from error
    except OverflowError as error:
        raise BadArgument("that day is too near the first or the last there is; give another.") from error
    raw = f"{kept.folder}/{named}" if kept.folder else named
    try:
        path = paths.new_note(raw if raw.lower().endswith(".md") else f"{raw}.md")
    except PathRefused as error:
        raise Misconfigured(
            f"the vault's own settings put this {period} note where none can be ({error.code}: {error}) {_ANOTHER_WAY}"
        ) from error
    return Place(path, Occasion(period, kept, first, path.stem, local_now(vault.clock), zone, spoken))


def _elsewhere(scope: Scope, period: Period) -> Forbidden:
    return Forbidden(
        f"this vault has no place for {period} notes in {scope}, which is all that this token may see. {_ANOTHER_WAY}"
    )


def find(vault: Vault, where: Place) -> Note | None:
    """The note, if it is there."""
    try:
        return notes.read(vault, where.path)
    except NoteNotFound:
        return None


def create(vault: Vault, actor: Actor, where: Place) -> Made:
    """Make the note from its template when it is not there; leave it as it is when it is.

    Raises:
        NoteExists: another name that is the same to many devices is there.
        TooLarge: the template is.
    """
    there = _standing(vault, where)
    if there is not None:
        return there
    begun = templates.begun(vault, where.occasion)
    data = text.encode(NoteText(begun.text), str(where.path))
    with vault.lock.writing():
        try:
            made = vault.files.create(where.path, data, actor.permit)
        except NoteExists:  # another program made it in between, or it is there by another name
            there = _standing(vault, where)
            if there is None:
                raise
            return there
        vault.on_change(actor, [Change(made.path, None, made.data)])
    return Made(notes.written(made, " ".join(begun.told)), True, begun.template)


def append(vault: Vault, actor: Actor, words: str, where: Place) -> Appended:
    """Add `- HH:MM words` as a line of its own to the end of a period's note, which is made when it is not there.

    The time is now, in the owner's zone. What is a list item or a task already gets the time behind its marker. Further
    lines are indented, so that they stay in the item, unless all of them are items of the same list.

    Raises:
        BadArgument: there are no words.
        HiddenContent, NotText, TooLarge: nothing was changed.
    """
    text.check_size(words, "the text")
    if not words.strip():
        raise BadArgument("there is nothing to append; give some text.")
    item = _list_item(words, where.occasion.now)
    begun: Begun | None = None
    for _ in range(notes.MAX_ATTEMPTS):
        with vault.lock.writing():
            try:
                return _append_to_it(vault, actor, where.path, item)
            except NoteNotFound:
                if begun is not None and (appended := _create_with(vault, actor, where, begun, item)) is not None:
                    return appended
        begun = templates.begun(vault, where.occasion)  # may look through the vault, so not under the lock
    raise NoteExists(str(where.path))


def _standing(vault: Vault, where: Place) -> Made | None:
    try:
        return Made(notes.written(vault.files.read(where.path)), False, "")
    except NoteNotFound:
        return None


def _append_to_it(vault: Vault, actor: Actor, path: VaultPath, item: str) -> Appended:
    after, put = notes.change(vault, actor, path, lambda note: _with_item(vault, path, note, item))
    return Appended(replace(after, notice=put.notice), False, put.line, put.number)


def _create_with(vault: Vault, actor: Actor, where: Place, begun: Begun, item: str) -> Appended | None:
    """The note made with its first item; None when the name was taken meanwhile."""
    new, put = _with_item(vault, where.path, NoteText(begun.text), item)
    try:
        made = vault.files.create(where.path, text.encode(new, str(where.path)), actor.permit)
    except NoteExists:
        if _standing(vault, where) is None:
            raise  # there by another name that is the same to many devices
        return None
    vault.on_change(actor, [Change(made.path, None, made.data)])
    notice = " ".join(filter(None, (put.notice, *begun.told)))
    return Appended(notes.written(made, notice), True, put.line, put.number)


@dataclass(frozen=True, slots=True)
class _Put:
    """Where the item's first line stands, how it was written, and what there is to say of it."""

    number: int
    line: str
    notice: str


def _with_item(vault: Vault, path: VaultPath, note: NoteText, item: str) -> tuple[NoteText, _Put]:
    added = notes.lines_to_append(note, item)
    before = len(note.text) + len(added) - len(added.lstrip("\r\n"))
    new = harmless.appended(vault, path, note, added)
    line = new.text[before:].partition(LF)[0].removesuffix("\r")
    return note.with_text(new.text), _Put(new.text.count(LF, 0, before) + 1, line, new.notice)


def _list_item(words: str, now: datetime) -> str:
    first, *more = text.in_style(words.strip(), LF).split(LF)
    item = _ITEM.fullmatch(first)
    if item is None:
        head, indent = f"- {now:%H:%M} {first}", "  "
    else:
        head = " ".join(filter(None, (item["bullet"], item["box"], f"{now:%H:%M}", item["words"])))
        indent = " " * (len(item["bullet"]) + 1)
        if all(not line.strip() or line[0] in " \t" or _ITEM.fullmatch(line) for line in more):
            indent = ""  # a whole list
    return LF.join([head, *(f"{indent}{line}" if line.strip() else "" for line in more)])
