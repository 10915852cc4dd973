"""Tools for the tasks in notes, as the Obsidian plugin Tasks writes them."""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from service.guards import paths
from service.tools.arguments import ExpectedHash, FolderPath, IncludeLowTrust, NotePath, Offset
from service.tools.context import Ctx, actor, given, room
from service.tools.register import ToolSpec
from service.tools.task_shapes import TaskChanged, TasksListed
from service.vault import task_changes, tasks
from service.vault.task_settings import Meaning
from service.vault.tasks import Query

Day: TypeAlias = Annotated[str, Field(description="YYYY-MM-DD.")]
LineNumber: TypeAlias = Annotated[int, Field(ge=1)]


def list_tasks(
    ctx: Ctx,
    *,
    status: Literal["open", "done", "cancelled", "all"] = "open",
    due_before: str = "",
    due_after: str = "",
    path_prefix: FolderPath = "",
    tag: Annotated[str, Field(max_length=200)] = "",
    limit: Annotated[int, Field(ge=1, le=100)] = 50,
    offset: Offset = 0,
    include_low_trust: IncludeLowTrust = False,
) -> TasksListed:
    """List tasks of the vault, by due date (YYYY-MM-DD, bounds included), those without one last."""
    here = room(ctx)
    found = tasks.find(
        here.vault,
        Query(
            None if status == "all" else Meaning(status),
            tasks.day(here.vault, due_before),
            tasks.day(here.vault, due_after),
            paths.folder(path_prefix),
            tag,
            limit,
            offset,
            include_low_trust,
        ),
    )
    return TasksListed.of(found, notice=given(here, [one.path for one in found.page.items]))


def complete_task(
    ctx: Ctx,
    path: NotePath,
    line: LineNumber,
    expected_hash: ExpectedHash,
    done_date: Annotated[str, Field(description="YYYY-MM-DD; today if left out.")] = "",
) -> TaskChanged:
    """Tick a task off and note the day, as Obsidian Tasks does. A recurring one gets its next occurrence.

    Ticked already: nothing happens.
    """
    here = room(ctx)
    changed = task_changes.complete(
        here.vault,
        actor(ctx),
        paths.markdown(path),
        line,
        expected_hash=expected_hash,
        done_on=tasks.day(here.vault, done_date),
    )
    return TaskChanged.after(changed, notice=given(here, [changed.written.path]))


def postpone_task(
    ctx: Ctx, path: NotePath, line: LineNumber, expected_hash: ExpectedHash, new_date: Day
) -> TaskChanged:
    """Change or set the due date of a task; nothing else of its line changes."""
    here = room(ctx)
    changed = task_changes.postpone(
        here.vault,
        actor(ctx),
        paths.markdown(path),
        line,
        expected_hash=expected_hash,
        day=tasks.named_day(here.vault, new_date),
    )
    return TaskChanged.after(changed, notice=given(here, [changed.written.path]))


SPECS: Final = (
    ToolSpec(list_tasks, "List tasks", "tasks"),
    ToolSpec(complete_task, "Complete a task", "tasks", writes=True, destructive=True, idempotent=True),
    ToolSpec(postpone_task, "Postpone a task", "tasks", writes=True, destructive=True, idempotent=True),
)
