"""Searching equals looking at every line, one after the other."""

from __future__ import annotations

import re
import shutil
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.guards import outgoing
from service.search import ranking
from service.search.matching import needle
from service.search.query import Mode, Query, search
from service.vault import words
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


WORDS = st.sampled_from(
    ["garden", "Water", "naïve", "the", "a", "系統", "会議メモ", "Straße", "x_y", "é", "-", "\n", "# ", "%%"]
)
PROSE = st.lists(WORDS, max_size=12).map(" ".join)


@given(st.dictionaries(st.sampled_from(["a.md", "É/b.md", "c/garden.md", "d.txt"]), PROSE, max_size=4), PROSE)
@settings(max_examples=100, deadline=None)
def test_a_ranked_search_finds_just_the_notes_that_hold_one_of_the_words(
    desk: Desk, notes: dict[str, str], query: str
) -> None:
    """contract.md, ranked: any word; each note once, best first, with a line of its own that holds one of the words."""
    for left in desk.folder.iterdir():
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    desk.put(notes)
    found = search(desk.vault, Query(query or "garden", Mode.RANKED, limit=50))
    wanted = words_of(query or "garden")
    expected = {
        path for path, text in notes.items() if wanted & words_of(f"{path.rsplit('/')[-1].split('.')[0]} {text}")
    }
    if wanted:
        assert {str(hit.path) for hit in found.page.items} == expected
        assert found.page.total == len(expected) == len(found.page.items)
    scores = [hit.score for hit in found.page.items]
    assert scores == sorted(scores, reverse=True)
    for hit in found.page.items:
        line = notes[str(hit.path)].split("\n")[hit.line - 1]
        assert not wanted & words_of(notes[str(hit.path)]) or wanted & words_of(line)


def words_of(text: str) -> set[str]:
    """The words of the alphabet above, one by one: folded by hand, Han in pairs. None of them begins another."""
    plain = text.casefold().replace("ï", "i").replace("é", "e").replace("ﬁ", "fi")
    found = set(re.findall(r"[a-z]+", plain))
    for run in re.findall(r"[\u3000-\u9fff]+", plain):
        found |= {run[at : at + 2] for at in range(len(run) - 1)}
    return found


@given(st.text(max_size=50))
@settings(max_examples=500, deadline=None)
def test_folding_again_changes_nothing_and_keeps_the_lines(text: str) -> None:
    """words.folded."""
    once = words.folded(text)
    assert words.folded(once) == once
    assert once.count("\n") == text.count("\n")


@given(st.text(min_size=1, max_size=20), st.text(max_size=60), st.booleans())
@settings(max_examples=500, deadline=None)
def test_whatever_is_asked_and_written_a_question_is_answered(query: str, line: str, is_case_sensitive: bool) -> None:
    """Complaint 4: nothing in a question or a note makes a search fail."""
    question = ranking.question(query, is_case_sensitive=is_case_sensitive)
    data = line.encode("utf-8", "surrogatepass")
    counted = question.counted("name", data, question.spread(data))
    assert counted is None or len(counted.counts) == len(counted.titled) == question.size
    start, end = question.span_in(line, [1.0] * question.size)
    assert 0 <= start <= end <= len(line)
