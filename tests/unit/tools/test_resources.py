"""`note://` resources, through a client."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import AsyncIterator

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, BlobResourceContents, TextResourceContents

from service.guards import limits
from service.tools import resources
from service.tools.context import LOW_TRUST
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
    assert [resource.name for resource in listed.resources] == ["guide", *sorted(NAMES)]
    assert {resource.mime_type for resource in listed.resources} == {"text/markdown"}
    assert listed.next_cursor is None


async def test_every_listed_uri_is_plain_ascii_and_reads_its_own_note(caller: Caller, desk: Desk) -> None:
    """ancestors.md 1.1: URIs were not percent-encoded."""
    desk.put({name: f"text of {name}\r\n" for name in NAMES})
    for resource in (await caller.client.list_resources()).resources[1:]:
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
        ("note://p.svg", "NOT_A_NOTE"),
        ("note://p.pdf", "NOT_A_NOTE"),
        ("note://missing.png", "NOT_FOUND"),
        ("note://../p.png", "INVALID_PATH"),
        ("note://.obsidian/p.png", "HIDDEN_PATH"),
        ("note://link.png", "OUTSIDE_VAULT"),
        ("note://huge.png", "TOO_LARGE"),
        ("strongroom://other", "INVALID_ARGUMENT"),
        ("note://", "INVALID_PATH"),
        ("file:///etc/passwd", "INVALID_ARGUMENT"),
    ],
)
async def test_what_may_not_be_read_is_a_protocol_error(caller: Caller, desk: Desk, uri: str, code: str) -> None:
    """contract.md, Resources: errors are JSON-RPC errors; complaint 33."""
    desk.put({"n.md": "x", ".obsidian/n.md": "x", "p.png": "<svg>", "p.svg": "<svg/>", "p.pdf": "%PDF"})
    desk.put({"huge.png": b"\x89PNG\r\n\x1a\n" + bytes(limits.MAX_IMAGE_BYTES)})
    for name in ("link.md", "link.png"):
        (desk.folder / name).symlink_to(desk.folder / "n.md")
    with pytest.raises(MCPError) as refused:
        await caller.client.read_resource(uri)
    assert refused.value.error.code == INVALID_PARAMS
    assert refused.value.error.message.startswith(f"{code}: ")


async def test_pages_join_to_the_whole_list_whatever_changes_meanwhile(caller: Caller, desk: Desk) -> None:
    """contract.md, Resources: paged. What was there all the time is listed once."""
    names = [f"{number:04}.md" for number in range(2 * resources.NOTES_A_PAGE + 1)]
    desk.put(dict.fromkeys(names, ""))
    page = await caller.client.list_resources()
    seen = [resource.name for resource in page.resources][1:]
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
    assert (template.uri_template, template.mime_type) == ("note://{+path}", None)


PICTURES = {
    "a b.png": (b"\x89PNG\r\n\x1a\nrest", "image/png"),
    "p.JPG": (b"\xff\xd8\xff\xe0rest", "image/jpeg"),
    "p.jpeg": (b"\xff\xd8\xff\xdbrest", "image/jpeg"),
    "p.gif": (b"GIF89arest", "image/gif"),
    "p.webp": (b"RIFF\x00\x00\x00\x00WEBPrest", "image/webp"),
    "p.avif": (b"\x00\x00\x00\x1cftypavifrest", "image/avif"),
    "p.bmp": (b"BMrest", "image/bmp"),
    "a jpeg by another name.png": (b"\xff\xd8\xff\xe0rest", "image/jpeg"),
}


@pytest.mark.parametrize("name", PICTURES)
async def test_a_picture_is_given_as_it_lies_there_with_its_own_type(caller: Caller, desk: Desk, name: str) -> None:
    """decisions.md 16: an image is the resource `note://…` with its own type, told by how it begins."""
    data, mime_type = PICTURES[name]
    desk.put({name: data})
    [contents] = (await caller.client.read_resource(resources.uri_of(name))).contents
    assert isinstance(contents, BlobResourceContents)
    assert (base64.b64decode(contents.blob), contents.mime_type) == (data, mime_type)
    assert contents.meta == {"version": hashlib.sha256(data).hexdigest()[:12], "bytes": len(data)}


async def test_a_picture_of_just_the_limit_is_given_and_one_from_outside_has_its_label(
    caller: Caller, desk: Desk
) -> None:
    """decisions.md 16: up to 5 MB; guards.md 6, 58."""
    data = b"\x89PNG\r\n\x1a\n".ljust(limits.MAX_IMAGE_BYTES, b"x")
    desk.put({"Clippings/p.png": data})
    [contents] = (await caller.client.read_resource("note://Clippings/p.png")).contents
    assert isinstance(contents, BlobResourceContents)
    assert base64.b64decode(contents.blob) == data
    assert contents.meta is not None
    assert contents.meta["notices"] == [LOW_TRUST]


async def test_pictures_are_not_listed(caller: Caller, desk: Desk) -> None:
    """contract.md: resources/list has one entry a note."""
    desk.put({"a.md": "![[p.png]]", "p.png": b"\x89PNG\r\n\x1a\n"})
    assert [one.name for one in (await caller.client.list_resources()).resources] == ["guide", "a.md"]


BOARD = r'{"nodes":[{"id":"a","type":"text","text":"seen \u003c!-- unseen --\u003e"},{"id":"b","type":"file","file":"n.md"}],'
BOARD += r'"edges":[{"fromNode":"a","toNode":"b"}]}'


async def test_a_canvas_is_an_outline_with_the_version_of_its_file(caller: Caller, desk: Desk) -> None:
    """Issue 4; what JSON writes with escapes is guarded as what it means."""
    desk.put({"b.canvas": BOARD})
    contents = await read(caller, "note://b.canvas")
    assert contents.text.split("\n")[:3] == ["canvas: 2 cards, 1 edge", "card a (text)", "  seen"]
    assert "edge a -> b" in contents.text
    assert contents.meta == {
        "version": hashlib.sha256(BOARD.encode()).hexdigest()[:12],
        "bytes": len(BOARD),
        "hidden": {"comment": 1},
        "notices": ["hidden: 1 comment left out", "outline of a canvas; the file itself is JSON"],
    }


async def test_the_guide_comes_first_and_tells_a_few_facts(caller: Caller, desk: Desk) -> None:
    """contract.md, Resources: strongroom://guide."""
    desk.put({"A/n.md": "", "B/p.png": "", "Clippings/w.md": "", ".obsidian/daily-notes.json": '{"folder": "A"}'})
    [first, *_] = (await caller.client.list_resources()).resources
    assert (first.uri, first.mime_type) == ("strongroom://guide", "text/markdown")
    text = (await read(caller, "strongroom://guide")).text
    assert text == (
        "# How this vault is organised\n\n2 notes and 1 other files in 3 folders.\n"
        "Folders at the top: A/, B/, Clippings/ (low trust).\nToday's daily note: A/2026-03-01.md.\n"
    )


async def test_the_guide_holds_the_owners_own_words_guarded_and_bounded(caller: Caller, desk: Desk) -> None:
    """contract.md: from an optional STRONGROOM.md or AGENTS.md; guards.md 6, 57."""
    desk.put({"AGENTS.md": "Projects live in <!-- unseen --> A.\n"})
    text = (await read(caller, "strongroom://guide")).text
    assert text.endswith("## AGENTS.md\n\n[hidden: 1 comment left out]\nProjects live in  A.\n")
    desk.put({"STRONGROOM.md": "line\n" * 10_000})
    text = (await read(caller, "STRONGROOM://guide/")).text
    assert "## STRONGROOM.md" in text
    assert text.endswith("line\n\n[cut here; read the rest as note://STRONGROOM.md]\n")
    assert len(text) < limits.MAX_GUIDE_CHARS + 1000


async def test_the_guide_is_there_whatever_the_vault_holds(caller: Caller, desk: Desk) -> None:
    """Our decision: settings that cannot be followed cost one line, no more."""
    desk.put({".obsidian/daily-notes.json": '{"format": "[broken"}'})
    assert (await read(caller, "strongroom://guide")).text == (
        "# How this vault is organised\n\n0 notes and 0 other files in 0 folders.\n"
    )
    desk.put({"n.md": "x"})
    (desk.folder / "AGENTS.md").symlink_to(desk.folder / "n.md")
    assert "AGENTS.md cannot be shown: that path is a symbolic link" in (await read(caller, "strongroom://guide")).text
