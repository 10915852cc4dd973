"""What a search may look at."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.guards import outgoing
from service.guards.outgoing import View
from service.vault import text, views

PIECES = ["a", " ", "\n", "\r\n", "é統", "\u200b", "\u00ad\u2060", "<!-- x -->", "<!--", "-->", "<b hidden>x</b>", "👍"]
RAW = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


@given(RAW, st.sampled_from([b"", b"\xef\xbb\xbf"]), st.sampled_from([b"", b"\xff", b"\xc3"]))
def test_the_bytes_shown_are_those_of_the_view(raw: str, mark: bytes, stray: bytes) -> None:
    """guards.md 6, 57."""
    data = mark + raw.encode() + stray
    expected = outgoing.view(text.decode(data).text)
    shown = views.shown(data)
    assert shown is not None
    assert shown.decode("utf-8", errors="replace") == expected.text


def test_a_note_that_hides_nothing_is_its_own_view_even_where_it_is_no_utf8() -> None:
    """Searching it costs what it did."""
    data = b"caf\xe9 and <b>more</b>\r\n"
    assert views.shown(data) == data


def test_a_withheld_note_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """guards.md 4.1, rule 5."""
    monkeypatch.setattr(views, "may_hide", lambda data: True)
    monkeypatch.setattr(outgoing, "view", lambda raw: View(raw, "", withheld="too long"))
    assert views.shown(b"secret") is None
