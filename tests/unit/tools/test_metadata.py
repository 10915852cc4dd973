"""The tools for properties and tags, and properties of new notes, through a client."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest

from service.tools import metadata, writing
from tests.support.calling import Caller, calling
from tests.support.desk import Desk

pytestmark = pytest.mark.anyio


@pytest.fixture
async def caller(desk: Desk) -> AsyncIterator[Caller]:
    async with calling(desk.room, [*metadata.SPECS, *writing.SPECS]) as caller:
        yield caller


async def test_an_answer_tells_version_size_and_a_short_diff(caller: Caller, desk: Desk) -> None:
    """The issue: writes report version, size and a short diff."""
    desk.put({"n.md": "---\na: 1 # c\n---\n"})
    facts = await caller.facts("update_frontmatter", path="n.md", set={"a": "22:30"}, remove=["b"])
    assert facts["diff"] == '@@ -1,3 +1,3 @@\n ---\n-a: 1 # c\n+a: "22:30" # c\n ---'
    assert (facts["changed"], facts["bytes"]) == (True, len(desk.bytes_of("n.md")))
    assert facts["notice"] == "1 property that was to be removed is not there."
    again = await caller.facts("update_frontmatter", path="n.md", set={"a": "22:30"}, expected_hash=facts["version"])
    assert again == {**facts, "changed": False, "diff": "", "notice": "Nothing had to be changed."}


async def test_a_tag_answer_tells_both_kinds(caller: Caller, desk: Desk) -> None:
    """contract.md, update_tags."""
    desk.put({"n.md": "x #in/line\n"})
    facts = await caller.facts("update_tags", path="n.md", add=["#top"])
    assert (facts["tags"], facts["inline_tags"], facts["changed"]) == (["top"], ["in/line"], True)
    assert desk.bytes_of("n.md") == b"---\ntags:\n  - top\n---\nx #in/line\n"


@pytest.mark.parametrize("as_text", [False, True])
async def test_objects_and_lists_may_come_as_json_text(caller: Caller, desk: Desk, as_text: bool) -> None:
    """Complaint 55; contract.md, arrays and objects. A null is a value here, not something left out."""

    def sent(value: object) -> object:
        return json.dumps(value) if as_text else value

    desk.put({"n.md": "---\nold: 1\ngone: 1\n---\n"})
    await caller.facts("update_frontmatter", path="n.md", set=sent({"old": None, "l": ["x"]}), remove=sent(["gone"]))
    await caller.facts("update_tags", path="n.md", add=sent(["a", "b"]))
    await caller.facts("update_tags", path="n.md", remove=sent(["b"]))
    assert desk.bytes_of("n.md") == b"---\nold:\nl:\n  - x\ntags:\n  - a\n---\n"
    await caller.facts("create_note", path="c.md", content="x", frontmatter=sent({"a": {"b": None}}))
    assert desk.bytes_of("c.md") == b"---\na:\n  b: null\n---\nx"
    await caller.facts("write_note", path="w.md", content="x", frontmatter=sent({"a": True}))
    assert desk.bytes_of("w.md") == b"---\na: true\n---\nx"


async def test_one_name_by_itself_is_a_list_of_one(caller: Caller, desk: Desk) -> None:
    """Some models send the word without its brackets."""
    desk.put({"n.md": "---\ngone: 1\nx: 1\n---\n"})
    await caller.facts("update_frontmatter", path="n.md", remove="gone")
    await caller.facts("update_tags", path="n.md", add="#a")
    assert desk.bytes_of("n.md") == b"---\nx: 1\ntags:\n  - a\n---\n"


@pytest.mark.parametrize(
    "arguments",
    [
        {"set": "{"},
        {"set": "text"},
        {"set": ["a"]},
        {"set": {"a": 1}, "remove": [1]},
        {"remove": ["x"] * 101},
        {"set": '{"a": NaN}'},
        {"set": '{"a": 1e400}'},
        {"set": {"a": 2**60}},
        {"set": "[" * 5000},
        {},
    ],
)
async def test_what_is_none_is_refused_and_nothing_is_done(
    caller: Caller, desk: Desk, arguments: dict[str, object]
) -> None:
    """Complaint 55: malformed is refused clearly."""
    desk.put({"n.md": "one\n"})
    refusal = await caller.refusal("update_frontmatter", path="n.md", **arguments)
    assert refusal.startswith("INVALID_ARGUMENT: ")
    assert desk.bytes_of("n.md") == b"one\n"


async def test_a_note_is_replaced_with_its_version_and_says_what_is_gone(caller: Caller, desk: Desk) -> None:
    """contract.md, write_note."""
    desk.put({"n.md": "---\na: 1\n---\nold\n"})
    refusal = await caller.refusal("write_note", path="n.md", content="new")
    assert refusal.startswith("ALREADY_EXISTS: 'n.md' exists already; to replace it, read it")
    added = await caller.facts("write_note", path="n.md", content="top", mode="prepend", frontmatter={"b": 2})
    assert (added["created"], added["changed"], added["properties_gone"]) == (False, True, [])
    done = await caller.facts("write_note", path="n.md", content="new", expected_hash=added["version"])
    assert (done["created"], done["properties_gone"], desk.bytes_of("n.md")) == (False, ["a", "b"], b"new")
    made = await caller.facts("write_note", path="m.md", content="new")
    assert (made["created"], made["changed"], made["diff"]) == (True, True, "")


async def test_signs_in_a_value_are_told_like_those_in_a_text(caller: Caller, desk: Desk) -> None:
    """docs/explanation/guards.md, cautions: what is written is looked at wherever it goes."""
    link = f"https://example.com/?{'word+' * 30}"
    desk.put({"n.md": "x\n"})
    for tool, arguments in (
        ("update_frontmatter", {"path": "n.md", "set": {"a": [link]}}),
        ("create_note", {"path": "c.md", "content": "x", "frontmatter": {"a": link}}),
        ("write_note", {"path": "w.md", "content": "x", "frontmatter": {"a": link}}),
        ("write_note", {"path": "n.md", "content": link, "mode": "append"}),
    ):
        facts = await caller.facts(tool, **arguments)
        assert "Caution: 1 link with a long query" in str(facts["notice"]), tool
