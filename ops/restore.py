"""`strongroom restore`: bring notes, folders or the whole vault back as they were."""

from __future__ import annotations

import shlex
from contextlib import nullcontext
from typing import TYPE_CHECKING, Final

import click

from ops import diffs, exits, output, timeline

if TYPE_CHECKING:
    from service.history.history import History
    from service.history.plan import Item, Plan
    from service.history.restore import Asked, Restored

_MAX_DIFFS: Final = 10
_MAX_LISTED: Final = 100
_TO_THE_SAME: Final = 200
"""Unchanged files are listed one by one only when a dry run is about no more files than this."""


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--all", "is_all", is_flag=True, help="The whole vault.")
@click.option("--at", "at", metavar="TIME", help="As it was then: '2 days ago', 'yesterday 18:00', 2026-05-01T12:00.")
@click.option("--revision", metavar="ID", help="As that commit has it: an id from `strongroom history`, or ~1.")
@click.option("--exact", "is_exact", is_flag=True, help="Also remove files that are newer (history keeps them).")
@click.option("--only-missing", is_flag=True, help="Bring back what is gone; change nothing that is there.")
@click.option("--dry-run", "is_dry", is_flag=True, help="Show what would be done, and do nothing.")
@click.option("--yes", "is_yes", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a script (needs --yes or --dry-run).")
def command(
    paths: tuple[str, ...],
    *,
    is_all: bool,
    at: str | None,
    revision: str | None,
    is_exact: bool,
    only_missing: bool,
    is_dry: bool,
    is_yes: bool,
    as_json: bool,
) -> int:
    """Bring notes, folders or the whole vault back as they were.

    Without a time or a revision a note comes back as its last version that differs from now, a deleted folder as it last
    was, and with --all the vault as the last commit has it. The present state is committed first, so that every
    restore can be undone by another; history is never rewritten. Works while the server runs.
    """
    if bool(paths) is is_all:
        raise click.UsageError("Name notes or folders, or give --all.")
    if as_json and not (is_yes or is_dry):
        raise click.UsageError("--json does not ask: add --yes, or --dry-run.")
    from service.history import restore
    from service.history.when import resolve
    from service.vault.model import Actor

    with timeline.opened() as history:
        moment = resolve(at, history.clock) if at else None
        asked = restore.Asked(paths, moment, revision, is_exact, only_missing)
        plan = restore.plan(history, asked)
        if not as_json:
            _show_plan(history, plan, is_dry=is_dry)
        if is_dry or not plan.work:
            if as_json:
                output.print_json(_facts(plan, None))
            return exits.OK if is_dry or not _are_in_the_way(plan) else exits.CONFLICT
        output.confirm(f"Restore {output.counted(len(plan.work), 'file')}?", is_yes=is_yes)
        owner = Actor("owner", "owner", permit=lambda: None)
        with nullcontext() if as_json else output.progress("restoring") as tick:
            done = restore.apply(history, asked, owner, lambda item: tick(_size(history, item)) if tick else None)
        if as_json:
            output.print_json(_facts(plan, done))
        else:
            _tell(asked, done)
    return exits.CONFLICT if _has_failed(done) else exits.OK


def _show_plan(history: History, plan: Plan, *, is_dry: bool) -> None:
    from service.history.model import shown
    from service.history.plan import Kind

    for revision in plan.revisions.values():
        output.say(
            f"from {revision.id[: timeline.ID_CHARS]} of {timeline.local(history, revision.time)}: {revision.subject}"
        )
    same = plan.of(Kind.SAME)
    listed = [item for item in plan.items if item.kind is not Kind.SAME or (is_dry and len(plan.items) <= _TO_THE_SAME)]
    for item in listed[:_MAX_LISTED]:
        click.echo(output.printable(_line(history, item)))
    if len(listed) > _MAX_LISTED:
        output.say(f"... and {len(listed) - _MAX_LISTED:,} more files; --json lists them.")
    for item in plan.of(Kind.CHANGE)[:_MAX_DIFFS]:
        if (then := _then(history, item)) is not None:
            diffs.show(shown(item.path), _present(history, item), then)
    if same and not plan.work:
        output.say(f"nothing to restore: {output.counted(len(same), 'file')} as they were then.")
    if plan.left:
        output.say(f"{output.counted(plan.left, 'note')} newer than that will stay; --exact removes them.")


def _line(history: History, item: Item) -> str:
    from service.history.model import shown

    sizes = f"{_bytes(_present_size(history, item))} -> {_then_told(history, item)}"
    source = f"  (from {shown(item.source)})" if item.source not in (None, item.path) else ""
    why = f"  {item.why}" if item.why else ""
    return f"{item.kind.value} {shown(item.path)}  {sizes}{source}{why}"


def _tell(asked: Asked, done: Restored) -> None:
    from service.history.model import shown

    for failed in done.failed:
        output.say(f"not restored: {shown(failed.path)}: {failed.why}")
    for caution in done.cautions:
        output.say(f"{shown(caution.path)}: {caution.what}")
    output.say(f"restored {output.counted(len(done.done), 'file')}.")
    if done.before is not None and done.done:
        what = "--all" if not asked.paths else shlex.join(asked.paths)
        output.say(f"to undo: strongroom restore {what} --revision {done.before[: timeline.ID_CHARS]} --exact")


def _are_in_the_way(plan: Plan) -> bool:
    from service.history.plan import LINK_SKIPPED, Kind

    return any(item.why != LINK_SKIPPED for item in plan.of(Kind.SKIP))


def _has_failed(done: Restored) -> bool:
    from service.history.plan import LINK_SKIPPED

    return any(failed.why != LINK_SKIPPED for failed in done.failed)


def _present(history: History, item: Item) -> bytes | None:
    from service.errors import AppError
    from service.guards import paths

    if item.old is None:
        return None
    try:
        return history.files.read_tracked(paths.tracked(item.path), history.setup.max_file_bytes).data
    except AppError:
        return None


def _present_size(history: History, item: Item) -> int | None:
    data = _present(history, item)
    return None if data is None else len(data)


def _then(history: History, item: Item) -> bytes | None:
    """What the file held then; None when it held nothing, or when that is damaged: doing it will say so, for this one file."""
    from service.errors import HistoryHeld
    from service.history.plan import LINK_SKIPPED

    if item.new is None or item.why == LINK_SKIPPED:
        return None
    try:
        return history.log.blob(item.new.id)
    except HistoryHeld:
        return None


def _then_told(history: History, item: Item) -> str:
    from service.history.plan import LINK_SKIPPED

    then = _then(history, item)
    if then is None and item.new is not None and item.why != LINK_SKIPPED:
        return "damaged in the history"
    return _bytes(None if item.new is None else len(then or b""))


def _size(history: History, item: Item) -> int:
    return len(_then(history, item) or b"")


def _bytes(size: int | None) -> str:
    return "nothing" if size is None else f"{size:,} bytes"


def _facts(plan: Plan, done: Restored | None) -> dict[str, output.Json]:
    from service.history.plan import Kind

    return {
        "dry_run": done is None,
        "revisions": [{"id": found.id, "time": found.time.isoformat()} for found in plan.revisions.values()],
        "items": [
            {"action": item.kind.value, "path": item.path, "from": item.source, "why": item.why or None}
            for item in plan.items
            if item.kind is not Kind.SAME
        ],
        "same": len(plan.of(Kind.SAME)),
        "newer_left": plan.left,
        "restored": 0 if done is None else len(done.done),
        "failed": [] if done is None else [{"path": failed.path, "why": failed.why} for failed in done.failed],
        "cautions": [] if done is None else [{"path": one.path, "what": one.what} for one in done.cautions],
        "before": None if done is None else done.before,
        "commit": None if done is None else done.commit,
    }
