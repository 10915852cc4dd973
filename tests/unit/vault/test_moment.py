"""Dates by moment.js's formats, against tables that moment.js itself made (tests/vectors/moment.js says how)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from service.settings import kinds
from service.vault import locales, moment
from service.vault.locales import Locale
from service.vault.moment import FormatRefusedError

VECTORS = Path(__file__).parents[2] / "vectors"
WEEKDAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
AT = datetime(2026, 3, 1, 13, 5, 9, tzinfo=UTC)


def rows(name: str) -> Iterator[tuple[Locale, datetime, dict[str, str]]]:
    head, *lines = (VECTORS / name).read_text(encoding="utf-8").split("\n")[:-1]
    columns = head.split("\t")[3:]
    for line in lines:
        locale, zone, day, *cells = line.split("\t")
        at = datetime.fromisoformat(day).replace(tzinfo=UTC).astimezone(ZoneInfo(zone))
        yield named(locale), at, dict(zip(columns, cells, strict=True))


def named(raw: str) -> Locale:
    name, _, begins = raw.partition("+")
    return locales.of(name).beginning(WEEKDAYS.index(begins)) if begins else locales.of(name)


@pytest.mark.parametrize("table", ["moment.tsv", "moment_locales.tsv"])
def test_every_token_gives_what_moment_gives(table: str) -> None:
    """The issue: a golden table; ISO week years, leap day, DST change, zones ahead of UTC, three week rules and more locales."""
    wrong = [
        (locale.name, at.isoformat(), pattern, expected, found)
        for locale, at, cells in rows(table)
        for pattern, expected in cells.items()
        if (found := moment.written(pattern, at, locale)) != expected
    ]
    assert wrong[:5] == []


def test_the_table_holds_every_token_and_every_locale() -> None:
    """So that no new one comes without moment's own word for it."""
    head = (VECTORS / "moment.tsv").read_text(encoding="utf-8").partition("\n")[0].split("\t")
    assert set(moment.TOKENS) <= set(head)
    held = {locale.name for table in ("moment.tsv", "moment_locales.tsv") for locale, _, _ in rows(table)}
    assert held == set(locales.NAMES) == set(kinds.LOCALES)


@pytest.mark.parametrize(
    ("pattern", "token"),
    [
        ("Journal/YYYY/MMM", "l"), ("YYYY LL", "LL"), ("LT", "LT"), ("LTS", "LTS"), ("YYYYY", "YYYYY"), ("Y", "Y"), ("YYY", "Y"),
        ("y", "y"), ("yo", "yo"), ("e", "e"), ("kk", "kk"), ("SSS", "SSS"), ("z", "z"), ("NNNN", "NNNN"), ("ggggg", "ggggg"),
        ("GGGGG", "GGGGG"), ("Week ww", "e"), ("Daily/YYYY", "l"), ("Month MM", "Month"), ("YYYYWeek", "e"), ("Inbox", "Inbox"),
        ("DDst", "DDst"), ("Workout", "k"), ("[open", "e"), ("YYYY\nMM", ""), ("Y" * 501, ""),
    ],
)  # fmt: skip
def test_what_is_not_understood_is_named(pattern: str, token: str) -> None:
    """Complaint 42: a clear error, not a wrong file."""
    with pytest.raises(FormatRefusedError) as caught:
        moment.written(pattern, AT, locales.of("en"))
    assert caught.value.token == token
    assert repr(token) in str(caught.value) or not token


@pytest.mark.parametrize(
    ("asked", "found"),
    [("de", "de"), ("de-DE", "de"), ("en_GB.UTF-8", "en-gb"), ("PT-BR", "pt-br"), (" fr ", "fr"), ("en-US", "en"), ("tlh", None),
     ("", None), ("zh", None)],
)  # fmt: skip
def test_a_locale_is_known_by_the_names_people_give_it(asked: str, found: str | None) -> None:
    """Our decision: as moment itself chooses one, the country left out when it is not known."""
    assert locales.known(asked) == found


@pytest.mark.parametrize(
    ("zone", "day", "hour", "minute", "shown"),
    [("Europe/Berlin", "2026-03-29", 2, 30, "03:30 +02:00"), ("America/Sao_Paulo", "2018-11-04", 0, 0, "01:00 -02:00"),
     ("Europe/Berlin", "2026-10-25", 2, 30, "02:30 +02:00")],
)  # fmt: skip
def test_a_time_that_the_clocks_skip_is_what_they_show(zone: str, day: str, hour: int, minute: int, shown: str) -> None:
    """The issue: DST change. As JavaScript's Date does it."""
    at = moment.at_local(datetime.fromisoformat(day).date(), hour, minute, 0, ZoneInfo(zone))
    assert moment.written("HH:mm Z", at, locales.of("en")) == shown


def test_weeks_fit_together() -> None:
    """Each day is in the week after the day before or in the same, whatever the rule."""
    for begins in range(7):
        for first in range(13):
            for ordinal in (1, 2, 400, 693_595, 738_000, 3_652_000):
                days = [datetime.fromordinal(ordinal + more).date() for more in range(30)]
                weeks = [moment.week_of(day, begins, first) for day in days]
                changes = [day for day, one, other in zip(days[1:], weeks, weeks[1:], strict=False) if one != other]
                assert all(day.isoweekday() % 7 == begins for day in changes)
                assert all(other[1] in (one[1], one[1] + 1, 1) for one, other in pairwise(weeks))


def test_no_name_holds_what_parts_folders() -> None:
    """A month's name cannot make a folder."""
    for name in locales.NAMES:
        locale = locales.of(name)
        words = [*locale.months.plain, *locale.months_short.plain, *locale.weekdays.plain, *locale.weekdays_short]
        assert not [word for word in words if re.search(r"[/\\]", word)]
