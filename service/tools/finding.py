"""Tools that find notes without reading them whole."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from service.guards import paths
from service.search import query as searching
from service.search.asked import Found, Mode, Order, Part, Query
from service.tools.arguments import FolderPath, IncludeLowTrust, Offset
from service.tools.context import Ctx, given, room
from service.tools.register import ToolSpec
from service.tools.shapes import HitsListed, NotesListed, Tree
from service.vault import listing, tags
from service.vault.listing import Newest

_FOLDERS_A_PAGE: Final = 500


def search_notes(
    ctx: Ctx,
    query: Annotated[str, Field(min_length=1, max_length=200)],
    *,
    mode: Literal["literal", "ranked"] = "literal",
    limit: Annotated[int, Field(ge=1, le=50)] = 20,
    offset: Offset = 0,
    path_prefix: FolderPath = "",
    exclude_paths: Annotated[
        list[str] | None, Field(max_length=50, description="Folders or notes to leave out.")
    ] = None,
    tag: Annotated[str, Field(max_length=100, description="Or one nested in it.")] = "",
    sort_by: Literal["relevance", "path", "modified"] = "relevance",
    case_sensitive: bool = False,
    part: Annotated[Literal["content", "frontmatter", "both"], Field(validation_alias="in")] = "both",
    include_low_trust: IncludeLowTrust = False,
) -> HitsListed:
    """Search the notes.

    literal: each line that holds the query as it stands, never a pattern; of a note of which only the name does, the first line.
    ranked: notes that answer a question in plain words best, by any of its words, each with its best line; accents do not
    count, and a misspelt question that finds nothing is corrected.
    """
    question = Query(
        query,
        Mode(mode),
        folder=paths.folder(path_prefix),
        excluded=tuple(paths.parse(path.removesuffix("/")) for path in exclude_paths or ()),
        tag=tags.asked(tag),
        order=Order(sort_by),
        part=Part(part),
        is_case_sensitive=case_sensitive,
        limit=limit,
        offset=offset,
        include_low_trust=include_low_trust,
    )
    here = room(ctx)
    found = searching.search(here.vault, question)
    notices = (_told(found, query), given(here, [hit.path for hit in found.page.items]))
    return HitsListed.of(found, notice=" ".join(filter(None, notices)))


def _told(found: Found, query: str) -> str:
    """How what was found differs from what was asked."""
    told = (
        [f"Nothing was found for {_quoted(query)}; these are the notes for {_quoted(found.instead)}."]
        if found.instead
        else []
    )
    told += [f"Written {_quoted(written)} where {_quoted(asked)} was asked." for asked, written in found.forms]
    return " ".join(told)


def _quoted(words: str) -> str:
    return f'"{words}"'


def list_notes(
    ctx: Ctx, folder: FolderPath = "", limit: Annotated[int, Field(ge=1, le=500)] = 100, offset: Offset = 0
) -> NotesListed:
    """List the notes in a folder and below it, last changed first."""
    return _listed(ctx, listing.newest(room(ctx).vault, paths.folder(folder), limit=limit, offset=offset))


def list_recent(
    ctx: Ctx, limit: Annotated[int, Field(ge=1, le=50)] = 10, include_low_trust: IncludeLowTrust = False
) -> NotesListed:
    """List the notes changed last, across the vault."""
    return _listed(ctx, listing.newest(room(ctx).vault, limit=limit, include_low_trust=include_low_trust))


def _listed(ctx: Ctx, newest: Newest) -> NotesListed:
    given(room(ctx), [entry.path for entry in newest.page.items])  # a name is text too
    return NotesListed.of(newest, room(ctx).clock.zone)


def get_vault_tree(
    ctx: Ctx,
    depth: Annotated[int, Field(ge=1, le=100, description="Levels below the root.")] = 100,
    offset: Offset = 0,
) -> Tree:
    """List every folder, with how many notes lie in it and how many with its subfolders. Shows how a vault is organised."""
    return Tree.of(listing.tree(room(ctx).vault, depth=depth, limit=_FOLDERS_A_PAGE, offset=offset))


SPECS: Final = (
    ToolSpec(search_notes, "Search notes", "notes"),
    ToolSpec(list_notes, "List notes", "notes"),
    ToolSpec(list_recent, "List recent notes", "notes"),
    ToolSpec(get_vault_tree, "Show the folders", "notes"),
)
