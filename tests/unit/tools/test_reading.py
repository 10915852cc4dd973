"""read_note and read_notes, through a client."""

from __future__ import annotations

import hashlib
import re
from collections.abc import AsyncIterator

import pytest

from service.guards import limits
from service.tools import reading
from tests.support.calling import Caller, calling
from tests.support.desk import Desk
from tests.support.vaults import BOM

pytestmark = pytest.mark.anyio


@pytest.fixture
async def caller(desk: Desk) -> AsyncIterator[Caller]:
    async with calling(desk.room, reading.SPECS) as caller:
        yield caller


def version(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]


async def test_the_first_line_names_path_size_and_version_and_the_rest_is_the_text(caller: Caller, desk: Desk) -> None:
    """contract.md: reads that carry note text."""
    raw = "---\r\na: ü\r\n---\r\n[x | 1 bytes | version 0]\r\n".encode()
    desk.put({"Ordner/n.md": BOM + raw})
    text = await caller.text("read_note", path="Ordner/n.md")
    assert text == f"[Ordner/n.md | {len(BOM + raw)} bytes | version {version(BOM + raw)}]\n{raw.decode()}"


async def test_a_range_says_which_lines_of_how_many(caller: Caller, desk: Desk) -> None:
    """contract.md, read_note."""
    desk.put({"n.md": "1\n2\n3\n4\n"})
    assert (await caller.text("read_note", path="n.md", start_line=2, end_line=3)).split("\n")[1:] == [
        "[lines 2-3 of 4]", "2", "3", "",
    ]  # fmt: skip
    assert (await caller.text("read_note", path="n.md", start_line=9)).split("\n")[1:] == [
        "[nothing there: the note has 4 lines]", "",
    ]  # fmt: skip


async def test_a_long_note_is_cut_and_can_be_read_to_its_end(caller: Caller, desk: Desk) -> None:
    """contract.md, limits; complaints 7 and 56: a cut is marked, no answer is over the cap, and every byte can be had."""
    whole = "".join(f"line {number} " + "é" * 90 + "\n" for number in range(2000)) + "x" * 150_000 + "\nend\n"
    desk.put({"n.md": whole})
    text = await caller.text("read_note", path="n.md")
    read = ""
    for _ in range(10):
        assert len(text) <= limits.MAX_RESULT_CHARS
        _, notice, part = text.split("\n", 2)
        read += part
        cut = re.fullmatch(
            r"\[cut: lines \d+-\d+ of 2002; go on with start_line=(\d+)(?:, start_column=(\d+))?\]", notice
        )
        if not cut:
            break
        text = await caller.text("read_note", path="n.md", start_line=int(cut[1]), start_column=int(cut[2] or 1))
    assert read == whole


async def test_a_note_that_is_no_utf8_says_so(caller: Caller, desk: Desk) -> None:
    """Complaint 20."""
    desk.put({"n.md": b"caf\xe9"})
    _, notice, text = (await caller.text("read_note", path="n.md")).split("\n")
    assert notice.startswith("[not UTF-8")
    assert text == "caf\ufffd"


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("../n.md", "INVALID_PATH"),
        ("/etc/passwd.md", "INVALID_PATH"),
        ("a\u202en.md", "INVALID_PATH"),
        ("", "INVALID_PATH"),
        (".obsidian/n.md", "HIDDEN_PATH"),
        ("a/.GIT./n.md", "HIDDEN_PATH"),
        ("n.png", "NOT_A_NOTE"),
        ("missing.md", "NOT_FOUND"),
        ("folder.md", "NOT_A_FILE"),
        ("link.md", "OUTSIDE_VAULT"),
    ],
)
async def test_a_path_that_may_not_be_read_is_refused(caller: Caller, desk: Desk, path: str, code: str) -> None:
    """contract.md, refused path; complaints 33, 35 and 36."""
    desk.put({"n.md": "text", "folder.md/x.md": ""})
    (desk.folder / "link.md").symlink_to(desk.folder / "n.md")
    refusal = await caller.refusal("read_note", path=path)
    assert refusal.startswith(f"{code}: ")
    assert "\u202e" not in refusal
    assert str(desk.folder) not in refusal


async def test_several_notes_come_in_order_and_a_failing_one_in_its_place(caller: Caller, desk: Desk) -> None:
    """contract.md, read_notes."""
    desk.put({"a.md": "A\n", "b.md": "B"})
    text = await caller.text("read_notes", paths=["b.md", "missing.md", "x\u200b\n.md", "a.md"])
    first, second, third, fourth = text.split("\n\n---\n\n")
    assert first == f"[b.md | 1 bytes | version {version(b'B')}]\nB"
    assert second.startswith("[missing.md] NOT_FOUND: there is no 'missing.md'")
    assert third.startswith("[paths[2]] INVALID_PATH: ")
    assert fourth.endswith("]\nA\n")


async def test_several_long_notes_share_one_answer(caller: Caller, desk: Desk) -> None:
    """contract.md, limits."""
    desk.put({"long.md": "x" * 99 + "\n" * 2000, "short.md": "short\n", "longer.md": ("y" * 99 + "\n") * 9000})
    text = await caller.text("read_notes", paths=["long.md", "short.md", "longer.md"])
    assert len(text) <= limits.MAX_RESULT_CHARS
    assert "[cut: lines 1-" in text.rsplit("---", 1)[1]
    assert len(text.rsplit("---", 1)[1]) > 50_000


@pytest.mark.parametrize(
    "paths", [[], [f"{number}.md" for number in range(11)], "a.md", '{"a": 1}', "[bad json", ["a.md", 7]]
)
async def test_what_is_no_list_of_one_to_ten_paths_is_refused(caller: Caller, paths: object) -> None:
    """contract.md, read_notes and arrays; complaint 55."""
    assert (await caller.refusal("read_notes", paths=paths)).startswith("INVALID_ARGUMENT: paths")


async def test_a_list_may_come_as_json_text(caller: Caller, desk: Desk) -> None:
    """Complaint 55."""
    desk.put({"a.md": "A", "b.md": "B"})
    assert "---" in await caller.text("read_notes", paths='["a.md", "b.md"]')
