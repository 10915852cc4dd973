"""Which notes stand for days, weeks, months, quarters and years, as the vault's own settings have it.

Read on every call, since sync and the owner change them: the core plugin Daily notes, else the community plugin Periodic
Notes (both forms of its settings), for weeks also Calendar, else the names that Periodic Notes gives by itself. A plugin
that Obsidian lists as switched off does not decide. What is no JSON, or of the wrong type, counts as not set.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from typing import Final

from service.errors import BadArgument, NoteNotFound, PathRefused, TooLarge
from service.vault import locales, moment
from service.vault.locales import Locale
from service.vault.model import Vault

Json = Mapping[str, object]


class Period(StrEnum):
    """What a note stands for."""

    DAILY = "daily"
    WEEKLY = "weekly"
    MONTHLY = "monthly"
    QUARTERLY = "quarterly"
    YEARLY = "yearly"


@dataclass(frozen=True, slots=True)
class Kept:
    """How the vault keeps the notes of one period.

    Args:
        folder: vault-relative, without outer slashes; empty for the root.
        pattern: moment.js's format of the path in that folder, without the suffix.
        template: the note it starts from, as the settings name it; empty for none.
        date_pattern, time_pattern: what `{{date}}` and `{{time}}` mean in the template.
    """

    folder: str
    pattern: str
    template: str
    date_pattern: str
    time_pattern: str


PATTERNS: Final[Mapping[Period, str]] = {
    Period.DAILY: "YYYY-MM-DD",
    Period.WEEKLY: "gggg-[W]ww",
    Period.MONTHLY: "YYYY-MM",
    Period.QUARTERLY: "YYYY-[Q]Q",
    Period.YEARLY: "YYYY",
}
"""The formats of Periodic Notes where nothing is set; the first is that of Obsidian's core too."""

CORE: Final = ".obsidian/daily-notes.json"
PERIODIC: Final = ".obsidian/plugins/periodic-notes/data.json"
CALENDAR: Final = ".obsidian/plugins/calendar/data.json"
_APP: Final = ".obsidian/app.json"
_TEMPLATES: Final = ".obsidian/templates.json"
_CORE_PLUGINS: Final = ".obsidian/core-plugins.json"
_COMMUNITY_PLUGINS: Final = ".obsidian/community-plugins.json"

_UNITS: Final[Mapping[Period, str]] = {
    Period.DAILY: "day",
    Period.WEEKLY: "week",
    Period.MONTHLY: "month",
    Period.QUARTERLY: "quarter",
    Period.YEARLY: "year",
}
"""The names of Periodic Notes 1.0."""
_WEEKDAYS: Final = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
_LOCALE_WEEKS: Final = frozenset(("w", "wo", "ww", "gg", "gggg"))
_ISO_WEEKS: Final = frozenset(("W", "Wo", "WW", "GG", "GGGG"))
_TIME: Final = "HH:mm"


def kept(vault: Vault, period: Period) -> Kept:
    """How the vault's own settings have the notes of that period."""
    if period is Period.DAILY:
        return _daily(vault)
    found = _periodic(vault, period)
    if found is None and period is Period.WEEKLY:
        found = _calendar_weeks(vault)
    return _kept(found or {}, period)


def locale(vault: Vault) -> Locale:
    """The owner's language: STRONGROOM_LOCALE, else what Periodic Notes or Calendar were told, else moment's own, `en`.

    The day on which weeks begin is Calendar's where that says one: it changes it for all of Obsidian.
    """
    told = [_json(vault, _APP)]
    if not _is_off(vault, "calendar"):
        told.append(_json(vault, CALENDAR))
    named = [locales.known(_text(settings, "localeOverride")) for settings in told]
    found = locales.of(vault.locale or next(filter(None, named), locales.DEFAULT))
    begins = next((day for settings in told if (day := _text(settings, "weekStart").lower()) in _WEEKDAYS), None)
    return found if begins is None else found.beginning(_WEEKDAYS.index(begins))


def begins(period: Period, day: date, week_begins: int) -> date:
    """The first day of the period that `day` lies in.

    Raises:
        BadArgument: it lies before the first day there is.
    """
    match period:
        case Period.DAILY:
            return day
        case Period.WEEKLY:
            return first_of_week(day, week_begins)
        case Period.MONTHLY:
            return day.replace(day=1)
        case Period.QUARTERLY:
            return day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
        case Period.YEARLY:
            return day.replace(month=1, day=1)


def first_of_week(day: date, week_begins: int) -> date:
    """The day on which a day's week begins (`week_begins` is 0 for Sunday)."""
    try:
        return day - timedelta(days=(day.isoweekday() - week_begins) % 7)
    except OverflowError as error:
        raise BadArgument("that week begins before the first day there is; give a later date.") from error


def week_begins(pattern: str, spoken: Locale) -> int:
    """On which day the weeks of weekly notes begin: Monday where their format counts ISO weeks, else as the language has it.

    Periodic Notes takes the language's week even then, and so names a week in `en` by the Sunday before it: one too low.
    """
    tokens = moment.tokens_in(pattern)
    return 1 if tokens & _ISO_WEEKS and not tokens & _LOCALE_WEEKS else spoken.week_begins


def _daily(vault: Vault) -> Kept:
    core = _json(vault, CORE)
    is_set = any(_text(core, key) for key in ("folder", "format", "template"))
    periodic = None
    if not is_set or _is_off(vault, "daily-notes"):
        periodic = _periodic(vault, Period.DAILY)
    if periodic is not None:
        return _kept(periodic, Period.DAILY)
    named = _json(vault, _TEMPLATES)
    found = _kept(core, Period.DAILY)
    return Kept(
        found.folder,
        found.pattern,
        found.template,
        _text(named, "dateFormat") or PATTERNS[Period.DAILY],
        _text(named, "timeFormat") or _TIME,
    )


def _periodic(vault: Vault, period: Period) -> Json | None:
    """What Periodic Notes says of the period, in the keys of its first form; None when it does not keep such notes."""
    if _is_off(vault, "periodic-notes"):
        return None
    settings = _json(vault, PERIODIC)
    sets = [found for found in _list(settings, "calendarSets") if isinstance(found, dict)]
    if sets:  # 1.0 beta, which leaves the old keys in place
        active = [found for found in sets if found.get("id") == settings.get("activeCalendarSet")]
        found = (active or sets)[0].get(_UNITS[period])
    else:
        found = settings.get(period.value)
    if not isinstance(found, dict) or found.get("enabled", True) is False:
        return None
    return {**found, "template": found.get("templatePath") or found.get("template")}


def _calendar_weeks(vault: Vault) -> Json | None:
    if _is_off(vault, "calendar"):
        return None
    settings = _json(vault, CALENDAR)
    names = {"folder": "weeklyNoteFolder", "format": "weeklyNoteFormat", "template": "weeklyNoteTemplate"}
    return {key: settings.get(name) for key, name in names.items()}


def _kept(settings: Json, period: Period) -> Kept:
    pattern = _text(settings, "format") or PATTERNS[period]
    return Kept(_text(settings, "folder").strip("/"), pattern, _text(settings, "template"), pattern, _TIME)


def _is_off(vault: Vault, plugin: str) -> bool:
    """Whether Obsidian's own list says that the plugin is switched off; not where there is no such list."""
    if plugin == "daily-notes":
        core = _parsed(vault, _CORE_PLUGINS)
        return (isinstance(core, dict) and core.get(plugin) is False) or (isinstance(core, list) and plugin not in core)
    plugins = _parsed(vault, _COMMUNITY_PLUGINS)
    return isinstance(plugins, list) and plugin not in plugins


def _json(vault: Vault, name: str) -> Json:
    settings = _parsed(vault, name)
    return settings if isinstance(settings, dict) else {}


def _parsed(vault: Vault, name: str) -> object:
    try:
        return json.loads(vault.files.read_settings(name))
    except (NoteNotFound, PathRefused, TooLarge, ValueError, RecursionError):
        return None


def _text(settings: Json, key: str) -> str:
    value = settings.get(key)
    return value.strip() if isinstance(value, str) else ""


def _list(settings: Json, key: str) -> Sequence[object]:
    value = settings.get(key)
    return value if isinstance(value, list) else ()
