"""Where daily and periodic notes belong, by the settings that Obsidian and its plugins keep in the vault."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from service.vault import daily, periods
from service.vault.periods import CALENDAR, CORE, PERIODIC, Period
from tests.support.desk import Desk

DAY = date(2026, 3, 1)
CORE_LIST = ".obsidian/core-plugins.json"
LIST = ".obsidian/community-plugins.json"
APP = ".obsidian/app.json"
P = {"daily": {"enabled": True, "folder": "P"}}


def path(desk: Desk, period: Period = Period.DAILY, on: date = DAY) -> str:
    return str(daily.place(desk.vault, on, period).path)


def put(desk: Desk, settings: dict[str, object]) -> None:
    desk.put({name: json.dumps(value) for name, value in settings.items()})


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, "2026-03-01.md"),
        ({CORE: {"folder": "Journal"}}, "Journal/2026-03-01.md"),
        ({CORE: {"folder": "/🖊️ journal/"}}, "🖊️ journal/2026-03-01.md"),
        ({CORE: {"format": "YYYY/MM/YYYY-MM-DD"}}, "2026/03/2026-03-01.md"),
        ({CORE: {"format": "[Journal of ]DD.MM.YYYY"}}, "Journal of 01.03.2026.md"),
        ({CORE: {"format": "YYYYMMDD"}}, "20260301.md"),
        ({CORE: {"format": "YYYY-MM-DD[.md]"}}, "2026-03-01.md"),
        ({PERIODIC: P}, "P/2026-03-01.md"),
        ({PERIODIC: {"daily": {"enabled": False, "folder": "P"}}}, "2026-03-01.md"),
        ({CORE: {"folder": "C"}, PERIODIC: P}, "C/2026-03-01.md"),
        ({CORE: {}, PERIODIC: P}, "P/2026-03-01.md"),
        ({CORE: {"folder": 7}}, "2026-03-01.md"),
        ({CORE: ["folder"]}, "2026-03-01.md"),
        ({CORE: {"folder": "C"}, PERIODIC: P, CORE_LIST: {"daily-notes": False}}, "P/2026-03-01.md"),
        ({CORE: {"folder": "C"}, PERIODIC: P, CORE_LIST: {"daily-notes": True}}, "C/2026-03-01.md"),
        ({CORE: {"folder": "C"}, PERIODIC: P, CORE_LIST: ["graph"]}, "P/2026-03-01.md"),
        ({CORE: {"folder": "C"}, CORE_LIST: {"daily-notes": False}}, "C/2026-03-01.md"),
        ({PERIODIC: P, LIST: ["dataview"]}, "2026-03-01.md"),
        ({PERIODIC: P, LIST: ["periodic-notes"]}, "P/2026-03-01.md"),
    ],
)
def test_the_vaults_own_settings_say_where(desk: Desk, settings: dict[str, object], expected: str) -> None:
    """contract.md, daily: core Daily notes, else Periodic Notes, else the root."""
    put(desk, settings)
    assert path(desk) == expected


@pytest.mark.parametrize(
    ("period", "expected"),
    [
        (Period.DAILY, "2026-03-01.md"),
        (Period.WEEKLY, "2026-W10.md"),
        (Period.MONTHLY, "2026-03.md"),
        (Period.QUARTERLY, "2026-Q1.md"),
        (Period.YEARLY, "2026.md"),
    ],
)
def test_without_settings_notes_are_named_as_periodic_notes_names_them(
    desk: Desk, period: Period, expected: str
) -> None:
    """Periodic Notes, src/constants.ts; 2026-03-01 is a Sunday, on which a week begins in `en`."""
    assert path(desk, period) == expected


SETS = {
    "activeCalendarSet": "Work",
    "calendarSets": [
        {"id": "Default", "week": {"enabled": True, "folder": "D"}},
        {
            "id": "Work",
            "day": {"enabled": True, "folder": "W", "templatePath": "T"},
            "week": {"enabled": True, "folder": "W"},
        },
    ],
    "weekly": {"enabled": True, "folder": "old"},
}


@pytest.mark.parametrize(
    ("settings", "period", "expected"),
    [
        (
            {PERIODIC: {"weekly": {"enabled": True, "format": "GGGG-[W]WW", "folder": "w"}}},
            Period.WEEKLY,
            "w/2026-W09.md",
        ),
        ({PERIODIC: {"monthly": {"enabled": True, "format": "YYYY/MM MMM"}}}, Period.MONTHLY, "2026/03 Mar.md"),
        ({PERIODIC: {"quarterly": {"enabled": True, "folder": "q"}}}, Period.QUARTERLY, "q/2026-Q1.md"),
        ({PERIODIC: {"yearly": {"enabled": True, "format": "[Year] YYYY"}}}, Period.YEARLY, "Year 2026.md"),
        ({PERIODIC: {"weekly": {"enabled": False, "folder": "w"}}}, Period.WEEKLY, "2026-W10.md"),
        ({PERIODIC: SETS}, Period.WEEKLY, "W/2026-W10.md"),
        ({PERIODIC: {**SETS, "activeCalendarSet": "Gone"}}, Period.WEEKLY, "D/2026-W10.md"),
        ({PERIODIC: SETS}, Period.MONTHLY, "2026-03.md"),
        ({PERIODIC: {"calendarSets": "odd", "weekly": ["odd"]}}, Period.WEEKLY, "2026-W10.md"),
        ({CALENDAR: {"weeklyNoteFolder": "c", "weeklyNoteFormat": "gggg ww"}}, Period.WEEKLY, "c/2026 10.md"),
        ({CALENDAR: {"weeklyNoteFolder": "c"}, LIST: []}, Period.WEEKLY, "2026-W10.md"),
        ({CORE: {"folder": "C", "format": "DD"}}, Period.WEEKLY, "2026-W10.md"),
    ],
)
def test_periodic_notes_and_calendar_say_where(
    desk: Desk, settings: dict[str, object], period: Period, expected: str
) -> None:
    """Both forms of Periodic Notes' settings (0.0.17; 1.0 beta, src/settings/index.ts), and Calendar's weekly notes."""
    put(desk, settings)
    assert path(desk, period) == expected


def test_settings_that_are_no_json_are_passed_over(desk: Desk) -> None:
    """contract.md, daily."""
    desk.put({CORE: "{not json", PERIODIC: b'\xef\xbb\xbf{"daily": {"folder": "P"}}', CALENDAR: "[" * 100_000})
    assert path(desk) == "P/2026-03-01.md"


def test_settings_behind_a_link_are_not_followed(desk: Desk, tmp_path: Path) -> None:
    """guards.md 2.3: no link is followed."""
    (tmp_path / "elsewhere.json").write_text('{"folder": "Elsewhere"}', encoding="utf-8")
    (desk.folder / ".obsidian").mkdir()
    (desk.folder / CORE).symlink_to(tmp_path / "elsewhere.json")
    assert path(desk) == "2026-03-01.md"


@pytest.mark.parametrize("pattern", ["gggg-[W]ww", "GGGG-[W]WW", "YYYY-MM-DD", "YYYY-[W]WW"])
def test_all_days_of_a_week_have_one_note(desk: Desk, pattern: str) -> None:
    """Periodic Notes makes the note of the week's first day; a format with days in it must not make seven notes."""
    put(desk, {PERIODIC: {"weekly": {"format": pattern}}})
    begins = 1 if "WW" in pattern else 0
    week = [date.fromordinal(date(2026, 12, 27).toordinal() + begins + more) for more in range(7)]
    assert len({path(desk, Period.WEEKLY, day) for day in week}) == 1
    assert path(desk, Period.WEEKLY, week[0]) != path(desk, Period.WEEKLY, date.fromordinal(week[0].toordinal() - 1))


@pytest.mark.parametrize(
    ("settings", "locale", "expected"),
    [
        ({}, "", "2026-W10 March 1st.md"),
        ({}, "en-gb", "2026-W09 February 23rd.md"),
        ({}, "de", "2026-W09 Februar 23..md"),
        ({APP: {"localeOverride": "fr"}}, "", "2026-W09 février 23.md"),
        ({APP: {"localeOverride": "fr"}}, "de", "2026-W09 Februar 23..md"),
        (
            {APP: {"localeOverride": "system-default"}, CALENDAR: {"localeOverride": "nb"}},
            "",
            "2026-W09 februar 23..md",
        ),
        ({CALENDAR: {"localeOverride": "tlh", "weekStart": "monday"}}, "", "2026-W09 February 23rd.md"),
        ({CALENDAR: {"weekStart": "locale"}}, "", "2026-W10 March 1st.md"),
        ({CALENDAR: {"weekStart": "sunday"}}, "de", "2026-W10 März 1..md"),
        ({CALENDAR: {"weekStart": "monday"}, LIST: ["periodic-notes"]}, "", "2026-W10 March 1st.md"),
    ],
)
def test_the_language_decides_weeks_and_names(
    desk: Desk, settings: dict[str, object], locale: str, expected: str
) -> None:
    """The owner's setting, else what the vault tells; Calendar's first day of the week holds for all of Obsidian."""
    put(desk, {PERIODIC: {"weekly": {"format": "gggg-[W]ww MMMM Do"}}, **settings})
    desk.room = replace(desk.room, vault=replace(desk.vault, locale=locale))
    assert path(desk, Period.WEEKLY) == expected


def test_the_names_of_core_placeholders_are_those_of_the_templates_plugin(desk: Desk) -> None:
    """Obsidian help, Templates: `{{date}}` has the date format of that plugin, YYYY-MM-DD if none is set."""
    put(desk, {CORE: {"format": "DD"}, ".obsidian/templates.json": {"dateFormat": "D.M.", "timeFormat": "H"}})
    kept = periods.kept(desk.vault, Period.DAILY)
    assert (kept.pattern, kept.date_pattern, kept.time_pattern) == ("DD", "D.M.", "H")
