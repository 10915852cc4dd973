"""Whatever is done to an address that is allowed, it is refused, or still leads to the same place."""

from __future__ import annotations

from urllib.parse import urlsplit

from hypothesis import given
from hypothesis import strategies as st

from service.auth import redirects
from service.auth.redirects import EXACT

HERE = ("http://localhost:8080/callback", "http://127.0.0.1/callback", "http://[::1]:1/a/b", "http://127.0.0.1:33418/")
_FOREIGN_WORDS = '/../ %2e%2e/ # @ \\ %00 ? & // . .. : :443 evil.example / а ％ 。 user@ \\@evil.example ; %2f [ ] < " state= ?code='
FOREIGN = st.sampled_from([*_FOREIGN_WORDS.split(), "\t", "\r\n", "\x00", " "])


@given(st.sampled_from(sorted(EXACT)), st.data())
def test_no_change_of_a_known_address_is_allowed(uri: str, data: st.DataObject) -> None:
    """Attack 8: one insertion, replacement or deletion anywhere; only another address of ours may come out."""
    at = data.draw(st.integers(0, len(uri)))
    length = data.draw(st.integers(0, 3))
    changed = uri[:at] + data.draw(FOREIGN | st.characters() | st.just("")) + uri[at + length :]
    allowed = redirects.is_allowed(changed)
    assert allowed == (changed in EXACT or any(redirects.fits(pattern, changed) for pattern in redirects.PATTERNS))
    assert redirects.matches(uri, changed) == (changed == uri)


@given(st.sampled_from(sorted(EXACT)), st.sampled_from(["upper", "title", "swapcase"]), st.data())
def test_letter_case_counts_everywhere(uri: str, how: str, data: st.DataObject) -> None:
    """Attack 8: upper-case host or scheme."""
    end = data.draw(st.integers(1, len(uri)))
    changed = getattr(uri[:end], how)() + uri[end:]
    assert redirects.is_allowed(changed) == (changed == uri)


@given(st.sampled_from(HERE), st.data())
def test_whatever_passes_as_this_machine_is_this_machine(uri: str, data: st.DataObject) -> None:
    """Attack 8: changes of a loopback address; what still passes has our host, a good port and a plain path."""
    changed = uri
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(changed)))
        length = data.draw(st.integers(0, 3))
        changed = changed[:at] + data.draw(FOREIGN | st.characters() | st.just("")) + changed[at + length :]
    if redirects.is_allowed(changed):
        parts = urlsplit(changed)
        assert parts.scheme == "http"
        assert parts.hostname in ("localhost", "127.0.0.1", "::1")
        assert parts.port is None or 0 < parts.port <= 65535
        assert parts.username is None
        assert parts.fragment == ""
        assert changed.isascii()
        assert changed.isprintable()
        assert ".." not in changed
        assert "\\" not in changed
        assert "//" not in parts.path
    if redirects.matches(uri, changed):
        ours, theirs = urlsplit(uri), urlsplit(changed)
        assert (ours.hostname, ours.path, ours.query) == (theirs.hostname, theirs.path, theirs.query)


@given(st.text(max_size=80))
def test_no_text_is_allowed_by_chance(text: str) -> None:
    """Attack 8, attack 10."""
    for uri in (text, f"javascript:{text}", f"data:{text}", f"file://{text}", f"https://{text}/callback"):
        assert not redirects.is_allowed(uri) or uri in EXACT
