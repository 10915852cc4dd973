"""Tools for what a note says about itself."""

from __future__ import annotations

import json
from typing import Annotated, Final, TypeAlias

from pydantic import BeforeValidator, Field

from service.guards import paths
from service.tools import arguments, notices
from service.tools.arguments import NO_NAMES, NO_PROPERTIES, ExpectedHash, FrontMatter, NotePath
from service.tools.context import Ctx, actor, given, room
from service.tools.register import ToolSpec
from service.tools.shapes import PropertiesListed
from service.tools.writing_shapes import PropertiesUpdated, TagsUpdated
from service.vault import properties, property_changes
from service.vault.parts.property_edits import Wanted

_MAX_TAGS: Final = 50
_MAX_NAMES: Final = 100

Tags: TypeAlias = Annotated[list[str], BeforeValidator(arguments.names), Field(max_length=_MAX_TAGS)]


def get_frontmatter(ctx: Ctx, path: NotePath) -> PropertiesListed:
    """Get a note's properties (YAML front matter) as values. Dates and times are text."""
    here = room(ctx)
    found = properties.read(here.vault, paths.markdown(path))
    return PropertiesListed.of(found, notice=given(here, [found.path]))


def update_frontmatter(
    ctx: Ctx,
    path: NotePath,
    set: FrontMatter = NO_PROPERTIES,
    remove: Annotated[list[str], BeforeValidator(arguments.names), Field(max_length=_MAX_NAMES)] = NO_NAMES,
    expected_hash: ExpectedHash = "",
) -> PropertiesUpdated:
    """Set and remove properties of a note; only their lines change. A list replaces the whole list; null empties."""
    here = room(ctx)
    wanted = Wanted(set, frozenset(remove))
    updated = property_changes.update(here.vault, actor(ctx), paths.markdown(path), wanted, expected_hash)
    answer = PropertiesUpdated.after(updated, notice=given(here, [updated.written.path]))
    return notices.with_signs(answer, json.dumps(set, ensure_ascii=False))


def update_tags(
    ctx: Ctx, path: NotePath, add: Tags = NO_NAMES, remove: Tags = NO_NAMES, expected_hash: ExpectedHash = ""
) -> TagsUpdated:
    """Add and remove tags in a note's front matter. Those in its text are listed, not changed."""
    here = room(ctx)
    tagged = property_changes.update_tags(
        here.vault, actor(ctx), paths.markdown(path), expected_hash, add=add, remove=remove
    )
    answer = TagsUpdated.to(tagged, notice=given(here, [tagged.updated.written.path]))
    return notices.with_signs(answer, *add)


SPECS: Final = (
    ToolSpec(get_frontmatter, "Get a note's properties", "metadata"),
    ToolSpec(
        update_frontmatter, "Change a note's properties", "metadata", writes=True, destructive=True, idempotent=True
    ),
    ToolSpec(update_tags, "Change a note's tags", "metadata", writes=True, destructive=True, idempotent=True),
)
