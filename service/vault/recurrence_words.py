"""Reading a recurrence rule: the words of rrule.js, with its leniency.

`every 2 weeks on Friday`, `every month on the 2nd last Friday`, `every January on the 15th when done`. The grammar is that of
rrule.js 2.8 (src/nlp/parsetext.ts and i18n.ts), which the plugin hands its text to: words it does not know end the rule, and
what was read before them counts. What is no rule for it is none here.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, datetime
from typing import Final

from service.vault.recurrence import Nth, Rule, Unit

MAX_RULE_CHARS: Final = 500
"""Characters of a rule; a longer one is none."""

_MAX_INTERVAL: Final = 10**6
_MAX_NTH: Final = 366

_RULE: Final = re.compile(r"([a-zA-Z0-9, !]+?)( when done)?", re.IGNORECASE)
_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS: Final = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_UNITS: Final = {unit.value: unit for unit in Unit}
_WORKING_DAYS: Final[tuple[Nth, ...]] = tuple((0, day) for day in range(5))

_TOKENS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        ("number", "[1-9][0-9]*"),
        ("every", "every"),
        ("day", "days?"),
        ("working", "weekdays?"),
        ("week", "weeks?"),
        ("hour", "hours?"),
        ("minute", "minutes?"),
        ("month", "months?"),
        ("year", "years?"),
        ("on", "on|in"),
        ("at", "at"),
        ("the", "the"),
        ("first", "first"),
        ("second", "second"),
        ("third", "third"),
        ("nth", "([1-9][0-9]*)(?:th|nd|rd|st)"),
        ("last", "last"),
        ("for", "for"),
        ("until", "(?:un)?til"),
        ("monday", "mo(?:n(?:day)?)?"),
        ("tuesday", "tu(?:e(?:s(?:day)?)?)?"),
        ("wednesday", "we(?:d(?:n(?:esday)?)?)?"),
        ("thursday", "th(?:u(?:r(?:sday)?)?)?"),
        ("friday", "fr(?:i(?:day)?)?"),
        ("saturday", "sa(?:t(?:urday)?)?"),
        ("sunday", "su(?:n(?:day)?)?"),
        ("january", "jan(?:uary)?"),
        ("february", "feb(?:ruary)?"),
        ("march", "mar(?:ch)?"),
        ("april", "apr(?:il)?"),
        ("may", "may"),
        ("june", "june?"),
        ("july", "july?"),
        ("august", "aug(?:ust)?"),
        ("september", "sep(?:t(?:ember)?)?"),
        ("october", "oct(?:ober)?"),
        ("november", "nov(?:ember)?"),
        ("december", "dec(?:ember)?"),
        ("comma", r"(?:,\s*|(?:and|or)\s*)+"),
    )
)
_BLANKS: Final = re.compile(r"[ \t]+")
_UNTIL_FORMATS: Final = ("%B %d %Y", "%b %d %Y", "%d %B %Y", "%d %b %Y")


class _NoRuleError(Exception):
    """The words are no rule."""


def parse(words: str) -> Rule | None:
    """The rule that `words` state, None when they state none that the plugin could read."""
    found = _RULE.fullmatch(words.strip()) if len(words) <= MAX_RULE_CHARS else None
    if found is None:
        return None
    try:
        rule = _Reading(found[1].strip()).rule()
    except _NoRuleError:
        return None
    return replace(rule, when_done=found[2] is not None)


class _Reading:
    """The words as they are read: `name` is the kind of the next one (empty at the end), `value` its own text."""

    def __init__(self, words: str) -> None:
        self._words = words
        self._at = 0
        self._is_over = False
        self.name = self.value = ""
        self.advance()

    @property
    def rest(self) -> str:
        return self._words[self._at :]

    def advance(self) -> None:
        """Go to the next word: of those that fit, the longest; where none does, the rule is over."""
        self.name = self.value = ""
        if self._is_over:
            return
        blanks = _BLANKS.match(self._words, self._at)
        at = blanks.end() if blanks else self._at
        fitting = [(name, found) for name, token in _TOKENS if (found := token.match(self._words, at))]
        if not fitting:
            self._is_over = True
            return
        self.name, found = max(fitting, key=lambda one: len(one[1][0]))  # the first of the longest
        self.value = found[1] if self.name == "nth" else found[0]
        self._at = found.end()

    def accept(self, *names: str) -> bool:
        """Whether the next word is one of `names`; it is passed then."""
        if self.name not in names or not self.name:
            return False
        self.advance()
        return True

    def rule(self) -> Rule:
        if not self.accept("every"):
            raise _NoRuleError
        interval = self._number() if self.name == "number" else 1
        if interval > _MAX_INTERVAL:
            raise _NoRuleError
        name = self.name
        self.advance()
        if name == "day":
            return self._limited(self._at_hours(Rule(Unit.DAY, interval)))
        if name == "week":
            return self._limited(self._at_hours(self._on(Rule(Unit.WEEK, interval))))
        if name in _UNITS:
            return self._limited(self._on(Rule(_UNITS[name], interval)))
        if name == "working":
            return self._limited(self._at_hours(Rule(Unit.WEEK, interval, weekdays=_WORKING_DAYS)))
        if name in _WEEKDAYS:
            return self._limited(self._on_weekdays(Rule(Unit.WEEK, interval), name))
        if name in _MONTHS:
            return self._limited(self._on(self._in_months(Rule(Unit.YEAR, interval), name)))
        raise _NoRuleError

    def _on_weekdays(self, rule: Rule, name: str) -> Rule:
        """`Monday, Friday`, and perhaps the day of the month that it must be, too."""
        days = [_WEEKDAYS.index(name)]
        while self.accept("comma"):
            days.append(_index(_WEEKDAYS, self.name))
            self.advance()
        rule = self._at_hours(replace(rule, weekdays=tuple((0, day) for day in days)))
        self.accept("on")
        self.accept("the")
        month_days = []
        while nth := self._nth():
            month_days.append(nth)
            self.advance()  # rrule.js passes over whatever stands here, so that of `the 1st, 3rd` only the 1st is left
            if not self.accept("comma"):
                return replace(rule, month_days=tuple(month_days))
        if month_days:
            raise _NoRuleError
        return rule

    def _in_months(self, rule: Rule, name: str) -> Rule:
        months = [_MONTHS.index(name) + 1]
        while self.accept("comma"):
            months.append(_index(_MONTHS, self.name) + 1)
            self.advance()
        return replace(rule, months=tuple(months))

    def _on(self, rule: Rule) -> Rule:
        """`on the 1st, 2nd last Friday, weekdays, week 7, in January`."""
        is_on, is_the = self.accept("on"), self.accept("the")
        if not (is_on or is_the):
            return rule
        while True:
            nth, name = self._nth(), self.name
            if name in _WEEKDAYS:
                self.advance()
                rule = replace(rule, weekdays=(*rule.weekdays, (nth, _WEEKDAYS.index(name))))
            elif nth:
                self.accept("day")
                rule = replace(rule, month_days=(*rule.month_days, nth))
            elif name == "working":
                self.advance()
                rule = replace(rule, weekdays=rule.weekdays or _WORKING_DAYS)
            elif name == "week":
                self.advance()
                rule = replace(rule, weeks=tuple(self._numbers()))
            elif name in _MONTHS:
                self.advance()
                rule = replace(rule, months=(*rule.months, _MONTHS.index(name) + 1))
            else:
                return rule
            if not self.accept("comma") and not self.accept("the") and not self.accept("on"):
                return rule

    def _limited(self, rule: Rule) -> Rule:
        if self.name == "until":
            return replace(rule, until=_day(self.rest))
        if self.accept("for"):
            return replace(rule, count=self._number())
        return rule

    def _at_hours(self, rule: Rule) -> Rule:
        """`at 9`: read and left out, since a task has days only."""
        while self.accept("at"):
            self._numbers()
        return rule

    def _numbers(self) -> list[int]:
        numbers = [self._number()]
        while self.accept("comma"):
            numbers.append(self._number())
        return numbers

    def _number(self) -> int:
        if self.name != "number":
            raise _NoRuleError
        number = int(self.value)
        self.advance()
        return number

    def _nth(self) -> int:
        """`last`, `first`, `2nd`, `2nd last`; 0 when there is none."""
        name, value = self.name, self.value
        if name == "last":
            self.advance()
            return -1
        if name == "first":
            self.advance()
            return 1
        if name not in ("second", "third", "nth"):
            return 0
        nth = {"second": 2, "third": 3}.get(name) or int(value)
        if nth > _MAX_NTH:
            raise _NoRuleError
        self.advance()
        return -nth if self.accept("last") else nth


def _index(names: tuple[str, ...], name: str) -> int:
    if name not in names:
        raise _NoRuleError
    return names.index(name)


def _day(words: str) -> date:
    plain = " ".join(words.replace(",", " ").split())
    for format_ in _UNTIL_FORMATS:
        try:
            return datetime.strptime(plain, format_).date()  # noqa: DTZ007  # a day, of no zone
        except ValueError:
            continue
    raise _NoRuleError
