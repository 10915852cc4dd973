"""Any text is a time or a clear refusal, and what we can write we can read. Source: docs/explanation/history.md."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from service.errors import BadArgument
from service.history import when
from tests.support.clock import HeldClock

ZONES = st.sampled_from(
    ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Pacific/Apia", "Australia/Lord_Howe"]
)
MOMENTS = st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))
WORDS = st.sampled_from(
    ["now", "today", "yesterday", "ago", "days", "day", "2", "3", "last", "monday", "at", "18:00", "9am", "noon", "2026-01-31",
     "T", "Z", "@17", "months", "hours", "-1", "1e9", ":", "."]
)  # fmt: skip


@given(text=st.one_of(st.text(), st.lists(WORDS, max_size=5).map(" ".join)), now=MOMENTS, zone=ZONES)
def test_any_text_is_a_moment_in_utc_or_a_refusal(text: str, now: datetime, zone: str) -> None:
    try:
        found = when.resolve(text, HeldClock(now, ZoneInfo(zone)))
    except BadArgument:
        return
    assert found.tzinfo is UTC


@given(moment=MOMENTS, now=MOMENTS, zone=ZONES)
def test_an_iso_time_with_its_offset_is_that_moment_in_any_zone(moment: datetime, now: datetime, zone: str) -> None:
    told = moment.astimezone(ZoneInfo(zone))
    if told.utcoffset() == timedelta(minutes=round((told.utcoffset() or timedelta()).total_seconds() / 60)):
        assert when.resolve(told.isoformat(), HeldClock(now, ZoneInfo("UTC"))) == moment


@given(count=st.integers(0, 999_999), unit=st.sampled_from(["seconds", "minutes", "hours"]), now=MOMENTS, zone=ZONES)
def test_so_long_ago_is_so_long_ago(count: int, unit: str, now: datetime, zone: str) -> None:
    found = when.resolve(f"{count} {unit} ago", HeldClock(now, ZoneInfo(zone)))
    assert now - found == timedelta(**{unit: count})


@given(count=st.integers(0, 20_000), now=MOMENTS, zone=ZONES)
def test_days_ago_is_that_day_on_the_owners_calendar(count: int, now: datetime, zone: str) -> None:
    clock = HeldClock(now, ZoneInfo(zone))
    found = when.resolve(f"{count} days ago 12:00", clock).astimezone(clock.zone)
    assert found.date() == now.astimezone(clock.zone).date() - timedelta(days=count)
