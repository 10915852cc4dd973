"""Wrong guesses cost time, whoever makes them, however many at once, and over restarts."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from service.auth.tables import SCHEMA
from service.auth.throttle import FREE, Limits, Throttle, share_of
from service.store.db import Database
from tests.support.clock import HeldClock


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock.at("2026-11-30T12:00:00")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = Database(tmp_path, (SCHEMA,))
    yield made
    made.close()


@pytest.fixture
def throttle(database: Database, clock: HeldClock) -> Throttle:
    return Throttle(database, clock)


def test_five_guesses_are_free_and_then_the_wait_doubles_to_an_hour(throttle: Throttle, clock: HeldClock) -> None:
    """Attack 28; auth.md 7.3."""
    assert [throttle.guess() for _ in range(FREE)] == [0] * FREE
    waits = []
    for _ in range(10):
        waits.append(throttle.guess())
        clock.move(timedelta(seconds=waits[-1]))
        assert throttle.guess() == 0
    assert waits == [30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]


def test_a_guess_that_has_to_wait_is_not_counted(throttle: Throttle) -> None:
    """Else a stranger could make the wait as long as he likes in a second."""
    for _ in range(40):
        throttle.guess()
    assert throttle.fails() == FREE
    assert throttle.wait_s() == 30


def test_fifty_guesses_at_once_are_counted_one_by_one(database: Database, clock: HeldClock) -> None:
    """Attack 30: no race loses a count."""
    throttle = Throttle(database, clock, Limits(free=1000))
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(lambda _: throttle.guess(), range(50))) == [0] * 50
    assert throttle.fails() == 50


def test_of_fifty_guesses_at_once_five_are_looked_at(throttle: Throttle) -> None:
    """Attack 30: a guess is counted before it is looked at."""
    with ThreadPoolExecutor(16) as pool:
        waits = list(pool.map(lambda _: throttle.guess(), range(50)))
    assert waits.count(0) == FREE
    assert waits.count(30) == 50 - FREE


def test_a_restart_forgets_nothing(database: Database, clock: HeldClock, tmp_path: Path) -> None:
    """Attack 30."""
    before = Throttle(database, clock)
    for _ in range(FREE):
        before.guess()
    again = Database(tmp_path, (SCHEMA,))
    assert Throttle(again, clock).guess() == 30
    again.close()


def test_the_owner_makes_it_forget(throttle: Throttle) -> None:
    for _ in range(FREE - 1):
        throttle.guess("192.0.2.7")
    throttle.guess("192.0.2.7")
    throttle.right("192.0.2.7")
    assert throttle.fails() == 0
    assert throttle.wait_s("192.0.2.7") == 0


def test_a_few_slips_are_forgotten_after_ten_minutes(throttle: Throttle, clock: HeldClock) -> None:
    for _ in range(FREE - 1):
        throttle.guess()
    clock.move(timedelta(minutes=10))
    throttle.guess()
    assert throttle.fails() == 1


def test_whoever_waits_ten_minutes_between_series_meets_the_long_wait_all_the_same(
    throttle: Throttle, clock: HeldClock
) -> None:
    for _ in range(FREE):
        throttle.guess()
    clock.move(timedelta(minutes=11))
    assert throttle.guess() == 0
    assert throttle.guess() == 60


def test_a_day_of_quiet_begins_anew(throttle: Throttle, clock: HeldClock) -> None:
    for _ in range(FREE):
        throttle.guess()
    clock.move(timedelta(days=1, seconds=30))
    assert throttle.guess() == 0
    assert throttle.fails() == 1


def test_one_address_has_five_guesses_a_minute(database: Database, clock: HeldClock) -> None:
    throttle = Throttle(database, clock, Limits(free=1000))
    assert [throttle.guess("2001:db8::1") for _ in range(FREE)] == [0] * FREE
    clock.move(timedelta(seconds=20))
    assert throttle.guess("2001:db8::ffff") == 40  # the same /64
    assert throttle.guess("192.0.2.7") == 0
    clock.move(timedelta(seconds=40))
    assert throttle.guess("2001:db8::1") == 0


def test_new_addresses_do_not_get_around_the_wait_of_everybody(throttle: Throttle) -> None:
    """Attack 28, complaint 54."""
    assert [throttle.guess(f"192.0.2.{number}") for number in range(8)] == [0] * FREE + [30] * 3


def test_addresses_of_yesterday_are_not_kept(database: Database, clock: HeldClock) -> None:
    throttle = Throttle(database, clock, Limits(free=1000))
    for number in range(100):
        throttle.guess(f"192.0.2.{number}")
    clock.move(timedelta(seconds=61))
    throttle.guess("192.0.2.1")
    keys = [row["key"] for row in database.connection().execute("SELECT key FROM throttle ORDER BY key")]
    assert keys == ["192.0.2.1", "login"]


@pytest.mark.parametrize("hours", [-24, -1, 24])
def test_a_clock_that_jumps_locks_nobody_out(throttle: Throttle, clock: HeldClock, hours: int) -> None:
    """Attack 57: no wait is longer than the longest there is."""
    for _ in range(FREE):
        throttle.guess("192.0.2.7")
    clock.move(timedelta(hours=hours))
    assert 0 <= throttle.wait_s("192.0.2.7") <= 3600
    clock.move(timedelta(hours=1, minutes=2))
    assert throttle.guess("192.0.2.7") == 0


def test_an_ipv6_visitor_is_his_whole_network() -> None:
    assert share_of("2001:db8:0:1::1") == share_of("2001:db8:0:1:ffff::2") != share_of("2001:db8:0:2::1")
    assert share_of("192.0.2.7") == "192.0.2.7"
