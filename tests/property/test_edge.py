"""Whatever bytes a stranger sends: nothing but our own names is ours, and nothing but one bearer token is a token."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from service.auth import bearer
from service.auth.bearer import Malformed, Nothing, Presented
from service.auth.tokens import digest
from service.web.edge import Hosts

HOSTS = Hosts("https://notes.example.org", ["nas.local:8484"])
OURS = re.compile(
    rb"(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]+)?|notes\.example\.org(?::443)?|nas\.local:8484", re.IGNORECASE
)
NAMES = (b"localhost", b"127.0.0.1:80", b"[::1]", b"[::1]:8484", b"notes.example.org:443", b"NAS.local:8484", b"::1")
near = st.one_of(
    st.binary(max_size=40),
    st.tuples(st.sampled_from(NAMES), st.binary(max_size=4)).map(lambda parts: parts[0] + parts[1]),
    st.tuples(st.binary(max_size=4), st.sampled_from(NAMES)).map(lambda parts: parts[0] + parts[1]),
)


@given(near)
def test_a_host_is_ours_only_when_it_is_one_of_our_names_with_or_without_a_port(host: bytes) -> None:
    """DNS rebinding: attack line 72."""
    assert HOSTS.knows_host([host]) is (OURS.fullmatch(host) is not None)
    assert not HOSTS.knows_host([host, host])


@given(st.lists(st.tuples(st.sampled_from([b"authorization", b"cookie", b"x"]), st.binary(max_size=60)), max_size=4))
def test_any_headers_at_all_are_read_as_nothing_malformed_or_one_token(headers: list[tuple[bytes, bytes]]) -> None:
    """Attack lines 63-65."""
    given_ = [value for name, value in headers if name == b"authorization"]
    match bearer.presented(headers):
        case Nothing():
            assert given_ == []
        case Malformed():
            assert given_
        case Presented(token_hash):
            [value] = given_
            assert value.strip(b" \t").lower().startswith(b"bearer ")
            assert len(token_hash) == 32
    assert all(name == b"x" for name, _ in bearer.without_credentials(headers))


@given(
    st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=60),
    st.sampled_from(["Bearer", "bearer", "BEARER"]),
)
def test_a_token_is_found_as_it_was_stored(token: str, scheme: str) -> None:
    """What `tokens create` hashed is what the guard looks up."""
    headers = [(b"authorization", f"{scheme} {token}".encode())]
    assert bearer.presented(headers) == Presented(digest(token))
