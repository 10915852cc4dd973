"""Outline, sections and tags, as an assistant sees them."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator

import pytest

from service.guards import limits, outgoing
from service.guards.outgoing import View
from service.tools.catalogue import SPECS
from service.tools.context import LOW_TRUST
from tests.support.calling import Caller, calling
from tests.support.desk import Desk

pytestmark = pytest.mark.anyio

NOTE = (
    "---\ntags: [a]\n---\n# Top\ntext #b ^id\n\n## Sub\n- [ ] do #a\n- [x] done\n\n<!-- \n## secretword #no ^no\n-->\n"
)


@pytest.fixture
async def caller(desk: Desk) -> AsyncIterator[Caller]:
    desk.put({"n.md": NOTE, "Clippings/w.md": "# Theirs\n#theirs\n"})
    async with calling(desk.room, SPECS) as caller:
        yield caller


async def test_an_outline_has_headings_tags_and_block_ids_with_lines(caller: Caller, desk: Desk) -> None:
    """contract.md, get_note_outline; nothing that is hidden."""
    facts = await caller.facts("get_note_outline", path="n.md")
    assert facts["headings"] == [{"level": 1, "text": "Top", "line": 4}, {"level": 2, "text": "Sub", "line": 7}]
    assert facts["blocks"] == [{"id": "id", "line": 5}]
    assert facts["tags"] == ["a", "b"]
    assert (facts["total_headings"], facts["total_blocks"], facts["total_tags"]) == (2, 1, 2)
    assert (facts["tasks"], facts["open_tasks"]) == (2, 1)
    assert (facts["lines"], facts["bytes"], facts["next_line"], facts["notice"]) == (14, len(NOTE), None, "")
    assert facts["version"] == hashlib.sha256(desk.bytes_of("n.md")).hexdigest()[:12]


async def test_a_long_outline_is_cut_and_goes_on_at_the_line_it_names(caller: Caller, desk: Desk) -> None:
    """complaints.md 7 and 8: no cut without a mark, and every heading can be had."""
    desk.put({"n.md": "".join(f"# {number} {'long ' * 80} ^i{number}\n" for number in range(1200))})
    lines: list[int] = []
    line: int | None = 1
    while line is not None:
        facts = await caller.facts("get_note_outline", path="n.md", start_line=line)
        assert (facts["total_headings"], facts["total_blocks"]) == (1200, 1200)
        assert [one["line"] for one in facts["headings"]] == [one["line"] for one in facts["blocks"]]
        assert all(len(one["text"]) == 300 and one["text"].endswith("…") for one in facts["headings"])
        lines += [one["line"] for one in facts["headings"]]
        line = facts["next_line"]
    assert lines == list(range(1, 1201))
    assert len(await caller.text("get_note_outline", path="n.md")) < limits.MAX_RESULT_CHARS


async def test_many_tags_are_counted_and_the_first_named(caller: Caller, desk: Desk) -> None:
    desk.put({"n.md": " ".join(f"#tag{number}{'x' * 60}" for number in range(500))})
    facts = await caller.facts("get_note_outline", path="n.md")
    assert facts["total_tags"] == 500
    assert 50 < len(facts["tags"]) <= 100


async def test_what_comes_from_outside_is_labelled(caller: Caller) -> None:
    assert (await caller.facts("get_note_outline", path="Clippings/w.md"))["notice"] == LOW_TRUST
    assert (await caller.facts("list_tags", path="Clippings/w.md"))["notice"] == LOW_TRUST
    facts = await caller.facts("append_to_section", path="Clippings/w.md", heading="Theirs", content="x")
    assert facts["notice"] == LOW_TRUST


async def test_a_withheld_note_tells_nothing_and_says_why(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outgoing, "view", lambda raw: View(raw, "", withheld="it took too long"))
    for tool in ("get_note_outline", "list_tags"):
        facts = await caller.facts(tool, path="n.md")
        assert facts["notice"] == "withheld: it took too long; ask the owner to look at this note"
        assert (facts["tags"], facts.get("headings", [])) == ([], [])


async def test_lines_are_added_to_a_section(caller: Caller, desk: Desk) -> None:
    """contract.md, append_to_section; complaints.md 28: what is told is what is on the disk."""
    facts = await caller.facts("append_to_section", path="n.md", heading="## sub", content="- [ ] more")
    assert (facts["heading"], facts["line"], facts["notice"]) == ("Sub", 10, "")
    assert "+- [ ] more" in facts["diff"]
    data = desk.bytes_of("n.md")
    assert (facts["bytes"], facts["version"]) == (len(data), hashlib.sha256(data).hexdigest()[:12])
    assert data.decode() == NOTE.replace("- [x] done\n", "- [x] done\n- [ ] more\n")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"path": "n.md", "heading": "Nope"}, "SECTION_NOT_FOUND"),
        ({"path": "twice.md", "heading": "A"}, "AMBIGUOUS_SECTION"),
        ({"path": "none.md", "heading": "A"}, "NOT_FOUND"),
        ({"path": "n.txt", "heading": "A"}, "NOT_A_NOTE"),
        ({"path": "../n.md", "heading": "A"}, "INVALID_PATH"),
        ({"path": "n.md", "heading": "Top", "expected_hash": "0000"}, "CONFLICT"),
        ({"path": "n.md", "heading": ""}, "INVALID_ARGUMENT"),
        ({"path": "n.md", "heading": "x" * 301}, "INVALID_ARGUMENT"),
        ({"path": "n.md", "heading": "Top", "content": ""}, "INVALID_ARGUMENT"),
        ({"path": "two.md", "heading": "A", "content": "```\nopen"}, "INVALID_ARGUMENT"),
        ({"path": "n.md", "heading": "Top", "content": "<!-- unseen -->"}, "HIDDEN_CONTENT"),
        ({"path": "bytes.md", "heading": "A"}, "NOT_TEXT"),
    ],
)
async def test_a_refused_append_says_why_and_changes_nothing(
    caller: Caller, desk: Desk, arguments: dict[str, str], code: str
) -> None:
    """contract.md, codes."""
    desk.put({"twice.md": "# A\n# A\n", "two.md": "# A\n# B\n", "bytes.md": b"# A\xff\n"})
    before = {path: path.read_bytes() for path in desk.folder.rglob("*.md")}
    assert (await caller.refusal("append_to_section", **{"content": "new", **arguments})).startswith(f"{code}: ")
    assert {path: path.read_bytes() for path in desk.folder.rglob("*.md")} == before
    assert desk.told == []


async def test_tags_are_listed_with_their_counts(caller: Caller) -> None:
    """contract.md, list_tags."""
    facts = await caller.facts("list_tags")
    assert facts["tags"] == [
        {"tag": "a", "count": 2, "own": 2, "notes": 1, "lines": []},
        {"tag": "b", "count": 1, "own": 1, "notes": 1, "lines": []},
    ]
    assert (facts["total"], facts["next_offset"], facts["left_out"], facts["notice"]) == (2, None, ["Clippings"], "")
    page = await caller.facts("list_tags", limit=1)
    assert ([one["tag"] for one in page["tags"]], page["next_offset"]) == (["a"], 1)
    note = await caller.facts("list_tags", path="n.md")
    assert [(one["tag"], one["lines"]) for one in note["tags"]] == [("a", [2, 8]), ("b", [5])]


async def test_lines_of_a_tag_are_bounded_and_its_count_is_not(caller: Caller, desk: Desk) -> None:
    desk.put({"n.md": "#a\n" * 400})
    [tag] = (await caller.facts("list_tags", path="n.md"))["tags"]
    assert (tag["count"], len(tag["lines"])) == (400, 50)


@pytest.mark.parametrize(
    ("path", "code"),
    [("none.md", "NOT_FOUND"), ("n.txt", "NOT_A_NOTE"), (".obsidian/x.md", "HIDDEN_PATH"), ("/n.md", "INVALID_PATH")],
)
async def test_what_cannot_be_looked_into_says_why(caller: Caller, path: str, code: str) -> None:
    for tool in ("list_tags", "get_note_outline"):
        assert (await caller.refusal(tool, path=path)).startswith(f"{code}: ")
