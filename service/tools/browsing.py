"""Tools that look around: one folder, the vault in numbers, facts of notes."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from service.errors import AppError
from service.guards import paths as allowed
from service.guards.paths import VaultPath
from service.tools import notices
from service.tools.arguments import Offset
from service.tools.browsing_shapes import DirectoryListed, InfosTold, InfoTold, StatsTold
from service.tools.context import Ctx, given, room, sentence
from service.tools.register import ToolSpec
from service.vault import browsing


def list_directory(
    ctx: Ctx,
    path: Annotated[str, Field(description="A folder, vault-relative; empty for the root.")] = "",
    limit: Annotated[int, Field(ge=1, le=500)] = 100,
    offset: Offset = 0,
) -> DirectoryListed:
    """List what lies directly in a folder: its folders, and its files of every type, attachments too."""
    here = room(ctx)
    page = browsing.directory(here.vault, allowed.folder(path), limit=limit, offset=offset)
    inside = [one for one in browsing.paths_of(page.items) if here.vault.low_trust.around(one) != one]
    return DirectoryListed.of(page, here.clock.zone, notice=given(here, inside))


def get_vault_stats(ctx: Ctx, recent: Annotated[int, Field(ge=0, le=20)] = 5) -> StatsTold:
    """Count the vault's notes, folders, attachments and bytes, and list the notes changed last."""
    here = room(ctx)
    return StatsTold.of(browsing.stats(here.vault, recent), here.clock.zone)


def get_notes_info(
    ctx: Ctx, paths: Annotated[list[str], Field(min_length=1, max_length=50, description="Vault-relative.")]
) -> InfosTold:
    """Get size, time of change, version, and whether there is front matter, of up to 50 notes."""
    here = room(ctx)
    told: list[InfoTold] = []
    found: list[VaultPath] = []
    for number, raw in enumerate(paths):
        try:
            info = browsing.info(here.vault, allowed.note(raw))
        except AppError as error:
            told.append(InfoTold.failed(notices.asked(raw, f"paths[{number}]"), f"{error.code}: {sentence(error)}"))
        else:
            told.append(InfoTold.of(info, here.clock.zone))
            found.append(info.path)
    return InfosTold(notes=told, notice=given(here, found))


SPECS: Final = (
    ToolSpec(list_directory, "List a folder", "notes"),
    ToolSpec(get_vault_stats, "Count what there is", "notes"),
    ToolSpec(get_notes_info, "Get facts of notes", "notes"),
)
