"""`--at TIME` on a machine whose clock was wrong for a while. Source: a board without a clock of its own, after a power cut."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.history.moments import current_at
from tests.support.timeline import Timeline

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def at(minutes: int) -> datetime:
    return NOON + timedelta(minutes=minutes)


BEHIND = [-30, 0, -43, 120]  # the last hour is lost at a restart, until the network tells the time
AHEAD = [-60, 2_000_000, 0, 30]  # years ahead, then set right
YEARS_BEHIND = [-60, 0, -29_000_000, 60, 90]


@pytest.mark.parametrize(
    ("times", "asked", "expected"),
    [
        (BEHIND, -20, 0),
        (BEHIND, 60, 2),
        (BEHIND, 121, 3),
        (AHEAD, -30, 0),
        (AHEAD, 10, 2),
        (AHEAD, 40, 3),
        (YEARS_BEHIND, -30, 0),
        (YEARS_BEHIND, 30, 2),
        (YEARS_BEHIND, 61, 3),
        ([0], -1, None),
        ([], 0, None),
    ],
)
def test_a_commit_with_a_wrong_time_is_not_taken_for_an_older_state(
    times: list[int], asked: int, expected: int | None
) -> None:
    newest_first = [at(minutes) for minutes in reversed(times)]
    place = current_at(at(asked), newest_first)
    assert place == (None if expected is None else len(times) - 1 - expected)


@given(st.lists(st.integers(0, 50)), st.integers(-1, 51))
def test_with_a_right_clock_it_is_the_newest_that_is_not_later(minutes: list[int], asked: int) -> None:
    newest_first = [at(minute) for minute in sorted(minutes, reverse=True)]
    expected = next((place for place, time in enumerate(newest_first) if time <= at(asked)), None)
    assert current_at(at(asked), newest_first) == expected


def test_the_state_of_before_a_restart_in_the_past_is_found(line: Timeline) -> None:
    began = line.clock.now()
    for number, minutes in enumerate((0, 30, -13, 120)):
        line.clock.move(began + timedelta(minutes=minutes) - line.clock.now())
        line.put("a.md", f"{number}\n")
        line.commit()
    log = line.history.log
    told = [log.read("a.md", log.as_of(began + timedelta(minutes=minutes))).data for minutes in (15, 60, 130)]
    assert told == [b"0\n", b"2\n", b"3\n"]
