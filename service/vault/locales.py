"""What moment.js knows of languages: names of months and days, when a week begins, which week is the first, ordinals.

Taken from the locales of moment.js 2.31.0 (MIT), because Obsidian names notes by it and CLDR spells some names otherwise
(`Sept.`, `mar`). Locales that write other digits (ar, fa, hi) or bend names in ways of their own are left out: a name that is
almost right is another file. `tests/vectors/moment_locales.tsv` holds each of them against moment.js itself.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from service.vault import locale_names, ordinals

DEFAULT: Final = "en"
"""moment's own, and that of an Obsidian whose language nobody changed."""


@dataclass(frozen=True, slots=True)
class Names:
    """Names of months (from January) or days (from Sunday); `bent` ones are used in formats that match `when`."""

    plain: tuple[str, ...]
    bent: tuple[str, ...] = ()
    when: re.Pattern[str] | None = None

    def of(self, index: int, pattern: str) -> str:
        """The name as it stands in a date of that format."""
        is_bent = self.when is not None and self.when.search(pattern)
        return (self.bent if is_bent else self.plain)[index]


@dataclass(frozen=True, slots=True)
class Locale:
    """One language's way to write dates.

    Args:
        week_begins: the day a week begins with, 0 for Sunday.
        first_week: moment's `doy`: `7 + week_begins - first_week` is the day of January that the first week always holds.
        ordinal: a number and the token that it stands for (`M`, `Q`, `D`, `DDD`, `d`, `w`, `W`) as in "1st".
        halves: from which time (hours * 100 + minutes) `a` and `A` are what.
    """

    name: str
    months: Names
    months_short: Names
    weekdays: Names
    weekdays_short: tuple[str, ...]
    weekdays_min: tuple[str, ...]
    week_begins: int
    first_week: int
    ordinal: Callable[[int, str], str]
    halves: tuple[tuple[int, str, str], ...]

    def beginning(self, weekday: int) -> Locale:
        """The same with weeks that begin with another day (0 for Sunday), as the Calendar plugin changes it."""
        return replace(self, week_begins=weekday)


def known(asked: str) -> str | None:
    """The locale that a name such as `de`, `de-DE` or `en_GB.UTF-8` means; None for one that is not known here."""
    name = asked.strip().partition(".")[0].replace("_", "-").lower()
    return next((found for found in (name, name.partition("-")[0]) if found in _KNOWN), None)


@functools.cache
def of(name: str) -> Locale:
    """The locale of exactly that name, one of `NAMES`."""
    source, week_begins, first_week = _KNOWN[name]
    months, short, weekdays, weekdays_short, weekdays_min = (
        tuple(part.split("_")) for part in locale_names.BY_LANGUAGE[source]
    )
    language = source.partition("-")[0]
    return Locale(
        name,
        _bent(months, source, _MONTHS_BENT),
        _bent(short, source, _SHORT_BENT),
        _bent(weekdays, source, _WEEKDAYS_BENT),
        weekdays_short,
        weekdays_min,
        week_begins,
        first_week,
        ordinals.of(name),
        _HALVES.get(language, _ENGLISH_HALVES),
    )


def _bent(plain: tuple[str, ...], source: str, bent: Mapping[str, tuple[str, str]]) -> Names:
    if source not in bent:
        return Names(plain)
    names, when = bent[source]
    return Names(plain, tuple(names.split("_")), re.compile(when))


_IN_DATE: Final = r"D[oD]?(\[[^\[\]]*\]|\s)+MMMM?"

_MONTHS_BENT: Final = {
    "cs": (
        "ledna_února_března_dubna_května_června_července_srpna_září_října_listopadu_prosince",
        r"DD?[o.]?(\[[^\[\]]*\]|\s)+MMMM",
    ),
    "pl": (
        "stycznia_lutego_marca_kwietnia_maja_czerwca_lipca_sierpnia_września_października_listopada_grudnia",
        r"D\.? MMMM",
    ),
    "ru": ("января_февраля_марта_апреля_мая_июня_июля_августа_сентября_октября_ноября_декабря", _IN_DATE),
}
_SHORT_BENT: Final = {
    "es": ("ene_feb_mar_abr_may_jun_jul_ago_sep_oct_nov_dic", "-MMM-"),
    "nl": ("jan_feb_mrt_apr_mei_jun_jul_aug_sep_okt_nov_dec", "-MMM-"),
    "ru": ("янв._февр._мар._апр._мая_июня_июля_авг._сент._окт._нояб._дек.", _IN_DATE),
}
_WEEKDAYS_BENT: Final = {
    "ru": (
        "воскресенье_понедельник_вторник_среду_четверг_пятницу_субботу",
        r"\[ ?[Вв] ?(?:прошлую|следующую|эту)? ?] ?dddd",
    ),
}

_ENGLISH_HALVES: Final = ((0, "am", "AM"), (1200, "pm", "PM"))
_CHINESE_HALVES: Final = (
    (0, "凌晨", "凌晨"), (600, "早上", "早上"), (900, "上午", "上午"), (1130, "中午", "中午"), (1230, "下午", "下午"),
    (1800, "晚上", "晚上"),
)  # fmt: skip
_HALVES: Final[Mapping[str, tuple[tuple[int, str, str], ...]]] = {
    "hu": ((0, "de", "DE"), (1200, "du", "DU")),
    "id": ((0, "pagi", "pagi"), (1100, "siang", "siang"), (1500, "sore", "sore"), (1900, "malam", "malam")),
    "ja": ((0, "午前", "午前"), (1200, "午後", "午後")),
    "ko": ((0, "오전", "오전"), (1200, "오후", "오후")),
    "ru": ((0, "ночи", "ночи"), (400, "утра", "утра"), (1200, "дня", "дня"), (1700, "вечера", "вечера")),
    "tr": ((0, "öö", "ÖÖ"), (1200, "ös", "ÖS")),
    "vi": ((0, "sa", "SA"), (1200, "ch", "CH")),
    "zh": _CHINESE_HALVES,
}

_KNOWN: Final[Mapping[str, tuple[str, int, int]]] = {
    **{name: (name, 1, 4) for name in locale_names.BY_LANGUAGE},
    **{name: (name, 0, 6) for name in ("en", "id", "ja", "ko", "pt-br", "zh-tw")},
    **{name: (name, 1, 7) for name in ("ro", "tr")},
    "en-au": ("en", 0, 4),
    "en-ca": ("en", 0, 6),
    "en-gb": ("en", 1, 4),
    "en-ie": ("en", 1, 4),
    "en-in": ("en", 0, 6),
    "en-nz": ("en", 1, 4),
    "fr-ca": ("fr", 0, 6),
    "fr-ch": ("fr", 1, 4),
}
"""Whose names, the day a week begins with, and `first_week`."""

NAMES: Final = tuple(sorted(_KNOWN))
