"""Dates written by a format of moment.js, the library that Obsidian names daily notes by.

The same characters in the same order as moment.js 2.31 gives, for the tokens below; everything else that moment would
replace is refused by name, since a note of the wrong name is worse than none. Letters that moment replaces by nothing stand
for themselves, but not inside a word with tokens: who writes `Month` without brackets does not want `3rdnt12`.
Source: https://momentjs.com/docs/#/displaying/format/ and moment's own table of tokens; tests/vectors/moment.tsv.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from service.vault.locales import Locale

MAX_FORMAT_CHARS: Final = 500

_PIECE: Final = re.compile(
    r"(?P<literal>\[[^\[]*\])"
    r"|\\(?P<escaped>[Hh]mm(?:ss)?|Mo|MM?M?M?|Do|DDDo|DD?D?D?|ddd?d?|do?|w[ow]?|W[oW]?|Qo?|N{1,5}|YYYYYY|YYYYY|YYYY|YY|y{2,4}|yo?"
    r"|gg(?:ggg?)?|GG(?:GGG?)?|e|E|a|A|hh?|HH?|kk?|mm?|ss?|S{1,9}|x|X|zz?|ZZ?|LTS|LT|LL?L?L?|l{1,4}|.)"
    r"|(?P<token>Mo|MM?M?M?|Do|DDDo|DD?D?D?|ddd?d?|do?|w[ow]?|W[oW]?|Qo?|N{1,5}|YYYYYY|YYYYY|YYYY|YY|Y|y{2,4}|yo?"
    r"|gg(?:ggg?)?|GG(?:GGG?)?|e|E|a|A|hh?|HH?|kk?|mm?|ss?|S{1,9}|x|X|zz?|ZZ?|LTS|LT|LL?L?L?|l{1,4})"
    r"|(?P<letter>[A-Za-z])|(?P<mark>.)"
)
"""moment's pieces in its order (its `formattingTokens` and `localFormattingTokens`); a literal is greedy there too."""

_BETWEEN_DATE_AND_TIME: Final = "T"
"""The one letter that may stand between tokens without brackets: ISO 8601."""


class FormatRefusedError(Exception):
    """A format holds what is not understood here. `str` says what, as a part of a sentence; `token` is it."""

    def __init__(self, why: str, token: str) -> None:
        self.token = token
        super().__init__(why)


@dataclass(frozen=True, slots=True)
class _At:
    """What tokens are written from; `pattern` is the whole format, which decides how some languages bend names."""

    moment: datetime
    locale: Locale
    pattern: str

    @property
    def day(self) -> date:
        return self.moment.date()

    @property
    def day_of_year(self) -> int:
        return self.day.toordinal() - date(self.moment.year, 1, 1).toordinal() + 1

    @property
    def quarter(self) -> int:
        return (self.moment.month + 2) // 3

    @property
    def weekday(self) -> int:
        """From Sunday, 0."""
        return self.moment.isoweekday() % 7

    @property
    def hour12(self) -> int:
        return self.moment.hour % 12 or 12

    @property
    def week(self) -> tuple[int, int]:
        """Year and week as the locale counts them."""
        return week_of(self.day, self.locale.week_begins, self.locale.first_week)

    @property
    def iso_week(self) -> tuple[int, int]:
        return week_of(self.day, 1, 4)

    def half(self) -> tuple[int, str, str]:
        now = self.moment.hour * 100 + self.moment.minute
        return [half for half in self.locale.halves if half[0] <= now][-1]

    def ordinal(self, number: int, token: str) -> str:
        return self.locale.ordinal(number, token)

    def offset(self, colon: str) -> str:
        minutes = int((self.moment.utcoffset() or timedelta(0)).total_seconds() / 60)  # of old local times, seconds go
        hours, rest = divmod(abs(minutes), 60)
        return f"{'-' if minutes < 0 else '+'}{hours:02}{colon}{rest:02}"

    def unix_ms(self) -> int:
        return (self.moment.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


_TOKENS: Final[Mapping[str, Callable[[_At], str]]] = {
    "YYYY": lambda at: f"{at.moment.year:04}",
    "YY": lambda at: f"{at.moment.year % 100:02}",
    "Q": lambda at: str(at.quarter),
    "Qo": lambda at: at.ordinal(at.quarter, "Q"),
    "MMMM": lambda at: at.locale.months.of(at.moment.month - 1, at.pattern),
    "MMM": lambda at: at.locale.months_short.of(at.moment.month - 1, at.pattern),
    "MM": lambda at: f"{at.moment.month:02}",
    "M": lambda at: str(at.moment.month),
    "Mo": lambda at: at.ordinal(at.moment.month, "M"),
    "D": lambda at: str(at.moment.day),
    "Do": lambda at: at.ordinal(at.moment.day, "D"),
    "DD": lambda at: f"{at.moment.day:02}",
    "DDD": lambda at: str(at.day_of_year),
    "DDDo": lambda at: at.ordinal(at.day_of_year, "DDD"),
    "DDDD": lambda at: f"{at.day_of_year:03}",
    "dddd": lambda at: at.locale.weekdays.of(at.weekday, at.pattern),
    "ddd": lambda at: at.locale.weekdays_short[at.weekday],
    "dd": lambda at: at.locale.weekdays_min[at.weekday],
    "d": lambda at: str(at.weekday),
    "do": lambda at: at.ordinal(at.weekday, "d"),
    "E": lambda at: str(at.moment.isoweekday()),
    "W": lambda at: str(at.iso_week[1]),
    "Wo": lambda at: at.ordinal(at.iso_week[1], "W"),
    "WW": lambda at: f"{at.iso_week[1]:02}",
    "w": lambda at: str(at.week[1]),
    "wo": lambda at: at.ordinal(at.week[1], "w"),
    "ww": lambda at: f"{at.week[1]:02}",
    "gggg": lambda at: f"{at.week[0]:04}",
    "gg": lambda at: f"{at.week[0] % 100:02}",
    "GGGG": lambda at: f"{at.iso_week[0]:04}",
    "GG": lambda at: f"{at.iso_week[0] % 100:02}",
    "HH": lambda at: f"{at.moment.hour:02}",
    "H": lambda at: str(at.moment.hour),
    "hh": lambda at: f"{at.hour12:02}",
    "h": lambda at: str(at.hour12),
    "mm": lambda at: f"{at.moment.minute:02}",
    "m": lambda at: str(at.moment.minute),
    "ss": lambda at: f"{at.moment.second:02}",
    "s": lambda at: str(at.moment.second),
    "A": lambda at: at.half()[2],
    "a": lambda at: at.half()[1],
    "X": lambda at: str(at.unix_ms() // 1000),
    "x": lambda at: str(at.unix_ms()),
    "Z": lambda at: at.offset(":"),
    "ZZ": lambda at: at.offset(""),
}
TOKENS: Final = tuple(_TOKENS)
"""Every token that is understood, `[text]` and `\\x` aside."""


def written(pattern: str, moment: datetime, locale: Locale) -> str:
    """`moment` (aware, in the owner's zone) by a format of moment.js.

    Raises:
        FormatRefusedError: the format holds a token that is not understood, or a word that should be in brackets.
    """
    if len(pattern) > MAX_FORMAT_CHARS:
        raise FormatRefusedError("it is too long", "")
    at, parts, word = _At(moment, locale, pattern), list[str](), _Word()
    end = 0
    for piece in _PIECE.finditer(pattern):
        if piece.start() != end:
            break
        end = piece.end()
        token, letter = piece["token"], piece["letter"]
        word.goes_on(token, letter)
        if token is not None:
            if token not in _TOKENS:
                raise FormatRefusedError(f"{token!r} is a token that is not understood here", token)
            parts.append(_TOKENS[token](at))
        elif piece["literal"] is not None:
            parts.append(piece["literal"][1:-1])
        else:
            parts.append(letter or (piece["escaped"] or piece["mark"]).replace("\\", ""))
    if end != len(pattern):
        raise FormatRefusedError("it holds a line break", "")
    word.goes_on(None, None)
    return "".join(parts)


def week_of(day: date, week_begins: int, first_week: int) -> tuple[int, int]:
    """The year and the number of a day's week, by moment's two numbers (ISO 8601: 1 and 4)."""
    for year in (day.year + 1, day.year, day.year - 1):
        begins = _first_week_begins(year, week_begins, first_week)
        if begins <= day.toordinal():
            return year, (day.toordinal() - begins) // 7 + 1
    raise AssertionError  # the first week of a year begins within days of its January


def at_local(day: date, hour: int, minute: int, second: int, zone: ZoneInfo) -> datetime:
    """A time on the owner's wall clock; one that the clocks skip that day is what they show instead."""
    return datetime(day.year, day.month, day.day, hour, minute, second, tzinfo=zone).astimezone(UTC).astimezone(zone)


def after(moment: datetime, passed: timedelta) -> datetime:
    """The time on the same wall clock when so much time has passed."""
    return (moment.astimezone(UTC) + passed).astimezone(moment.tzinfo)


def tokens_in(pattern: str) -> frozenset[str]:
    """The tokens of a format, understood or not."""
    return frozenset(piece["token"] for piece in _PIECE.finditer(pattern) if piece["token"])


def _first_week_begins(year: int, week_begins: int, first_week: int) -> int:
    """The ordinal (as `date.toordinal`) of the first day of a year's first week."""
    before = year - 1
    january = before * 365 + before // 4 - before // 100 + before // 400 + 7 + week_begins - first_week
    return january - (january % 7 - week_begins) % 7  # day 7 was a Sunday


class _Word:
    """The run of letters that is being read: tokens, plain letters, or a mixture, which is refused."""

    def __init__(self) -> None:
        self._text, self._has_token, self._has_letter = "", False, False

    def goes_on(self, token: str | None, letter: str | None) -> None:
        """Take one more piece; None and None where the run ends."""
        if token is None and letter is None:
            if self._has_token and self._has_letter:
                raise FormatRefusedError(
                    f"{self._text!r} mixes tokens and other letters; plain words belong in brackets, as in [{self._text}]",
                    self._text,
                )
            self._text, self._has_token, self._has_letter = "", False, False
            return
        self._text += token or letter or ""
        self._has_token = self._has_token or token is not None
        self._has_letter = self._has_letter or letter not in (None, _BETWEEN_DATE_AND_TIME)
