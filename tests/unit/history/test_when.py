"""Times as people write them. Source: issue 2 (`--at` takes ISO times, "2 days ago", "yesterday 18:00")."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from service.errors import BadArgument
from service.history import when
from service.history.when import Edge
from tests.support.clock import HeldClock

NOON = HeldClock.at("2026-03-18T11:30:15", "Europe/Berlin")
"""A Wednesday, 12:30:15 in Berlin."""

CASES = {
    "now": "2026-03-18T12:30:15+01:00",
    "  Now ": "2026-03-18T12:30:15+01:00",
    "2 days ago": "2026-03-16T12:30:15+01:00",
    "two days ago": "2026-03-16T12:30:15+01:00",
    "a week ago": "2026-03-11T12:30:15+01:00",
    "90 minutes ago": "2026-03-18T11:00:15+01:00",
    "an hour ago": "2026-03-18T11:30:15+01:00",
    "30s ago": "2026-03-18T12:29:45+01:00",
    "5m ago": "2026-03-18T12:25:15+01:00",
    "3 months ago": "2025-12-18T12:30:15+01:00",
    "1 year ago": "2025-03-18T12:30:15+01:00",
    "2 days ago at 18:00": "2026-03-16T18:00:00+01:00",
    "2 days ago 6pm": "2026-03-16T18:00:00+01:00",
    "today 9:00": "2026-03-18T09:00:00+01:00",
    "yesterday 18:00": "2026-03-17T18:00:00+01:00",
    "yesterday at 6:30 pm": "2026-03-17T18:30:00+01:00",
    "yesterday noon": "2026-03-17T12:00:00+01:00",
    "today midnight": "2026-03-18T00:00:00+01:00",
    "9am": "2026-03-18T09:00:00+01:00",
    "12am": "2026-03-18T00:00:00+01:00",
    "12pm": "2026-03-18T12:00:00+01:00",
    "7:05": "2026-03-18T07:05:00+01:00",
    "monday 9am": "2026-03-16T09:00:00+01:00",
    "wednesday 9:00": "2026-03-18T09:00:00+01:00",
    "last wednesday 9:00": "2026-03-11T09:00:00+01:00",
    "thursday 9:00": "2026-03-12T09:00:00+01:00",
    "2026-02-01 18:00": "2026-02-01T18:00:00+01:00",
    "2026-02-01T18:00": "2026-02-01T18:00:00+01:00",
    "2026-02-01T18:00:30": "2026-02-01T18:00:30+01:00",
    "2026-02-01T18:00:30.250": "2026-02-01T18:00:30.250+01:00",
    "2026-02-01T18:00Z": "2026-02-01T18:00:00+00:00",
    "2026-02-01T18:00:30-05:30": "2026-02-01T18:00:30-05:30",
    "2026-02-01 18:00 +0200": "2026-02-01T18:00:00+02:00",
    "2025-07-01 18:00": "2025-07-01T18:00:00+02:00",
    "@1767225600": "2026-01-01T00:00:00+00:00",
}


@pytest.mark.parametrize("text", CASES)
def test_a_time_is_read_in_the_owners_zone(text: str) -> None:
    assert when.resolve(text, NOON) == datetime.fromisoformat(CASES[text])
    assert when.resolve(text, NOON).tzinfo is UTC


@pytest.mark.parametrize("text", ["2026-02-01", "yesterday", "today", "monday"])
def test_a_day_without_a_time_means_its_end_for_a_state_and_its_beginning_for_a_list(text: str) -> None:
    begin, end = when.resolve(text, NOON, Edge.START), when.resolve(text, NOON, Edge.END)
    assert begin.astimezone(NOON.zone).strftime("%H:%M:%S") == "00:00:00"
    assert end.astimezone(NOON.zone).strftime("%H:%M:%S") == "23:59:59"


def test_days_are_the_calendars_when_the_clocks_change() -> None:
    """Berlin, 2026-03-29: the day has 23 hours. "1 day ago" is the same time yesterday, "24 hours ago" is not."""
    after = HeldClock.at("2026-03-29T16:00:00", "Europe/Berlin")
    assert when.resolve("1 day ago", after).isoformat() == "2026-03-28T17:00:00+00:00"
    assert when.resolve("24 hours ago", after).isoformat() == "2026-03-28T16:00:00+00:00"


def test_a_month_that_is_too_short_gives_its_last_day() -> None:
    march = HeldClock.at("2026-03-31T12:00:00")
    assert when.resolve("1 month ago", march).date().isoformat() == "2026-02-28"


NONSENSE = (
    "", "soon", "whenever", "2 fortnights ago", "days ago", "2026-02-30", "2026-13-01", "25:00", "13pm", "yesterday 99:99",
    "0am", "2026-02-01T18:00+99:00", "999999 years ago", "-3 days ago", "ago", "x" * 200, "2026-02-01; rm -rf /", "@",
    "5 minutes ago at 18:00", "18", "９９９９99 months ago", "²:00",
)  # fmt: skip


@pytest.mark.parametrize("text", NONSENSE)
def test_what_cannot_be_read_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(BadArgument, match="write it like 2026-05-01"):
        when.resolve(text, NOON)
