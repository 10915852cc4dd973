"""The note of a day: where it belongs, and one more line in it."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import date
from pathlib import Path

import pytest

from service.errors import BadArgument, Misconfigured, NoteExists, NotText
from service.guards.paths import VaultPath
from service.store.files import FileContent, Permit
from service.vault import daily
from service.vault.model import Change
from service.vault.periods import Period
from tests.support.clock import HeldClock
from tests.support.desk import Desk, desk_in

DAY = date(2026, 3, 1)
CORE = ".obsidian/daily-notes.json"


def append(desk: Desk, text: str, on: date = DAY) -> daily.Appended:
    return daily.append(desk.vault, desk.actor, text, daily.place(desk.vault, on))


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
    "moment", ["YYYY-MM-DD LL", "YYYY-MM-DD e", "Journal/YYYY", "Daily/YYYY-MM-DD", "YYYYY", "[open", "Month MM"]
)
def test_a_format_that_is_not_understood_is_refused_rather_than_written_wrong(desk: Desk, moment: str) -> None:
    """Complaint 42."""
    desk.put({CORE: json.dumps({"format": moment})})
    with pytest.raises(Misconfigured, match=r"brackets, such as \[Journal\].*append_to_note"):
        append(desk, "x")
    assert [path.name for path in desk.folder.iterdir()] == [".obsidian"]


def test_a_format_with_folders_makes_them(desk: Desk) -> None:
    """Complaint 42: `YYYY/MM-MMMM/YYYY-MM-DD-dddd`."""
    desk.put({CORE: json.dumps({"folder": "Journal", "format": "YYYY/MM-MMMM/YYYY-MM-DD-dddd"})})
    append(desk, "x")
    assert desk.bytes_of("Journal/2026/03-March/2026-03-01-Sunday.md") == b"- 12:00 x\n"


@pytest.mark.parametrize(
    ("folder", "code"), [("../out", "INVALID_PATH"), (".obsidian", "HIDDEN_PATH"), ("a//b", "INVALID_PATH")]
)
def test_hostile_settings_lead_nowhere(desk: Desk, folder: str, code: str) -> None:
    """Complaint 36: the daily folder too."""
    desk.put({CORE: json.dumps({"folder": folder})})
    with pytest.raises(Misconfigured, match=rf"the vault's own settings .*{code}: .*ask the owner"):
        append(desk, "x")
    assert [path.name for path in desk.folder.iterdir()] == [".obsidian"]


def test_the_owners_zone_decides_the_day_and_the_time(tmp_path: Path) -> None:
    """Complaint 43: 23:30 UTC is the next morning in Tokyo."""
    desk = desk_in(tmp_path, HeldClock.at("2026-02-28T23:30:00", zone="Asia/Tokyo"))
    done = append(desk, "x", daily.day(desk.vault, ""))
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


def test_a_daily_folder_stored_decomposed_is_used(desk: Desk) -> None:
    """Complaint 37."""
    desk.put({CORE: json.dumps({"folder": "Ta\u0308glich"}), "Ta\u0308glich/2026-03-01.md": "a\n"})
    assert append(desk, "x").created is False
    assert desk.bytes_of("Ta\u0308glich/2026-03-01.md") == b"a\n- 12:00 x\n"


@pytest.mark.parametrize(
    ("words", "written"),
    [
        ("- [ ] x", "- [ ] 12:00 x\n"),
        ("- [x] x ✅ 2026-03-01", "- [x] 12:00 x ✅ 2026-03-01\n"),
        ("-  [ ]   x", "- [ ] 12:00 x\n"),
        ("- [ ]", "- [ ] 12:00\n"),
        ("- x", "- 12:00 x\n"),
        ("* x", "* 12:00 x\n"),
        ("1. [ ] x\nmore", "1. [ ] 12:00 x\n   more\n"),
        ("- a\n- b\n  - c\n\n- d", "- 12:00 a\n- b\n  - c\n\n- d\n"),
        ("- a\nplain\n- b", "- 12:00 a\n  plain\n  - b\n"),
        ("- [[link]] x", "- 12:00 [[link]] x\n"),
        ("- [ok] x", "- 12:00 [ok] x\n"),
        ("-x", "- 12:00 -x\n"),
        ("2026. was good", "- 12:00 2026. was good\n"),
        ("# x", "- 12:00 # x\n"),
    ],
)
def test_what_is_an_item_or_a_task_already_stays_one(desk: Desk, words: str, written: str) -> None:
    """The issue: `- 12:00 - [ ] x` was no task for anybody. Our decision: the time stands behind the marker."""
    assert append(desk, words).line == written.partition("\n")[0]
    assert desk.bytes_of("2026-03-01.md").decode() == written


def test_a_note_is_made_from_the_template_once(desk: Desk) -> None:
    """contract.md, create_daily_note: idempotent."""
    desk.put(
        {CORE: json.dumps({"template": "Templates/Daily"}), "Templates/Daily.md": b"\xef\xbb\xbf# {{title}}\r\n{{x}}"}
    )
    where = daily.place(desk.vault, DAY)
    made = daily.create(desk.vault, desk.actor, where)
    assert desk.bytes_of("2026-03-01.md") == b"# 2026-03-01\r\n{{x}}"
    assert (made.created, made.template, made.written.notice) == (True, "Templates/Daily", "")
    assert desk.told == [Change(made.written.path, None, b"# 2026-03-01\r\n{{x}}")]
    (desk.folder / "2026-03-01.md").write_bytes(b"mine")
    again = daily.create(desk.vault, desk.actor, where)
    assert (again.created, again.written.size_bytes, desk.bytes_of("2026-03-01.md")) == (False, 4, b"mine")
    assert len(desk.told) == 1


def test_a_line_for_a_note_that_is_not_there_comes_behind_the_template(desk: Desk) -> None:
    """contract.md, append_daily_note; the line ends are the template's."""
    desk.put({CORE: json.dumps({"template": "T.md"}), "T.md": b"# {{date}}\r\n<% tp.date.now() %>"})
    done = append(desk, "x")
    assert desk.bytes_of("2026-03-01.md") == b"# 2026-03-01\r\n<% tp.date.now() %>\r\n- 12:00 x\r\n"
    assert (done.created, done.line_number) == (True, 3)
    assert "Templater commands" in done.written.notice
    assert append(desk, "y").written.notice == ""


def test_a_template_that_is_missing_leaves_the_note_empty_and_is_told(desk: Desk) -> None:
    """The issue: an empty note, and said so."""
    desk.put({CORE: json.dumps({"template": "No/Such"})})
    made = daily.create(desk.vault, desk.actor, daily.place(desk.vault, DAY))
    assert desk.bytes_of("2026-03-01.md") == b""
    assert "was not used (NOT_FOUND)" in made.written.notice


def test_a_name_that_is_one_to_many_devices_is_not_taken_for_the_note(desk: Desk) -> None:
    """contract.md, Unicode names; no twin is made."""
    desk.put({CORE: json.dumps({"format": "[Day] YYYY-MM-DD"}), "DAY 2026-03-01.md": "mine"})
    where = daily.place(desk.vault, DAY)
    assert daily.find(desk.vault, where) is None
    with pytest.raises(NoteExists):
        daily.create(desk.vault, desk.actor, where)
    with pytest.raises(NoteExists):
        append(desk, "x")


def test_a_note_that_another_program_makes_meanwhile_gets_the_line(desk: Desk) -> None:
    """Complaint 32: nothing is lost, and nothing comes twice."""
    inner = desk.vault.files.create

    def beaten(path: VaultPath, data: bytes, permit: Permit, mode: int | None = None) -> FileContent:
        (desk.folder / str(path)).write_bytes(b"theirs\n")
        return inner(path, data, permit, mode)

    desk.vault.files.create = beaten  # type: ignore[method-assign]
    done = append(desk, "x")
    assert (done.created, desk.bytes_of("2026-03-01.md")) == (False, b"theirs\n- 12:00 x\n")


@pytest.mark.parametrize("period", list(Period))
@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/St_Johns"])
def test_the_first_and_the_last_day_there_are_have_a_name_or_a_plain_refusal(
    tmp_path: Path, period: Period, zone: str
) -> None:
    """contract.md, day: any real day."""
    desk = desk_in(tmp_path, HeldClock.at("2026-03-01T12:00:00", zone=zone))
    for on in (date.min, date.max):
        with suppress(BadArgument):
            assert str(daily.place(desk.vault, on, period).path).endswith(".md")
