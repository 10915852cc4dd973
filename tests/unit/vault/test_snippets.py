"""A short piece of a line."""

from __future__ import annotations

import pytest

from service.guards import limits
from service.vault.snippets import around


@pytest.mark.parametrize("line", ["", "word", "  \tword  ", "x" * 200, " " * 300 + "y" * 200])
def test_a_line_that_fits_is_given_whole_without_its_outer_blanks(line: str) -> None:
    """contract.md, search_notes."""
    assert around(line, (0, 0)) == line.strip()


@pytest.mark.parametrize("at", [0, 1, 60, 150, 500, 850, 960, 1000])
@pytest.mark.parametrize("indent", [0, 7])
def test_a_long_line_is_cut_around_what_was_found(at: int, indent: int) -> None:
    """contract.md: at most 200 characters around the match, and each cut shows."""
    line = " " * indent + "x" * at + "NEEDLE" + "y" * (1000 - at)
    snippet = around(line, (indent + at, indent + at + 6))
    assert "NEEDLE" in snippet
    assert len(snippet) <= limits.MAX_SNIPPET_CHARS
    assert snippet.startswith("…") is (at > 100)
    assert snippet.endswith("…") is (at < 900)


def test_a_piece_never_begins_with_the_marks_of_a_letter_that_was_cut_off() -> None:
    """Complaint 23."""
    snippet = around("e\u0301" * 400, (400, 402))
    assert snippet[:2] in ("…e", "……")


def test_what_was_found_in_the_blanks_of_a_line_does_not_confuse() -> None:
    """Our decision."""
    assert around(" " * 500 + "x" * 500, (3, 5)).startswith("x")


def test_a_match_longer_than_a_snippet_shows_its_beginning() -> None:
    """Our decision."""
    snippet = around("a" * 300 + "B" * 300 + "c" * 300, (300, 600))
    assert snippet == "…" + "B" * 198 + "…"
