"""Searching equals looking at every line, one after the other."""

from __future__ import annotations

import re
import shutil
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.guards import outgoing
from service.search.matching import needle
from service.search.query import Query, search
from tests.support.desk import Desk, desk_in

LETTERS = st.sampled_from(
    [*"aAbkKsStTiIfFlßẞſﬀﬁﬆıİ\u0307éÉσςΣдД統系👍\u200d \t\r\n.", "\r\n", "\u2028", "\x85", "\ufeff", "\u212a", "\ufffd"]
)
TEXT = st.lists(LETTERS, max_size=40).map("".join)
QUERY = st.lists(LETTERS, min_size=1, max_size=4).map("".join)


def lines_of(text: str) -> list[str]:
    return re.split(r"\r\n|\n", text)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """One desk for all examples: each lays its notes out anew."""
    return desk_in(tmp_path_factory.mktemp("desk"))


@given(TEXT, QUERY, st.booleans(), st.sampled_from([b"", b"\xff", b"\xc3\n"]))
@settings(max_examples=1000, deadline=None)
def test_the_lines_found_are_those_that_hold_the_folded_query(
    text: str, query: str, is_case_sensitive: bool, stray: bytes
) -> None:
    """The definition in matching.py's first lines, on bytes that may be no UTF-8."""
    data = text.encode() + stray
    shown = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="replace")
    fold = str if is_case_sensitive else str.casefold
    expected = [number for number, line in enumerate(lines_of(shown), start=1) if fold(query) in fold(line)]
    assert needle(query, is_case_sensitive=is_case_sensitive).lines_in(data) == expected


@given(TEXT.filter(lambda text: "\n" not in text), QUERY, st.booleans())
@settings(max_examples=500, deadline=None)
def test_the_place_found_in_a_line_holds_the_query(line: str, query: str, is_case_sensitive: bool) -> None:
    """A snippet is centred on what was found."""
    start, end = needle(query, is_case_sensitive=is_case_sensitive).span_in(line)
    fold = str if is_case_sensitive else str.casefold
    if fold(query) in fold(line):
        assert fold(query) in fold(line[start:end])
        assert fold(query) not in fold(line[start + 1 : end])
    else:
        assert (start, end) == (0, 0)


@given(st.dictionaries(st.sampled_from(["a.md", "É/b.md", "ſ.txt", "É/straße.md", "c/d.md"]), TEXT, max_size=5), QUERY)
@settings(max_examples=60, deadline=None)
def test_a_whole_search_equals_reading_every_note(desk: Desk, notes: dict[str, str], query: str) -> None:
    """contract.md, search_notes: hits, order, score and total; guards.md 6, 57: in what is shown of each."""
    for left in desk.folder.iterdir():
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    desk.put(notes)
    found = search(desk.vault, Query(query, limit=1000))
    expected: list[tuple[int, str, int]] = []
    for path, text in notes.items():
        lines = lines_of(outgoing.view(text.removeprefix("\ufeff")).text)
        matching = [number for number, line in enumerate(lines, start=1) if query.casefold() in line.casefold()]
        stem = unicodedata.normalize("NFC", path.rsplit("/", 1)[-1].rsplit(".", 1)[0])
        is_named = query.casefold() in stem.casefold()
        expected += [(-len(matching) - 10 * is_named, path, line) for line in matching or [1] * is_named]
    expected.sort()
    assert [(-hit.score, str(hit.path), hit.line) for hit in found.page.items] == expected
    assert found.page.total == len(expected)
