"""What a new note begins with: placeholders as Obsidian's core and Periodic Notes fill them, every other byte as it is."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.guards.trust import LowTrust
from service.vault import daily, locales, periods, templates
from service.vault.periods import CORE, Kept, Period
from service.vault.templates import Occasion
from tests.support.desk import Desk

ZONE = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 3, 4, 9, 5, 7, tzinfo=ZONE)


def occasion(period: Period = Period.DAILY, day: date = date(2026, 3, 1), pattern: str = "") -> Occasion:
    pattern = pattern or periods.PATTERNS[period]
    return Occasion(period, Kept("", pattern, "T", pattern, "HH:mm"), day, "the name", NOW, ZONE, locales.of("en"))


@pytest.mark.parametrize(
    ("template", "written"),
    [
        ("# {{title}}", "# the name"),
        ("{{date}} {{time}}", "2026-03-01 09:05"),
        ("{{ Date }}{{TIME}}", "2026-03-0109:05"),
        ("{{date:dddd, Do MMMM YYYY}}", "Sunday, 1st March 2026"),
        ("{{time:YYYY-MM-DDTHH:mm:ssZ}}", "2026-03-01T09:05:07+01:00"),
        ("{{date: [W]ww }}", "W10"),
        ("[[{{yesterday}}]] [[{{tomorrow}}]]", "[[2026-02-28]] [[2026-03-02]]"),
        ("{{date+1d}} {{date-1w:DD}} {{date+1M:MM}}", "2026-03-02 22 04"),
        ("{{date +1y :YYYY}} {{date+1Q:MM}}", "2027 06"),
        ("{{time+90m:HH:mm}} {{time-10h:DD HH}} {{time+1s:ss}}", "10:35 28 23 08"),
        ("{{date-1M:MM-DD}}", "02-01"),
    ],
)
def test_placeholders_are_filled_as_the_plugins_fill_them(template: str, written: str) -> None:
    """Obsidian help, Templates; obsidian-daily-notes-interface, src/daily.ts; Periodic Notes, src/utils.ts."""
    begun = templates.filled(template, occasion())
    assert (begun.text, begun.told) == (written, ())


@pytest.mark.parametrize(
    ("template", "told"),
    [
        ("{{unknown}} {{ }} {{date", 0),
        ("{{title:YYYY}} {{yesterday:DD}}", 0),
        ("{{monday:DD}} {{month:MM}} {{year:YYYY}}", 0),
        ("{{date:LL}}", 1),
        ("{{date:Week ww}} {{date+1q}} {{date+1D}}", 3),
        ("{{date+999999y}}", 1),
        ("{{date\n:YYYY\n}}", 0),
    ],
)
def test_what_is_no_placeholder_or_not_understood_stays(template: str, told: int) -> None:
    """The issue: unknown placeholders are left as they are; `q` and `D` do nothing in moment's `add`."""
    begun = templates.filled(template, occasion())
    assert begun.text == template
    assert [sentence.partition(" ")[0] for sentence in begun.told] == ([str(told)] if told else [])


@pytest.mark.parametrize(
    ("period", "day", "pattern", "template", "written"),
    [
        (Period.WEEKLY, date(2026, 3, 1), "", "{{sunday:DD}} {{monday:DD}} {{saturday:MM-DD}}", "01 02 03-07"),
        (Period.WEEKLY, date(2026, 3, 2), "GGGG-[W]WW", "{{monday:DD}} {{Sunday: MM-DD }}", "02 03-08"),
        (
            Period.WEEKLY,
            date(2026, 3, 1),
            "",
            "{{monday}} {{yesterday}} {{title}}",
            "{{monday}} {{yesterday}} the name",
        ),
        (Period.MONTHLY, date(2026, 3, 1), "", "{{month:MMMM}} {{month-1M}} {{date}}", "March 2026-02 2026-03"),
        (Period.QUARTERLY, date(2026, 1, 1), "", "{{quarter:Qo}} {{quarter+1Q}}", "1st 2026-Q2"),
        (Period.YEARLY, date(2026, 1, 1), "", "{{year}} {{year+1y:YYYY}}", "2026 2027"),
    ],
)
def test_each_period_has_placeholders_of_its_own(
    period: Period, day: date, pattern: str, template: str, written: str
) -> None:
    """Periodic Notes, src/utils.ts, applyTemplateTransformations."""
    assert templates.filled(template, occasion(period, day, pattern)).text == written


def test_code_of_templater_is_left_and_told_of() -> None:
    """The issue: never run, stays literally."""
    begun = templates.filled("<%* await tp.system.prompt('x') %> {{date}}", occasion())
    assert begun.text == "<%* await tp.system.prompt('x') %> 2026-03-01"
    assert "are not run" in begun.told[0]


@given(st.text(st.sampled_from("{}:date timeYMD+1-[]\r\n<%ü\u200b"), max_size=80))
def test_what_lies_outside_of_placeholders_is_never_changed(template: str) -> None:
    """A person's bytes: with the placeholders taken out, both texts are the same."""
    begun = templates.filled(template, occasion())
    parts = templates._PLACEHOLDER.split(template)[:: templates._PLACEHOLDER.groups + 1]
    at = 0
    for part in parts:
        at = begun.text.index(part, at) + len(part)
    assert begun.text.startswith(parts[0])
    assert begun.text.endswith(parts[-1])


@pytest.mark.parametrize(
    ("asked", "found"),
    [("Templates/Daily", True), ("Templates/Daily.md", True), ("/Templates/Daily", True), ("Daily", True), ("daily", True),
     ("Ta\u0308glich", True), ("No", False), ("../secret", False), (".obsidian/x", False), ("Templates", False), ("/", False),
     ("Latin", False), ("Link", False), ("Pipe", False), ("Clippings/C", False), ("C", False)],
)  # fmt: skip
def test_a_template_is_found_as_obsidian_finds_it_and_only_in_the_vault(desk: Desk, asked: str, found: bool) -> None:
    """Complaint 36, guards.md 2.3; by name alone the shortest path wins, and text from outside is no template."""
    desk.put(
        {
            CORE: json.dumps({"template": asked}),
            "Templates/Daily.md": "body",
            "a/b/Daily.md": "other",
            "T\u00e4glich.md": "body",
            "Latin.md": b"caf\xe9",
            "Clippings/C.md": "from outside",
        }
    )
    (desk.folder.parent / "secret.md").write_text("secret")
    (desk.folder / "Link.md").symlink_to(desk.folder.parent / "secret.md")
    os.mkfifo(desk.folder / "Pipe.md")
    desk.room = replace(desk.room, vault=replace(desk.vault, low_trust=LowTrust.of(("Clippings",))))
    made = daily.create(desk.vault, desk.actor, daily.place(desk.vault, date(2026, 3, 1)))
    assert desk.bytes_of("2026-03-01.md") == (b"body" if found else b"")
    assert ("not used" in made.written.notice) == (not found and asked != "/")


def test_a_long_template_that_closes_no_placeholder_is_read_to_its_end() -> None:
    """Each is looked at for 200 characters at the most, so the time is in proportion to the length."""
    template = "{{date:" * 200_000 + "{{ title" * 200_000
    assert templates.filled(template, occasion()).text == template
