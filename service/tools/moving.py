"""Tools that give notes, folders and files another name or place, and let links follow."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from service.tools.arguments import ExpectedHash, FilePath, NewFilePath, NewPath, NotePath
from service.tools.context import Ctx, actor, given, room
from service.tools.moving_shapes import NoteMoved
from service.tools.register import ToolSpec
from service.vault import moving
from service.vault.move_asked import Asked


def move_note(
    ctx: Ctx,
    source: Annotated[NotePath, Field(validation_alias="from")],
    target: Annotated[NewPath, Field(validation_alias="to")],
    expected_hash: ExpectedHash = "",
    *,
    folder: Annotated[bool, Field(description="Move a folder with all in it; from and to are folders.")] = False,
    update_links: bool = True,
    dry_run: Annotated[bool, Field(description="Only say what would change.")] = False,
) -> NoteMoved:
    """Move or rename a note or folder; links to and from it are rewritten so that they lead where they led.

    Never overwrites. All or nothing. Lists the notes that were changed.
    """
    here = room(ctx)
    asked = Asked.of_note(
        source,
        target,
        expected_hash,
        is_folder=folder,
        updates_links=update_links,
        also=here.vault.write_types,
    )
    moved = moving.move(here.vault, actor(ctx), asked, is_trial=dry_run)
    return NoteMoved.of(moved, dry_run=dry_run, notice=given(here, [moved.source]))


def move_file(
    ctx: Ctx,
    source: Annotated[FilePath, Field(validation_alias="from")],
    target: Annotated[NewFilePath, Field(validation_alias="to")],
    confirm_from: Annotated[str, Field(description="The same as from.")],
    confirm_to: Annotated[str, Field(description="The same as to.")],
    *,
    overwrite: Annotated[bool, Field(description="What has that name goes to the trash.")] = False,
) -> NoteMoved:
    """Move or rename a file of any type, such as a picture; links to it follow."""
    here = room(ctx)
    asked = Asked.of_file(source, target, confirm_from, confirm_to, overwrites=overwrite)
    moved = moving.move(here.vault, actor(ctx), asked)
    return NoteMoved.of(moved, notice=given(here, [moved.source]))


SPECS: Final = (
    ToolSpec(move_note, "Move a note or folder", "notes", writes=True, destructive=True),
    ToolSpec(move_file, "Move a file", "files", writes=True, destructive=True),
)
