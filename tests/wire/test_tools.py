"""Every tool over real HTTP with the official client, in both protocol eras, and what a read-only token may not do.

contract.md; the issue: a real client lists and calls every tool of this slice.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, TextResourceContents, Tool

from service.settings.kinds import DEFAULT_TOOLSETS
from service.store.files import version_of
from service.tools.catalogue import SPECS
from tests.support.rooms import ALL_TOOLSETS
from tests.support.service import ERAS, LEGACY, MODERN, Service, text_of
from tests.wire.test_revocation import request

pytestmark = pytest.mark.anyio
WRITES = tuple(spec.name for spec in SPECS if spec.writes)
TASK = "- [ ] water 🔁 every week 📅 2026-03-01\n"
TASK_VERSION = version_of(TASK.encode())
CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("create_note", {"path": "{era}/new.md", "content": "one\ntwo\n"}, "{era}/new.md"),
    ("append_to_note", {"path": "{era}/new.md", "content": "three"}, "version"),
    ("edit_note", {"path": "{era}/new.md", "edits": '[{"old_string": "two", "new_string": "2"}]'}, "+2"),
    ("read_note", {"path": "{era}/new.md"}, "one\n2\nthree"),
    ("append_to_note", {"path": "{era}/new.md", "content": "# Log\n#tagged {era}\n\n# End"}, "version"),
    ("append_to_section", {"path": "{era}/new.md", "heading": "## log", "content": "four"}, "+four"),
    ("get_note_outline", {"path": "{era}/new.md"}, "Log"),
    ("list_tags", {}, "tagged"),
    ("list_tags", {"path": "{era}/new.md"}, "tagged"),
    ("read_notes", {"paths": ["{era}/new.md", "no.md"]}, "NOT_FOUND"),
    ("get_frontmatter", {"path": "{era}/new.md"}, "properties"),
    ("resolve_link", {"link": "[[{era}/new#one]]"}, "{era}/new.md"),
    ("get_links", {"path": "{era}/new.md"}, "total_backlinks"),
    ("find_broken_links", {}, "{era}/new.md"),
    ("update_frontmatter", {"path": "{era}/new.md", "set": '{"due": "2026-03-01"}'}, "+due: 2026-03-01"),
    ("update_tags", {"path": "{era}/new.md", "add": ["#a/b"]}, '"tags":["a/b"]'),
    ("write_note", {"path": "{era}/new.md", "content": "zero", "mode": "prepend"}, "+zero"),
    ("search_notes", {"query": "THREE", "path_prefix": "{era}"}, "{era}/new.md"),
    ("search_notes", {"query": "what is said of three", "mode": "ranked"}, "{era}/new.md"),
    ("list_notes", {"folder": "{era}"}, "{era}/new.md"),
    ("list_recent", {}, "{era}/new.md"),
    ("get_vault_tree", {}, "{era}"),
    ("list_directory", {"path": "{era}"}, "{era}/new.md"),
    ("get_vault_stats", {}, "{era}/new.md"),
    ("get_notes_info", {"paths": ["{era}/new.md", "no.md"]}, "NOT_FOUND"),
    ("get_daily_note", {"date": "2020-01-01"}, "[2020-01-01.md | not there]"),
    ("create_daily_note", {"period": "weekly"}, "-W"),
    ("get_daily_note", {"period": "weekly"}, "bytes | version"),
    ("append_daily_note", {"text": "a line"}, "a line"),
    ("create_note", {"path": "{era}/tasks.md", "content": TASK}, "version"),
    ("create_note", {"path": "{era}/later.md", "content": TASK}, "version"),
    ("list_tasks", {"path_prefix": "{era}"}, "{era}/later.md"),
    ("complete_task", {"path": "{era}/tasks.md", "line": 1, "expected_hash": TASK_VERSION}, '"next_line":1'),
    (
        "postpone_task",
        {"path": "{era}/later.md", "line": 1, "expected_hash": TASK_VERSION, "new_date": "2026-04-01"},
        "📅 2026-04-01",
    ),
    ("list_changes", {}, "old.md"),
    ("note_history", {"path": "old.md"}, "old.md"),
    ("read_note_version", {"path": "old.md", "revision": "HEAD"}, "from before"),
    ("append_to_note", {"path": "old.md", "content": "changed by {era}"}, "old.md"),
    ("diff_note", {"path": "old.md", "from": "HEAD"}, "+changed by {era}"),
    ("diff_note", {"path": "old.md", "from": "HEAD", "words": True}, "changed by {era}"),
    ("restore_note", {"path": "old.md"}, "old.md"),
    ("read_note", {"path": "old.md"}, "from before"),
    ("search", {"query": "what has THREE in it"}, '{"id":"{era}/new.md","title":"new","url":"note://{era}/new.md"}'),
    ("fetch", {"id": "{era}/new.md"}, "zero\\none\\n2\\nthree"),
    (
        "move_note",
        {"from": "{era}/new.md", "to": "{era}/on/moved.md", "update_links": True},
        '"path":"{era}/on/moved.md"',
    ),
    ("move_note", {"from": "{era}/on", "to": "{era}/off", "folder": True}, '"path":"{era}/off"'),
    ("move_note", {"from": "{era}/off/moved.md", "to": "{era}/new.md", "dry_run": True}, '"dry_run":true'),
    ("move_note", {"from": "{era}/off/moved.md", "to": "{era}/new.md"}, '"path":"{era}/new.md"'),
    (
        "move_file",
        {
            "from": "{era}/new.md",
            "to": "{era}/filed.md",
            "confirm_from": "{era}/new.md",
            "confirm_to": "{era}/filed.md",
        },
        '"path":"{era}/filed.md"',
    ),
    ("move_note", {"from": "{era}/filed.md", "to": "{era}/new.md"}, '"path":"{era}/new.md"'),
    ("delete_note", {"path": "{era}/new.md"}, ".trash/{era}/new.md"),
    ("undelete_note", {"path": "{era}/new.md"}, '"source":"trash"'),
    ("read_note", {"path": "{era}/new.md"}, "three"),
]


async def all_called(client: Client, era: str) -> dict[str, Tool]:
    """Make all calls in a row, in a folder named `era`, and look at their answers; the tools that were listed."""
    listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    for name, arguments, expected in CALLS:
        given = json.loads(json.dumps(arguments).replace("{era}", era))
        result = await client.call_tool(name, given)
        assert not result.is_error, f"{name}: {text_of(result)}"
        assert expected.replace("{era}", era) in text_of(result), name
        assert (result.structured_content is not None) == (listed[name].output_schema is not None)
    return listed


@pytest.mark.parametrize("era", ERAS)
async def test_every_tool_is_listed_and_does_its_work(service: Service, token: str, era: str) -> None:
    """One after the other on one note; each answer holds what it must."""
    async with service.client(token, era) as client:
        listed = await all_called(client, era)
    ours = {spec.name for spec in SPECS}
    assert ours <= listed.keys()
    assert {name for name, _, _ in CALLS} == ours


async def test_a_million_characters_fit_however_they_are_escaped(service: Service, token: str) -> None:
    """contract.md, content; many JSON libraries write an emoji as twelve bytes."""
    content = "\U0001f600" * 1_000_000
    call = {"name": "create_note", "arguments": {"path": "million.md", "content": content}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).encode("ascii")
    assert service.post(token, body).status == 200
    assert (service.vault / "million.md").read_text(encoding="utf-8") == content


@pytest.mark.parametrize("era", ERAS)
async def test_notes_are_resources(service: Service, token: str, era: str) -> None:
    """contract.md, Resources."""
    (service.vault / "a b#c.md").write_text("as a resource\n")
    async with service.client(token, era) as client:
        uris = {resource.uri for resource in (await client.list_resources()).resources}
        assert "note://a%20b%23c.md" in uris
        for uri in ("note://a%20b%23c.md", "note://a b#c.md"):
            [content] = (await client.read_resource(uri)).contents
            assert isinstance(content, TextResourceContents)
            assert (content.text, content.mime_type) == ("as a resource\n", "text/markdown")


@pytest.mark.parametrize("era", ERAS)
async def test_a_read_only_token_calls_each_writing_tool_in_vain(service: Service, era: str) -> None:
    """auth.md attack line 68: nothing is listed, nothing is written."""
    token = service.token(f"reader-{era}", "--read-only")
    before = sorted(str(path) for path in service.vault.rglob("*"))
    async with service.client(token, era) as client:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        assert listed.isdisjoint(WRITES)
        assert "read_note" in listed
        for name, arguments, _ in CALLS:
            if name in WRITES:
                given = json.loads(json.dumps(arguments).replace("{era}", f"in-vain-{era}"))
                assert text_of(await client.call_tool(name, given)).startswith("FORBIDDEN: ")
    assert sorted(str(path) for path in service.vault.rglob("*")) == before


async def test_a_header_that_names_another_tool_does_not_widen_a_token(service: Service) -> None:
    """auth.md attack line 69: Mcp-Name says read, the body says write."""
    token = service.token("liar", "--read-only")
    arguments = {"path": "liar.md", "content": "x"}
    message, headers = request("tools/call", MODERN, name="create_note", arguments=arguments)
    lying = service.post(token, message, *_era({**headers, "Mcp-Name": "read_note"}))
    honest = service.post(token, message, *_era(headers))
    assert lying.status == 400
    assert honest.status == 200
    assert b"FORBIDDEN" in honest.body
    assert not (service.vault / "liar.md").exists()


def _era(headers: dict[str, str]) -> list[tuple[str, str]]:
    return [(name, value) for name, value in headers.items() if name.lower().startswith("mcp-")]


@pytest.mark.parametrize("era", ERAS)
async def test_a_prompt_that_is_not_there_is_a_wrong_parameter_and_no_error_of_ours(
    service: Service, token: str, era: str
) -> None:
    """MCP, Prompts: an invalid name is -32602. A client must not be able to fill the log with ERROR lines."""
    before = len(service.lines())
    async with service.client(token, era) as client:
        with pytest.raises(MCPError) as refused:
            await client.get_prompt("planted words")
    assert (refused.value.error.code, refused.value.error.message[:10]) == (INVALID_PARAMS, "NOT_FOUND:")
    assert not [line for line in service.lines()[before:] if line["level"] == "error"]


async def test_answers_come_as_plain_json_and_say_private(service: Service, token: str) -> None:
    """The list depends on the token, so nobody in between may keep it for another (2026-07-28 `cacheScope`)."""
    message, headers = request("tools/list", MODERN)
    modern = json.loads(service.post(token, message, *_era(headers)).body)
    assert modern["result"]["cacheScope"] == "private"
    assert modern["result"]["ttlMs"] > 0
    message, _ = request("tools/list", LEGACY)
    assert service.post(token, message).headers["content-type"] == "application/json"


async def test_a_stale_session_id_is_ignored(service: Service, token: str) -> None:
    """complaints.md 52: after a restart clients go on as before."""
    message, _ = request("tools/list", LEGACY)
    answer = service.post(token, message, ("Mcp-Session-Id", "0123456789abcdef"))
    assert answer.status == 200
    assert "mcp-session-id" not in answer.headers


async def test_the_toolsets_and_the_read_only_setting_decide_what_is_listed(tmp_path: Path) -> None:
    """contract.md, Toolsets and Permission."""
    with Service.start(tmp_path, TOOLSETS="notes", DISABLED_TOOLS="read_notes", READ_ONLY="1") as service:
        async with service.client(service.token("t")) as client:
            listed = [tool.name for tool in (await client.list_tools()).tools]
            refused = await client.call_tool("create_note", {"path": "a.md", "content": "x"})
    notes = [spec.name for spec in SPECS if spec.toolset == "notes" and not spec.writes]
    assert listed == [name for name in notes if name != "read_notes"]
    assert text_of(refused).startswith("READ_ONLY: ")


BUDGET_BYTES = 24_000


async def test_the_default_definitions_stay_within_their_budget_as_a_client_gets_them(tmp_path: Path) -> None:
    """decisions.md 17: all that a client puts before its model, without output schemas, in both eras."""
    with Service.start(tmp_path) as service:
        token = service.token("t")
        for era in ERAS:
            async with service.client(token, era) as client:
                tools = (await client.list_tools()).tools
            lean = [
                tool.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"output_schema", "meta"})
                for tool in tools
            ]
            assert len(json.dumps(lean, ensure_ascii=False, separators=(",", ":")).encode()) < BUDGET_BYTES
            assert {tool.name for tool in tools} == {spec.name for spec in SPECS if spec.toolset in DEFAULT_TOOLSETS}


async def test_read_only_mode_hides_and_refuses_every_tool_that_writes(tmp_path: Path) -> None:
    """contract.md, Transports and permission; ancestors.md 1.3: whatever the token may do."""
    with Service.start(tmp_path, READ_ONLY="1", TOOLSETS=ALL_TOOLSETS) as service:
        before = sorted(str(path) for path in service.vault.rglob("*"))
        async with service.client(service.token("t")) as client:
            listed = {tool.name for tool in (await client.list_tools()).tools}
            said = {name: text_of(await client.call_tool(name, {})) for name in WRITES}
        assert sorted(str(path) for path in service.vault.rglob("*")) == before
    assert listed == {spec.name for spec in SPECS if not spec.writes}
    assert {name for name, words in said.items() if words.startswith("READ_ONLY: ")} == set(WRITES)


async def test_a_misspelt_tool_in_the_settings_stops_the_start(tmp_path: Path) -> None:
    """decisions.md 11."""
    with Service.start(tmp_path, is_waiting=False, DISABLED_TOOLS="read_nots") as service:
        assert service.process.wait(30) == 7
        assert "there is no tool 'read_nots': did you mean read_notes?" in (tmp_path / "stderr").read_text()
