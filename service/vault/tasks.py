"""The tasks of the whole vault, as the plugin Tasks finds them. `task_changes` changes one."""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

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


@dataclass(frozen=True, slots=True)
class _Part:
    """Those notes of one folder that hold tasks, and how many could not be looked at."""

    holding: tuple[Note, ...]
    skipped: int


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
    found: list[Found] = []
    skipped = 0
    for part in notes_.parts(_in_folder):
        skipped += part.skipped
        for note in part.holding:
            found += _wanted(note, query, settings)
    first = heapq.nsmallest(query.offset + query.limit, found, key=_by_due)
    page = Page(tuple(first[query.offset :]), len(found), query.offset)
    return Listed(page, skipped, tuple(notes_.left_out))


def _in_folder(notes: Sequence[Note], check: Check) -> _Part:
    holding: list[Note] = []
    skipped = 0
    for note in notes:
        check()
        if not note.is_shown:
            skipped += 1
        elif note.tasks:
            holding.append(note)
    return _Part(tuple(holding), skipped)


def _by_due(found: Found) -> tuple[bool, date, str, int]:
    due = found.task.day(Kind.DUE)
    return due is None, due or date.max, str(found.path), found.task.line


def _wanted(seen: Note, query: Query, settings: TaskSettings) -> Iterator[Found]:
    tagged = None
    for task in seen.tasks:
        meaning = settings.meaning(task.symbol)
        if query.status not in (None, meaning) or not _is_due(task, query) or not settings.takes(task.words):
            continue
        if query.tag:
            tagged = _lines_with(seen, query.tag) if tagged is None else tagged
            if task.line not in tagged:
                continue
        yield Found(seen.path, seen.version, task, meaning)


def _is_due(task: Task, query: Query) -> bool:
    if query.due_before is None and query.due_after is None:
        return True
    due = task.day(Kind.DUE)
    return due is not None and (query.due_after or date.min) <= due <= (query.due_before or date.max)


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
