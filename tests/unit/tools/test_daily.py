"""The tools for daily and periodic notes, called as an assistant calls them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from service.guards.trust import LowTrust
from service.tools import daily
from service.tools.context import LOW_TRUST
from service.vault.periods import CORE, PERIODIC
from tests.support.calling import Caller, calling
from tests.support.clock import HeldClock
from tests.support.desk import Desk, desk_in

pytestmark = pytest.mark.anyio


@pytest.fixture
async def caller(desk: Desk) -> AsyncIterator[Caller]:
    async with calling(desk.room, daily.SPECS) as caller:
        yield caller


async def test_a_note_that_is_not_there_is_told_and_not_made(caller: Caller, desk: Desk) -> None:
    """contract.md, get_daily_note: says the path it would have; never creates."""
    desk.put({CORE: json.dumps({"folder": "Journal", "format": "YYYY/MM-MMMM/YYYY-MM-DD-dddd"})})
    assert await caller.text("get_daily_note") == (
        "[Journal/2026/03-March/2026-03-01-Sunday.md | not there]\n"
        "[there is no daily note of that date yet; create_daily_note makes it]"
    )
    assert [path.name for path in desk.folder.iterdir()] == [".obsidian"]


async def test_a_note_that_is_there_is_read_as_read_note_reads_it(caller: Caller, desk: Desk) -> None:
    """contract.md, get_daily_note."""
    desk.put({"2026-03-01.md": "a<!-- b -->c\n"})
    text = await caller.text("get_daily_note", date="2026-03-01")
    head, *rest = text.split("\n")
    assert head.startswith("[2026-03-01.md | 13 bytes | version ")
    assert rest == ["[hidden: 1 comment left out]", "ac", ""]


async def test_a_long_note_says_how_to_go_on(caller: Caller, desk: Desk) -> None:
    """Complaint 56; this tool takes no lines, read_note does."""
    desk.put({"2026-03-01.md": "word\n" * 20_000})
    assert "read_note goes on with start_line=" in await caller.text("get_daily_note")


async def test_a_note_in_a_low_trust_folder_is_labelled(desk: Desk) -> None:
    """decisions.md 11."""
    desk.put({CORE: json.dumps({"folder": "Clippings"}), "Clippings/2026-03-01.md": "theirs"})
    room = replace(desk.room, vault=replace(desk.vault, low_trust=LowTrust.of(("Clippings",))))
    async with calling(room, daily.SPECS) as caller:
        assert f"[{LOW_TRUST}]" in await caller.text("get_daily_note")


@pytest.mark.parametrize(
    ("period", "path"),
    [("daily", "2026-03-01.md"), ("weekly", "2026-W10.md"), ("monthly", "2026-03.md"), ("quarterly", "2026-Q1.md"),
     ("yearly", "2026.md")],
)  # fmt: skip
async def test_each_period_is_made_once_read_and_appended_to(
    caller: Caller, desk: Desk, period: str, path: str
) -> None:
    """contract.md, daily; create_daily_note is idempotent."""
    made = await caller.facts("create_daily_note", period=period)
    assert (made["path"], made["created"], made["template"], made["notice"]) == (path, True, "", "")
    again = await caller.facts("create_daily_note", period=period, date="2026-03-01")
    assert (again["path"], again["created"], again["version"]) == (path, False, made["version"])
    line = await caller.facts("append_daily_note", period=period, text="- [ ] x")
    assert (line["path"], line["created"], line["line"]) == (path, False, "- [ ] 12:00 x")
    assert (await caller.text("get_daily_note", period=period)).endswith("\n- [ ] 12:00 x\n")


async def test_what_of_a_template_was_not_done_is_told(caller: Caller, desk: Desk) -> None:
    """The issue: Templater code is never run; what is not understood stays and is counted."""
    desk.put({PERIODIC: json.dumps({"weekly": {"template": "T"}}), "T.md": "{{monday:DD}} {{date:LL}} <% x %>"})
    made = await caller.facts("create_daily_note", period="weekly")
    assert desk.bytes_of("2026-W10.md") == b"02 {{date:LL}} <% x %>"
    assert made["template"] == "T"
    assert str(made["notice"]).startswith("1 placeholder of the template was left as written")
    assert "are not run here" in str(made["notice"])


async def test_the_token_that_is_not_understood_is_named(caller: Caller, desk: Desk) -> None:
    """Complaint 42."""
    desk.put({CORE: json.dumps({"format": "Journal/YYYY/MMM"})})
    for tool, more in (("get_daily_note", {}), ("create_daily_note", {}), ("append_daily_note", {"text": "x"})):
        refusal = await caller.refusal(tool, **more)
        assert refusal.startswith("MISCONFIGURED: ")
        assert "'l' is a token that is not understood here" in refusal
    assert [path.name for path in desk.folder.iterdir()] == [".obsidian"]


async def test_today_is_the_owners_day_in_each_tool(tmp_path: Path) -> None:
    """Complaint 43: 23:30 UTC is the next morning in Tokyo, and the next month."""
    desk = desk_in(tmp_path, HeldClock.at("2026-02-28T23:30:00", zone="Asia/Tokyo"))
    async with calling(desk.room, daily.SPECS) as caller:
        assert "[2026-03-01.md | not there]" in await caller.text("get_daily_note")
        assert (await caller.facts("create_daily_note", period="monthly"))["path"] == "2026-03.md"
        assert (await caller.facts("append_daily_note", text="x"))["line"] == "- 08:30 x"
