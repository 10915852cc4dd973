"""Which day follows by a recurrence rule: a table of the plugin's own outcomes, and the bounds of the search."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest

from service.vault import recurrence, recurrence_words, task_lines
from service.vault.parts import tasks
from service.vault.parts.task_fields import Kind
from service.vault.recurrence import Rule, Unit
from service.vault.task_settings import TaskSettings

_TABLE = Path(__file__).resolve().parents[2] / "vectors" / "recurrence.tsv"
_NONE = {"none", "no rule"}


@dataclass(frozen=True)
class Row:
    rule: str
    start: str
    scheduled: str
    due: str
    done_on: str
    drops_scheduled: str
    next: str
    source: str

    def __str__(self) -> str:
        return " ".join(filter(None, (self.rule, self.start, self.scheduled, self.due, self.drops_scheduled)))


def _rows() -> list[Row]:
    with _TABLE.open(encoding="utf-8", newline="") as table:
        lines = [line for line in table if not line.startswith("#")]
    return [Row(*row) for row in list(csv.reader(lines, delimiter="\t"))[1:]]


ROWS = _rows()


def test_the_table_has_enough_rules_and_names_a_source_for_each() -> None:
    """The issue: at least 60 rules with the plugin's documented outcomes."""
    assert len({row.rule for row in ROWS}) >= 60
    assert all(row.source for row in ROWS)
    assert sum(row.source.startswith(("help", "tests")) for row in ROWS) >= 30


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_what_follows_is_what_the_plugin_makes_of_it(row: Row) -> None:
    """Each row names its source: the plugin's help or tests, or its algorithm run over rrule.js."""
    signs = (("🛫", row.start), ("⏳", row.scheduled), ("📅", row.due))
    line = "- [ ] t" + f" 🔁 {row.rule}" + "".join(f" {sign} {day}" for sign, day in signs if day)
    [task] = tasks.of(line)
    settings = TaskSettings(drops_scheduled=bool(row.drops_scheduled))
    following = task_lines.following(line, task, settings, date.fromisoformat(row.done_on), date(2030, 1, 1))
    if row.next in _NONE:
        assert following.line is None
        assert (recurrence_words.parse(row.rule) is None) == (row.next == "no rule")
        return
    assert following.line is not None
    [after] = tasks.of(following.line)
    days = [after.value(kind) or "-" for kind in (Kind.START, Kind.SCHEDULED, Kind.DUE)]
    assert " ".join(days) == row.next
    assert after.value(Kind.RECURRENCE) == row.rule.strip()


@pytest.mark.parametrize(
    "words",
    [
        "every month on the 6th Friday",
        "every week on the 32nd",
        "every February on the 30th",
        "every 2 years on the 32nd",
        "every hour on the 32nd",
        "every minute on the 32nd",
        "every year on the 100th",
        "every Monday on the 40th last",
        "every 999999 years",
        "every 1000000 weeks",
    ],
)
def test_a_rule_that_never_comes_true_ends(words: str) -> None:
    """A note from outside may hold any rule, and a change is decided while the writer lock is held."""
    rule = recurrence_words.parse(words)
    assert rule is not None
    assert recurrence.next_day(rule, date(2026, 1, 1)) is None


def test_the_rarest_day_that_a_rule_can_name_is_found() -> None:
    """A leap day on one weekday: over 2100, which is no leap year, forty years lie between two of them."""
    rule = Rule(Unit.YEAR, months=(2,), month_days=(29,), weekdays=((0, date(2088, 2, 29).weekday()),))
    found = recurrence.next_day(rule, date(2088, 2, 29))
    assert found is not None
    assert (found.month, found.day, found.weekday()) == (2, 29, date(2088, 2, 29).weekday())
    assert found.year - 2088 == 40


@pytest.mark.parametrize("day", [date(9999, 12, 31), date(9999, 12, 1), date(1, 1, 1)])
@pytest.mark.parametrize(
    "words", ["every day", "every week", "every month", "every 2 years", "every 5 hours", "every May"]
)
def test_the_ends_of_the_calendar_raise_nothing(words: str, day: date) -> None:
    """Dates of notes are those of whoever wrote them."""
    rule = recurrence_words.parse(words)
    assert rule is not None
    following = recurrence.next_day(rule, day)
    assert following is None or following > day


def test_dates_that_would_leave_the_calendar_have_no_next_task() -> None:
    """A start long before a due date that moves to the first days there are."""
    dates = recurrence.Dates(start=date(9999, 12, 31), due=date(9999, 1, 1))
    assert recurrence.following(Rule(Unit.WEEK), dates, date(2026, 1, 1)) is None


@pytest.mark.parametrize(
    ("words", "first", "expected"),
    [
        ("every day for 1 times", date(2026, 1, 5), None),
        ("every Tuesday for 1 times", date(2026, 1, 5), date(2026, 1, 6)),
        ("every 6 hours for 4 times", date(2026, 1, 5), None),
        ("every 6 hours for 5 times", date(2026, 1, 5), date(2026, 1, 6)),
        ("every week until January 12, 2026", date(2026, 1, 5), date(2026, 1, 12)),
        ("every week until 11 January 2026", date(2026, 1, 5), None),
        ("every week til Jan 12 2026", date(2026, 1, 5), date(2026, 1, 12)),
    ],
)
def test_a_rule_may_come_to_its_end(words: str, first: date, expected: date | None) -> None:
    """rrule.js counts from the reference date; the day that `until` names is the last, in every zone (obsidian-tasks#1818)."""
    rule = recurrence_words.parse(words)
    assert rule is not None
    assert recurrence.next_day(rule, first) == expected


@pytest.mark.parametrize(
    "words",
    [
        "",
        "every week until 2026",
        "every day for times",
        "every week on week",
        "every Monday,",
        "every Monday and 3",
        "every May or 3",
        "every day at noon",
        "every month on the 367th",
        "every 1000001 days",
        "every " + "week " * 200,
    ],
)
def test_words_that_are_no_rule_for_rrule_are_none_here(words: str) -> None:
    """src/nlp/parsetext.ts throws for these; the last two are bounds of ours."""
    assert recurrence_words.parse(words) is None


def test_weeks_of_the_year_are_those_of_iso_8601() -> None:
    """rrule.js, byweekno."""
    rule = recurrence_words.parse("every year on week 7, 9")
    assert rule is not None
    assert rule.weeks == (7, 9)
    assert recurrence.next_day(rule, date(2026, 2, 15)) == date(2026, 2, 23)
