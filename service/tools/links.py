"""Tools that follow links: to a file, from it, and into nothing."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from service.guards import paths
from service.tools.arguments import IncludeLowTrust, NotePath, Offset
from service.tools.context import Ctx, given, room
from service.tools.link_shapes import LinkResolved, LinksListed, LooseListed
from service.tools.register import ToolSpec
from service.vault import destinations, links

Limit = Annotated[int, Field(ge=1, le=200)]


def resolve_link(
    ctx: Ctx,
    link: Annotated[
        str,
        Field(
            min_length=1,
            max_length=destinations.MAX_LINK_CHARS,
            description="A wikilink, a Markdown link, or what is inside one.",
        ),
    ],
    from_path: Annotated[str | None, Field(description="Note it stands in; decides between equal names.")] = None,
) -> LinkResolved:
    """Find the file a link leads to in Obsidian, and the line of its heading or block."""
    here = room(ctx)
    found = destinations.find(here.vault, link, None if from_path is None else paths.note(from_path))
    return LinkResolved.of(found, notice=given(here, [found.path, *found.others]))


def get_links(
    ctx: Ctx,
    path: NotePath,
    *,
    limit: Limit = 50,
    offset: Offset = 0,
    include_low_trust: IncludeLowTrust = False,
) -> LinksListed:
    """List a note's links and its backlinks from notes and canvases. Pages go through both lists at once."""
    here = room(ctx)
    found = links.of(here.vault, paths.note(path), limit=limit, offset=offset, include_low_trust=include_low_trust)
    return LinksListed.of(found, notice=given(here, found.named))


def find_broken_links(
    ctx: Ctx, *, limit: Limit = 50, offset: Offset = 0, include_low_trust: IncludeLowTrust = False
) -> LooseListed:
    """List links to no file, and orphans: notes nothing else links to. Pages go through both lists at once."""
    here = room(ctx)
    found = links.loose(here.vault, limit=limit, offset=offset, include_low_trust=include_low_trust)
    return LooseListed.of(found, notice=given(here, found.named))


SPECS: Final = (
    ToolSpec(resolve_link, "Resolve a link", "links"),
    ToolSpec(get_links, "Show links", "links"),
    ToolSpec(find_broken_links, "Find broken links", "links"),
)
