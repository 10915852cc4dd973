"""search_notes, list_notes, list_recent and get_vault_tree, through a client."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from service.guards import limits
from service.tools import finding
from tests.support.calling import Caller, calling
from tests.support.clock import HeldClock
from tests.support.desk import Desk, desk_in

pytestmark = pytest.mark.anyio


@pytest.fixture
async def caller(desk: Desk) -> AsyncIterator[Caller]:
    async with calling(desk.room, finding.SPECS) as caller:
        yield caller


async def test_a_search_answers_lines_with_snippets_and_a_count(caller: Caller, desk: Desk) -> None:
    """contract.md, search_notes."""
    desk.put({"a.md": "x\n  Garden one\ngarden two\n", "Garden.md": "nothing\n", "b.md": "none\n"})
    assert await caller.facts("search_notes", query="GARDEN") == {
        "hits": [
            {"path": "Garden.md", "line": 1, "snippet": "nothing", "score": 10},
            {"path": "a.md", "line": 2, "snippet": "Garden one", "score": 2},
            {"path": "a.md", "line": 3, "snippet": "garden two", "score": 2},
        ],
        "total": 3,
        "total_is_exact": True,
        "total_notes": 2,
        "next_offset": None,
        "skipped": 0,
        "left_out": [],
        "notice": "",
    }


async def test_every_filter_reaches_the_search(caller: Caller, desk: Desk) -> None:
    """contract.md, search_notes: the wire name `in` included."""
    desk.put(
        {
            "f/a.md": "---\nt: Word\n---\nWord #t\nword\n",
            "f/e.md": "Word",
            "f/b.md": "Word #t",
            "f2/c.md": "Word",
            "f/sub/d.md": "Word",
        }
    )
    facts = await caller.facts(
        "search_notes",
        query="Word",
        path_prefix="f",
        exclude_paths=["f/sub", "f/b.md"],
        tag="#T",
        sort_by="path",
        case_sensitive=True,
        limit=10,
        offset=0,
        **{"in": "content"},
    )
    assert [(hit["path"], hit["line"]) for hit in facts["hits"]] == [("f/a.md", 4)]  # type: ignore[attr-defined]


async def test_pages_follow_on_from_next_offset(caller: Caller, desk: Desk) -> None:
    """contract.md, limits."""
    desk.put({f"{number}.md": "word\nword\n" for number in range(5)})
    lines, offset = [], 0
    while offset is not None:
        facts = await caller.facts("search_notes", query="word", limit=3, offset=offset)
        lines += [(hit["path"], hit["line"]) for hit in facts["hits"]]  # type: ignore[attr-defined]
        assert facts["total"] == 10
        offset = facts["next_offset"]  # type: ignore[assignment]
    assert lines == [(f"{number}.md", line) for number in range(5) for line in (1, 2)]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"query": ""}, "INVALID_ARGUMENT"),
        ({"query": "x" * 201}, "INVALID_ARGUMENT"),
        ({"query": "x", "limit": 51}, "INVALID_ARGUMENT"),
        ({"query": "x", "limit": 0}, "INVALID_ARGUMENT"),
        ({"query": "x", "offset": -1}, "INVALID_ARGUMENT"),
        ({"query": "x", "sort_by": "size"}, "INVALID_ARGUMENT"),
        ({"query": "x", "tag": "a b"}, "INVALID_ARGUMENT"),
        ({"query": "x", "path_prefix": "../x"}, "INVALID_PATH"),
        ({"query": "x", "path_prefix": ".obsidian"}, "HIDDEN_PATH"),
        ({"query": "x", "exclude_paths": ["a/../b"]}, "INVALID_PATH"),
        ({"query": "x", "path_prefix": "Projcts"}, "NOT_FOUND"),
    ],
)
async def test_what_cannot_be_searched_is_refused(
    caller: Caller, desk: Desk, arguments: dict[str, object], code: str
) -> None:
    """contract.md, search_notes; complaint 36: `..` in any path parameter. ancestors.md 1.1: limits were not checked."""
    desk.put({"Projects/n.md": "x"})
    assert (await caller.refusal("search_notes", **arguments)).startswith(f"{code}: ")


@pytest.mark.parametrize(
    "query", ["a/b", "a-b", "it's", '"x"', "AND", "status: done", "*", "(", "[[", "\\", "%", "a AND (", "😀"]
)
async def test_no_sign_in_a_query_has_a_meaning(caller: Caller, desk: Desk, query: str) -> None:
    """Complaint 4."""
    desk.put({"n.md": f"before {query} after\n", "m.md": "other\n"})
    facts = await caller.facts("search_notes", query=query)
    assert (facts["total"], facts["total_notes"]) == (1, 1)


async def test_notes_are_listed_newest_first_in_the_owners_zone(tmp_path: Path) -> None:
    """contract.md, list_notes."""
    desk = desk_in(tmp_path, HeldClock.at("2026-03-01T12:00:00", zone="Europe/Berlin"))
    desk.put({"a/old.md": "x", "a/new.md": "xyz", "b.md": ""})
    for second, name in ((1, "a/old.md"), (1_750_000_000, "a/new.md"), (5, "b.md")):
        os.utime(desk.folder / name, (second, second))
    async with calling(desk.room, finding.SPECS) as caller:
        assert await caller.facts("list_notes", folder="a/") == {
            "notes": [
                {"path": "a/new.md", "modified": "2025-06-15T17:06:40+02:00", "bytes": 3},
                {"path": "a/old.md", "modified": "1970-01-01T01:00:01+01:00", "bytes": 1},
            ],
            "total": 2,
            "next_offset": None,
            "left_out": [],
        }
        recent = await caller.facts("list_recent", limit=2)
    assert [note["path"] for note in recent["notes"]] == ["a/new.md", "b.md"]  # type: ignore[attr-defined]
    assert (recent["total"], recent["next_offset"]) == (3, 2)


async def test_an_empty_vault_is_no_error(caller: Caller) -> None:
    """ancestors.md 1.2.4."""
    assert await caller.facts("list_recent") == {"notes": [], "total": 0, "next_offset": None, "left_out": []}
    assert (await caller.facts("search_notes", query="x"))["total"] == 0
    tree = await caller.facts("get_vault_tree")
    assert tree["folders"] == [{"path": "", "notes": 0, "total_notes": 0}]


async def test_the_tree_shows_every_folder(caller: Caller, desk: Desk) -> None:
    """contract.md, get_vault_tree."""
    desk.put({"a/b/n.md": "", "a/m.md": "", ".trash/x.md": ""})
    tree = await caller.facts("get_vault_tree", depth=1)
    assert tree == {
        "folders": [
            {"path": "", "notes": 0, "total_notes": 2},
            {"path": "a", "notes": 1, "total_notes": 2},
        ],
        "total": 2,
        "next_offset": None,
        "low_trust": [],
    }


async def test_what_is_left_out_is_left_out_however_its_name_is_written(caller: Caller, desk: Desk) -> None:
    """contract.md, path and Unicode names: either encoding, one trailing slash, a slip of white space."""
    desk.put({"Cafe\u0301/a.md": "word", "Cafe\u0301/b.md": "word", "z.md": "word"})
    for excluded in ("Caf\u00e9", "Caf\u00e9/", " Cafe\u0301 "):
        assert (await caller.facts("search_notes", query="word", exclude_paths=[excluded]))["total"] == 1
    assert (await caller.facts("search_notes", query="word", exclude_paths=["Caf\u00e9/a.md"]))["total"] == 2


@pytest.mark.parametrize("nothing", ["", "/", "."])
async def test_leaving_out_everything_is_refused(caller: Caller, desk: Desk, nothing: str) -> None:
    """Our decision: "no hits" would be believed."""
    desk.put({"z.md": "word"})
    assert (await caller.refusal("search_notes", query="word", exclude_paths=[nothing])).startswith("INVALID_PATH: ")


async def test_a_file_that_is_named_as_a_folder_is_told(caller: Caller, desk: Desk) -> None:
    """contract.md, errors: a sentence with a way out."""
    desk.put({"a.md": "word"})
    for tool, arguments in (
        ("list_notes", {"folder": "a.md"}),
        ("search_notes", {"query": "w", "path_prefix": "a.md"}),
    ):
        assert (
            await caller.refusal(tool, **arguments)
            == "INVALID_PATH: 'a.md' is a file, not a folder; name the folder it lies in."
        )


async def test_an_answer_is_bounded_by_its_text_and_paging_still_finds_everything(caller: Caller, desk: Desk) -> None:
    """contract.md, limits: 60,000 characters a result; a vault may have long paths and deep folders."""
    long = "/".join(["n" * 180, "o" * 180])
    desk.put({f"{long}/{number:03}{'p' * 60}/{number:03}{'q' * 60}.md": "word\n" for number in range(150)})
    for tool, arguments, items, total in (
        ("list_notes", {"limit": 500}, "notes", 150),
        ("search_notes", {"query": "word", "limit": 50}, "hits", 150),
        ("get_vault_tree", {}, "folders", 153),
    ):
        seen: list[str] = []
        offset: object = 0
        while offset is not None:
            answer = await caller.text(tool, **arguments, offset=offset)
            assert len(answer) <= limits.MAX_RESULT_CHARS
            facts = json.loads(answer)
            assert facts["total"] == total
            seen += [item["path"] for item in facts[items]]
            offset = facts["next_offset"]
        assert len(seen) == len(set(seen)) == total


async def test_a_ranked_answer_says_how_it_differs_from_what_was_asked(caller: Caller, desk: Desk) -> None:
    """Issue 6: the spelling that was corrected and the form that was found are told in the notice."""
    desk.put({"a.md": "a naïve plan\n", "b.md": "environment\n"})
    answer = await caller.facts("search_notes", query="enviroment", mode="ranked")
    assert ([hit["path"] for hit in answer["hits"]], answer["notice"]) == (
        ["b.md"],
        'Nothing was found for "enviroment"; these are the notes for "environment".',
    )
    answer = await caller.facts("search_notes", query="naive plan", mode="ranked")
    assert answer["notice"] == 'Written "naïve" where "naive" was asked.'
    assert (await caller.facts("search_notes", query="plan", mode="ranked"))["notice"] == ""
