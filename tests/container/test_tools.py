"""The official SDK's client against the real image: every tool of the service, over HTTP and over stdio."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import anyio
import pytest
from mcp import StdioServerParameters
from mcp.client import Client
from mcp_types import CallToolResult, TextResourceContents

from tests.container.conftest import Start
from tests.support.appliance import Appliance, structured, text_of, within
from tests.support.engine import Engine

EVERY_TOOL = {
    "search_notes",
    "read_note",
    "read_notes",
    "get_note_outline",
    "get_frontmatter",
    "list_tags",
    "list_notes",
    "list_recent",
    "get_vault_tree",
    "list_directory",
    "get_vault_stats",
    "get_notes_info",
    "resolve_link",
    "get_links",
    "find_broken_links",
    "update_frontmatter",
    "update_tags",
    "create_note",
    "write_note",
    "append_to_note",
    "append_to_section",
    "edit_note",
    "move_note",
    "delete_note",
    "get_daily_note",
    "create_daily_note",
    "append_daily_note",
    "list_tasks",
    "complete_task",
    "postpone_task",
    "list_changes",
    "note_history",
    "read_note_version",
    "diff_note",
    "undelete_note",
    "restore_note",
    "move_file",
    "search",
    "fetch",
}
"""Every tool there is, as a client sees it."""

ALL_ON = {"STRONGROOM_TOOLSETS": "notes,daily,tasks,metadata,links,history,files,connector"}

Connect = Callable[[], AbstractAsyncContextManager[Client]]


async def use_every_tool(connect: Connect, commit: Callable[[], object], revision_of: Callable[[str], str]) -> None:
    """Call each tool once or more, each on what the ones before it did; look at each answer."""
    called: set[str] = set()

    async with connect() as client:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        assert listed == EVERY_TOOL

        async def call(tool: str, **arguments: object) -> CallToolResult:
            called.add(tool)
            result = await client.call_tool(tool, arguments)
            assert not result.is_error, f"{tool}: {text_of(result)}"
            return result

        made = structured(await call("create_note", path="Tour/Soup.md", content="# Soup\n\nleeks\n"))
        assert made["path"] == "Tour/Soup.md"
        await call("append_to_note", path="Tour/Soup.md", content="lentils")
        outline = structured(await call("get_note_outline", path="Tour/Soup.md"))
        assert outline["headings"] == [{"level": 1, "text": "Soup", "line": 1}]
        grown = structured(await call("append_to_section", path="Tour/Soup.md", heading="Soup", content="#dinner"))
        assert grown["line"] == 5
        assert "dinner" in text_of(await call("list_tags"))
        await anyio.to_thread.run_sync(commit)
        first = revision_of("Tour/Soup.md")
        edited = structured(
            await call("edit_note", path="Tour/Soup.md", edits=[{"old_string": "leeks", "new_string": "fennel"}])
        )
        await anyio.to_thread.run_sync(commit)

        shown = text_of(await call("read_note", path="Tour/Soup.md"))
        assert shown.startswith(f"[Tour/Soup.md | {edited['bytes']} bytes | version {edited['version']}]")
        assert "fennel" in shown
        assert "lentils" in shown
        several = text_of(await call("read_notes", paths=["Tour/Soup.md", "Tour/None.md"]))
        assert "fennel" in several
        assert "NOT_FOUND" in several
        assert "Tour/Soup.md" in text_of(await call("search_notes", query="FENNEL"))
        assert "Tour/Soup.md" in text_of(await call("search", query="soup with fennel"))
        assert "lentils" in str(structured(await call("fetch", id="Tour/Soup.md"))["text"])
        assert "Tour/Soup.md" in text_of(await call("list_notes", folder="Tour"))
        assert "Tour/Soup.md" in text_of(await call("list_recent"))
        assert "Tour" in text_of(await call("get_vault_tree"))
        assert structured(await call("resolve_link", link="[[soup#soup]]"))["line"] == 1
        assert structured(await call("get_links", path="Tour/Soup.md"))["backlinks"] == []
        assert "Tour/Soup.md" in text_of(await call("find_broken_links"))
        assert "Tour/Soup.md" in text_of(await call("list_directory", path="Tour"))
        assert structured(await call("get_vault_stats"))["notes"] >= 1
        assert edited["version"] in text_of(await call("get_notes_info", paths=["Tour/Soup.md"]))
        page = structured(await call("write_note", path="Tour/Page.md", content="text", frontmatter={"a": 1}))
        await call("update_frontmatter", path="Tour/Page.md", set={"b": "22:30"}, expected_hash=page["version"])
        assert structured(await call("update_tags", path="Tour/Page.md", add=["c"]))["tags"] == ["c"]
        await call("delete_note", path="Tour/Page.md")
        todo = structured(await call("create_note", path="Tour/Todo.md", content="- [ ] sow\n- [ ] mow\n"))
        later = structured(
            await call(
                "postpone_task", path="Tour/Todo.md", line=2, expected_hash=todo["version"], new_date="2026-03-01"
            )
        )
        await call("complete_task", path="Tour/Todo.md", line=1, expected_hash=later["version"])
        assert structured(await call("list_tasks", path_prefix="Tour"))["tasks"][0]["due"] == "2026-03-01"
        await call("delete_note", path="Tour/Todo.md")
        await guards_are_at_work(call)
        assert "not there" in text_of(await call("get_daily_note", period="monthly"))
        assert structured(await call("create_daily_note", period="monthly"))["created"]
        day = structured(await call("append_daily_note", text="made soup"))
        assert "made soup" in text_of(await call("read_note", path=day["path"]))
        assert "Tour/Soup.md" in text_of(await call("list_changes"))
        assert first[:7] in text_of(await call("note_history", path="Tour/Soup.md"))
        assert "leeks" in text_of(await call("read_note_version", path="Tour/Soup.md", revision=first))
        assert "-leeks" in text_of(await call("diff_note", path="Tour/Soup.md", **{"from": first}))
        await call("restore_note", path="Tour/Soup.md", revision=first)
        assert "leeks" in text_of(await call("read_note", path="Tour/Soup.md"))

        resources = {str(found.uri) for found in (await client.list_resources()).resources}
        assert "note://Tour/Soup.md" in resources
        (resource,) = (await client.read_resource("note://Tour/Soup.md")).contents
        assert isinstance(resource, TextResourceContents)
        assert "leeks" in resource.text

        moved = structured(await call("move_note", **{"from": "Tour/Soup.md", "to": "Tour/Stew.md"}))
        assert moved["path"] == "Tour/Stew.md"
        both = {"from": "Tour/Stew.md", "to": "Tour/Soup.md"}
        filed = structured(
            await call("move_file", **both, confirm_from=both["from"], confirm_to=both["to"])  # type: ignore[arg-type]
        )
        assert filed["path"] == "Tour/Soup.md"
        await call("delete_note", path="Tour/Soup.md")
        gone = await client.call_tool("read_note", {"path": "Tour/Soup.md"})
        assert gone.is_error
        assert text_of(gone).startswith("NOT_FOUND")
        assert structured(await call("undelete_note", path="Tour/Soup.md"))["source"] == "trash"
        assert called == EVERY_TOOL


async def guards_are_at_work(call: Callable[..., Awaitable[CallToolResult]]) -> None:
    """issue 3, in the image: a remote image becomes a link, hidden words stay hidden, and properties are values.

    A style, a remote image and YAML each need a package that is imported only then.
    """
    page = '---\ntime: 22:30\n---\n![logo](https://example.com/p.png)\n\n<p style="opacity:0">secretword</p>\n\nend\n'
    made = structured(await call("create_note", path="Tour/Page.md", content=page))
    assert "1 remote image was made a link" in str(made["notice"])
    shown = text_of(await call("read_note", path="Tour/Page.md"))
    assert "\n[logo](https://example.com/p.png)\n" in shown
    assert "secretword" not in shown
    assert "secretword" not in text_of(await call("search_notes", query="secretword"))
    facts = structured(await call("get_frontmatter", path="Tour/Page.md"))
    assert facts["properties"] == {"time": "22:30"}


def revisions(appliance: Appliance) -> Callable[[str], str]:
    return lambda path: appliance.folders.git("log", "-1", "--format=%H", "--", path)


def test_official_client_uses_every_tool_over_http(start: Start) -> None:
    """issue 2: a real MCP client (the official SDK's) lists and calls every tool over HTTP."""
    appliance = start(env=ALL_ON)
    token = appliance.token()
    within(
        60,
        lambda: use_every_tool(lambda: appliance.client(token), lambda: appliance.cli("commit"), revisions(appliance)),
    )
    appliance.folders.fsck()


def test_official_client_uses_every_tool_over_stdio_beside_the_service(start: Start) -> None:
    """issue 2: the same over stdio. decisions 6: beside a running service it joins it."""
    appliance = start(env=ALL_ON)
    within(60, lambda: use_every_tool(appliance.stdio_client, lambda: appliance.cli("commit"), revisions(appliance)))
    appliance.folders.fsck()


def test_official_client_uses_every_tool_over_stdio_without_a_service(
    start: Start, engine: Engine, request: pytest.FixtureRequest
) -> None:
    """decisions 6: without a service `stdio` takes the lock itself; no socket listens, so no network is needed."""
    options = {"entrypoint": ["sleep"], "network_mode": "none"}
    beside = start(command=["600"], env=ALL_ON, options=options, is_waiting=False)
    parameters = StdioServerParameters(
        command=engine.command[0],
        args=[*engine.command[1:], "exec", "-i", beside.name, "strongroom", "stdio", "/vault"],
        env=engine.environment,
    )

    @asynccontextmanager
    async def connect() -> AsyncIterator[Client]:
        async with Client(parameters) as client:
            yield client

    within(60, lambda: use_every_tool(connect, lambda: beside.cli("commit"), revisions(beside)))
    listening = beside.exec("cat", "/proc/net/tcp", "/proc/net/tcp6").out
    assert [line for line in listening.splitlines() if line.split()[3:4] == ["0A"]] == []
