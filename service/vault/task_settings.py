"""What the vault's own settings of the Tasks plugin say of tasks: what each box means, and what is written when one is done.

Read on every call from `.obsidian/plugins/obsidian-tasks-plugin/data.json`; what is not there, or of the wrong type, is as
the plugin has it by itself (obsidian-tasks, src/Config/Settings.ts, src/Statuses/StatusRegistry.ts and Status.ts).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from service.errors import NoteNotFound, PathRefused, TooLarge
from service.vault.model import Vault
from service.vault.parts.task_fields import Style

SETTINGS: Final = ".obsidian/plugins/obsidian-tasks-plugin/data.json"
MAX_STATUSES: Final = 500

Json = Mapping[str, object]


class Meaning(StrEnum):
    """What a box means. What is neither open, done nor cancelled is no task to the plugin."""

    OPEN = "open"
    DONE = "done"
    CANCELLED = "cancelled"
    NONE = "none"


_TYPES: Final = {
    "TODO": Meaning.OPEN,
    "IN_PROGRESS": Meaning.OPEN,
    "ON_HOLD": Meaning.OPEN,
    "DONE": Meaning.DONE,
    "CANCELLED": Meaning.CANCELLED,
    "NON_TASK": Meaning.NONE,
}
_BY_ITSELF: Final = {"x": "DONE", "X": "DONE", "/": "IN_PROGRESS", "-": "CANCELLED"}
"""Types of symbols that no setting names; of any other, TODO."""

DONE_SYMBOL: Final = "x"


@dataclass(frozen=True, slots=True)
class Status:
    """One symbol: its type, by the plugin's names, and the symbol that follows when it is toggled."""

    type: str
    following: str


_STATUSES: Final[Mapping[str, Status]] = {
    " ": Status("TODO", "x"),
    "x": Status("DONE", " "),
    "/": Status("IN_PROGRESS", "x"),
    "-": Status("CANCELLED", " "),
}


@dataclass(frozen=True, slots=True)
class TaskSettings:
    """How the owner has the plugin work.

    Args:
        statuses: by symbol, those that the settings name.
        global_filter: what a line must hold to be a task at all; empty when every box is one.
        style: how fields are written.
        sets_done, sets_created: whether a date is put to what is done, and to the task that comes after a recurring one.
        next_below: whether that goes below the one that is done, not above it.
        drops_scheduled: whether it has no scheduled date, if it has another.
    """

    statuses: Mapping[str, Status] = field(default_factory=lambda: _STATUSES)
    global_filter: str = ""
    style: Style = Style.SIGN
    sets_done: bool = True
    sets_created: bool = False
    next_below: bool = False
    drops_scheduled: bool = False

    def meaning(self, symbol: str) -> Meaning:
        """What a box with this symbol means."""
        return _TYPES.get(self._type(symbol), Meaning.OPEN)

    def takes(self, words: str) -> bool:
        """Whether the plugin takes a box with these words for a task at all."""
        return self.global_filter in words

    @property
    def done_symbol(self) -> str:
        """What a box gets when its task is done: `x`, unless the owner has made that mean something else."""
        if self.meaning(DONE_SYMBOL) is Meaning.DONE:
            return DONE_SYMBOL
        return next((symbol for symbol in self.statuses if self.meaning(symbol) is Meaning.DONE), DONE_SYMBOL)

    @property
    def next_symbol(self) -> str:
        """The box of the task that comes after a recurring one: going on from done, the first to do, else in progress."""
        chain = [self._following(self.done_symbol)]
        while len(chain) <= len(self.statuses):
            chain.append(self._following(chain[-1]))
        for wanted in ("TODO", "IN_PROGRESS"):
            for symbol in chain:
                if self._type(symbol) == wanted:
                    return symbol
        return " "

    @property
    def open_symbols(self) -> tuple[str, ...]:
        """Those that the settings name, and the plugin's own."""
        known = dict.fromkeys([*_STATUSES, *self.statuses])
        return tuple(symbol for symbol in known if self.meaning(symbol) is Meaning.OPEN)

    def _type(self, symbol: str) -> str:
        status = self.statuses.get(symbol)
        return status.type if status else _BY_ITSELF.get(symbol, "TODO")

    def _following(self, symbol: str) -> str:
        status = self.statuses.get(symbol)
        return status.following if status else "x"


def read(vault: Vault) -> TaskSettings:
    """The vault's settings; the plugin's own where there are none, or none that can be read."""
    told = _told(vault)
    return TaskSettings(
        statuses=_statuses(told),
        global_filter=_text(told, "globalFilter").strip(),
        style=Style.DATAVIEW if _text(told, "taskFormat") == "dataview" else Style.SIGN,
        sets_done=_is_on(told, "setDoneDate", by_itself=True),
        sets_created=_is_on(told, "setCreatedDate"),
        next_below=_is_on(told, "recurrenceOnNextLine"),
        drops_scheduled=_is_on(told, "removeScheduledDateOnRecurrence"),
    )


def _told(vault: Vault) -> Json:
    try:
        told = json.loads(vault.files.read_settings(SETTINGS))
    except (NoteNotFound, PathRefused, TooLarge, ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def _statuses(told: Json) -> Mapping[str, Status]:
    groups = told.get("statusSettings")
    if not isinstance(groups, dict):
        return _STATUSES
    found: dict[str, Status] = {}
    for name in ("coreStatuses", "customStatuses"):
        listed = groups.get(name)
        for one in listed[:MAX_STATUSES] if isinstance(listed, list) else ():
            if isinstance(one, dict) and len(symbol := _text(one, "symbol")) == 1:
                kind = _text(one, "type")
                kind = kind if kind in _TYPES else _BY_ITSELF.get(symbol, "TODO")
                found.setdefault(symbol, Status(kind, _text(one, "nextStatusSymbol")[:1] or "x"))
    return found or _STATUSES


def _text(told: Json, key: str) -> str:
    value = told.get(key)
    return value if isinstance(value, str) else ""


def _is_on(told: Json, key: str, *, by_itself: bool = False) -> bool:
    value = told.get(key)
    return value if isinstance(value, bool) else by_itself
