"""Tools that look into the vault's history and bring a note back from it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final

from pydantic import Field

from service.errors import RevisionNotFound
from service.guards import paths
from service.history import restore, when
from service.history.when import Edge
from service.tools.arguments import ExpectedHash, FolderPath, NotePath, Offset
from service.tools.context import Ctx, Room, actor, room
from service.tools.past_shapes import ChangesListed, NoteRestored, VersionsListed
from service.tools.register import ToolSpec

Limit = Annotated[int, Field(ge=1, le=50)]
Moment = Annotated[str, Field(description="ISO time, or such as '2 days ago', 'yesterday 18:00'.")]


def list_changes(
    ctx: Ctx,
    *,
    since: Moment = "",
    until: str = "",
    path_prefix: FolderPath = "",
    limit: Limit = 20,
    offset: Offset = 0,
) -> ChangesListed:
    """List what changed in the vault, newest first: when, by which assistant (or from outside), which files.

    What tools write is recorded here about a minute later; what others change, every half hour.
    """
    here = room(ctx)
    page = here.history.log.changes(
        _moment(here, since, Edge.START), _moment(here, until, Edge.END), str(paths.folder(path_prefix)), limit, offset
    )
    return ChangesListed.of(page, here.clock.zone, limit, here.history.pending())


def note_history(ctx: Ctx, path: NotePath, limit: Limit = 20, offset: Offset = 0) -> VersionsListed:
    """List the versions of a note, newest first, across renames and deletion. Works for a deleted note too."""
    here, asked = room(ctx), str(paths.note(path))
    try:
        page = here.history.log.note_history(asked, limit, offset)
    except RevisionNotFound as error:
        way_out = (
            "A new note is in history about a minute after a tool's last change, half an hour after anybody else's; "
            "list_changes shows what there is."
        )
        raise RevisionNotFound(f"version of {asked!r}", way_out) from error
    return VersionsListed.of(page, here.clock.zone, here.history.log.blob)


def restore_note(
    ctx: Ctx,
    path: NotePath,
    *,
    revision: Annotated[str, Field(description="From note_history or list_changes.")] = "",
    at: Moment = "",
    expected_hash: ExpectedHash = "",
) -> NoteRestored:
    """Bring a note back as it was at a revision or a time; with neither, its last version that differs from now.

    The present state is recorded first, so that this can be undone the same way. Works for a deleted note too.
    """
    here = room(ctx)
    restored = restore.note(
        here.history,
        actor(ctx),
        paths.writable_note(path),
        at=_moment(here, at, Edge.END),
        revision=revision.strip() or None,
        expected_hash=expected_hash,
    )
    return NoteRestored.of(restored, here.clock.zone)


def _moment(here: Room, raw: str, edge: Edge) -> datetime | None:
    return when.resolve(raw, here.clock, edge) if raw.strip() else None


SPECS: Final = (
    ToolSpec(list_changes, "List changes", "history"),
    ToolSpec(note_history, "History of a note", "history"),
    ToolSpec(restore_note, "Restore a note", "history", writes=True, destructive=True),
)
