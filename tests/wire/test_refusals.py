"""Every tool refuses what it must over the wire: HTTP in both protocol eras, and stdio.

Rows that hold for all tools are made from the schemas, so that a new tool has them as soon as it is there; what a tool
refuses besides stands in REFUSALS, one row for each code that its part of docs/reference/tools.md or its docstring can give.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from mcp.client import Client

from service.tools.catalogue import SPECS
from service.tools.register import as_tool
from service.tools.workers import Workers
from tests.support.rooms import ALL_TOOLSETS
from tests.support.service import ERAS, Service, environment, text_of
from tests.support.toolpaths import Kind, places, sample
from tests.support.vaults import lay_out
from tests.wire.test_stdio import client_of
from tests.wire.test_tools import TASK

pytestmark = pytest.mark.anyio

Row = tuple[str, dict[str, Any], str]

NOTES: Final[Mapping[str, str | bytes]] = {
    "era/new.md": "one\ntwo\nthree\n",
    "old.md": "from before\n",
    "era/tasks.md": TASK,
    "era/later.md": TASK,
    "hidden-task.md": "- [ ] a 📅 2026-<!-- b -->01-01\n- [ ] c 🏁 delete\n  - d\n- [-] e\n",
    "taken.md": "taken\n",
    "odd.md": b"\xff\xfe\n",
    "hidden.md": "a <!-- b --> c\n",
    "broken.md": "---\na: [1\n---\ntext\n",
    "tasks.md": "# Tasks\n\n- [ ] water\n- [x] done\n\ntext\n\n# Same\n\n# Same\n",
    "pic.png": b"\x89PNG\r\n\x1a\n",
    "Folder/in.md": "in\n",
    ".obsidian/plugins/periodic-notes/data.json": json.dumps(
        {
            "yearly": {"format": "YYYY LL"},
            "quarterly": {"format": "[../out]"},
            "monthly": {"format": "[odd]"},
            "weekly": {"format": "[TAKEN]"},
        }
    ),
}

HIDDEN_VERSION: Final = hashlib.sha256(b"a <!-- b --> c\n").hexdigest()[:12]


def confirmed(source: str, target: str) -> dict[str, Any]:
    """What move_file wants to be told twice."""
    return {"from": source, "to": target, "confirm_from": source, "confirm_to": target}


def on_line(line: int, path: str = "tasks.md", **more: str) -> dict[str, Any]:
    """Arguments that name a line of a note and its version."""
    note = NOTES[path]
    data = note if isinstance(note, bytes) else note.encode()
    return {"path": path, "line": line, "expected_hash": hashlib.sha256(data).hexdigest()[:12], **more}


REFUSALS: Final[list[Row]] = [
    ("search_notes", {"query": "x", "path_prefix": "nowhere"}, "NOT_FOUND"),
    ("search_notes", {"query": "x", "tag": "#"}, "INVALID_ARGUMENT"),
    ("get_note_outline", {"path": "olt.md"}, "NOT_FOUND"),
    ("get_note_outline", {"path": "a.txt"}, "NOT_A_NOTE"),
    ("list_tags", {"path": "olt.md"}, "NOT_FOUND"),
    ("append_to_section", {"path": "olt.md", "heading": "A", "content": "x"}, "NOT_FOUND"),
    ("append_to_section", {"path": "tasks.md", "heading": "Nope", "content": "x"}, "SECTION_NOT_FOUND"),
    ("append_to_section", {"path": "tasks.md", "heading": "# same", "content": "x"}, "AMBIGUOUS_SECTION"),
    ("append_to_section", {"path": "tasks.md", "heading": "Tasks", "content": "~~~"}, "INVALID_ARGUMENT"),
    ("append_to_section", {"path": "tasks.md", "heading": "Tasks", "content": "<!-- x -->"}, "HIDDEN_CONTENT"),
    (
        "append_to_section",
        {"path": "tasks.md", "heading": "Tasks", "content": "x", "expected_hash": "0000"},
        "CONFLICT",
    ),
    ("append_to_section", {"path": "tasks.md", "heading": "Tasks", "content": "x" * 1_000_001}, "TOO_LARGE"),
    ("append_to_section", {"path": "odd.md", "heading": "A", "content": "x"}, "NOT_TEXT"),
    ("read_note", {"path": "olt.md"}, "NOT_FOUND"),
    ("read_note", {"path": "pic.png"}, "NOT_A_NOTE"),
    ("read_note", {"path": "paper.pdf"}, "NOT_A_NOTE"),
    ("create_note", {"path": "board.canvas", "content": "{}"}, "NOT_A_NOTE"),
    ("edit_note", {"path": "view.base", "edits": [{"old_string": "a", "new_string": "b"}]}, "NOT_A_NOTE"),
    ("list_notes", {"folder": "nowhere"}, "NOT_FOUND"),
    ("list_directory", {"path": "nowhere"}, "NOT_FOUND"),
    ("list_directory", {"path": "old.md"}, "INVALID_PATH"),
    ("get_notes_info", {"paths": ["olt.md"]}, "NOT_FOUND"),
    ("get_frontmatter", {"path": "broken.md"}, "INVALID_FRONTMATTER"),
    ("resolve_link", {"link": "[[Nowhere]]"}, "NOT_FOUND"),
    ("resolve_link", {"link": "[[old]]", "from_path": "nowhere.md"}, "NOT_FOUND"),
    ("resolve_link", {"link": "[[#Same]]"}, "INVALID_ARGUMENT"),
    ("resolve_link", {"link": "https://example.org"}, "INVALID_ARGUMENT"),
    ("get_links", {"path": "olt.md"}, "NOT_FOUND"),
    ("update_frontmatter", {"path": "broken.md", "set": {"a": 1}}, "INVALID_FRONTMATTER"),
    ("update_frontmatter", {"path": "old.md", "set": {}}, "INVALID_ARGUMENT"),
    ("update_frontmatter", {"path": "old.md", "set": '{"a": 1'}, "INVALID_ARGUMENT"),
    ("update_frontmatter", {"path": "old.md", "set": {"a": 1}, "remove": ["a"]}, "INVALID_ARGUMENT"),
    ("update_frontmatter", {"path": "odd.md", "set": {"a": 1}}, "NOT_TEXT"),
    ("update_frontmatter", {"path": "old.md", "set": {"a": "x" * 60_000}}, "TOO_LARGE"),
    ("update_frontmatter", {"path": "a.txt", "set": {"a": 1}}, "NOT_A_NOTE"),
    ("update_tags", {"path": "old.md", "add": ["12"]}, "INVALID_ARGUMENT"),
    ("update_tags", {"path": "old.md", "add": ["a"], "remove": ["#A"]}, "INVALID_ARGUMENT"),
    ("update_tags", {"path": "broken.md", "add": ["a"]}, "INVALID_FRONTMATTER"),
    ("write_note", {"path": "taken.md", "content": "x"}, "ALREADY_EXISTS"),
    ("write_note", {"path": "none.md", "content": "x", "mode": "append"}, "NOT_FOUND"),
    ("write_note", {"path": "none.md", "content": "x", "expected_hash": "abcdef"}, "NOT_FOUND"),
    ("write_note", {"path": "hidden.md", "content": "x", "expected_hash": HIDDEN_VERSION}, "HIDDEN_CONTENT"),
    ("write_note", {"path": "odd.md", "content": "x", "mode": "prepend"}, "NOT_TEXT"),
    ("write_note", {"path": "old.md", "content": "x" * 1_000_001, "mode": "append"}, "TOO_LARGE"),
    ("write_note", {"path": "CON.md", "content": "x"}, "INVALID_PATH"),
    ("create_note", {"path": "taken.md", "content": "x"}, "ALREADY_EXISTS"),
    ("create_note", {"path": "a.md", "content": "---\nb: [\n---\n", "frontmatter": {"a": 1}}, "INVALID_FRONTMATTER"),
    ("create_note", {"path": "a.md", "content": "x" * 1_000_001}, "TOO_LARGE"),
    ("create_note", {"path": "CON.md", "content": "x"}, "INVALID_PATH"),
    ("append_to_note", {"path": "odd.md", "content": "x"}, "NOT_TEXT"),
    ("append_to_note", {"path": "old.md", "content": "<!-- x -->"}, "HIDDEN_CONTENT"),
    ("edit_note", {"path": "old.md", "edits": [{"old_string": "nothing", "new_string": "x"}]}, "NO_MATCH"),
    ("edit_note", {"path": "tasks.md", "edits": [{"old_string": "# Same", "new_string": "x"}]}, "AMBIGUOUS_MATCH"),
    ("edit_note", {"path": "hidden.md", "edits": [{"old_string": "a  c", "new_string": "x"}]}, "HIDDEN_CONTENT"),
    ("edit_note", {"path": "odd.md", "edits": [{"old_string": "a", "new_string": "x"}]}, "NOT_TEXT"),
    ("get_daily_note", {"date": "tomorrow"}, "INVALID_ARGUMENT"),
    ("get_daily_note", {"period": "yearly"}, "MISCONFIGURED"),
    ("get_daily_note", {"period": "quarterly"}, "MISCONFIGURED"),
    ("create_daily_note", {"date": "2026-02-30"}, "INVALID_ARGUMENT"),
    ("create_daily_note", {"period": "yearly"}, "MISCONFIGURED"),
    ("create_daily_note", {"period": "quarterly"}, "MISCONFIGURED"),
    ("create_daily_note", {"period": "weekly"}, "ALREADY_EXISTS"),
    ("search", {"query": "x" * 1001}, "INVALID_ARGUMENT"),
    ("fetch", {"id": "olt.md"}, "NOT_FOUND"),
    ("fetch", {"id": "pic.png"}, "NOT_A_NOTE"),
    ("append_daily_note", {"text": "x", "date": "2026-02-30"}, "INVALID_ARGUMENT"),
    ("append_daily_note", {"text": "x", "period": "yearly"}, "MISCONFIGURED"),
    ("append_daily_note", {"text": "x", "period": "monthly"}, "NOT_TEXT"),
    ("append_daily_note", {"text": "x", "period": "weekly"}, "ALREADY_EXISTS"),
    ("append_daily_note", {"text": "<!-- x -->"}, "HIDDEN_CONTENT"),
    ("append_daily_note", {"text": "x" * 1_000_001}, "TOO_LARGE"),
    ("list_tasks", {"path_prefix": "nowhere"}, "NOT_FOUND"),
    ("list_tasks", {"due_before": "soon"}, "INVALID_ARGUMENT"),
    ("list_tasks", {"due_after": "2026-02-30"}, "INVALID_ARGUMENT"),
    ("complete_task", on_line(1), "NOT_A_TASK"),
    ("complete_task", on_line(99), "NOT_A_TASK"),
    ("complete_task", on_line(4, "hidden-task.md"), "NOT_A_TASK"),
    ("complete_task", on_line(2, "hidden-task.md"), "INVALID_ARGUMENT"),
    ("complete_task", on_line(3, done_date="today"), "INVALID_ARGUMENT"),
    ("complete_task", {**on_line(3), "expected_hash": ""}, "INVALID_ARGUMENT"),
    ("complete_task", {**on_line(3), "expected_hash": "no version"}, "INVALID_ARGUMENT"),
    ("complete_task", {**on_line(3), "path": "task.md"}, "NOT_FOUND"),
    ("complete_task", on_line(1, "odd.md"), "NOT_A_TASK"),
    ("postpone_task", on_line(6, new_date="2026-01-01"), "NOT_A_TASK"),
    ("postpone_task", on_line(1, "hidden-task.md", new_date="2026-02-01"), "HIDDEN_CONTENT"),
    ("postpone_task", on_line(3, new_date="tomorrow"), "INVALID_ARGUMENT"),
    ("postpone_task", on_line(3, new_date=" "), "INVALID_ARGUMENT"),
    ("postpone_task", {**on_line(3, new_date="2026-01-01"), "expected_hash": ""}, "INVALID_ARGUMENT"),
    ("list_changes", {"since": "no time at all"}, "INVALID_ARGUMENT"),
    ("note_history", {"path": "never.md"}, "NOT_FOUND"),
    ("read_note_version", {"path": "old.md", "revision": "0000000"}, "NOT_FOUND"),
    ("read_note_version", {"path": "never.md"}, "NOT_FOUND"),
    ("read_note_version", {"path": "old.md", "at": "no time at all"}, "INVALID_ARGUMENT"),
    ("read_note_version", {"path": "old.md", "at": "now", "revision": "HEAD"}, "INVALID_ARGUMENT"),
    ("read_note_version", {"path": "old.md", "at": "1999-01-01"}, "NOT_FOUND"),
    ("diff_note", {"path": "old.md", "from": "0000000"}, "NOT_FOUND"),
    ("diff_note", {"path": "old.md", "from": "no time at all"}, "INVALID_ARGUMENT"),
    ("diff_note", {"path": "old.md", "from": ""}, "INVALID_ARGUMENT"),
    ("undelete_note", {"path": "taken.md"}, "ALREADY_EXISTS"),
    ("undelete_note", {"path": "TAKEN.md"}, "NOT_FOUND"),
    ("undelete_note", {"path": "never.md"}, "NOT_FOUND"),
    ("restore_note", {"path": "old.md", "revision": "0000000"}, "NOT_FOUND"),
    ("restore_note", {"path": "old.md", "at": "no time at all"}, "INVALID_ARGUMENT"),
    ("move_note", {"from": "never.md", "to": "b.md"}, "NOT_FOUND"),
    ("move_note", {"from": "old.md", "to": "taken.md"}, "ALREADY_EXISTS"),
    ("move_note", {"from": "old.md", "to": "TAKEN.md"}, "ALREADY_EXISTS"),
    ("move_note", {"from": "old.md", "to": "old.md", "dry_run": True}, "ALREADY_EXISTS"),
    ("move_note", {"from": "old.md", "to": "FOLDER/old.md"}, "ALREADY_EXISTS"),
    ("move_note", {"from": "old.md", "to": "taken.md/old.md"}, "INVALID_PATH"),
    ("move_note", {"from": "old.md", "to": "a#b.md"}, "INVALID_PATH"),
    ("move_note", {"from": "old.md", "to": "CON/old.md"}, "INVALID_PATH"),
    ("move_note", {"from": "Folder", "to": "Elsewhere"}, "NOT_A_NOTE"),
    ("move_note", {"from": "old.md", "to": "Elsewhere"}, "NOT_A_NOTE"),
    ("move_note", {"from": "pic.png", "to": "pic.md"}, "NOT_A_NOTE"),
    ("move_note", {"from": "Folder", "to": "Folder/in/it", "folder": True}, "INVALID_ARGUMENT"),
    ("move_note", {"from": "", "to": "All", "folder": True}, "INVALID_ARGUMENT"),
    ("move_note", {"from": "Folder", "to": "All", "folder": True, "expected_hash": "0000"}, "INVALID_ARGUMENT"),
    ("move_note", {"from": "nowhere", "to": "All", "folder": True}, "NOT_FOUND"),
    ("move_note", {"from": "old.md", "to": "All", "folder": True}, "INVALID_PATH"),
    ("move_note", {"from": "Folder", "to": "folder/.git", "folder": True}, "HIDDEN_PATH"),
    ("move_file", confirmed("pic.png", "pic.md"), "NOT_A_NOTE"),
    ("move_file", confirmed("pic.png", "never/../pic.png"), "INVALID_PATH"),
    ("move_file", confirmed("old.md", "taken.md"), "ALREADY_EXISTS"),
    ("move_file", confirmed("Folder", "Elsewhere"), "NOT_A_FILE"),
    ("move_file", {**confirmed("pic.png", "b.png"), "confirm_to": "c.png"}, "INVALID_ARGUMENT"),
    ("move_file", {**confirmed("pic.png", "b.png"), "confirm_from": ""}, "INVALID_ARGUMENT"),
]
"""What only one tool refuses, or refuses in its own way."""


NEEDS_A_PAST: Final = {"restore_note"}
"""What refuses another version only once there is a version to go back to: see tests/unit/tools/test_past.py."""


def every_row() -> Iterator[Row]:
    """Those that the schemas give, and those written down."""
    for place in places():
        yield place.tool, place.with_path("../out.md"), "INVALID_PATH"
        yield place.tool, place.with_path("a\u202eb.md"), "INVALID_PATH"
        yield place.tool, place.with_path(".obsidian/x.md"), "HIDDEN_PATH"
        if place.kind in (Kind.NOTE, Kind.WRITTEN, Kind.NEW):
            yield place.tool, place.with_path("pic.exe"), "NOT_A_NOTE"
    for spec in SPECS:
        schema = as_tool(spec, Workers()).parameters
        given = sample(spec.name, schema.get("required", []))
        yield spec.name, {**given, "no_such": 1}, "INVALID_ARGUMENT"
        for name in schema.get("required", []):
            yield spec.name, {key: value for key, value in given.items() if key != name}, "INVALID_ARGUMENT"
        if "expected_hash" in schema["properties"] and spec.name not in NEEDS_A_PAST:
            yield spec.name, {**given, "expected_hash": "0000"}, "CONFLICT"
        for name, about in schema["properties"].items():
            if "minimum" in about:
                yield spec.name, {**given, name: about["minimum"] - 1}, "INVALID_ARGUMENT"
            if "maximum" in about:
                yield spec.name, {**given, name: about["maximum"] + 1}, "INVALID_ARGUMENT"
            if "enum" in about:
                yield spec.name, {**given, name: "none of them"}, "INVALID_ARGUMENT"
    yield from REFUSALS


def bytes_of(vault: Path) -> dict[str, bytes]:
    return {str(path.relative_to(vault)): path.read_bytes() for path in vault.rglob("*") if path.is_file()}


@asynccontextmanager
async def connected(folder: Path, way: str) -> Any:
    """A client that may do everything, by HTTP in an era or by stdio, over a vault that was laid out."""
    (folder / "vault").mkdir()
    lay_out(folder / "vault", NOTES)
    if way == "stdio":
        async with client_of(environment(folder, TOOLSETS=ALL_TOOLSETS)) as client:
            yield client
        return
    with Service.start(folder, TOOLSETS=ALL_TOOLSETS) as service:
        async with service.client(service.token("t"), way) as client:
            yield client


@pytest.mark.parametrize("way", [*ERAS, "stdio"])
async def test_every_tool_refuses_what_it_must_with_its_code_and_a_sentence(tmp_path: Path, way: str) -> None:
    """contract.md: errors are `CODE: sentence with a way out`; and a refusal changes nothing."""
    wrong = []
    async with connected(tmp_path, way) as client:
        before = bytes_of(tmp_path / "vault")
        for name, arguments, code in every_row():
            said = await refused(client, name, arguments)
            if not said.startswith(f"{code}: ") or len(said) < len(code) + 20:
                wrong.append(f"{name} {json.dumps(arguments)[:100]}: wanted {code}, said {said[:200]}")
            assert str(tmp_path) not in said
        assert bytes_of(tmp_path / "vault") == before
    assert not wrong, "\n".join(wrong)


async def refused(client: Client, name: str, arguments: Mapping[str, Any]) -> str:
    """What the answer says; one that is reported in its place, or resolves to nothing, counts as well."""
    result = await client.call_tool(name, dict(arguments))
    said = text_of(result)
    in_place = said.partition("] ")[2] or said.partition('"error":"')[2]
    return said if result.is_error else in_place or f"(no error) {said}"


def test_every_tool_has_a_refusal_of_its_own_or_takes_nothing_to_refuse() -> None:
    """So that nobody forgets a new one."""
    takes = {spec.name for spec in SPECS if as_tool(spec, Workers()).parameters["properties"]}
    generic = {"list_recent", "get_vault_tree", "read_notes", "delete_note", "get_vault_stats", "find_broken_links"}
    """What these refuse is all made from their schemas."""
    assert takes - generic <= {name for name, _, _ in REFUSALS}
