"""Making a task done, and putting one off.

A change names a line and the version that was read, and changes that line alone, through the note's view like every other
change (`harmless.pieced`). Doing it again with the same words changes nothing more: when the version does not fit, it is
looked whether what is there is exactly what the first time came to (`task_repeats`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from service.clock import today
from service.errors import BadArgument, NotATask, NoteChanged
from service.guards.paths import VaultPath
from service.store.files import FileContent
from service.vault import harmless, notes, task_lines, task_places, task_repeats, task_settings, text, through, versions
from service.vault.model import Actor, Vault
from service.vault.notes import Written
from service.vault.parts.task_fields import Kind
from service.vault.parts.tasks import Task
from service.vault.task_settings import Meaning, TaskSettings
from service.vault.text import CRLF, LF, NoteText
from service.vault.through import Piece

_DELETE: Final = "delete"


@dataclass(frozen=True, slots=True)
class Changed:
    """A task after a change.

    Args:
        line, words: where it stands now, and its line as shown; 0 and empty when it was taken away.
        is_repeat: nothing was written, since it was like this already.
        next_line, next_words: the same of the task that comes after it; 0 and empty without one.
        remark: empty, or what the owner may want to know.
    """

    written: Written
    line: int
    words: str
    is_repeat: bool = False
    next_line: int = 0
    next_words: str = ""
    remark: str = ""


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is going to be written, and the lines on which the task and the next one stand then (0: there is none)."""

    pieces: Sequence[Piece]
    line: int
    next_line: int = 0
    remark: str = ""


def complete(
    vault: Vault, actor: Actor, path: VaultPath, line: int, *, expected_hash: str, done_on: date | None = None
) -> Changed:
    """Make a task done as the plugin would: its box, its done date, and the next one when it comes again.

    Args:
        line: from 1.
        expected_hash: of the version that was read; required.
        done_on: the day it was done; None for today, in the owner's zone.

    Raises:
        NotATask: no open task stands there; says what does, and where tasks are.
        NoteChanged: it is another version, and not what this very call made of the expected one.
        BadArgument: no version is named; or the task takes itself away when done, and more would go with it.
        NoteNotFound, NotText, HiddenContent, UnsafeContent: nothing was changed.
    """
    settings = task_settings.read(vault)
    now = today(vault.clock)

    def planned(shown: str, note: NoteText) -> _Plan:
        task = task_places.at(shown, line, settings)
        if settings.meaning(task.symbol) is not Meaning.OPEN:
            raise NotATask(
                f"line {line} is a task that was cancelled; if it is to be done after all, open it again with edit_note first. "
                "Nothing was changed."
            )
        return _completing(shown, task, settings, note.line_end, done_on=done_on, now=now)

    with vault.lock.writing():
        old = _read(vault, path, expected_hash)
        return _done_already(old, line, expected_hash, settings) or _change(vault, actor, path, planned, expected_hash)


def postpone(vault: Vault, actor: Actor, path: VaultPath, line: int, *, expected_hash: str, day: date) -> Changed:
    """Give a task another due date: in the place of the one that counts, be it a sign or a Dataview field, else behind its
    words and fields, in the form that the vault's settings name.

    Raises:
        NotATask: no task stands there. It may be done or cancelled.
        NoteChanged, BadArgument, NoteNotFound, NotText, HiddenContent, UnsafeContent: as `complete`.
    """
    settings = task_settings.read(vault)

    def planned(shown: str, _note: NoteText) -> _Plan:
        task = task_places.at(shown, line, settings)
        return _Plan([task_lines.dated(task, Kind.DUE, day, settings.style)], line)

    with vault.lock.writing():
        old = _read(vault, path, expected_hash)
        versions.check(old, expected_hash)
        shown = through.look(text.decode(old.data).text).text
        if task_places.at(shown, line, settings).value(Kind.DUE) == day.isoformat():
            return Changed(notes.written(old), line, task_places.line_of(shown, line), is_repeat=True)
        return _change(vault, actor, path, planned, expected_hash)


def _read(vault: Vault, path: VaultPath, expected_hash: str) -> FileContent:
    if not expected_hash.strip():
        raise BadArgument("expected_hash is missing: give the version that list_tasks or read_note reported.")
    return vault.files.read(path, follow_last=False)


def _done_already(old: FileContent, line: int, expected_hash: str, settings: TaskSettings) -> Changed | None:
    """What to say of a task that is done: because it was before, or because this call was made once already."""
    note = text.decode(old.data)
    try:
        versions.check(old, expected_hash)
    except NoteChanged:
        before = task_repeats.find(note, line, expected_hash, settings)
        if before is None:
            raise
        line, next_line = before
    else:
        next_line = 0
    shown = through.look(note.text).text
    if settings.meaning(task_places.at(shown, line, settings).symbol) is not Meaning.DONE:
        return None
    return Changed(
        notes.written(old),
        line,
        task_places.line_of(shown, line),
        is_repeat=True,
        next_line=next_line,
        next_words=task_places.line_of(shown, next_line) if next_line else "",
    )


def _change(
    vault: Vault, actor: Actor, path: VaultPath, planned: Callable[[str, NoteText], _Plan], expected_hash: str
) -> Changed:
    def decide(note: NoteText) -> tuple[NoteText, Callable[[Written], Changed]]:
        plan = planned(through.look(note.text).text, note)
        after, outcome = harmless.pieced(vault, path, note, plan.pieces)
        shown = through.look(after.text).text
        return after, lambda written: Changed(
            written,
            plan.line,
            task_places.line_of(shown, plan.line) if plan.line else "",
            next_line=plan.next_line,
            next_words=task_places.line_of(shown, plan.next_line) if plan.next_line else "",
            remark=" ".join(filter(None, (plan.remark, outcome.notice))),
        )

    written, changed = notes.change(vault, actor, path, decide, expected_hash)
    return changed(written)


def _completing(
    shown: str, task: Task, settings: TaskSettings, line_end: str, *, done_on: date | None, now: date
) -> _Plan:
    """What making a task done comes to. A box that the plugin takes for no task is only ticked, as Obsidian does it."""
    is_task = settings.takes(task.words)
    following = task_lines.following(shown, task, settings, done_on or now, now) if is_task else task_lines.Next()
    if is_task and (task.value(Kind.ON_COMPLETION) or "").lower() == _DELETE:
        return _taking_away(shown, task, following)
    day = done_on or (now if settings.sets_done and is_task else None)
    pieces = task_lines.done(task, settings, day)
    if following.line is None:
        return _Plan(pieces, task.line, remark=following.why_none)
    line_end = _line_end_of(shown, task) or line_end
    if settings.next_below:
        below = Piece(task.end, task.end, line_end + following.line)
        return _Plan([*pieces, below], task.line, task.line + 1)
    return _Plan([Piece(task.start, task.start, following.line + line_end), *pieces], task.line + 1, task.line)


def _taking_away(shown: str, task: Task, following: task_lines.Next) -> _Plan:
    """Of a task that says `🏁 delete`: its line goes, or becomes that of the next one."""
    if task.has_more:
        raise BadArgument(
            f"line {task.line} is a task that takes itself away once it is done (🏁 delete), and further lines belong to it, which "
            "would be left without their list item; change one or the other with edit_note first. Nothing was changed."
        )
    remark = "The task said that it goes once it is done (🏁 delete), so its line was removed."
    if following.line is not None:
        return _Plan([Piece(task.start, task.end, following.line)], 0, task.line, remark)
    start, end = task.start, task.end + len(_line_end_of(shown, task))
    if end == task.end and start:  # the last line goes with the line end in front of it
        start -= len(CRLF) if shown.endswith(CRLF, 0, start) else len(LF)
    return _Plan([Piece(start, end, "")], 0, remark=" ".join(filter(None, (remark, following.why_none))))


def _line_end_of(shown: str, task: Task) -> str:
    return next((end for end in (CRLF, LF) if shown.startswith(end, task.end)), "")
