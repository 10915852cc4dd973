"""`note://` resources, through a client."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, TextResourceContents

from service.tools import resources
from tests.support.calling import Caller, calling
from tests.support.desk import Desk

pytestmark = pytest.mark.anyio

NAMES = [
    "a b.md",
    "C#.md",
    "what?.md",
    "100%.md",
    "50%25.md",
    "a%20b.md",
    "日本/メモ.md",
    "Cafe\u0301.md",
    "🖊️ journal/n.txt",
    "x.markdown",
]


@pytest.fixture
async def caller(desk: Desk) -> AsyncIterator[Caller]:
    async with calling(desk.room, [], resources.SPEC) as caller:
        yield caller


async def read(caller: Caller, uri: str) -> TextResourceContents:
    [contents] = (await caller.client.read_resource(uri)).contents
    assert isinstance(contents, TextResourceContents)
    return contents


async def test_there_is_one_entry_a_note_sorted_by_path(caller: Caller, desk: Desk) -> None:
    """contract.md, Resources; hidden names, links and other files never."""
    desk.put({**dict.fromkeys(NAMES, "x"), ".obsidian/n.md": "", ".trash/n.md": "", "p.png": ""})
    (desk.folder / "link.md").symlink_to(desk.folder / "x.markdown")
    listed = await caller.client.list_resources()
    assert [resource.name for resource in listed.resources] == sorted(NAMES)
    assert {resource.mime_type for resource in listed.resources} == {"text/markdown"}
    assert listed.next_cursor is None


async def test_every_listed_uri_is_plain_ascii_and_reads_its_own_note(caller: Caller, desk: Desk) -> None:
    """ancestors.md 1.1: URIs were not percent-encoded."""
    desk.put({name: f"text of {name}\r\n" for name in NAMES})
    for resource in (await caller.client.list_resources()).resources:
        assert str(resource.uri).isascii()
        assert not set(" #?") & set(str(resource.uri))
        assert (await read(caller, resource.uri)).text == f"text of {resource.name}\r\n"


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("50%25.md", "a%20b.md")])
async def test_a_path_that_was_not_encoded_is_understood(caller: Caller, desk: Desk, name: str) -> None:
    """contract.md, Resources: a raw space or `#` too."""
    desk.put({name: "x"})
    assert (await read(caller, f"note://{name}")).text == "x"


async def test_a_name_with_an_escape_in_it_is_found_when_nothing_else_is_meant(caller: Caller, desk: Desk) -> None:
    """contract.md, Resources: the encoded reading wins, then the raw one."""
    desk.put({"a%20b.md": "escape"})
    assert (await read(caller, "note://a%20b.md")).text == "escape"
    desk.put({"a b.md": "blank"})
    assert (await read(caller, "note://a%20b.md")).text == "blank"
    assert (await read(caller, "note://a%2520b.md")).text == "escape"


async def test_a_resource_is_the_whole_text_with_its_version(caller: Caller, desk: Desk) -> None:
    """contract.md: every read reports version and size. A resource is for applications, so it is never cut."""
    raw = ("line\r\n" * 50_000).encode()
    desk.put({"n.md": raw})
    contents = await read(caller, "note://n.md")
    assert (contents.text.encode(), contents.mime_type, contents.uri) == (raw, "text/markdown", "note://n.md")
    assert contents.meta == {"version": hashlib.sha256(raw).hexdigest()[:12], "bytes": len(raw)}


@pytest.mark.parametrize(
    ("uri", "code"),
    [
        ("note://missing.md", "NOT_FOUND"),
        ("note://../n.md", "INVALID_PATH"),
        ("note://a/%2e%2e/n.md", "INVALID_PATH"),
        ("note:///etc/passwd.md", "INVALID_PATH"),
        ("note://%2Fetc/passwd.md", "INVALID_PATH"),
        ("note://n.md%00.png", "INVALID_PATH"),
        ("note://n%FF.md", "NOT_FOUND"),
        ("note://.obsidian/n.md", "HIDDEN_PATH"),
        ("note://%2Eobsidian/n.md", "HIDDEN_PATH"),
        ("note://link.md", "OUTSIDE_VAULT"),
        ("note://p.png", "NOT_A_NOTE"),
        ("note://", "INVALID_PATH"),
        ("file:///etc/passwd", "INVALID_ARGUMENT"),
    ],
)
async def test_what_may_not_be_read_is_a_protocol_error(caller: Caller, desk: Desk, uri: str, code: str) -> None:
    """contract.md, Resources: errors are JSON-RPC errors; complaint 33."""
    desk.put({"n.md": "x", ".obsidian/n.md": "x", "p.png": ""})
    (desk.folder / "link.md").symlink_to(desk.folder / "n.md")
    with pytest.raises(MCPError) as refused:
        await caller.client.read_resource(uri)
    assert refused.value.error.code == INVALID_PARAMS
    assert refused.value.error.message.startswith(f"{code}: ")


async def test_pages_join_to_the_whole_list_whatever_changes_meanwhile(caller: Caller, desk: Desk) -> None:
    """contract.md, Resources: paged. What was there all the time is listed once."""
    names = [f"{number:04}.md" for number in range(2 * resources.NOTES_A_PAGE + 1)]
    desk.put(dict.fromkeys(names, ""))
    page = await caller.client.list_resources()
    seen = [resource.name for resource in page.resources]
    (desk.folder / names[0]).unlink()
    (desk.folder / names[resources.NOTES_A_PAGE - 1]).unlink()
    desk.put({"0000a.md": ""})
    while page.next_cursor:
        page = await caller.client.list_resources(cursor=page.next_cursor)
        seen += [resource.name for resource in page.resources]
    assert seen == names


@pytest.mark.parametrize("cursor", ["x", "!!!!", "////"])
async def test_a_damaged_cursor_is_refused(caller: Caller, cursor: str) -> None:
    """Our decision."""
    with pytest.raises(MCPError, match="INVALID_ARGUMENT: that cursor is none of ours"):
        await caller.client.list_resources(cursor=cursor)


async def test_the_template_is_there(caller: Caller) -> None:
    """contract.md, Resources."""
    [template] = (await caller.client.list_resource_templates()).resource_templates
    assert (template.uri_template, template.mime_type) == ("note://{+path}", "text/markdown")
