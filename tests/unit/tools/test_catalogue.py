"""What every tool of the catalogue must have."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mcp_types import Tool

from service.errors import BadSettings
from service.guards import limits
from service.settings import kinds
from service.store.files import version_of
from service.tools import catalogue
from service.tools.register import ToolSpec, select
from tests.support.calling import calling
from tests.support.desk import Desk
from tests.support.rooms import settings_for

pytestmark = pytest.mark.anyio

BUDGET_BYTES = 24_000
READS_TEXT = {"read_note", "read_notes", "get_daily_note", "read_note_version", "diff_note"}


async def listed(desk: Desk) -> list[Tool]:
    async with calling(desk.room, catalogue.SPECS) as caller:
        return (await caller.client.list_tools()).tools


async def test_the_definitions_stay_within_their_budget(desk: Desk) -> None:
    """decisions.md 17, of the tools that are on by default: name, description, title, annotations and input schema together."""
    offered = {spec.name for spec in catalogue.SPECS if spec.toolset in kinds.DEFAULT_TOOLSETS}
    definitions = [
        tool.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"output_schema", "meta"})
        for tool in await listed(desk)
        if tool.name in offered
    ]
    assert len(json.dumps(definitions, ensure_ascii=False, separators=(",", ":")).encode()) <= BUDGET_BYTES


@pytest.mark.parametrize("off", kinds.TOOLSETS)
def test_a_toolset_that_is_off_has_none_of_its_tools_and_the_others_all_of_theirs(off: str, tmp_path: Path) -> None:
    """contract.md, Toolsets."""
    named = ",".join(name for name in kinds.TOOLSETS if name != off)
    chosen = select(catalogue.SPECS, settings_for(tmp_path, TOOLSETS=named))
    assert [spec.name for spec in chosen] == [spec.name for spec in catalogue.SPECS if spec.toolset != off]


@pytest.mark.parametrize("off", [spec.name for spec in catalogue.SPECS])
def test_a_single_tool_can_be_left_out_and_a_name_that_is_nearly_one_stops_the_start(off: str, tmp_path: Path) -> None:
    """decisions.md 11: STRONGROOM_DISABLED_TOOLS; the nearest right name is told."""
    every = ",".join(kinds.TOOLSETS)
    chosen = select(catalogue.SPECS, settings_for(tmp_path, TOOLSETS=every, DISABLED_TOOLS=off))
    assert [spec.name for spec in chosen] == [spec.name for spec in catalogue.SPECS if spec.name != off]
    with pytest.raises(BadSettings, match=f"did you mean {off}"):
        select(catalogue.SPECS, settings_for(tmp_path, DISABLED_TOOLS=f"{off}_"))


def test_every_tool_is_in_a_toolset_that_can_be_named() -> None:
    """Or nobody could switch it on."""
    assert {spec.toolset for spec in catalogue.SPECS} <= set(kinds.TOOLSETS)


async def test_every_input_is_a_plain_object(desk: Desk) -> None:
    """Complaint 57."""
    for tool in await listed(desk):
        assert tool.input_schema["type"] == "object"
        assert not {"anyOf", "oneOf", "allOf", "$ref"} & tool.input_schema.keys()


async def test_tools_that_give_text_say_how_long_an_answer_may_be(desk: Desk) -> None:
    """Complaint 56: a client would put more than 50,000 characters elsewhere; a list never has so many."""
    for tool in await listed(desk):
        said = {"anthropic/maxResultSizeChars": limits.MAX_RESULT_CHARS} if tool.name in READS_TEXT else None
        assert tool.meta == said
    assert limits.MAX_LIST_CHARS < 50_000 < limits.MAX_RESULT_CHARS


async def test_what_answers_with_facts_says_their_shape_and_what_answers_with_text_has_none(desk: Desk) -> None:
    """contract.md: lists and facts have an output schema; house.md fact 2."""
    assert {tool.name for tool in await listed(desk) if tool.output_schema is None} == READS_TEXT
    for tool in await listed(desk):
        assert tool.output_schema is None or tool.output_schema["type"] == "object"


async def test_every_tool_says_what_it_is_and_does(desk: Desk) -> None:
    """contract.md: title and all four hints; none reaches outside."""
    for tool in await listed(desk):
        assert tool.title
        assert tool.description
        hints = tool.annotations
        assert hints is not None
        assert hints.open_world_hint is False
        assert None not in (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint)


@pytest.mark.parametrize("spec", catalogue.SPECS, ids=lambda spec: spec.name)
async def test_what_a_model_reads_of_a_tool_is_short_and_plain(spec: ToolSpec) -> None:
    """style.md, A tool."""
    first, _, _ = (spec.fn.__doc__ or "").partition("\n")
    assert first.endswith(".")
    assert len(spec.fn.__doc__ or "") < 600


GIVEN: dict[str, dict[str, object]] = {
    "search_notes": {"query": "one"},
    "read_note": {"path": "n.md"},
    "get_frontmatter": {"path": "n.md"},
    "read_notes": {"paths": ["n.md"]},
    "get_note_outline": {"path": "n.md"},
    "append_to_section": {"path": "part.md", "heading": "Part", "content": "x"},
    "get_notes_info": {"paths": ["n.md"]},
    "resolve_link": {"link": "n"},
    "get_links": {"path": "n.md"},
    "update_frontmatter": {"path": "n.md", "set": {"a": 1}},
    "update_tags": {"path": "n.md", "add": ["a"]},
    "write_note": {"path": "w.md", "content": "x"},
    "create_note": {"path": "new.md", "content": "x"},
    "append_to_note": {"path": "n.md", "content": "x"},
    "edit_note": {"path": "n.md", "edits": [{"old_string": "one", "new_string": "1", "replace_all": None}]},
    "append_daily_note": {"text": "x"},
    "complete_task": {"path": "t.md", "line": 1, "expected_hash": version_of(b"- [ ] a\n")},
    "postpone_task": {
        "path": "u.md",
        "line": 1,
        "expected_hash": version_of(b"- [ ] a\n"),
        "new_date": "2026-03-01",
    },
    "note_history": {"path": "n.md"},
    "search": {"query": "one"},
    "fetch": {"id": "new.md"},
    "read_note_version": {"path": "gone.md"},
    "diff_note": {"path": "stays.md", "from": "HEAD"},
    "undelete_note": {"path": "gone too.md"},
    "restore_note": {"path": "gone.md"},
    "move_note": {"from": "here.md", "to": "m.md"},
    "move_file": {"from": "m.md", "to": "l.md", "confirm_from": "m.md", "confirm_to": "l.md"},
    "delete_note": {"path": "n.md"},
}
"""What each tool cannot do without; some want one of several."""


async def test_a_null_is_the_same_as_leaving_a_parameter_out(desk: Desk) -> None:
    """Some clients send null for every parameter that their model did not fill in."""
    gone = {"gone.md": "x", "gone too.md": "y"}
    tasks = {"t.md": "- [ ] a\n", "u.md": "- [ ] a\n"}
    desk.put({"n.md": "one\n", **gone, **tasks, "here.md": "", "part.md": "# Part\n", "stays.md": "z"})
    desk.room.history.commit("test")
    (desk.folder / "gone.md").unlink()
    (desk.folder / "gone too.md").unlink()
    async with calling(desk.room, catalogue.SPECS) as caller:
        for tool in (await caller.client.list_tools()).tools:
            given = GIVEN.get(tool.name, {})
            assert given.keys() >= set(tool.input_schema.get("required", ())), tool.name
            left_out = tool.input_schema["properties"].keys() - given.keys()
            await caller.text(tool.name, **given, **dict.fromkeys(left_out))
