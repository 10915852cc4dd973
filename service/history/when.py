"""Moments as people write them: ISO dates and times, `2 days ago`, `yesterday 18:00`, `monday 9am`, in the owner's zone.

A day without a time means its whole: its end where a state is asked for ("as it was on Monday"), its beginning where a list
begins. Years, months, weeks and days count on the wall clock (a day has 23 hours when the clocks go forward); hours and
smaller count as time passes.
"""

from __future__ import annotations

import calendar
import re
from datetime import UTC, date, datetime, time, timedelta
from enum import Enum
from typing import Final

from service.clock import Clock, local_now
from service.errors import BadArgument

MAX_CHARS: Final = 100
_NUMBERS: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
_WEEKDAYS: Final = {name.lower(): number for number, name in enumerate(calendar.day_name)}
_AGO: Final = re.compile(
    rf"(?P<number>\d{{1,6}}|{'|'.join(_NUMBERS)}) ?"
    r"(?P<unit>s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?|w|weeks?|months?|y|years?) ago(?P<rest>.*)"
)
_CLOCK: Final = re.compile(
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?)? ?(?P<half>am|pm)?"
)
_ISO: Final = re.compile(
    r"(?P<day>\d{4}-\d{2}-\d{2})(?:[t ](?P<clock>\d{2}:?\d{2}(?::?\d{2}(?:[.,]\d{1,9})?)?) ?(?P<offset>z|[+-]\d{2}(?::?\d{2})?)?)?"
)
_EPOCH: Final = re.compile(r"@(?P<seconds>\d{1,12})")
_WAY_OUT: Final = "write it like 2026-05-01, 2026-05-01 18:00, 2 days ago, yesterday 18:00 or monday 9am"


class Edge(Enum):
    """Which moment of a day without a time is meant."""

    START = "start"
    END = "end"


def resolve(text: str, clock: Clock, edge: Edge = Edge.END) -> datetime:
    """The moment that `text` names, aware, in UTC.

    Raises:
        BadArgument: it names none; the sentence shows how to write one.
    """
    words = " ".join(text.lower().split())
    if len(words) > MAX_CHARS:
        raise BadArgument(f"that is too long for a time; {_WAY_OUT}.")
    now = local_now(clock)
    try:
        found = _absolute(words, now, edge) or _ago(words, now, edge) or _day(words, now, edge)
        if found is not None:
            return found.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise BadArgument(f"{text!r} names no moment there was; {_WAY_OUT}.") from error
    raise BadArgument(f"{text!r} is no time that can be read; {_WAY_OUT}.")


def _absolute(words: str, now: datetime, edge: Edge) -> datetime | None:
    epoch = _EPOCH.fullmatch(words)
    if epoch:
        return datetime.fromtimestamp(int(epoch["seconds"]), UTC)
    iso = _ISO.fullmatch(words)
    if not iso:
        return None
    day = date.fromisoformat(iso["day"])
    if iso["clock"] is None:
        return _on(day, None, now, edge)
    clock = time.fromisoformat(iso["clock"].replace(",", "."))
    if iso["offset"] is None:
        return _on(day, clock, now, edge)
    offset = "+00:00" if iso["offset"] == "z" else iso["offset"]
    return datetime.fromisoformat(f"{day.isoformat()}T{clock.isoformat()}{_colon(offset)}")


def _colon(offset: str) -> str:
    digits = offset[1:].replace(":", "").ljust(4, "0")
    return f"{offset[0]}{digits[:2]}:{digits[2:]}"


def _ago(words: str, now: datetime, edge: Edge) -> datetime | None:
    match = _AGO.fullmatch(words)
    if not match:
        return None
    number = int(_NUMBERS.get(match["number"], match["number"]))
    unit = match["unit"]
    rest = match["rest"].strip().removeprefix("at ").strip()
    for name, length in (("s", "seconds"), ("h", "hours")):
        if unit[0] == name and not rest:
            return now.astimezone(UTC) - timedelta(**{length: number})
    if unit[0] == "m" and not unit.startswith("mo") and not rest:
        return now.astimezone(UTC) - timedelta(minutes=number)
    if unit[0] in "sh" or (unit[0] == "m" and not unit.startswith("mo")):
        return None
    there = _back(now, number, unit)
    if not rest:
        return there
    clock = _clock(rest)
    return None if clock is None else _on(there.date(), clock, now, edge)


def _back(now: datetime, number: int, unit: str) -> datetime:
    if unit[0] in "dw":
        return now - timedelta(days=number * (7 if unit[0] == "w" else 1))
    months = now.year * 12 + now.month - 1 - number * (12 if unit[0] == "y" else 1)
    year, month = divmod(months, 12)
    last = calendar.monthrange(year, month + 1)[1]
    return now.replace(year=year, month=month + 1, day=min(now.day, last))


def _day(words: str, now: datetime, edge: Edge) -> datetime | None:
    first, _, rest = words.removeprefix("last ").partition(" ")
    rest = rest.removeprefix("at ").strip()
    if words == "now":
        return now
    if first in ("today", "yesterday"):
        day = now.date() - timedelta(days=first == "yesterday")
    elif first in _WEEKDAYS:
        day = now.date() - timedelta(days=((now.weekday() - _WEEKDAYS[first] - 1) % 7) + 1)
        if not words.startswith("last ") and _WEEKDAYS[first] == now.weekday():
            day = now.date()
    else:
        clock = _clock(words)
        return None if clock is None else _on(now.date(), clock, now, edge)
    if not rest:
        return _on(day, None, now, edge)
    clock = _clock(rest)
    return None if clock is None else _on(day, clock, now, edge)


def _clock(words: str) -> time | None:
    if words in ("noon", "midnight"):
        return time(12 if words == "noon" else 0)
    match = _CLOCK.fullmatch(words)
    if not match or (match["minute"] is None and match["half"] is None):
        return None
    hour = int(match["hour"])
    if match["half"]:
        if not 1 <= hour <= 12:
            raise ValueError("no such hour")
        hour = hour % 12 + (12 if match["half"] == "pm" else 0)
    fraction = (match["fraction"] or "").ljust(6, "0")[:6]
    return time(hour, int(match["minute"] or 0), int(match["second"] or 0), int(fraction))


def _on(day: date, clock: time | None, now: datetime, edge: Edge) -> datetime:
    if clock is None:
        clock = time.min if edge is Edge.START else time.max
    return datetime.combine(day, clock, now.tzinfo)
