"""`strongroom history`: what changed, in the whole vault, in a folder, or in one note."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from ops import output, timeline

if TYPE_CHECKING:
    from service.history.history import History
    from service.history.model import ChangeSet, FileChange, Revision, Version
    from service.vault.model import Page

_NAMED: Final = 3
"""Files named in one row of the table; --json has up to fifty."""


@click.command()
@click.argument("path", required=False)
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="How many, newest first.")
@click.option("--offset", type=click.IntRange(0), default=0, help="How many to pass over.")
@click.option("--since", metavar="TIME", help="Not older than, such as '2 days ago'.")
@click.option("--until", metavar="TIME", help="Not newer than.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a script.")
def command(path: str | None, *, limit: int, offset: int, since: str | None, until: str | None, as_json: bool) -> None:
    """Show what changed, newest first.

    Without PATH or with a folder: the commits, and what each changed. With a note: its versions, also those from before
    it was renamed or deleted. A version's ID is what `strongroom restore --revision` takes.
    """
    from service.history.when import Edge, resolve

    with timeline.opened() as history:
        begin = resolve(since, history.clock, Edge.START) if since else None
        end = resolve(until, history.clock, Edge.END) if until else None
        versions = None if path is None or begin or end else _versions(history, path, limit, offset)
        if versions is not None:
            _show_versions(history, versions, as_json)
        else:
            page = history.log.changes(begin, end, path or "", limit, offset)
            _show_changes(history, page, path, as_json)
        if gap := history.log.gap():
            output.say(gap)


def _versions(history: History, path: str, limit: int, offset: int) -> Page[Version] | None:
    """The versions of a note; None when no note ever had that name (a folder, perhaps)."""
    from service.errors import RevisionNotFound

    try:
        return history.log.note_history(path.rstrip("/"), limit, offset)
    except RevisionNotFound:
        return None


def _show_versions(history: History, page: Page[Version], as_json: bool) -> None:
    if as_json:
        output.print_json(
            {
                "total": page.total,
                "versions": [
                    {
                        **_revision(item.revision),
                        "action": item.action.value,
                        "path": item.path,
                        "old_path": item.old_path,
                        "size": item.size_bytes,
                    }
                    for item in page.items
                ],
            }
        )
        return
    from service.history.model import shown

    rows = [
        (
            item.revision.id[: timeline.ID_CHARS],
            timeline.local(history, item.revision.time),
            timeline.by(item.revision),
            item.action.value,
            "" if item.size_bytes is None else f"{item.size_bytes:,}",
            shown(item.path) if item.old_path is None else f"{shown(item.old_path)} -> {shown(item.path)}",
        )
        for item in page.items
    ]
    output.print_table(("ID", "Time", "By", "What", "Bytes", "Note"), rows)
    _say_more(page)


def _show_changes(history: History, page: Page[ChangeSet], path: str | None, as_json: bool) -> None:
    if as_json:
        output.print_json(
            {
                "total": page.total,
                "commits": [
                    {
                        **_revision(item.revision),
                        "added": item.added,
                        "changed": item.changed,
                        "removed": item.removed,
                        "files": [_file(change) for change in item.files],
                    }
                    for item in page.items
                ],
            }
        )
        return
    if not page.items:
        where = "" if path is None else f" at {path!r}"
        output.say(f"history holds no change{where} (yet); tool writes are in it about a minute later.")
        return
    rows = [
        (
            item.revision.id[: timeline.ID_CHARS],
            timeline.local(history, item.revision.time),
            timeline.by(item.revision),
            _summary(item),
            _names(item),
        )
        for item in page.items
    ]
    output.print_table(("ID", "Time", "By", "What", "Files"), rows)
    _say_more(page)


def _say_more(page: Page[ChangeSet] | Page[Version]) -> None:
    if page.next_offset is not None:
        output.say(f"{len(page.items):,} of {page.total:,}; more with --offset {page.next_offset}.")


def _summary(item: ChangeSet) -> str:
    counts = ((item.added, "added"), (item.changed, "changed"), (item.removed, "removed"))
    return ", ".join(f"{count:,} {word}" for count, word in counts if count)


def _names(item: ChangeSet) -> str:
    total = item.added + item.changed + item.removed
    from service.history.model import shown

    named = ", ".join(shown(change.path) for change in item.files[:_NAMED])
    return named if total <= _NAMED else f"{named} and {total - _NAMED:,} more"


def _revision(revision: Revision) -> dict[str, output.Json]:
    return {
        "id": revision.id,
        "time": revision.time.isoformat(),
        "author": revision.author,
        "grant": revision.grant,
        "reason": revision.reason,
        "subject": revision.subject,
    }


def _file(change: FileChange) -> dict[str, output.Json]:
    return {"action": change.action.value, "path": change.path, "old_path": change.old_path}
