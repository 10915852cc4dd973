"""The tools that write, through a client."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from service.tools import daily, metadata, writing
from service.tools.catalogue import SPECS
from tests.support.calling import Caller, calling
from tests.support.desk import Desk

pytestmark = pytest.mark.anyio


@pytest.fixture
async def caller(desk: Desk) -> AsyncIterator[Caller]:
    async with calling(desk.room, [*writing.SPECS, *daily.SPECS, *metadata.SPECS]) as caller:
        yield caller


def version(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]


async def test_after_every_write_the_disk_holds_the_reported_version(caller: Caller, desk: Desk) -> None:
    """Complaint 28: success means that the file changed, to just what the answer says."""
    seen: list[bytes] = []
    for tool, arguments in [
        ("create_note", {"path": "Neu/ü.md", "content": "eins\r\n"}),
        ("append_to_note", {"path": "Neu/ü.md", "content": "zwei 👨‍👩‍👧"}),
        ("edit_note", {"path": "Neu/ü.md", "edits": [{"old_string": "eins\nzwei", "new_string": "1\n2"}]}),
        ("write_note", {"path": "Neu/ü.md", "content": "0", "mode": "prepend"}),
        ("update_frontmatter", {"path": "Neu/ü.md", "set": {"a": 1}}),
        ("update_tags", {"path": "Neu/ü.md", "add": ["b"]}),
    ]:
        facts = await caller.facts(tool, **arguments)
        on_disk = desk.bytes_of("Neu/ü.md")
        assert (facts["path"], facts["version"], facts["bytes"]) == ("Neu/ü.md", version(on_disk), len(on_disk))
        seen.append(on_disk)
    assert seen[:3] == [b"eins\r\n", "eins\r\nzwei 👨‍👩‍👧\r\n".encode(), "1\r\n2 👨‍👩‍👧\r\n".encode()]
    assert seen[3] == "0\r\n1\r\n2 👨‍👩‍👧\r\n".encode()
    assert seen[4:] == [b"---\r\na: 1\r\n---\r\n" + seen[3], b"---\r\na: 1\r\ntags:\r\n  - b\r\n---\r\n" + seen[3]]
    deleted = await caller.facts("delete_note", path="Neu/ü.md", expected_hash=version(seen[-1]))
    assert (deleted["trashed_to"], deleted["version"]) == (".trash/Neu/ü.md", version(seen[-1]))
    assert desk.bytes_of(".trash/Neu/ü.md") == seen[-1]


async def test_the_answer_of_an_edit_carries_a_short_diff(caller: Caller, desk: Desk) -> None:
    """contract.md, edit_note."""
    desk.put({"n.md": "one\ntwo\n"})
    edits = [{"old_string": "two", "new_string": "2"}]
    tried = await caller.facts("edit_note", path="n.md", edits=edits, dry_run=True)
    assert desk.bytes_of("n.md") == b"one\ntwo\n"
    done = await caller.facts("edit_note", path="n.md", edits=edits)
    assert tried == {**done, "dry_run": True}
    assert (done["replaced"], done["dry_run"], done["diff"]) == (1, False, "@@ -1,2 +1,2 @@\n one\n-two\n+2")


@pytest.mark.parametrize("depth", ["list", "items"])
async def test_edits_may_come_as_json_text(caller: Caller, desk: Desk, depth: str) -> None:
    """Complaint 55."""
    desk.put({"n.md": "one\n"})
    edit = {"old_string": "one", "new_string": '{"a": [1]}'}
    await caller.facts("edit_note", path="n.md", edits=json.dumps([edit]) if depth == "list" else [json.dumps(edit)])
    assert desk.bytes_of("n.md") == b'{"a": [1]}\n'


@pytest.mark.parametrize(
    "edits",
    [
        [],
        "[{",
        "one",
        ["{"],
        [{"old_string": "one"}],
        [{"old_string": "", "new_string": "x"}],
        [{"old_string": "one", "new_string": "x", "regex": True}],
        [{"old_string": "one", "new_string": "x"}] * 21,
    ],
)
async def test_edits_that_are_none_are_refused_and_nothing_is_done(caller: Caller, desk: Desk, edits: object) -> None:
    """Complaint 55; contract.md, edits 1..20."""
    desk.put({"n.md": "one\n"})
    assert (await caller.refusal("edit_note", path="n.md", edits=edits)).startswith("INVALID_ARGUMENT: edits")
    assert desk.bytes_of("n.md") == b"one\n"


async def test_content_that_looks_like_json_is_text(caller: Caller, desk: Desk) -> None:
    """The SDK parses JSON text for parameters that are no strings; a note may be JSON."""
    await caller.facts("create_note", path="n.md", content='["a", {"b": null}]')
    await caller.facts("append_to_note", path="n.md", content="null")
    assert desk.bytes_of("n.md") == b'["a", {"b": null}]\nnull\n'


async def test_null_for_what_is_left_out_is_understood(caller: Caller, desk: Desk) -> None:
    """Our decision: some clients send every parameter."""
    desk.put({"n.md": "one\n"})
    await caller.facts("append_to_note", path="n.md", content="two", expected_hash=None)
    await caller.facts("append_daily_note", text="x", date=None)
    assert desk.bytes_of("n.md") == b"one\ntwo\n"


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("create_note", {"path": "n.md", "content": "x"}, "ALREADY_EXISTS"),
        ("create_note", {"path": "../x.md", "content": "x"}, "INVALID_PATH"),
        ("create_note", {"path": "a:b.md", "content": "x"}, "INVALID_PATH"),
        ("create_note", {"path": ".obsidian/plugins/x.md", "content": "x"}, "HIDDEN_PATH"),
        ("create_note", {"path": "x.canvas", "content": "{}"}, "NOT_A_NOTE"),
        ("create_note", {"path": "x.md", "content": "x" * 1_000_001}, "TOO_LARGE"),
        ("append_to_note", {"path": "N/typo.md", "content": "x"}, "NOT_FOUND"),
        ("append_to_note", {"path": "n.md", "content": "x", "expected_hash": "0000"}, "CONFLICT"),
        ("append_to_note", {"path": "n.md", "content": ""}, "INVALID_ARGUMENT"),
        ("append_to_note", {"path": "n.md", "content": "x" * 1_000_001}, "TOO_LARGE"),
        ("append_daily_note", {"text": "x" * 1_000_001}, "TOO_LARGE"),
        ("append_to_note", {"path": "latin.md", "content": "x"}, "NOT_TEXT"),
        ("edit_note", {"path": "n.md", "edits": [{"old_string": "x", "new_string": "y"}]}, "NO_MATCH"),
        ("edit_note", {"path": "n.md", "edits": [{"old_string": "o", "new_string": "y"}]}, "AMBIGUOUS_MATCH"),
        ("delete_note", {"path": "missing.md"}, "NOT_FOUND"),
        ("delete_note", {"path": "n.md", "expected_hash": "0000"}, "CONFLICT"),
        ("delete_note", {"path": ".trash/n.md"}, "HIDDEN_PATH"),
        ("append_daily_note", {"text": "x", "date": "2026-02-30"}, "INVALID_ARGUMENT"),
        ("append_daily_note", {"text": ""}, "INVALID_ARGUMENT"),
    ],
)
async def test_what_may_not_be_done_is_refused_and_nothing_changes(
    caller: Caller, desk: Desk, tool: str, arguments: dict[str, object], code: str
) -> None:
    """contract.md, errors; complaints 31 and 32."""
    before = {"n.md": b"one two\n", "latin.md": b"caf\xe9\n"}
    desk.put(before)
    refusal = await caller.refusal(tool, **arguments)
    assert refusal.startswith(f"{code}: ")
    files = {str(path.relative_to(desk.folder)): path for path in desk.folder.rglob("*") if path.is_file()}
    assert {name: path.read_bytes() for name, path in files.items()} == before
    assert desk.told == []


async def test_the_daily_note_gets_its_line(caller: Caller, desk: Desk) -> None:
    """contract.md, append_daily_note."""
    first = await caller.facts("append_daily_note", text="one")
    second = await caller.facts("append_daily_note", text="two\nthree", date="2026-03-01")
    on_disk = desk.bytes_of("2026-03-01.md")
    assert on_disk == b"- 12:00 one\n- 12:00 two\n  three\n"
    assert (first["path"], first["created"], first["line"]) == ("2026-03-01.md", True, "- 12:00 one")
    assert second == {
        "path": "2026-03-01.md",
        "version": version(on_disk),
        "bytes": len(on_disk),
        "created": False,
        "line": "- 12:00 two",
        "line_number": 2,
        "notice": "",
    }


async def test_a_canvas_is_written_once_the_owner_allows_it(desk: Desk) -> None:
    """contract.md, path: `.canvas .base` only with STRONGROOM_WRITE_TYPES."""
    raw = '{"nodes":[{"id":"a","type":"text","text":"one"}]}'
    desk.room = replace(desk.room, vault=replace(desk.vault, write_types=(".canvas",)))
    async with calling(desk.room, SPECS) as caller:
        made = await caller.facts("create_note", path="b.canvas", content=raw)
        assert raw in await caller.text("read_note", path="b.canvas")
        edits = [{"old_string": '"text":"one"', "new_string": '"text":"two"'}]
        await caller.facts("edit_note", path="b.canvas", edits=edits, expected_hash=made["version"])
        assert (await caller.refusal("create_note", path="b.base", content="x")).startswith("NOT_A_NOTE: ")
        assert desk.bytes_of("b.canvas").decode() == raw.replace("one", "two")
        await caller.facts("delete_note", path="b.canvas")
