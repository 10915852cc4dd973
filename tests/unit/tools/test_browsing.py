"""The tools that look around, as an assistant sees them."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from service.guards import limits
from service.tools.catalogue import SPECS
from service.tools.context import LOW_TRUST
from tests.support.calling import Caller, calling
from tests.support.desk import Desk

pytestmark = pytest.mark.anyio


@pytest.fixture
async def caller(desk: Desk) -> AsyncIterator[Caller]:
    desk.put(
        {"a.md": "---\nx: 1\n---\n", "p.png": b"123", "F/b.md": "x", "Clippings/w.md": "x", "Clippings/q/v.md": "x"}
    )
    async with calling(desk.room, SPECS) as caller:
        yield caller


async def test_a_folder_is_listed_with_sizes_and_times(caller: Caller, desk: Desk) -> None:
    """contract.md, list_directory; a low-trust folder itself is shown, as in the tree."""
    facts = await caller.facts("list_directory")
    assert [(one["path"], one["is_folder"], one["bytes"]) for one in facts["items"]] == [
        ("Clippings", True, 0), ("F", True, 0), ("a.md", False, 13), ("p.png", False, 3),
    ]  # fmt: skip
    assert (facts["total"], facts["next_offset"], facts["notice"]) == (4, None, "")
    page = await caller.facts("list_directory", limit=1, offset=1)
    assert ([one["path"] for one in page["items"]], page["next_offset"]) == (["F"], 2)


async def test_a_low_trust_folder_is_listed_with_its_label(caller: Caller) -> None:
    """decisions.md 15: naming it is asking."""
    facts = await caller.facts("list_directory", path="Clippings")
    assert [one["path"] for one in facts["items"]] == ["Clippings/q", "Clippings/w.md"]
    assert facts["notice"] == LOW_TRUST


@pytest.mark.parametrize(
    ("path", "code"),
    [("Nope", "NOT_FOUND"), ("../x", "INVALID_PATH"), (".obsidian", "HIDDEN_PATH"), ("a.md", "INVALID_PATH")],
)
async def test_what_cannot_be_listed_says_why(caller: Caller, path: str, code: str) -> None:
    """contract.md, refused paths."""
    assert (await caller.refusal("list_directory", path=path)).startswith(f"{code}: ")


async def test_the_vault_is_counted_without_low_trust_names(caller: Caller) -> None:
    """contract.md, get_vault_stats; decisions.md 15."""
    facts = await caller.facts("get_vault_stats")
    assert (facts["notes"], facts["folders"], facts["attachments"], facts["bytes"]) == (4, 3, 1, 16)
    assert sorted(one["path"] for one in facts["recent"]) == ["F/b.md", "a.md"]
    assert facts["left_out"] == ["Clippings"]
    assert (await caller.facts("get_vault_stats", recent=0))["recent"] == []


async def test_facts_and_failures_stand_in_their_places(caller: Caller) -> None:
    """ancestors.md 1.3: failures were dropped without a word."""
    facts = await caller.facts("get_notes_info", paths=["no.md", "a.md", "p.png", "b\u200b.md", "../a.md"])
    notes = facts["notes"]
    assert [one["error"].partition(":")[0] for one in notes] == [
        "NOT_FOUND", "", "NOT_A_NOTE", "INVALID_PATH", "INVALID_PATH",
    ]  # fmt: skip
    assert [one["path"] for one in notes] == ["no.md", "a.md", "p.png", "paths[3]", "../a.md"]
    assert notes[1]["bytes"] == 13
    assert notes[1]["has_frontmatter"] is True
    assert notes[0]["version"] is None


async def test_fifty_long_paths_fit_into_one_answer(caller: Caller, desk: Desk) -> None:
    """contract.md, limits: every answer is bounded."""
    long = "/".join(["x" * 120] * 4)
    desk.put({f"{long}/a{number}.md": "" for number in range(3)})
    text = await caller.text("get_notes_info", paths=[f"{long}/b{number}.md" for number in range(50)])
    assert len(text) <= limits.MAX_RESULT_CHARS
