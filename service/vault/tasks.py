"""The tasks of the whole vault, as the plugin Tasks finds them. `task_changes` changes one."""

from __future__ import annotations

import heapq
import time
from array import array
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from datetime import date
from typing import Final, TypeAlias

from service.errors import BadArgument
from service.guards import paths
from service.guards.paths import ROOT, VaultPath
from service.vault import daily, survey, task_settings
from service.vault.model import Page, Vault
from service.vault.parts import tags
from service.vault.parts.task_fields import Kind
from service.vault.parts.tasks import Task
from service.vault.picture.kept import Check
from service.vault.picture.note import Note
from service.vault.survey import Survey
from service.vault.task_settings import Meaning, TaskSettings


@dataclass(frozen=True, slots=True)
class Query:
    """Which tasks. Days are included; `status` None is all of them; `tag` without `#`, those nested in it too."""

    status: Meaning | None = Meaning.OPEN
    due_before: date | None = None
    due_after: date | None = None
    folder: VaultPath = ROOT
    tag: str = ""
    limit: int = 50
    offset: int = 0
    include_low_trust: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """A task in its note. `version` is that of the whole note."""

    path: VaultPath
    version: str
    task: Task
    meaning: Meaning


@dataclass(frozen=True, slots=True)
class Listed:
    """The asked page of tasks; how many notes could not be looked at, and which low-trust folders were not."""

    page: Page[Found]
    skipped: int
    left_out: tuple[VaultPath, ...]


_UNDATED: Final = date.max.toordinal() + 1

_Brief: TypeAlias = tuple[int, str, int, Note]
"""A task by which it is sorted: its day, the path of its note, its place in there; and the note."""


@dataclass(frozen=True, slots=True)
class _Part:
    """The tasks of one folder in brief, and how many of its notes could not be looked at.

    Args:
        holding: the notes that hold tasks.
        owners, places: of each task, the index of its note, and its own in there.
        dues: of each, the day as a number (date.toordinal), `_UNDATED` without one.
        symbols: of each, what its box holds.
    """

    holding: tuple[Note, ...]
    owners: array[int]
    places: array[int]
    dues: array[int]
    symbols: tuple[str, ...]
    skipped: int

    def __len__(self) -> int:
        return len(self.symbols)


def find(vault: Vault, query: Query, now: Callable[[], float] = time.monotonic) -> Listed:
    """The vault's tasks: by due date, those without last; then by path and line.

    Raises:
        NoteNotFound: there is no such folder; names the nearest.
        Unavailable: as `survey.make`.
    """
    settings = task_settings.read(vault)
    return survey.make(
        vault,
        lambda seen: _listed(seen, query, settings),
        query.folder,
        include_low_trust=query.include_low_trust,
        suffixes=paths.MARKDOWN_SUFFIXES,
        now=now,
    )


def _listed(notes_: Survey, query: Query, settings: TaskSettings) -> Listed:
    found: list[_Brief] = []
    skipped = 0
    for part in notes_.parts(_in_folder):
        skipped += part.skipped
        found += _briefly(part, query, settings)
    first = heapq.nsmallest(query.offset + query.limit, found)[query.offset :]
    page = Page(tuple(_found(brief, settings) for brief in first), len(found), query.offset)
    return Listed(page, skipped, tuple(notes_.left_out))


def _in_folder(notes: Sequence[Note], check: Check) -> _Part:
    part = _Part((), array("I"), array("I"), array("i"), (), 0)
    holding: list[Note] = []
    symbols: list[str] = []
    skipped = 0
    for note in notes:
        check()
        if not note.is_shown:
            skipped += 1
            continue
        held = note.tasks
        for place, task in enumerate(held):
            due = task.day(Kind.DUE)
            part.owners.append(len(holding))
            part.places.append(place)
            part.dues.append(_UNDATED if due is None else due.toordinal())
            symbols.append(task.symbol)
        if held:
            holding.append(note)
    return replace(part, holding=tuple(holding), symbols=tuple(symbols), skipped=skipped)


def _briefly(part: _Part, query: Query, settings: TaskSettings) -> Iterator[_Brief]:
    """Those tasks of a folder that are asked for. Only what their words decide needs the tasks themselves."""
    first = (query.due_after or date.min).toordinal()
    last = (query.due_before or date.max).toordinal() if query.due_before or query.due_after else _UNDATED
    meanings = {symbol: settings.meaning(symbol) for symbol in set(part.symbols)}
    names = [str(note.path) for note in part.holding]
    taken = _by_words(part, query, settings)
    for owner, place, due, symbol in zip(part.owners, part.places, part.dues, part.symbols, strict=True):
        is_meant = query.status in (None, meanings[symbol]) and first <= due <= last
        if is_meant and (taken is None or (owner, place) in taken):
            yield due, names[owner], place, part.holding[owner]


def _by_words(part: _Part, query: Query, settings: TaskSettings) -> Set[tuple[int, int]] | None:
    """The tasks with the tag that is asked for, and with the words that the vault's settings demand; None: all of them."""
    if not query.tag and not settings.global_filter:
        return None
    taken = set()
    for owner, note in enumerate(part.holding):
        lines = _lines_with(note, query.tag) if query.tag else None
        for place, task in enumerate(note.tasks):
            if settings.takes(task.words) and (lines is None or task.line in lines):
                taken.add((owner, place))
    return taken


def _found(brief: _Brief, settings: TaskSettings) -> Found:
    _, _, place, note = brief
    task = note.tasks[place]
    return Found(note.path, note.version, task, settings.meaning(task.symbol))


def _lines_with(note: Note, tag: str) -> frozenset[int]:
    wanted = tags.key(tag.strip().removeprefix("#"))
    return frozenset(use.line for use in note.tags if not use.is_property and tags.is_within(use.name, wanted))


def day(vault: Vault, raw: str) -> date | None:
    """The day that `raw` names (YYYY-MM-DD); None when it is empty.

    Raises:
        BadArgument: no such day.
    """
    return daily.day(vault, raw) if raw.strip() else None


def named_day(vault: Vault, raw: str) -> date:
    """The day that `raw` names (YYYY-MM-DD).

    Raises:
        BadArgument: no such day, or none at all.
    """
    named = day(vault, raw)
    if named is None:
        raise BadArgument("a day is missing; give one as YYYY-MM-DD, such as 2026-03-01.")
    return named
