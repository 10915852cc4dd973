"""STRONGROOM_SYMLINKS=inside, through the tools (guards.md 2.3; decisions.md 11)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from service.tools.catalogue import SPECS
from tests.support import rooms
from tests.support.calling import Caller, calling
from tests.support.vaults import lay_out

pytestmark = pytest.mark.anyio


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    lay_out(folder, {"Projects/Real.md": "real words\n", "Clippings/c.md": "clipped words\n"})
    (folder / "Alias.md").symlink_to("Projects/Real.md")
    (folder / "Short").symlink_to("Projects")
    (folder / "Clip").symlink_to("Clippings")
    return folder


@pytest.fixture
async def caller(vault: Path) -> AsyncIterator[Caller]:
    room = rooms.room_for(rooms.settings_for(vault.parent, SYMLINKS="inside"))
    async with calling(room, SPECS) as caller:
        yield caller
    rooms.close(room)


async def test_a_note_behind_a_link_is_read_under_its_own_name_and_listed_once(caller: Caller) -> None:
    assert (await caller.text("read_note", path="Alias.md")).startswith("[Projects/Real.md |")
    assert (await caller.text("search_notes", query="real words")).count("Real.md") == 1
    assert "Alias" not in await caller.text("list_notes")


async def test_what_is_written_below_a_linked_folder_is_told_by_its_real_name(caller: Caller, vault: Path) -> None:
    assert '"Projects/Real.md"' in await caller.text("append_to_note", path="Short/Real.md", content="more")
    assert '"Projects/New.md"' in await caller.text("create_note", path="Short/New.md", content="new")
    assert (vault / "Projects/Real.md").read_bytes() == b"real words\nmore\n"


@pytest.mark.parametrize("tool", ["append_to_note", "edit_note", "delete_note"])
async def test_no_tool_writes_through_a_link(caller: Caller, vault: Path, tool: str) -> None:
    given = {
        "append_to_note": {"content": "more"},
        "edit_note": {"edits": [{"old_string": "real", "new_string": "unreal"}]},
        "delete_note": {},
    }
    assert (await caller.refusal(tool, path="Alias.md", **given[tool])).startswith("OUTSIDE_VAULT")
    assert (vault / "Projects/Real.md").read_bytes() == b"real words\n"


async def test_a_link_makes_no_clipping_trusted(caller: Caller) -> None:
    assert "low trust" in await caller.text("read_note", path="Clip/c.md")
    assert "Clippings/c.md" not in await caller.text("search_notes", query="clipped words")
