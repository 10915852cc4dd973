"""The toolset for ChatGPT's connectors: the shapes that OpenAI documents, and nothing more."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
from mcp_types import TextContent

from service.guards import limits
from service.tools import connector
from service.tools.context import LOW_TRUST
from tests.support.calling import Caller, calling
from tests.support.desk import Desk

pytestmark = pytest.mark.anyio

NOTES = {
    "Projects/Kitchen garden.md": "# Plan\n\nWhen to sow the beans: in May.\n",
    "a b#c.md": "beans <!-- hidden --> again\n",
    "Clippings/beans.md": "beans from outside\n",
}


@pytest.fixture
async def caller(desk: Desk) -> AsyncIterator[Caller]:
    desk.put(NOTES)
    async with calling(desk.room, connector.SPECS) as caller:
        yield caller


async def test_a_search_answers_as_connectors_expect(caller: Caller) -> None:
    """OpenAI, Building MCP servers: exactly one text item, JSON with `results` of `id`, `title`, `url`."""
    result = await caller.call("search", query="When should I sow the beans?")
    [item] = result.content
    assert isinstance(item, TextContent)
    assert json.loads(item.text) == result.structured_content == {
        "results": [
            {"id": "Projects/Kitchen garden.md", "title": "Kitchen garden", "url": "note://Projects/Kitchen%20garden.md"},
            {"id": "a b#c.md", "title": "a b#c", "url": "note://a%20b%23c.md"},
        ]
    }  # fmt: skip


async def test_a_fetch_answers_as_connectors_expect(caller: Caller, desk: Desk) -> None:
    """OpenAI, Building MCP servers: one object with `id`, `title`, `text`, `url`, `metadata`."""
    result = await caller.call("fetch", id="Projects/Kitchen garden.md")
    [item] = result.content
    assert isinstance(item, TextContent)
    data = desk.bytes_of("Projects/Kitchen garden.md")
    facts = json.loads(item.text)
    assert facts == result.structured_content
    assert facts.pop("metadata").keys() == {"version", "bytes"}
    assert facts == {
        "id": "Projects/Kitchen garden.md",
        "title": "Kitchen garden",
        "text": data.decode(),
        "url": "note://Projects/Kitchen%20garden.md",
    }


async def test_whatever_search_finds_can_be_fetched(caller: Caller) -> None:
    """An id is a path, also with blanks and `#`."""
    found = await caller.facts("search", query="beans")
    for one in found["results"]:
        assert (await caller.facts("fetch", id=one["id"]))["url"] == one["url"]


async def test_what_is_hidden_and_what_is_from_outside_is_told(caller: Caller) -> None:
    """guards.md 6, 57 and 58: in the text, since a connector may show nothing else."""
    facts = await caller.facts("fetch", id="a b#c.md")
    assert facts["text"] == "[hidden: 1 comment left out]\nbeans  again\n"
    assert facts["metadata"]["notices"] == "hidden: 1 comment left out"
    facts = await caller.facts("fetch", id="Clippings/beans.md")
    assert facts["text"] == f"[{LOW_TRUST}]\nbeans from outside\n"


@pytest.mark.parametrize("line", ["word word\n", '"\\"\n', "\x01\x02\n", "words\n" * 1000])
async def test_a_long_note_is_cut_to_one_answer_and_says_so(caller: Caller, desk: Desk, line: str) -> None:
    """contract.md, limits: counted as it is sent, escapes and all."""
    desk.put({"long.md": line * (300_000 // len(line))})
    text = await caller.text("fetch", id="long.md")
    assert limits.MAX_RESULT_CHARS // 2 < len(text) <= limits.MAX_RESULT_CHARS
    assert "[cut: lines 1-" in text
    assert "go on with read_note, start_line=" in json.loads(text)["metadata"]["notices"]


async def test_nothing_found_is_an_empty_list(caller: Caller) -> None:
    """A connector expects results, never an error."""
    assert (await caller.facts("search", query="zebra")) == {"results": []}


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("search", {"query": ""}, "INVALID_ARGUMENT"),
        ("search", {"query": "x" * 1001}, "INVALID_ARGUMENT"),
        ("fetch", {"id": "no.md"}, "NOT_FOUND"),
        ("fetch", {"id": "../x.md"}, "INVALID_PATH"),
        ("fetch", {"id": "p.pdf"}, "NOT_A_NOTE"),
    ],
)
async def test_what_cannot_be_done_says_why(caller: Caller, tool: str, arguments: dict[str, str], code: str) -> None:
    """contract.md, errors."""
    assert (await caller.refusal(tool, **arguments)).startswith(f"{code}: ")
