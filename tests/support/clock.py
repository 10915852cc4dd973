"""A clock that stands still until a test moves it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo


@dataclass
class HeldClock:
    """The `Clock` of tests: `moment` is aware, in UTC."""

    moment: datetime
    zone: ZoneInfo

    @staticmethod
    def at(text: str, zone: str = "UTC") -> HeldClock:
        """A clock that shows `text`, an ISO time in UTC."""
        return HeldClock(datetime.fromisoformat(text).replace(tzinfo=UTC), ZoneInfo(zone))

    def now(self) -> datetime:
        return self.moment

    def move(self, by: timedelta) -> None:
        """Let time pass (or, with a negative `by`, jump back)."""
        self.moment += by
