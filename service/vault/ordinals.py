"""Numbers as "1st" in the languages of `locales`, as moment.js writes them for each of its tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

Ordinal: TypeAlias = Callable[[int, str], str]
"""Takes a number and the token it stands for: `M`, `Q`, `D`, `DDD`, `d`, `w` or `W`."""


def of(locale: str) -> Ordinal:
    """The way of one locale, one of `locales.NAMES`."""
    language = locale.partition("-")[0]
    return _BY_LOCALE.get(locale) or _BY_LOCALE.get(language) or _plain


def _plain(number: int, _: str) -> str:
    return str(number)


def _dotted(number: int, _: str) -> str:
    return f"{number}."


def _masculine(number: int, _: str) -> str:
    return f"{number}º"


def _english(number: int, _: str) -> str:
    if number % 100 // 10 == 1:
        return f"{number}th"
    return str(number) + {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def _french(number: int, kind: str) -> str:
    if kind == "D" and number != 1:
        return str(number)
    return _swiss_french(number, kind)


def _swiss_french(number: int, kind: str) -> str:
    first = "re" if kind in "wW" else "er"
    return f"{number}{first if number == 1 else 'e'}"


def _dutch(number: int, _: str) -> str:
    return f"{number}{'ste' if number in (1, 8) or number >= 20 else 'de'}"


def _swedish(number: int, _: str) -> str:
    return f"{number}:{'a' if number % 10 in (1, 2) and number % 100 // 10 != 1 else 'e'}"


def _russian(number: int, kind: str) -> str:
    return f"{number}{_RUSSIAN.get(kind, '')}"


def _turkish(number: int, kind: str) -> str:
    if kind in ("d", "D"):
        return str(number)
    last = number % 10
    for part in (last, number % 100 - last, 100 if number >= 100 else None):
        if part in _TURKISH:
            return f"{number}'{_TURKISH[part]}"
    raise AssertionError  # each number ends in a digit, a ten or a hundred


def _counted(months: str, days: str, weeks: str) -> Ordinal:
    """With a counter behind, which says what is counted."""
    counters = {"M": months, "d": days, "D": days, "DDD": days, "w": weeks, "W": weeks}
    return lambda number, kind: f"{number}{counters.get(kind, '')}"


_RUSSIAN: Final[Mapping[str, str]] = {"M": "-й", "d": "-й", "DDD": "-й", "D": "-го", "w": "-я", "W": "-я"}
_TURKISH: Final[Mapping[int | None, str]] = {
    1: "inci", 5: "inci", 8: "inci", 70: "inci", 80: "inci", 2: "nci", 7: "nci", 20: "nci", 50: "nci", 3: "üncü", 4: "üncü",
    100: "üncü", 6: "ncı", 9: "uncu", 10: "uncu", 30: "uncu", 60: "ıncı", 90: "ıncı",
}  # fmt: skip

_BY_LOCALE: Final[Mapping[str, Ordinal]] = {
    **dict.fromkeys(("cs", "da", "de", "fi", "hu", "nb", "nn", "pl", "sk"), _dotted),
    **dict.fromkeys(("es", "it", "pt"), _masculine),
    "en": _english,
    "fr": _french,
    "fr-ca": _swiss_french,
    "fr-ch": _swiss_french,
    "ja": _counted("", "日", ""),
    "ko": _counted("월", "일", "주"),
    "nl": _dutch,
    "ru": _russian,
    "sv": _swedish,
    "tr": _turkish,
    "zh": _counted("月", "日", "周"),
    "zh-tw": _counted("月", "日", "週"),
}
