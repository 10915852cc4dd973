"""When a task comes again: the rules that the Obsidian Tasks plugin takes, and the day that follows by them.

The plugin reads a rule with rrule.js (`every 2 weeks on Friday`) and asks it for the first day after the reference date
(obsidian-tasks, src/Task/Recurrence.ts and src/Task/Occurrence.ts; rrule.js, src/nlp/parsetext.ts). The reference date is the
due date, else the scheduled, else the start date, and all dates move by the same number of days. A rule without a day of its
own (`every month`) whose day does not exist goes back to the last day of that month; a rule that names its day
(`every month on the 31st`) passes over months without it (plugin's help, "Recurring Tasks").

Only days count, and the search for one is bounded, unlike that of python-dateutil, which our tests compare with:
docs/explanation/tasks.md says why.
"""

from __future__ import annotations

import calendar
import enum
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, TypeAlias

MAX_DAYS: Final = 20_000
"""Days that are looked at: fifty years of them. The rarest day that a rule can name, a leap day on one weekday, is forty apart."""

MAX_PERIODS: Final = 20_000
"""Days, weeks, months or years that are looked at, likewise; most hold no day that is looked at."""

_HOURS_A_DAY: Final = 24
_MINUTES_A_DAY: Final = 24 * 60


class Unit(enum.Enum):
    """What a rule counts in."""

    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


Nth: TypeAlias = tuple[int, int]
"""Of a weekday: which one of the month or year (from 1, or from -1 at the end; 0 for every one), and the weekday, Monday 0."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that could be read.

    Args:
        unit, interval: every so many of those.
        months, month_days, weekdays, weeks: what a day must be, each when it names any; days of a month count from its end
            when they are negative, weeks are those of ISO 8601.
        count: how often at most, counted from the reference date; 0 without end.
        until: the last day; None without end.
        when_done: whether the next day is counted from the day the task was done.
    """

    unit: Unit
    interval: int = 1
    months: tuple[int, ...] = ()
    month_days: tuple[int, ...] = ()
    weekdays: tuple[Nth, ...] = ()
    weeks: tuple[int, ...] = ()
    count: int = 0
    until: date | None = None
    when_done: bool = False

    @property
    def names_its_day(self) -> bool:
        """Whether it says itself which days it means."""
        return bool(self.months or self.month_days or self.weekdays or self.weeks)


@dataclass(frozen=True, slots=True)
class Dates:
    """The dates of a task that move when it comes again."""

    start: date | None = None
    scheduled: date | None = None
    due: date | None = None

    def reference(self, *, drops_scheduled: bool) -> date | None:
        """The date that the others keep their distance to; a scheduled date that will be dropped comes last."""
        if drops_scheduled:
            return self.due or self.start or self.scheduled
        return self.due or self.scheduled or self.start


def following(rule: Rule, dates: Dates, done: date, *, drops_scheduled: bool = False) -> Dates | None:
    """The dates of the task that comes after one that was done; None when there is none by the rule.

    Args:
        dates: of the task that is done. Without any, so is the next.
        drops_scheduled: the plugin's removeScheduledDateOnRecurrence: the next has no scheduled date, if it has another.
    """
    reference = dates.reference(drops_scheduled=drops_scheduled)
    then = next_day(rule, done if rule.when_done or reference is None else reference)
    if then is None:
        return None
    if reference is None:
        return Dates()
    has_other = dates.start is not None or dates.due is not None
    try:
        return Dates(
            _moved(dates.start, reference, then),
            None if drops_scheduled and has_other else _moved(dates.scheduled, reference, then),
            _moved(dates.due, reference, then),
        )
    except OverflowError:  # beyond the year 9999, or before the year 1
        return None


def _moved(day: date | None, reference: date, then: date) -> date | None:
    return None if day is None else then + (day - reference)


def next_day(rule: Rule, first: date) -> date | None:
    """The first day after `first` that the rule, which begins on `first`, names; None when there is none.

    Raises nothing: a rule that never comes true (the 30th of February) ends after MAX_DAYS.
    """
    try:
        then = _rolled_back(rule, first) if _has_no_fixed_length(rule) else _first_named(rule, first)
    except (ValueError, OverflowError):  # beyond the year 9999
        return None
    if then is None or (rule.until is not None and then > rule.until):
        return None
    return None if rule.count and rule.count <= _times_on(rule, first) else then


def _has_no_fixed_length(rule: Rule) -> bool:
    return rule.unit in (Unit.MONTH, Unit.YEAR) and not rule.names_its_day


def _rolled_back(rule: Rule, first: date) -> date:
    """So many months or years on; where that day is missing, the last of its month."""
    months = first.month - 1 + rule.interval * (12 if rule.unit is Unit.YEAR else 1)
    year, month = first.year + months // 12, months % 12 + 1
    return date(year, month, min(first.day, _days_in(year, month)))


def _first_named(rule: Rule, first: date) -> date | None:
    rule = _with_day_of(rule, first)
    looked_at = 0
    for number, days in enumerate(_periods(rule, first)):
        for day in days:
            looked_at += 1
            if day > first and _is_named(rule, day):
                return day
        if number > MAX_PERIODS or looked_at > MAX_DAYS:
            break
    return None


def _times_on(rule: Rule, first: date) -> int:
    """How often a rule comes true on the day it begins."""
    if not _is_named(_with_day_of(rule, first), first):
        return 0
    match rule.unit:
        case Unit.MINUTE:
            return -(-_MINUTES_A_DAY // rule.interval)
        case Unit.HOUR:
            return -(-_HOURS_A_DAY // rule.interval)
        case _:
            return 1


def _with_day_of(rule: Rule, first: date) -> Rule:
    """The rule with what it leaves open taken from the day it begins on (RFC 5545 3.3.10)."""
    if rule.month_days or rule.weekdays or rule.weeks:
        return rule
    match rule.unit:
        case Unit.WEEK:
            return Rule(rule.unit, rule.interval, rule.months, weekdays=((0, first.weekday()),))
        case Unit.MONTH:
            return Rule(rule.unit, rule.interval, rule.months, (first.day,))
        case Unit.YEAR:
            return Rule(rule.unit, rule.interval, rule.months or (first.month,), (first.day,))
        case _:
            return rule


def _periods(rule: Rule, first: date) -> Iterator[Iterator[date]]:
    """The days of each period that the rule counts, from the one that `first` is in. Ends at the year 9999 by an error."""
    step = rule.interval
    number = 0
    while True:
        match rule.unit:
            case Unit.MINUTE:
                yield _days_from(first + timedelta(number * step // _MINUTES_A_DAY), 1)
            case Unit.HOUR:
                yield _days_from(first + timedelta(number * step // _HOURS_A_DAY), 1)
            case Unit.DAY:
                yield _days_from(first + timedelta(number * step), 1)
            case Unit.WEEK:
                yield _days_from(first + timedelta(7 * number * step - first.weekday()), 7)
            case Unit.MONTH:
                month = first.month - 1 + number * step
                yield _days_of_month(rule, first.year + month // 12, month % 12 + 1)
            case Unit.YEAR:
                yield _days_of_year(rule, first.year + number * step)
        number += _leap(rule, number)


def _leap(rule: Rule, number: int) -> int:
    """How many periods to go on: minutes and hours of one day are one."""
    a_day = {Unit.MINUTE: _MINUTES_A_DAY, Unit.HOUR: _HOURS_A_DAY}.get(rule.unit, 1)
    today = number * rule.interval // a_day
    return max(1, -(-(today + 1) * a_day // rule.interval) - number)


def _days_from(first: date, count: int) -> Iterator[date]:
    return (first + timedelta(number) for number in range(count))


def _days_of_month(rule: Rule, year: int, month: int) -> Iterator[date]:
    if rule.months and month not in rule.months:
        return iter(())
    return _days_from(date(year, month, 1), _days_in(year, month))


def _days_of_year(rule: Rule, year: int) -> Iterator[date]:
    return (day for month in range(1, 13) for day in _days_of_month(rule, year, month))


def _days_in(year: int, month: int) -> int:
    return calendar.monthrange(year, month)[1]


def _is_named(rule: Rule, day: date) -> bool:
    if rule.months and day.month not in rule.months:
        return False
    if rule.month_days and not {day.day, day.day - 1 - _days_in(day.year, day.month)} & set(rule.month_days):
        return False
    if rule.weeks and day.isocalendar().week not in rule.weeks:
        return False
    return _is_weekday(rule, day)


def _is_weekday(rule: Rule, day: date) -> bool:
    """Of weekdays some may be meant always and others by their number: a day must be one of each, as in rrule.js."""
    if not rule.weekdays:
        return True
    counts = rule.unit in (Unit.MONTH, Unit.YEAR)
    always = {weekday for nth, weekday in rule.weekdays if not nth or not counts}
    numbered = {(nth, weekday) for nth, weekday in rule.weekdays if nth and counts}
    if always and day.weekday() not in always:
        return False
    return not numbered or bool(numbered & {(nth, day.weekday()) for nth in _numbers(rule, day)})


def _numbers(rule: Rule, day: date) -> tuple[int, int]:
    """Which of its weekday a day is: in its month, or in its year when the rule counts years and names no month."""
    if rule.unit is Unit.YEAR and not rule.months:
        place, length = day.timetuple().tm_yday, 366 if calendar.isleap(day.year) else 365
    else:
        place, length = day.day, _days_in(day.year, day.month)
    return (place - 1) // 7 + 1, -((length - place) // 7 + 1)
