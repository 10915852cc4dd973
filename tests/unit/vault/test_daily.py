"""The note of a day: where it belongs, and one more line in it."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from service.errors import BadArgument, Misconfigured, NotText
from service.vault import daily
from service.vault.model import Change
from tests.support.clock import HeldClock
from tests.support.desk import Desk, desk_in

DAY = date(2026, 3, 1)
CORE = ".obsidian/daily-notes.json"
PERIODIC = ".obsidian/plugins/periodic-notes/data.json"


def append(desk: Desk, text: str, on: date = DAY) -> daily.Appended:
    return daily.append(desk.vault, desk.actor, text, on)


def test_a_missing_daily_note_is_made_and_gets_the_line(desk: Desk) -> None:
    """contract.md, append_daily_note."""
    done = append(desk, " water the garden\n")
    assert desk.bytes_of("2026-03-01.md") == b"- 12:00 water the garden\n"
    assert (done.created, done.line, done.line_number) == (True, "- 12:00 water the garden", 1)
    assert desk.told == [Change(done.written.path, None, b"- 12:00 water the garden\n")]


@pytest.mark.parametrize(
    ("before", "after", "number"),
    [
        (b"# Day", b"# Day\n- 12:00 x\n", 2),
        (b"# Day\n\n", b"# Day\n\n- 12:00 x\n", 3),
        (b"# Day\r\n- a\r\n", b"# Day\r\n- a\r\n- 12:00 x\r\n", 3),
        (b"\xef\xbb\xbf", b"\xef\xbb\xbf- 12:00 x\n", 1),
    ],
)
def test_the_line_stands_by_itself_at_the_end(desk: Desk, before: bytes, after: bytes, number: int) -> None:
    """ancestors.md 1.1: a note without a last line end glued the bullet to its last line."""
    desk.put({"2026-03-01.md": before})
    done = append(desk, "x")
    assert desk.bytes_of("2026-03-01.md") == after
    assert (done.created, done.line_number) == (False, number)
    assert desk.told == [Change(done.written.path, before, after)]


def test_further_lines_stay_in_the_list_item(desk: Desk) -> None:
    """ancestors.md 1.1: inner line breaks ended the item."""
    done = append(desk, "first\r\nsecond\n\n- nested")
    assert desk.bytes_of("2026-03-01.md") == b"- 12:00 first\n  second\n\n  - nested\n"
    assert done.line == "- 12:00 first"


@pytest.mark.parametrize("nothing", ["", "  \n\t"])
def test_appending_nothing_is_refused(desk: Desk, nothing: str) -> None:
    """Complaint 28."""
    with pytest.raises(BadArgument):
        append(desk, nothing)
    assert list(desk.folder.iterdir()) == []


def test_a_daily_note_that_is_no_utf8_is_not_changed(desk: Desk) -> None:
    """Complaint 20."""
    desk.put({"2026-03-01.md": b"caf\xe9"})
    with pytest.raises(NotText):
        append(desk, "x")


@pytest.mark.parametrize(
    ("settings", "path"),
    [
        ({}, "2026-03-01.md"),
        ({CORE: {"folder": "Journal"}}, "Journal/2026-03-01.md"),
        ({CORE: {"folder": "/🖊️ journal/"}}, "🖊️ journal/2026-03-01.md"),
        ({CORE: {"format": "YYYY/MM/YYYY-MM-DD"}}, "2026/03/2026-03-01.md"),
        ({CORE: {"format": "[Journal of ]DD.MM.YYYY"}}, "Journal of 01.03.2026.md"),
        ({CORE: {"format": "YYYYMMDD"}}, "20260301.md"),
        ({PERIODIC: {"daily": {"enabled": True, "folder": "P"}}}, "P/2026-03-01.md"),
        ({PERIODIC: {"daily": {"enabled": False, "folder": "P"}}}, "2026-03-01.md"),
        ({CORE: {"folder": "C"}, PERIODIC: {"daily": {"enabled": True, "folder": "P"}}}, "C/2026-03-01.md"),
        ({CORE: {}, PERIODIC: {"daily": {"enabled": True, "folder": "P"}}}, "P/2026-03-01.md"),
        ({CORE: {"folder": 7}}, "2026-03-01.md"),
        ({CORE: ["folder"]}, "2026-03-01.md"),
    ],
)
def test_the_vaults_own_settings_say_where(desk: Desk, settings: dict[str, object], path: str) -> None:
    """contract.md, daily: core Daily notes, else Periodic Notes, else the root."""
    desk.put({name: json.dumps(value) for name, value in settings.items()})
    assert str(daily.place(desk.vault, DAY).path) == path


def test_settings_that_are_no_json_are_passed_over(desk: Desk) -> None:
    """contract.md, daily."""
    desk.put({CORE: "{not json", PERIODIC: '{"daily": {"folder": "P"}}'})
    assert str(daily.place(desk.vault, DAY).path) == "P/2026-03-01.md"


@pytest.mark.parametrize(
    "moment", ["YYYY-MM-Do", "dddd", "YYYY-MMM-DD", "gggg-[W]ww", "YYYY-MM-DDDD", "Journal/YYYY", "[open"]
)
def test_a_format_that_is_not_understood_is_refused_rather_than_written_wrong(desk: Desk, moment: str) -> None:
    """Complaint 42."""
    desk.put({CORE: json.dumps({"format": moment})})
    with pytest.raises(Misconfigured, match="append_to_note"):
        append(desk, "x")
    assert [path.name for path in desk.folder.iterdir()] == [".obsidian"]


@pytest.mark.parametrize(
    ("folder", "code"), [("../out", "INVALID_PATH"), (".obsidian", "HIDDEN_PATH"), ("a//b", "INVALID_PATH")]
)
def test_hostile_settings_lead_nowhere(desk: Desk, folder: str, code: str) -> None:
    """Complaint 36: the daily folder too."""
    desk.put({CORE: json.dumps({"folder": folder})})
    with pytest.raises(Misconfigured, match=rf"the vault's own settings .*{code}: .*ask the owner"):
        append(desk, "x")
    assert [path.name for path in desk.folder.iterdir()] == [".obsidian"]


def test_settings_behind_a_link_are_not_followed(desk: Desk, tmp_path: Path) -> None:
    """guards.md 2.3: no link is followed."""
    (tmp_path / "elsewhere.json").write_text('{"folder": "Elsewhere"}', encoding="utf-8")
    (desk.folder / ".obsidian").mkdir()
    (desk.folder / CORE).symlink_to(tmp_path / "elsewhere.json")
    assert str(daily.place(desk.vault, DAY).path) == "2026-03-01.md"


def test_the_owners_zone_decides_the_day_and_the_time(tmp_path: Path) -> None:
    """Complaint 43: 23:30 UTC is the next morning in Tokyo."""
    desk = desk_in(tmp_path, HeldClock.at("2026-02-28T23:30:00", zone="Asia/Tokyo"))
    done = daily.append(desk.vault, desk.actor, "x", daily.day(desk.vault, ""))
    assert (str(done.written.path), done.line) == ("2026-03-01.md", "- 08:30 x")


def test_a_day_can_be_named(desk: Desk) -> None:
    """contract.md, append_daily_note."""
    assert daily.day(desk.vault, "2024-02-29") == date(2024, 2, 29)
    assert daily.day(desk.vault, "0999-01-02") == date(999, 1, 2)
    done = append(desk, "x", daily.day(desk.vault, "0999-01-02"))
    assert str(done.written.path) == "0999-01-02.md"


@pytest.mark.parametrize(
    "wrong", ["2026-02-29", "2026-3-1", "20260301", "2026-W09-7", "tomorrow", "2026-13-01", "٢٠٢٦-٠٣-٠١"]
)
def test_what_is_no_day_is_refused(desk: Desk, wrong: str) -> None:
    """contract.md, day."""
    with pytest.raises(BadArgument, match="YYYY-MM-DD"):
        daily.day(desk.vault, wrong)


def test_a_template_that_was_not_applied_is_told_when_the_note_is_made(desk: Desk) -> None:
    """Our decision until templates are rendered: nothing is left out in silence."""
    desk.put({CORE: json.dumps({"template": "Templates/Daily"})})
    assert append(desk, "x").template == "Templates/Daily"
    assert append(desk, "y").template == ""


def test_a_daily_folder_stored_decomposed_is_used(desk: Desk) -> None:
    """Complaint 37."""
    desk.put({CORE: json.dumps({"folder": "Ta\u0308glich"}), "Ta\u0308glich/2026-03-01.md": "a\n"})
    assert append(desk, "x").created is False
    assert desk.bytes_of("Ta\u0308glich/2026-03-01.md") == b"a\n- 12:00 x\n"
