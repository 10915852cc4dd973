"""Replacing pieces of a note's view whose place a tool knows."""

from __future__ import annotations

import pytest

from service.errors import HiddenContent
from service.vault import harmless
from service.vault.text import NoteText
from service.vault.through import Piece
from tests.support.desk import NOTE, Desk


def _pieced(desk: Desk, text: str, *pieces: Piece) -> str:
    after, _ = harmless.pieced(desk.vault, NOTE, NoteText(text), pieces)
    return after.text


def test_pieces_are_put_in_where_the_view_has_them(desk: Desk) -> None:
    """Places are those of the view; what is hidden stays where it is."""
    assert _pieced(desk, "a<!-- x -->b c\n", Piece(1, 2, "B"), Piece(3, 4, "D")) == "a<!-- x -->B D\n"


def test_what_is_hidden_is_never_replaced(desk: Desk) -> None:
    """guards.md 4.5."""
    with pytest.raises(HiddenContent):
        _pieced(desk, "a<!-- x -->b\n", Piece(0, 2, "c"))


def test_what_would_be_hidden_is_refused(desk: Desk) -> None:
    """guards.md 4.5."""
    with pytest.raises(HiddenContent):
        _pieced(desk, "a b\n", Piece(2, 3, "<!-- b -->"))


def test_what_would_run_is_made_harmless_and_told(desk: Desk) -> None:
    """guards.md 4.4."""
    after, outcome = harmless.pieced(desk.vault, NOTE, NoteText("a b\n"), [Piece(2, 3, "![x](https://e.org/x.png)")])
    assert "![" not in after.text
    assert outcome.notice
    assert "+a" in outcome.diff
