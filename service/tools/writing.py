"""Tools that change a note. Every answer names the version that is on the disk afterwards."""

from __future__ import annotations

import json
from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from service.guards import paths
from service.tools import notices
from service.tools.arguments import (
    NO_PROPERTIES,
    Content,
    ExpectedHash,
    FrontMatter,
    NewPath,
    NotePath,
    an_object,
)
from service.tools.context import Ctx, actor, given, room
from service.tools.register import ToolSpec
from service.tools.shapes import NoteAppended, NoteDeleted, NoteEdited, NoteWritten
from service.tools.writing_shapes import NoteRewritten
from service.vault import notes, whole_notes
from service.vault.editing import Edit
from service.vault.whole_notes import Asked, Mode


class EditAsked(BaseModel):
    """Put new_string in the place of old_string."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    old_string: Annotated[str, Field(min_length=1, description="Exact text; must occur once unless replace_all.")]
    new_string: str
    replace_all: bool = False

    @property
    def edit(self) -> Edit:
        return Edit(self.old_string, self.new_string, self.replace_all)


def create_note(ctx: Ctx, path: NewPath, content: Content, frontmatter: FrontMatter = NO_PROPERTIES) -> NoteWritten:
    """Create a note, and its folders. Never overwrites."""
    vault = room(ctx).vault
    made = whole_notes.create(vault, actor(ctx), paths.new_note(path, vault.write_types), content, frontmatter)
    return notices.with_signs(NoteWritten.of(made), content, json.dumps(frontmatter, ensure_ascii=False))


def write_note(
    ctx: Ctx,
    path: NewPath,
    content: Content,
    *,
    frontmatter: FrontMatter = NO_PROPERTIES,
    mode: Annotated[
        Literal["overwrite", "append", "prepend"], Field(description="prepend goes below the front matter.")
    ] = "overwrite",
    expected_hash: ExpectedHash = "",
    discard_hidden: Annotated[bool, Field(description="Lose what a read does not show.")] = False,
) -> NoteRewritten:
    """Replace a whole note, front matter included, or add to it. Prefer edit_note for changes.

    overwrite makes a note that is missing, and needs expected_hash for one that is there.
    """
    here = room(ctx)
    asked = Asked(content, frontmatter, Mode(mode), expected_hash, discard_hidden)
    written_to = paths.writable_note(path, here.vault.write_types)
    rewritten = whole_notes.write(here.vault, actor(ctx), written_to, asked)
    answer = NoteRewritten.after(rewritten, notice=given(here, [] if rewritten.is_new else [rewritten.written.path]))
    return notices.with_signs(answer, content, json.dumps(frontmatter, ensure_ascii=False))


def append_to_note(
    ctx: Ctx,
    path: NotePath,
    content: Annotated[Content, Field(min_length=1)],
    expected_hash: ExpectedHash = "",
) -> NoteAppended:
    """Add text to the end of a note that exists, beginning on a new line. Use create_note for a new one."""
    vault = room(ctx).vault
    longer = notes.append(vault, actor(ctx), paths.writable_note(path, vault.write_types), content, expected_hash)
    return notices.with_signs(NoteAppended.after(longer), content)


def edit_note(
    ctx: Ctx,
    path: NotePath,
    edits: Annotated[list[Annotated[EditAsked, BeforeValidator(an_object)]], Field(min_length=1, max_length=20)],
    expected_hash: ExpectedHash = "",
    dry_run: Annotated[bool, Field(description="Only show what would change.")] = False,
) -> NoteEdited:
    """Replace exact pieces of a note's text, in order, each on the result of the one before; all of them or none.

    Strings are literal. The answer carries a short diff.
    """
    here = room(ctx)
    edited = notes.edit(
        here.vault,
        actor(ctx),
        paths.writable_note(path, here.vault.write_types),
        [asked.edit for asked in edits],
        expected_hash,
        is_trial=dry_run,
    )
    answer = NoteEdited.after(edited, dry_run=dry_run, notice=given(here, [edited.written.path]))
    return notices.with_signs(answer, *(asked.new_string for asked in edits))


def delete_note(ctx: Ctx, path: NotePath, expected_hash: ExpectedHash = "") -> NoteDeleted:
    """Move a note into the vault's .trash folder; undelete_note brings it back. Never deletes for good."""
    vault = room(ctx).vault
    deleted, trashed_to = notes.delete(vault, actor(ctx), paths.writable_note(path, vault.write_types), expected_hash)
    return NoteDeleted.as_trashed(deleted, str(trashed_to))


SPECS: Final = (
    ToolSpec(create_note, "Create a note", "notes", writes=True),
    ToolSpec(write_note, "Write a whole note", "notes", writes=True, destructive=True),
    ToolSpec(append_to_note, "Append to a note", "notes", writes=True),
    ToolSpec(edit_note, "Edit a note", "notes", writes=True, destructive=True),
    ToolSpec(delete_note, "Delete a note", "notes", writes=True, destructive=True),
)
