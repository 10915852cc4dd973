"""Tools for tags."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from service.guards import paths
from service.tools import notices
from service.tools.arguments import Offset
from service.tools.context import Ctx, given, room
from service.tools.register import ToolSpec
from service.tools.tag_shapes import TagsListed
from service.vault import tags


def list_tags(
    ctx: Ctx,
    path: Annotated[str, Field(description="A note, for its tags with lines.")] = "",
    limit: Annotated[int, Field(ge=1, le=500)] = 100,
    offset: Offset = 0,
) -> TagsListed:
    """List the tags in use, those used most first; a/b counts for a too."""
    here = room(ctx)
    if not path:
        return TagsListed.of_vault(tags.count(here.vault, limit=limit, offset=offset))
    note, page = tags.of_note(here.vault, paths.markdown(path), limit=limit, offset=offset)
    notice = notices.about(note.view, given(here, [note.path]))
    return TagsListed.of_note(page, is_withheld=bool(note.view.withheld), notice=notice)


SPECS: Final = (ToolSpec(list_tags, "List tags", "metadata"),)
