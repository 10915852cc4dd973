"""The registry: who sees which tool, how errors are told, what the log says."""

from __future__ import annotations

import io
import json
import threading
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolResult,
    ListResourcesResult,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
)
from pydantic import BaseModel, ConfigDict, Field

from service import logs
from service.auth.model import acting_as, local
from service.errors import BadSettings, Forbidden, NoteNotFound
from service.tools.context import Ctx, Room, actor, room
from service.tools.register import ResourceSpec, ToolSpec
from service.tools.server import StrongroomServer, build
from tests.support.rooms import room_for, settings_for

NOW = datetime(2026, 1, 2, tzinfo=UTC)
ERAS = ["legacy", "2026-07-28"]


class Counted(BaseModel):
    model_config = ConfigDict(frozen=True)
    path: str
    total: int | None = None


def count_words(
    paths: Annotated[list[str], Field(description="Which notes.", min_length=1)], ctx: Ctx, limit: int | None = None
) -> Counted:
    """Count words.

    Says how many.
    """
    return Counted(path=paths[0], total=room(ctx).vault.clock.now().year)


def read_it(path: str) -> str:
    """Read."""
    if path == "gone":
        raise NoteNotFound("gone", ["gone.md"])
    if path == "bug":
        raise ValueError("planted sentence of a note")
    return f"text of {path}"


def write_it(path: str, ctx: Ctx) -> str:
    """Write."""
    actor(ctx).permit()
    return "written"


SPECS = [
    ToolSpec(count_words, "Count words", "notes"),
    ToolSpec(read_it, "Read it", "notes"),
    ToolSpec(write_it, "Write it", "daily", writes=True, destructive=True),
]


@pytest.fixture
def log() -> io.StringIO:
    stream = io.StringIO()
    logs.configure(stream, log_format="json")
    return stream


def server_with(tmp_path: Path, **settings: str) -> StrongroomServer:
    return build(room_for(settings_for(tmp_path, **settings)), SPECS, version="1")


def text_of(result: CallToolResult) -> str:
    [part] = result.content
    assert isinstance(part, TextContent)
    return part.text


@pytest.mark.anyio
@pytest.mark.parametrize("era", ERAS)
async def test_a_grant_that_may_only_read_neither_sees_nor_calls_a_tool_that_writes(tmp_path: Path, era: str) -> None:
    """contract.md, Transports and permission."""
    with acting_as(local(NOW, is_read_only=True)):
        async with Client(server_with(tmp_path), mode=era) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            refused = await client.call_tool("write_it", {"path": "a.md"})
    assert names == ["count_words", "read_it"]
    assert refused.is_error
    assert text_of(refused) == "FORBIDDEN: this session was started read-only; ask the owner for one that may write."


@pytest.mark.anyio
@pytest.mark.parametrize("era", ERAS)
async def test_read_only_mode_hides_and_refuses_writing_for_every_grant(tmp_path: Path, era: str) -> None:
    """contract.md, Transports and permission."""
    with acting_as(local(NOW)):
        async with Client(server_with(tmp_path, READ_ONLY="1"), mode=era) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            refused = await client.call_tool("write_it", {"path": "a.md"})
    assert "write_it" not in names
    assert text_of(refused).startswith("READ_ONLY: ")


@pytest.mark.anyio
@pytest.mark.parametrize("era", ERAS)
async def test_without_a_grant_nothing_is_listed_or_called(tmp_path: Path, era: str) -> None:
    """Our decision: a door left unguarded opens onto nothing."""
    async with Client(server_with(tmp_path), mode=era) as client:
        result = await client.call_tool("read_it", {"path": "a.md"})
        assert text_of(result).startswith("FORBIDDEN: this call carries no permission")
        with pytest.raises(MCPError):
            await client.list_tools()


@pytest.mark.anyio
async def test_errors_reach_the_model_as_code_and_sentence_and_bugs_stay_in_the_log(
    tmp_path: Path, log: io.StringIO
) -> None:
    """contract.md, Values; house.md fact 1."""
    with acting_as(local(NOW)):
        async with Client(server_with(tmp_path)) as client:
            gone = await client.call_tool("read_it", {"path": "gone"})
            bug = await client.call_tool("read_it", {"path": "bug"})
            unknown = await client.call_tool("raed_it", {"path": "a.md"})
            wrong_name = await client.call_tool("read_it", {"path": "a", "pathh": "b"})
            wrong_type = await client.call_tool("count_words", {"paths": []})
    assert text_of(gone) == "NOT_FOUND: there is no 'gone' in the vault. Did you mean 'gone.md'?"
    assert text_of(bug).startswith("INTERNAL: something went wrong inside Strongroom")
    assert text_of(unknown).startswith("NOT_FOUND: there is no tool of that name. Did you mean read_it? List")
    assert text_of(wrong_name).startswith(
        "INVALID_ARGUMENT: read_it has no parameter pathh. Did you mean path? It takes: path."
    )
    assert text_of(wrong_type).startswith("INVALID_ARGUMENT: paths: list should have at least 1 item")
    assert all(result.is_error for result in (gone, bug, unknown, wrong_name, wrong_type))
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    [crash] = [line for line in lines if line["event"] == "tool.crashed"]
    assert crash["error"] == "ValueError"
    assert "read_it" in crash["at"]
    assert "planted" not in log.getvalue()
    assert "raed_it" not in log.getvalue()


@pytest.mark.anyio
async def test_every_call_leaves_one_line_with_tool_outcome_time_and_grant(tmp_path: Path, log: io.StringIO) -> None:
    """style.md, Logs."""
    with acting_as(local(NOW)):
        async with Client(server_with(tmp_path)) as client:
            await client.call_tool("read_it", {"path": "a secret path"})
            await client.call_tool("read_it", {"path": "gone"})
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    seen = [(line["event"], line["tool"], line["outcome"], line["grant"]) for line in lines]
    assert seen == [("tool.called", "read_it", "ok", "local"), ("tool.called", "read_it", "NOT_FOUND", "local")]
    assert all(line["ms"] >= 0 for line in lines)
    assert "secret" not in log.getvalue()


@pytest.mark.anyio
@pytest.mark.parametrize("era", ERAS)
async def test_tools_say_what_they_are_and_their_schemas_are_plain_objects(tmp_path: Path, era: str) -> None:
    """contract.md, Values; complaints.md 57; house.md fact 2."""
    with acting_as(local(NOW)):
        async with Client(server_with(tmp_path), mode=era) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    counting, reading, writing = tools["count_words"], tools["read_it"], tools["write_it"]
    assert counting.input_schema == {
        "type": "object",
        "properties": {
            "paths": {"type": "array", "items": {"type": "string"}, "description": "Which notes.", "minItems": 1},
            "limit": {"type": "integer"},
        },
        "required": ["paths"],
        "additionalProperties": False,
    }
    assert counting.description == "Count words.\n\nSays how many."
    assert counting.output_schema is not None
    assert set(counting.output_schema["properties"]) == {"path", "total"}
    assert reading.output_schema is None
    assert writing.annotations is not None
    hints = writing.annotations.model_dump(exclude_none=True)
    assert hints == {
        "read_only_hint": False,
        "destructive_hint": True,
        "idempotent_hint": False,
        "open_world_hint": False,
    }
    assert [tool.title for tool in tools.values()] == ["Count words", "Read it", "Write it"]


@pytest.mark.anyio
async def test_what_a_tool_takes_is_known_before_it_is_laid_out_and_whoever_added_it(tmp_path: Path) -> None:
    """SEP-2243: before a call the SDK holds its `Mcp-Param-*` headers against the schema that it asks for here."""

    def go_there(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
        """Go."""
        return region

    def added(zone: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Zone"})]) -> str:
        """Added to the SDK's server, as the conformance suite's fixtures are."""
        return zone

    server = build(room_for(settings_for(tmp_path)), [ToolSpec(go_there, "Go", "notes")], version="1")
    server.add_tool(added)
    asked = server._lowlevel_server.get_tool_input_schema
    assert asked is not None
    before, beside = asked("go_there"), asked("added")
    with acting_as(local(NOW)):
        async with Client(server) as client:
            assert text_of(await client.call_tool("go_there", {"region": "x"})) == "x"
    assert before is not None
    assert before["properties"]["region"]["x-mcp-header"] == "Region"
    assert asked("go_there") == before
    assert beside is not None
    assert beside["properties"]["zone"]["x-mcp-header"] == "Zone"
    assert asked("neither") is None


@pytest.mark.anyio
@pytest.mark.parametrize("era", ERAS)
async def test_arrays_given_as_json_text_are_understood(tmp_path: Path, era: str) -> None:
    """complaints.md 55: some clients send arrays as strings."""
    with acting_as(local(NOW)):
        async with Client(server_with(tmp_path), mode=era) as client:
            good = await client.call_tool("count_words", {"paths": '["a.md"]', "limit": None})
            bad = await client.call_tool("count_words", {"paths": '["a.md"'})
    assert good.structured_content is not None
    assert good.structured_content["path"] == "a.md"
    assert json.loads(text_of(good)) == good.structured_content
    assert text_of(bad).startswith("INVALID_ARGUMENT: paths: must be a list, or the JSON text of one")


@pytest.mark.anyio
async def test_what_a_caller_made_up_is_said_back_only_where_it_is_short_and_plain(tmp_path: Path) -> None:
    """An error is read by a model: a name of 3,000 letters or with control characters helps nobody."""
    names = ["x" * 3000, "a\u202eb", "a b\nc"]
    with acting_as(local(NOW)):
        async with Client(server_with(tmp_path)) as client:
            told = [text_of(await client.call_tool("read_it", {"path": "a", name: 1})) for name in names]
    assert set(told) == {"INVALID_ARGUMENT: read_it has no parameter of that name. It takes: path. Nothing was done."}


def test_a_wrong_name_among_the_disabled_tools_stops_the_start(tmp_path: Path) -> None:
    """decisions.md 11: wrong names are told with the nearest right one."""
    with pytest.raises(BadSettings, match="there is no tool 'raed_it': did you mean read_it"):
        server_with(tmp_path, DISABLED_TOOLS="raed_it")


@pytest.mark.anyio
async def test_toolsets_and_disabled_tools_leave_tools_out(tmp_path: Path) -> None:
    """contract.md, Toolsets."""
    with acting_as(local(NOW)):
        async with Client(server_with(tmp_path, TOOLSETS="notes", DISABLED_TOOLS="count_words")) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["read_it"]


@pytest.mark.anyio
async def test_the_last_look_at_the_grant_stops_a_write(tmp_path: Path) -> None:
    """decisions.md 20."""

    def revoked(_grant: object) -> None:
        raise Forbidden("this token was revoked.")

    whole = room_for(settings_for(tmp_path))
    server = build(replace(whole, check=revoked), SPECS, version="1")
    with acting_as(local(NOW)):
        async with Client(server) as client:
            assert text_of(await client.call_tool("write_it", {"path": "a"})) == "FORBIDDEN: this token was revoked."


@pytest.mark.anyio
async def test_a_cancelled_call_does_not_wait_for_its_tool(tmp_path: Path, log: io.StringIO) -> None:
    """house.md fact 4; decisions.md 20: a running call ends within a second although its thread goes on."""
    begun, let_go = threading.Event(), threading.Event()

    def wait_long() -> str:
        """Wait."""
        begun.set()
        let_go.wait(20)
        return "late"

    server = build(room_for(settings_for(tmp_path)), [ToolSpec(wait_long, "Wait", "notes")], version="1")
    with acting_as(local(NOW)), anyio.fail_after(10):
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(server.call_tool, "wait_long", {})
                await anyio.to_thread.run_sync(begun.wait)
                tasks.cancel_scope.cancel()
            assert not let_go.is_set()
            assert json.loads(log.getvalue())["outcome"] == "CANCELLED"
        finally:
            let_go.set()


def test_a_tool_that_returns_text_is_told_from_one_that_returns_a_shape() -> None:
    """contract.md, Values: text for notes, structured content for lists and facts."""
    assert ToolSpec(read_it, "", "notes").answers_text
    assert not ToolSpec(count_words, "", "notes").answers_text


def _page(_room: Room, cursor: str | None) -> ListResourcesResult:
    if cursor is None:
        return ListResourcesResult(resources=[Resource(uri="note://a.md", name="a.md")], next_cursor="1")
    return ListResourcesResult(resources=[Resource(uri="note://b.md", name="b.md")])


def _read(_room: Room, uri: str) -> ReadResourceResult:
    if "gone" in uri:
        raise NoteNotFound("gone.md")
    return ReadResourceResult(contents=[TextResourceContents(uri=uri, text="hello", mime_type="text/markdown")])


@pytest.mark.anyio
@pytest.mark.parametrize("era", ERAS)
async def test_resources_are_paged_and_read_under_a_grant(tmp_path: Path, era: str) -> None:
    """contract.md, Resources: paged; errors are JSON-RPC errors."""
    templates = [ResourceTemplate(uri_template="note://{+path}", name="note")]
    server = build(room_for(settings_for(tmp_path)), SPECS, ResourceSpec(templates, _page, _read), version="1")
    with acting_as(local(NOW)):
        async with Client(server, mode=era) as client:
            first = await client.list_resources()
            second = await client.list_resources(cursor=first.next_cursor)
            listed = await client.list_resource_templates()
            read = await client.read_resource("note://a b.md")
            with pytest.raises(MCPError, match=r"NOT_FOUND: there is no 'gone\.md'") as refused:
                await client.read_resource("note://gone.md")
    assert [page.resources[0].name for page in (first, second)] == ["a.md", "b.md"]
    assert listed.resource_templates == templates
    assert read.contents[0].uri == "note://a b.md"
    assert refused.value.code == INVALID_PARAMS
    async with Client(server, mode=era) as stranger:
        with pytest.raises(MCPError, match="FORBIDDEN"):
            await stranger.read_resource("note://a.md")
