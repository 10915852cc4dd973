"""What a search may look at, and that what is remembered of it never outlives the note."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.guards import outgoing
from service.guards.outgoing import View
from service.vault import text, views
from service.vault.views import Views

PIECES = ["a", " ", "\n", "\r\n", "é統", "\u200b", "\u00ad\u2060", "<!-- x -->", "<!--", "-->", "<b hidden>x</b>", "👍"]
RAW = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


@given(RAW, st.sampled_from([b"", b"\xef\xbb\xbf"]), st.sampled_from([b"", b"\xff", b"\xc3"]))
def test_the_bytes_shown_are_those_of_the_view(raw: str, mark: bytes, stray: bytes) -> None:
    """guards.md 6, 57; asked twice, since the second answer is remembered."""
    data = mark + raw.encode() + stray
    expected = outgoing.view(text.decode(data).text)
    known = Views()
    for _ in range(2):
        shown = known.shown(data)
        assert shown is not None
        assert shown.decode("utf-8", errors="replace") == expected.text


def test_a_note_that_hides_nothing_is_its_own_view_even_where_it_is_no_utf8() -> None:
    """Searching it costs what it did."""
    data = b"caf\xe9 and <b>more</b>\r\n"
    assert Views().shown(data) == data


def test_a_withheld_note_shows_nothing_the_second_time_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """guards.md 4.1, rule 5."""
    monkeypatch.setattr(outgoing, "may_hide", lambda data: True)
    monkeypatch.setattr(outgoing, "view", lambda raw: View(raw, "", withheld="too long"))
    known = Views()
    assert known.shown(b"secret") is None
    assert known.shown(b"secret") is None


def test_each_content_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that is repeated costs no second look; a note that has changed gets one."""
    looked = []
    monkeypatch.setattr(outgoing, "view", lambda raw: (looked.append(raw), View(raw, raw))[1])
    monkeypatch.setattr(outgoing, "may_hide", lambda data: True)
    known = Views()
    for data in (b"one", b"two", b"one", b"two"):
        known.shown(data)
    assert looked == ["one", "two"]


@pytest.mark.parametrize("bound", ["MAX_REMEMBERED", "MAX_PIECES"])
def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch, bound: str) -> None:
    """style.md: every cache has a bound; answers stay right when it is reached."""
    monkeypatch.setattr(views, bound, 4)
    known = Views()
    for number in range(50):
        assert known.shown(f"{number}\u200b\u2060x\u200by".encode()) == f"{number}xy".encode()
    assert len(known._known) <= 4
