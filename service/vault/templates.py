"""What a new daily or periodic note begins with: the owner's template, its placeholders filled in, every other byte as it is.

Placeholders are those of Obsidian's core and of Periodic Notes (read in the sources of both versions); all others stay, and
so does what other plugins would run: nothing of a template is ever run here.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from service.errors import BadArgument, Conflict, NotFound, Refused
from service.guards import paths
from service.guards.paths import VaultPath
from service.vault import listing, moment, periods, text
from service.vault.locales import Locale
from service.vault.model import Vault
from service.vault.moment import FormatRefusedError
from service.vault.periods import Kept, Period

_WEEKDAYS: Final = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
_PLACEHOLDER: Final = re.compile(
    r"\{\{\s{0,9}(?P<name>title|date|time|yesterday|tomorrow|month|quarter|year|" + "|".join(_WEEKDAYS) + r")\s{0,9}"
    r"(?:(?P<many>[+-][0-9]{1,6})(?P<unit>[a-z]))?\s{0,9}(?::(?P<format>[^\r\n]{1,200}?))?\}\}",
    re.IGNORECASE,
)
_UNITS: Final[Mapping[str, str]] = {
    "y": "years", "Y": "years", "Q": "quarters", "M": "months", "w": "weeks", "W": "weeks", "d": "days", "h": "hours",
    "H": "hours", "m": "minutes", "s": "seconds", "S": "seconds",
}  # fmt: skip
"""Units as moment.js's `add` understands them: `m` is a minute and `M` a month; `q` and `D` do nothing there."""
_MONTHS: Final[Mapping[str, int]] = {"years": 12, "quarters": 3, "months": 1}
_OWN: Final[Mapping[str, Period]] = {
    "yesterday": Period.DAILY, "tomorrow": Period.DAILY, "month": Period.MONTHLY, "quarter": Period.QUARTERLY,
    "year": Period.YEARLY, **dict.fromkeys(_WEEKDAYS, Period.WEEKLY),
}  # fmt: skip
"""Placeholders that only notes of one period have."""

_TEMPLATER: Final = re.compile(r"<%")


@dataclass(frozen=True, slots=True)
class Begun:
    """What a note begins with, and sentences about what of its template was not used, or not run."""

    text: str
    told: tuple[str, ...] = ()
    template: str = ""
    """What to call the template; empty when there is none, or one that the reader may not learn of."""


@dataclass(frozen=True, slots=True)
class Occasion:
    """What placeholders are filled from: the first day of the period, the name of its note, the moment of writing."""

    period: Period
    kept: Kept
    day: date
    name: str
    now: datetime
    zone: ZoneInfo
    locale: Locale


def begun(vault: Vault, occasion: Occasion) -> Begun:
    """The text of a new note. A template that cannot be used leaves it empty, and is told of.

    In a limited view one that is not there is as if none were named, and one that is there is called by its own path: what
    the settings name may lie elsewhere.
    """
    asked = occasion.kept.template
    is_limited = vault.files.root.scope is not None
    if not asked.strip("/ "):
        return Begun("", (), "" if is_limited else asked)
    try:
        path = _found(vault, asked)
        template = text.decode_exact(vault.files.read(path).data, str(path)).text
    except (NotFound, Refused, Conflict) as error:
        if is_limited:
            return Begun("")
        return Begun("", (f"The template that the vault's settings name was not used ({error.code}).",), asked)
    named = str(path) if is_limited else asked
    if vault.low_trust.holds(path):
        why = "The template that the vault's settings name was not used: it lies in a low-trust folder."
        return Begun("", (why,), named)
    return replace(filled(template, occasion), template=named)


def filled(template: str, occasion: Occasion) -> Begun:
    """A template with its placeholders filled in."""
    left = 0

    def fill(match: re.Match[str]) -> str:
        nonlocal left
        try:
            value = _value(match, occasion)
        except (FormatRefusedError, OverflowError, ValueError, BadArgument):
            left += 1
            return match[0]
        return match[0] if value is None else value

    written = _PLACEHOLDER.sub(fill, template)
    told = []
    if left:
        what = "1 placeholder of the template was" if left == 1 else f"{left} placeholders of the template were"
        told.append(f"{what} left as written, with a format or a step that is not understood here.")
    if _TEMPLATER.search(template):
        told.append("Templater commands (<% %>) of the template are not run here and stand in the note as they are.")
    return Begun(written, tuple(told))


def _value(match: re.Match[str], occasion: Occasion) -> str | None:
    """What stands for one placeholder; None when it is none of this kind of note."""
    name, many, pattern = match["name"].lower(), match["many"], (match["format"] or "").strip()
    if _OWN.get(name, occasion.period) is not occasion.period:
        return None
    if name in _WEEKDAYS:
        return _of_weekday(name, many, pattern, occasion)
    if name in ("title", "yesterday", "tomorrow"):
        if many or pattern:
            return None
        if name == "title":
            return occasion.name
        step = timedelta(days=1 if name == "tomorrow" else -1)
        return _written(_midnight(occasion.day + step, occasion), occasion.kept.pattern, occasion)
    if not many and not pattern and name in ("date", "time"):
        pattern = occasion.kept.date_pattern if name == "date" else occasion.kept.time_pattern
    now = occasion.now
    at = moment.at_local(occasion.day, now.hour, now.minute, now.second, occasion.zone)
    if many:
        at = _moved(at, int(many), match["unit"], occasion.zone)
    return _written(at, pattern or occasion.kept.date_pattern, occasion)


def _of_weekday(name: str, many: str | None, pattern: str, occasion: Occasion) -> str | None:
    if many or not pattern:
        return None  # as Periodic Notes leaves it
    begins = periods.week_begins(occasion.kept.pattern, occasion.locale)
    first = periods.first_of_week(occasion.day, begins)
    day = first + timedelta(days=(_WEEKDAYS.index(name) - begins) % 7)
    return _written(_midnight(day, occasion), pattern, occasion)


def _moved(at: datetime, many: int, letter: str, zone: ZoneInfo) -> datetime:
    unit = _UNITS.get(letter)
    if unit is None:
        raise ValueError
    if unit in _MONTHS:
        months = at.year * 12 + at.month - 1 + many * _MONTHS[unit]
        year, month = months // 12, months % 12 + 1
        day = date(year, month, min(at.day, calendar.monthrange(year, month)[1]))
        return moment.at_local(day, at.hour, at.minute, at.second, zone)
    if unit in ("weeks", "days"):
        day = at.date() + timedelta(days=many * (7 if unit == "weeks" else 1))
        return moment.at_local(day, at.hour, at.minute, at.second, zone)
    passed = timedelta(hours=many) if unit == "hours" else timedelta(**{unit: many})
    return moment.after(at, passed)


def _midnight(day: date, occasion: Occasion) -> datetime:
    return moment.at_local(day, 0, 0, 0, occasion.zone)


def _written(at: datetime, pattern: str, occasion: Occasion) -> str:
    return moment.written(pattern, at, occasion.locale)


def _found(vault: Vault, asked: str) -> VaultPath:
    """The note that the settings mean, as Obsidian finds it: the path itself, else the shortest path that ends so.

    Raises:
        NoteNotFound, PathRefused, PathAmbiguous: there is none that may be read.
    """
    wanted = asked.strip().strip("/")
    if not wanted.lower().endswith(paths.MARKDOWN_SUFFIXES):
        wanted += ".md"
    path = paths.markdown(wanted)
    try:
        return vault.files.locate(path)
    except NotFound:
        if vault.files.root.scope is not None:
            raise  # a note of its reader's own must not stand in for one that it cannot see
        ending = tuple(part.casefold() for part in path.parts)
        same = [
            entry.path
            for entry in listing.by_path(vault)
            if entry.path.has_suffix(paths.MARKDOWN_SUFFIXES)
            and tuple(part.casefold() for part in entry.path.parts[-len(ending) :]) == ending
            and not vault.low_trust.holds(entry.path)
        ]
        if not same:
            raise
        return min(same, key=lambda found: (len(found.parts), len(str(found)), str(found)))
