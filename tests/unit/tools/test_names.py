"""Names that carry what nobody sees: never in an answer, whichever tool would show them."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from service.tools import resources
from service.tools.catalogue import SPECS
from tests.support.calling import Caller, calling
from tests.support.desk import Desk

pytestmark = pytest.mark.anyio

UNSEEN = ["a\u200bb.md", "a\u200db.md", "x\u200b/in.md", "\U000e0041.md", "c\ufe0f\ufe0f.md", "d\u202ee.md"]
SEEN = ["plain.md", "👩\u200d👧.md", "می\u200cروم.md", "🖊\ufe0f journal/n.md"]


@pytest.fixture
async def caller(desk: Desk) -> AsyncIterator[Caller]:
    desk.put(dict.fromkeys([*UNSEEN, *SEEN], "garden\n"))
    async with calling(desk.room, SPECS, resources.SPEC) as caller:
        yield caller


async def test_such_notes_are_in_no_list_no_search_and_no_resource(caller: Caller) -> None:
    """guards.md 2.3 and 4.1; `doctor` names them, so that the owner can rename them. Scripts and emoji keep theirs."""
    for tool, key in (("list_notes", "notes"), ("list_recent", "notes")):
        assert sorted(one["path"] for one in (await caller.facts(tool))[key]) == sorted(SEEN), tool
    hits = (await caller.facts("search_notes", query="garden"))["hits"]
    assert sorted(hit["path"] for hit in hits) == sorted(SEEN)
    folders = (await caller.facts("get_vault_tree"))["folders"]
    assert [folder["path"] for folder in folders] == ["", "🖊\ufe0f journal"]
    assert sorted(one["path"] for one in (await caller.facts("list_directory"))["items"]) == sorted(
        [*SEEN[:3], "🖊\ufe0f journal"]
    )
    assert sorted(one["id"] for one in (await caller.facts("search", query="garden"))["results"]) == sorted(SEEN)
    assert (await caller.facts("get_vault_stats"))["notes"] == len(SEEN)
    assert sorted(one.name for one in (await caller.client.list_resources()).resources[1:]) == sorted(SEEN)


@pytest.mark.parametrize("path", UNSEEN)
async def test_such_a_path_is_refused_and_not_said_back(caller: Caller, path: str) -> None:
    """contract.md, refused path."""
    refusal = await caller.refusal("read_note", path=path)
    assert refusal.startswith("INVALID_PATH: ")
    assert refusal.isascii()


@pytest.mark.parametrize("path", SEEN)
async def test_what_scripts_and_emoji_need_can_be_named(caller: Caller, path: str) -> None:
    """guards.md 4.3."""
    assert "garden" in await caller.text("read_note", path=path)
