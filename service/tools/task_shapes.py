"""What the tools of tasks answer with. Days are YYYY-MM-DD; null where a task has none, or one that is on no calendar."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from service.tools.shapes import LeftOut, NextOffset, NoteWritten, Shape, fitting, named
from service.vault.parts.task_fields import Kind
from service.vault.parts.tasks import Task
from service.vault.task_changes import Changed
from service.vault.tasks import Found, Listed

MAX_TEXT_CHARS: Final = 500
"""Characters of one task's text or line in an answer."""


class TaskListed(Shape):
    text: Annotated[str, Field(description="Without its dates and other fields.")]
    status: Literal["open", "done", "cancelled", "none"]
    symbol: Annotated[
        str, Field(description="In its box: x done, - cancelled, / begun, others as the owner uses them.")
    ]
    due: str | None
    scheduled: str | None
    start: str | None
    done: str | None
    created: str | None
    priority: Literal["highest", "high", "medium", "low", "lowest"] | None
    recurrence: str | None
    path: str
    line: int
    version: Annotated[str, Field(description="Of the note: expected_hash of complete_task and postpone_task.")]

    @staticmethod
    def of(found: Found) -> TaskListed:
        task = found.task
        return TaskListed(
            text=_cut(task.words),
            status=found.meaning.value,
            symbol=task.symbol,
            due=_day(task, Kind.DUE),
            scheduled=_day(task, Kind.SCHEDULED),
            start=_day(task, Kind.START),
            done=_day(task, Kind.DONE),
            created=_day(task, Kind.CREATED),
            priority=task.value(Kind.PRIORITY),  # type: ignore[arg-type]  # one of the five, by how it is read
            recurrence=task.value(Kind.RECURRENCE),
            path=str(found.path),
            line=task.line,
            version=found.version,
        )


class TasksListed(Shape):
    tasks: list[TaskListed]
    total: int
    next_offset: NextOffset
    skipped: Annotated[int, Field(description="Notes too large, unreadable or withheld, not looked into.")]
    left_out: LeftOut
    notice: Annotated[str, Field(description="Whose text some of this is; mostly empty.")]

    @staticmethod
    def of(listed: Listed, *, notice: str) -> TasksListed:
        tasks, next_offset = fitting(listed.page, TaskListed.of)
        return TasksListed(
            tasks=tasks,
            total=listed.page.total,
            next_offset=next_offset,
            skipped=listed.skipped,
            left_out=named(listed.left_out),
            notice=notice,
        )


class TaskChanged(NoteWritten):
    changed: Annotated[bool, Field(description="False when it was like this already; nothing was written then.")]
    line: Annotated[int | None, Field(description="Where the task stands now; null when it took itself away.")]
    text: Annotated[str, Field(description="That line.")]
    next_line: Annotated[int | None, Field(description="Where the next one of a recurring task stands.")]
    next_text: Annotated[str, Field(description="That line.")]

    @staticmethod
    def after(change: Changed, *, notice: str) -> TaskChanged:
        note = NoteWritten.of(change.written)
        repeat = "It was like this already; nothing was written." if change.is_repeat else ""
        return TaskChanged(
            **{**dict(note), "notice": " ".join(filter(None, (repeat, note.notice, change.remark, notice)))},
            changed=not change.is_repeat,
            line=change.line or None,
            text=_cut(change.words),
            next_line=change.next_line or None,
            next_text=_cut(change.next_words),
        )


def _day(task: Task, kind: Kind) -> str | None:
    day = task.day(kind)
    return None if day is None else day.isoformat()


def _cut(words: str) -> str:
    return words if len(words) <= MAX_TEXT_CHARS else f"{words[:MAX_TEXT_CHARS]}… [cut; read_note shows the line]"
