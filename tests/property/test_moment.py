"""Formats of moment.js, made at random: never a wrong name in silence, never a path that leads out."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.errors import Conflict, Misconfigured, Refused
from service.vault import daily, locales, moment
from service.vault.moment import FormatRefusedError
from service.vault.periods import CORE, PERIODIC, Period
from tests.support.desk import Desk, desk_in

AT = datetime(2026, 3, 1, 13, 5, 9, tzinfo=UTC)
EN = locales.of("en")
LITERAL = st.text(st.characters(exclude_characters="[", exclude_categories=["Cs"]), max_size=8)
MARKS = st.text(st.sampled_from(" -_/.,:'()+年月0123"), min_size=1, max_size=2)
TOKEN = st.sampled_from(moment.TOKENS)
ANY = st.text(st.sampled_from("YMDdwWgGEHhmsaAxXZQoelLNS[]\\/.- JTournal年\u200b"), max_size=24)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """One desk for all examples: each lays its settings out anew."""
    return desk_in(tmp_path_factory.mktemp("desk"))


def written(pattern: str) -> str:
    return moment.written(pattern, AT, EN)


@given(LITERAL)
def test_what_stands_in_brackets_comes_out_as_it_is(words: str) -> None:
    """momentjs.com, Escaping characters: also brackets that close too soon, since moment reads to the last."""
    assert written(f"[{words}]") == words
    assert written(f"YYYY [{words}]") == f"2026 {words}"


@given(st.lists(st.tuples(TOKEN, MARKS), max_size=6))
def test_tokens_that_something_parts_are_each_written_for_themselves(pairs: list[tuple[str, str]]) -> None:
    """No token reaches beyond what parts it from the next."""
    assert written("".join(f"{token}{mark}" for token, mark in pairs)) == "".join(
        written(token) + mark for token, mark in pairs
    )


@given(ANY)
def test_any_format_is_written_whole_or_refused_whole(pattern: str) -> None:
    """What is not in brackets and no token stands as it is, or the format is refused; nothing vanishes."""
    try:
        found = written(pattern)
    except FormatRefusedError:
        return
    marks = [char for char in pattern if char in "年J\u200b"]
    assert [char for char in found if char in "年J\u200b"][: len(marks)] == marks


@given(pattern=ANY, folder=st.text(st.sampled_from("ab./\\ ~:"), max_size=6), period=st.sampled_from(list(Period)))
@settings(max_examples=150, deadline=None)
def test_no_format_and_no_folder_leads_out_of_the_vault(desk: Desk, pattern: str, folder: str, period: Period) -> None:
    """Complaint 36, for whatever a sync peer writes into the settings."""
    kept = {"folder": folder, "format": pattern}
    desk.put({CORE: json.dumps(kept), PERIODIC: json.dumps({one.value: kept for one in Period})})
    try:
        where = daily.place(desk.vault, AT.date(), period)
    except Misconfigured:
        return
    assert where.path.parts
    assert not any(part in ("", ".", "..") or part.startswith(".") for part in where.path.parts)
    assert str(where.path).lower().endswith(".md")
    with suppress(Refused, Conflict):  # a folder of a name that no device takes, or one that is there in other letters
        made = daily.create(desk.vault, desk.actor, where)
        assert (desk.folder / str(made.written.path)).resolve().is_relative_to(desk.folder.resolve())
