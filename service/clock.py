"""What time it is, as a value that is handed in, so that tests can hold it still.

Moments are aware `datetime`s in UTC; a day is the calendar day in the owner's zone (setting TZ).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Protocol
from zoneinfo import ZoneInfo


class Clock(Protocol):
    """The time, in the owner's zone."""

    @property
    def zone(self) -> ZoneInfo: ...

    def now(self) -> datetime:
        """The present moment, aware, in UTC."""
        ...


@dataclass(frozen=True, slots=True)
class SystemClock:
    """The machine's clock, seen from the owner's zone."""

    zone: ZoneInfo

    def now(self) -> datetime:
        return datetime.now(UTC)


def local_now(clock: Clock) -> datetime:
    """The present moment on the owner's wall clock."""
    return clock.now().astimezone(clock.zone)


def today(clock: Clock) -> date:
    """The owner's calendar day."""
    return local_now(clock).date()
