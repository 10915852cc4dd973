"""Tools for a note's headings and the sections below them."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from service.guards import paths
from service.tools import notices
from service.tools.arguments import Content, ExpectedHash, NotePath
from service.tools.context import Ctx, actor, given, room
from service.tools.register import ToolSpec
from service.tools.section_shapes import OutlineTold, SectionAppended
from service.vault import outline, sections


def get_note_outline(ctx: Ctx, path: NotePath, start_line: Annotated[int, Field(ge=1)] = 1) -> OutlineTold:
    """Get a note's headings and block ids with their lines, its tags and tasks, without reading it whole."""
    here = room(ctx)
    found = outline.of_note(here.vault, paths.markdown(path))
    return OutlineTold.of(found, start_line, notice=notices.about(found.note.view, given(here, [found.note.path])))


def append_to_section(
    ctx: Ctx,
    path: NotePath,
    heading: Annotated[str, Field(min_length=1, max_length=300, description="E.g. 'Ideas', or 'Above#Ideas'.")],
    content: Annotated[Content, Field(min_length=1)],
    expected_hash: ExpectedHash = "",
) -> SectionAppended:
    """Add lines to the end of the section below a heading, subsections included."""
    here = room(ctx)
    added = sections.append(here.vault, actor(ctx), paths.markdown(path), heading, content, expected_hash=expected_hash)
    answer = SectionAppended.after(added, notice=given(here, [added.written.path]))
    return notices.with_signs(answer, content)


READING: Final = (ToolSpec(get_note_outline, "Outline a note", "notes"),)
WRITING: Final = (ToolSpec(append_to_section, "Append to a section", "notes", writes=True),)
