"""Today's note: where the vault's own settings put it, and one more line in it.

The settings are Obsidian's: the core plugin Daily notes (`.obsidian/daily-notes.json`), else the community plugin
Periodic Notes, else `YYYY-MM-DD.md` at the root. Of moment's formats only YYYY, MM, DD and `[literal]` are understood;
another token is refused, because a line in the wrong file is worse than none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Final

from service.clock import local_now, today
from service.errors import BadArgument, Misconfigured, NoteExists, NoteNotFound, PathRefused
from service.guards import paths
from service.guards.paths import VaultPath
from service.store.files import FileContent
from service.vault import harmless, notes, text
from service.vault.model import Actor, Change, Vault
from service.vault.notes import Written
from service.vault.text import LF, NoteText

DEFAULT_FORMAT: Final = "YYYY-MM-DD"

_CORE: Final = ".obsidian/daily-notes.json"
_PERIODIC: Final = ".obsidian/plugins/periodic-notes/data.json"
_TOKEN: Final = re.compile(r"\[(?P<literal>[^\[\]]*)\]|(?P<token>[A-Za-z]+)|(?P<mark>[^A-Za-z\[\]]+)")
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_NUMBERS: Final = re.compile(r"(?:YYYY(?!Y)|MM(?!M)|DD(?![Do]))+")

_ANOTHER_WAY: Final = (
    "Find the day's note with list_notes and use append_to_note, or create_note if there is none; "
    "or ask the owner to change the settings of daily notes."
)

Json = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a day's note belongs. `template` is the one that Obsidian would start it from; empty for none."""

    path: VaultPath
    template: str


@dataclass(frozen=True, slots=True)
class Appended:
    """A line put into a day's note. `line` is its first line as written, `line_number` counts from 1."""

    written: Written
    created: bool
    line: str
    line_number: int
    template: str


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


def place(vault: Vault, on: date) -> Place:
    """Where the note of a day belongs by the vault's own settings.

    Raises:
        Misconfigured: the format holds something else than YYYY, MM, DD and `[literal]`, or the settings lead to where
            no note may be.
    """
    settings = _settings(vault)
    folder, name = _text(settings, "folder").strip("/"), _named(_text(settings, "format") or DEFAULT_FORMAT, on)
    raw = f"{folder}/{name}.md" if folder else f"{name}.md"
    try:
        return Place(paths.new_note(raw), _text(settings, "template"))
    except PathRefused as error:
        raise Misconfigured(
            f"the vault's own settings put this day's note where none can be ({error.code}: {error}) {_ANOTHER_WAY}"
        ) from error


def append(vault: Vault, actor: Actor, words: str, on: date) -> Appended:
    """Add `- HH:MM words` as a line of its own to the end of a day's note, which is made when it is not there.

    The time is now, in the owner's zone. Further lines of `words` are indented, so that they stay in the list item.

    Raises:
        BadArgument: there are no words.
        Misconfigured: as `place`.
        HiddenContent, NotText, TooLarge: nothing was changed.
    """
    text.check_size(words, "the text")
    if not words.strip():
        raise BadArgument("there is nothing to append; give some text.")
    item = _list_item(words, local_now(vault.clock))
    where = place(vault, on)
    with vault.lock.writing():
        try:
            return _append_to_it(vault, actor, where, item)
        except NoteNotFound:
            pass
        try:
            new, put = _with_item(vault, where.path, NoteText(""), item)
            made = vault.files.create(where.path, text.encode(new, str(where.path)), actor.permit)
        except NoteExists:  # another program made it in between
            return _append_to_it(vault, actor, where, item)
        vault.on_change(actor, [Change(made.path, None, made.data)])
    return Appended(notes.written(made, put.notice), True, put.line, put.number, where.template)


def _append_to_it(vault: Vault, actor: Actor, where: Place, item: str) -> Appended:
    after, put = notes.change(vault, actor, where.path, lambda note: _with_item(vault, where.path, note, item))
    return Appended(replace(after, notice=put.notice), False, put.line, put.number, "")


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
    return LF.join([f"- {now:%H:%M} {first}", *(f"  {line}" if line.strip() else "" for line in more)])


def _named(format_: str, on: date) -> str:
    named, end = "", 0
    for part in _TOKEN.finditer(format_):
        token = part["token"]
        if part.start() != end:
            break
        if token is None:
            named += part["mark"] if part["literal"] is None else part["literal"]
        elif _NUMBERS.fullmatch(token):
            named += (
                token.replace("YYYY", f"{on.year:04}").replace("MM", f"{on.month:02}").replace("DD", f"{on.day:02}")
            )
        else:
            break
        end = part.end()
    if end != len(format_):
        raise Misconfigured(
            "this vault names its daily notes by a format of which more than YYYY, MM, DD and [text], all that is understood "
            f"here, is needed. {_ANOTHER_WAY}"
        )
    return named


def _settings(vault: Vault) -> Json:
    core = _json(vault, _CORE)
    if any(_text(core, key) for key in ("folder", "format", "template")):
        return core
    daily = _json(vault, _PERIODIC).get("daily")
    return daily if isinstance(daily, dict) and daily.get("enabled", True) is not False else core


def _json(vault: Vault, name: str) -> Json:
    try:
        settings = json.loads(_raw(vault, name).data)
    except (NoteNotFound, PathRefused, ValueError, RecursionError):
        return {}
    return settings if isinstance(settings, dict) else {}


def _raw(vault: Vault, name: str) -> FileContent:
    return vault.files.read_tracked(paths.tracked(name))


def _text(settings: Json, key: str) -> str:
    value = settings.get(key)
    return value.strip() if isinstance(value, str) else ""
