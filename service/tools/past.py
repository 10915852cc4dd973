"""Tools that look into the vault's history and bring a note back from it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final

from pydantic import Field

from service.errors import RevisionNotFound
from service.guards import paths
from service.guards.paths import VaultPath
from service.history import old, restore, undelete, when
from service.history.old import Old
from service.history.when import Edge
from service.tools import past_showing
from service.tools.arguments import ExpectedHash, FolderPath, NotePath, Offset
from service.tools.context import Ctx, Room, actor, room
from service.tools.past_shapes import ChangesListed, NoteRestored, NoteUndeleted, VersionsListed
from service.tools.register import ToolSpec
from service.vault.excerpts import Span

Limit = Annotated[int, Field(ge=1, le=50)]
Revision = Annotated[str, Field(description="From note_history.")]
Moment = Annotated[str, Field(description="ISO, or such as 'yesterday 18:00'.")]


def list_changes(
    ctx: Ctx,
    *,
    since: Moment = "",
    until: str = "",
    path_prefix: FolderPath = "",
    limit: Limit = 20,
    offset: Offset = 0,
) -> ChangesListed:
    """List what changed in the vault, newest first: when, by whom, which files.

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
    revision: Revision = "",
    at: Moment = "",
    expected_hash: ExpectedHash = "",
) -> NoteRestored:
    """Bring a note back, deleted or not, as it was at a revision or a time; with neither, its last version unlike now.

    The present state is recorded first, so that this can be undone the same way.
    """
    here = room(ctx)
    restored = restore.note(
        here.history,
        actor(ctx),
        paths.writable_note(path, here.vault.write_types),
        at=_moment(here, at, Edge.END),
        revision=revision.strip() or None,
        expected_hash=expected_hash,
    )
    return NoteRestored.of(restored, here.clock.zone)


def read_note_version(
    ctx: Ctx,
    path: NotePath,
    *,
    revision: Revision = "",
    at: Moment = "",
    start_line: int = 1,
    end_line: int | None = None,
    start_column: int = 1,
) -> str:
    """Read a note, deleted or not, as it was at a revision or a time; with neither, its last version unlike now."""
    here, asked = room(ctx), paths.note(path)
    if revision.strip() or at.strip():
        commit = old.commit_of(here.history, at=_moment(here, at, Edge.END), revision=revision.strip())
    else:
        commit = old.latest(here.vault, here.history, asked)
    span = Span(start_line, end_line, start_column)
    return past_showing.version(ctx, old.read(here.vault, here.history, asked, commit), asked, span)


def diff_note(
    ctx: Ctx,
    path: NotePath,
    since: Annotated[str, Field(validation_alias="from", description="A revision or a time.")],
    until: Annotated[str, Field(validation_alias="to", description="The same; now if left out.")] = "",
    *,
    words: Annotated[bool, Field(description="Mark words: [-old-] {+new+}.")] = False,
) -> str:
    """Show what changed in a note between two versions, as a unified diff."""
    here, asked = room(ctx), paths.note(path)
    before = _version(here, asked, since)
    after = _version(here, asked, until) if until.strip() else old.present(here.vault, asked)
    return past_showing.difference(ctx, before, after, asked, by_words=words)


def undelete_note(ctx: Ctx, path: NotePath) -> NoteUndeleted:
    """Bring a deleted note back, from the trash or else from history. Never overwrites."""
    here = room(ctx)
    asked = paths.writable_note(path, here.vault.write_types)
    back = undelete.note(here.vault, here.history, actor(ctx), asked)
    return NoteUndeleted.back(back, here.clock.zone)


def _version(here: Room, path: VaultPath, named: str) -> Old:
    """A version that a revision or a time names."""
    asked = named.strip()
    is_revision = old.is_revision(asked)
    commit = old.commit_of(
        here.history,
        at=None if is_revision else when.resolve(asked, here.clock, Edge.END),
        revision=asked if is_revision else "",
    )
    return old.read(here.vault, here.history, path, commit)


def _moment(here: Room, raw: str, edge: Edge) -> datetime | None:
    return when.resolve(raw, here.clock, edge) if raw.strip() else None


SPECS: Final = (
    ToolSpec(list_changes, "List changes", "history"),
    ToolSpec(note_history, "History of a note", "history"),
    ToolSpec(read_note_version, "Read an old version", "history"),
    ToolSpec(diff_note, "Compare versions", "history"),
    ToolSpec(undelete_note, "Undelete a note", "notes", writes=True),
    ToolSpec(restore_note, "Restore a note", "history", writes=True, destructive=True),
)
