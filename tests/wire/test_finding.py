"""Searching, tags and sections as a client sees them: HTTP in both protocol eras, and stdio.

complaints.md 1 to 8 and 24 to 27, each with inputs of our own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client

from tests.support.rooms import ALL_TOOLSETS
from tests.support.service import ERAS, Service, environment, text_of
from tests.support.vaults import lay_out
from tests.wire.test_stdio import client_of

pytestmark = pytest.mark.anyio
WAYS = (*ERAS, "stdio")

NOTES: dict[str, str | bytes] = {
    "cjk/words.md": "会計の系統図\n- [ ] 長い文の中の系統です\ntext 系 text\n",
    "cjk/one.md": "前置きのない行、犬がいる\n",
    "far.md": "x" * 149_990 + " needle-at-150k " + "y" * 60_000 + "\n",
    "signs.md": 'status: done a/b c-d O\'Neil "quoted" AND OR NOT (x) [y] * ? ^ $ \\ ~ + {z} 100% -flag NEAR/2 col:val\n',
    "long.md": f"start {'w' * 400} middle-word {'v' * 400} end\n",
    "tags/a.md": '#tl#tm\t#tab\u00a0#nb\u3000#ids (#pa) "#pc" —#pe $#pb$ `#code` [x](u#y) [Discord #tf](u) #日本 #a/b #123\n',
    "tags/b.md": "---\ntags: [work/sub]\n---\nfind me <!-- #hidden -->\n\n```\n#fenced\n```\n",
    "tags/c.md": "find me #workshop https://x/#work `#work`\n",
    "tags/d.md": "find me #Work\n",
    **{f"many/n{number:03}.md": f"common line {number}\n#t{number}\n" for number in range(639)},
    "🖊️ journal/day.md": "# Log\r\n## 📥 Inbox\r\n- a\r\n\r\n### People\r\n| `# x` | b |\r\n|---|---|\r\n| 1 | 2 |\r\n\r\n"
    "# Детали\r\n```\r\n# no\r\n```\r\n\r\n## Log\r\n",
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("finding")
    (folder / "vault").mkdir()
    lay_out(folder / "vault", NOTES)
    with Service.start(folder, TOOLSETS=ALL_TOOLSETS) as service:
        yield service


@pytest.fixture(scope="module")
def token(service: Service) -> str:
    return service.token("module")


@pytest.fixture(params=WAYS)
async def client(request: pytest.FixtureRequest, service: Service, token: str) -> AsyncIterator[Client]:
    async with reached(service, token, request.param) as client:
        yield client


@asynccontextmanager
async def reached(service: Service, token: str, way: str) -> AsyncIterator[Client]:
    """A client over HTTP in one era, or beside the same service over stdio."""
    if way != "stdio":
        async with service.client(token, way) as client:
            yield client
        return
    environ = environment(service.vault.parent, TOOLSETS=ALL_TOOLSETS)
    async with client_of(environ) as client:
        yield client


async def facts(client: Client, tool: str, **arguments: object) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    assert result.structured_content is not None
    return result.structured_content


async def hits(client: Client, **arguments: object) -> list[tuple[str, int]]:
    return [(hit["path"], hit["line"]) for hit in (await facts(client, "search_notes", **arguments))["hits"]]


async def test_complaints_1_and_2_words_of_two_and_one_letters_are_found_anywhere_in_a_line(client: Client) -> None:
    """complaints.md 1, 2: CJK in mid-line, after a task's box, one letter alone."""
    assert await hits(client, query="系統") == [("cjk/words.md", 1), ("cjk/words.md", 2)]
    assert await hits(client, query="系") == [("cjk/words.md", 1), ("cjk/words.md", 2), ("cjk/words.md", 3)]
    assert await hits(client, query="犬") == [("cjk/one.md", 1)]
    assert ("cjk/words.md", 2) in await hits(client, query="系統です", mode="ranked")
    assert await hits(client, query="犬", mode="ranked") == [("cjk/one.md", 1)]


async def test_complaint_3_a_word_at_byte_150_000_is_found(client: Client) -> None:
    [hit] = (await facts(client, "search_notes", query="NEEDLE-at-150k"))["hits"]
    assert "needle-at-150k" in hit["snippet"]


@pytest.mark.parametrize("mode", ["literal", "ranked"])
async def test_complaint_4_no_sign_in_a_query_is_an_operator(client: Client, mode: str) -> None:
    """complaints.md 4: each gives results or none, never an error."""
    for query in (
        "a/b",
        "c-d",
        "O'Neil",
        '"quoted"',
        '"',
        "'",
        "AND",
        "status: done",
        "NOT (x",
        "* ?",
        "\\",
        "NEAR/2",
        "col:val",
        "-",
        "^$",
        "%",
    ):
        found = await hits(client, query=query, mode=mode, limit=50)
        if mode == "literal":
            expected = query in str(NOTES["signs.md"])
            assert (("signs.md", 1) in found) is expected, query


async def test_complaint_6_tags_are_those_of_obsidian(client: Client) -> None:
    found = await facts(client, "list_tags", path="tags/a.md")
    assert {one["tag"] for one in found["tags"] if one["own"]} == {"tl", "tm", "tab", "nb", "ids", "tf", "日本", "a/b"}
    assert {one["tag"]: one["count"] for one in found["tags"]}["a"] == 1
    listed = str(await facts(client, "list_tags", limit=500, offset=500)) + str(
        await facts(client, "list_tags", limit=500)
    )
    for never in ("hidden", "fenced", "code"):
        assert f"'{never}'" not in listed


async def test_a_search_for_a_tag_finds_nested_ones_and_no_longer_ones(client: Client) -> None:
    """contract.md, tag: `work` matches `work/sub`; inline and front matter; never `#workshop`, addresses or code."""
    for mode in ("literal", "ranked"):
        found = await hits(client, query="find me", tag="#work", mode=mode, sort_by="path")
        assert [path for path, _ in found] == ["tags/b.md", "tags/d.md"]
    assert await hits(client, query="find me", tag="work/sub") == [("tags/b.md", 4)]
    refused = await client.call_tool("search_notes", {"query": "x", "tag": "a b"})
    assert text_of(refused).startswith("INVALID_ARGUMENT: ")


async def test_complaint_7_every_cut_says_so(client: Client) -> None:
    [hit] = (await facts(client, "search_notes", query="middle-word"))["hits"]
    assert hit["snippet"].startswith("…")
    assert hit["snippet"].endswith("…")
    assert len(hit["snippet"]) <= 200
    text = text_of(await client.call_tool("read_note", {"path": "far.md"}))
    assert "[cut: " in text.split("\n")[1]


@pytest.mark.parametrize("mode", ["literal", "ranked"])
async def test_complaint_8_paging_enumerates_everything_and_totals_are_true(client: Client, mode: str) -> None:
    """complaints.md 8: 639 notes, each once."""
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = await facts(
            client,
            "search_notes",
            query="common",
            mode=mode,
            path_prefix="many",
            sort_by="path",
            limit=50,
            offset=offset,
        )
        assert page["total"] == 639
        seen += [hit["path"] for hit in page["hits"]]
        offset = page["next_offset"]
    assert seen == [f"many/n{number:03}.md" for number in range(639)]


async def test_complaint_8_paging_enumerates_every_tag(client: Client) -> None:
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = await facts(client, "list_tags", limit=500, offset=offset)
        seen += [one["tag"] for one in page["tags"]]
        offset = page["next_offset"]
    assert len(seen) == len(set(seen)) == page["total"]
    assert {f"t{number}" for number in range(639)} <= set(seen)


async def test_complaints_24_to_27_and_15_a_section_grows_and_nothing_else(service: Service, client: Client) -> None:
    """Emoji and Cyrillic, prefix or none, tables and code, CRLF; two equal headings; none."""
    path = "🖊️ journal/day.md"
    lay_out(service.vault, {path: NOTES[path]})
    before = str(NOTES[path])
    outline = await facts(client, "get_note_outline", path=path)
    assert [(one["text"], one["line"]) for one in outline["headings"]] == [
        ("Log", 1), ("📥 Inbox", 2), ("People", 5), ("Детали", 10), ("Log", 15),
    ]  # fmt: skip
    for heading, content in (
        ("People", "| 3 | 4 |"),
        ("### people", "| 5 | 6 |"),
        ("📥 inbox", "text"),
        ("# Детали", "x\ny"),
    ):
        if heading == "# Детали":
            before = before.replace("## Log\r\n", "## Log\r\nx\r\ny\r\n")
        else:
            before = before.replace("\r\n\r\n# Детали", f"\r\n{content}\r\n\r\n# Детали")
        told = await facts(client, "append_to_section", path=path, heading=heading, content=content)
        assert (service.vault / path).read_bytes().decode() == before
        assert told["bytes"] == len(before.encode())
        assert content.split("\n")[0] in told["diff"]
    for heading, code in (
        ("Log", "AMBIGUOUS_SECTION: "),
        ("Nope", "SECTION_NOT_FOUND: "),
        ("# no", "SECTION_NOT_FOUND: "),
    ):
        refused = await client.call_tool("append_to_section", {"path": path, "heading": heading, "content": "x"})
        assert text_of(refused).startswith(code)
    assert (service.vault / path).read_bytes().decode() == before


def test_the_notes_are_all_there(service: Service) -> None:
    """So that no list above is short for want of notes."""
    assert len(list(Path(service.vault).rglob("*.md"))) >= len(NOTES)
