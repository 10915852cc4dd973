"""The part of a note that fits into an answer."""

from __future__ import annotations

import pytest

from service.errors import BadArgument
from service.vault.excerpts import Excerpt, Span, excerpt, fair_shares

TEXT = "one\ntwo\r\nthree\nfour"


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        (Span(), Excerpt(TEXT, 1, 4, 4)),
        (Span(2, 3), Excerpt("two\r\nthree\n", 2, 3, 4)),
        (Span(2), Excerpt("two\r\nthree\nfour", 2, 4, 4)),
        (Span(4, 4), Excerpt("four", 4, 4, 4)),
        (Span(-5, 1), Excerpt("one\n", 1, 1, 4)),
        (Span(3, 9999), Excerpt("three\nfour", 3, 4, 4)),
        (Span(5), Excerpt("", 5, 4, 4)),
        (Span(1, 1, column=3), Excerpt("e\n", 1, 1, 4)),
        (Span(1, 2, column=10**30), Excerpt("\ntwo\r\n", 1, 2, 4)),
    ],
)
def test_lines_count_from_one_and_a_span_is_clamped(span: Span, expected: Excerpt) -> None:
    """contract.md, read_note."""
    assert excerpt(TEXT, span, 1000) == expected


def test_a_span_that_ends_before_it_begins_is_refused() -> None:
    """Our decision: it is a mistake, not an empty answer."""
    with pytest.raises(BadArgument):
        excerpt(TEXT, Span(3, 2), 1000)


def test_an_empty_note_has_no_lines() -> None:
    """contract.md, read_note."""
    assert excerpt("", Span(), 10) == Excerpt("", 1, 0, 0)


def test_a_long_text_is_cut_after_a_line_and_names_the_next() -> None:
    """contract.md, limits; ancestors.md 1.2.8 no. 10."""
    assert excerpt(TEXT, Span(), 10) == Excerpt("one\ntwo\r\n", 1, 2, 4, next_line=3)


def test_a_line_longer_than_an_answer_is_cut_inside_and_names_the_column() -> None:
    """contract.md, limits: a text that is cut can be had whole; 65 kB in one line occur in real vaults."""
    assert excerpt("ab\nxxxxxyyyyyz\nc", Span(2), 5) == Excerpt("xxxxx", 2, 2, 3, next_line=2, next_column=6)


@pytest.mark.parametrize(
    "text", ["", "a", "\n" * 50, "word " * 100 + "\n" + "x" * 30 + "\r\nend", TEXT, "é\u2028\n" * 9]
)
@pytest.mark.parametrize("max_chars", [2, 7, 64])
def test_going_on_where_each_part_says_gives_the_whole_text(text: str, max_chars: int) -> None:
    """Complaint 56."""
    part = excerpt(text, Span(), max_chars)
    parts = [part.text]
    while part.next_line is not None:
        assert len(part.text) <= max_chars
        part = excerpt(text, Span(part.next_line, column=part.next_column), max_chars)
        parts.append(part.text)
    assert "".join(parts) == text


def test_several_notes_share_an_answer_so_that_short_ones_leave_room() -> None:
    """Our decision: one long note among short ones gets nearly all of it."""
    assert fair_shares([10, 1000, 20, 500], 630) == [10, 300, 20, 300]
    assert fair_shares([10, 20], 100) == [10, 20]
    assert fair_shares([], 100) == []
