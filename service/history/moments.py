"""Which commit was current at a moment, although a clock may have been wrong.

A machine without a clock of its own starts in the past until the network tells it the time, and a clock that was ahead is
set back. Commits made meanwhile carry a wrong time. The order of commits is certain, so the times to believe are those of
the longest run that never goes backwards along the branch; a commit outside of it came after the believed one before it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from datetime import datetime


def current_at(moment: datetime, times: Sequence[datetime]) -> int | None:
    """The place of the newest commit that is not later than `moment`; None when all are.

    Args:
        times: of the branch's commits, newest first; all aware.
    """
    believed = _believed(list(reversed(times)))
    oldest_first = list(enumerate(reversed(times)))
    earliest: list[datetime] = []  # for each commit, the believed time at or before it: it cannot be older
    for place, time in oldest_first:
        earliest.append(time if place in believed or not earliest else earliest[-1])
    for place, time in reversed(oldest_first):
        if time <= moment and earliest[place] <= moment:
            return len(times) - 1 - place
    return None


def _believed(times: Sequence[datetime]) -> set[int]:
    """The places of a longest run, oldest first, that never goes backwards."""
    ends: list[datetime] = []  # the earliest end of a run, by its length
    end_places: list[int] = []
    before: list[int | None] = []
    for place, time in enumerate(times):
        length = bisect_right(ends, time)
        before.append(end_places[length - 1] if length else None)
        ends[length : length + 1] = [time]
        end_places[length : length + 1] = [place]
    found: set[int] = set()
    at = end_places[-1] if end_places else None
    while at is not None:
        found.add(at)
        at = before[at]
    return found
