"""Where a request came from: one header is believed, and only if the owner named it."""

from __future__ import annotations

import pytest
from starlette.types import Scope

from service.auth import address

PEER = "203.0.113.9"


def scope(*headers: tuple[str, str], peer: str | None = PEER) -> Scope:
    raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]
    return {"type": "http", "headers": raw, "client": None if peer is None else (peer, 5)}


@pytest.mark.parametrize("name", ["X-Forwarded-For", "CF-Connecting-IP", "X-Real-IP", "Forwarded", "True-Client-IP"])
def test_no_header_is_believed_that_the_owner_did_not_name(name: str) -> None:
    """complaint 54, attack 28: anybody can send it."""
    assert address.seen(scope((name, "192.0.2.1")), "") == PEER
    assert address.seen(scope((name, "192.0.2.1")), "X-Ours") == PEER


def test_of_several_addresses_the_one_that_our_own_proxy_added_counts() -> None:
    """attack 28: a client that sends the header itself has its word put before the proxy's."""
    spoofed = scope(("X-Forwarded-For", "192.0.2.66, 192.0.2.1"))
    twice = scope(("X-Forwarded-For", "192.0.2.66"), ("X-Forwarded-For", "192.0.2.1"))
    assert address.seen(spoofed, "X-Forwarded-For") == address.seen(twice, "x-forwarded-for") == "192.0.2.1"


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("192.0.2.1", "192.0.2.1"),
        (" 192.0.2.1 ", "192.0.2.1"),
        ("192.0.2.1:443", "192.0.2.1"),
        ("[2001:db8::1]:443", "2001:db8::1"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("2001:DB8:0::1", "2001:db8::1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("", PEER),
        ("unknown", PEER),
        ("fe80::1%<script>", PEER),
        ("192.0.2.1\x1b[2J", PEER),
        ("0x7f.1", PEER),
        ("1" * 500, PEER),
    ],
)
def test_an_address_has_one_spelling_and_what_is_none_is_not_repeated(value: str, found: str) -> None:
    """It is shown in lists and counted by the throttle."""
    assert address.seen(scope(("X-Ours", value)), "X-Ours") == found


def test_over_a_socket_without_addresses_there_is_none() -> None:
    """A proxy may reach us over a unix socket."""
    assert address.seen(scope(peer=None), "") is None


def test_for_counting_visitors_only_the_named_header_counts() -> None:
    """attack 28: the peer is the proxy nearly always, so it stands for nobody."""
    spoofed = scope(("X-Forwarded-For", "192.0.2.66, unknown, 192.0.2.1"), ("CF-Connecting-IP", "192.0.2.7"))
    assert address.told(spoofed, "") is None
    assert address.told(spoofed, "X-Forwarded-For") == "192.0.2.1"
    assert address.told(spoofed, "cf-connecting-ip") == "192.0.2.7"
    assert address.told(spoofed, "X-Ours") is None


@pytest.mark.parametrize("values", [(), ("",), ("unknown",), ("192.0.2.1, 192.0.2.2",), ("192.0.2.1", "192.0.2.1")])
def test_a_header_that_does_not_tell_exactly_one_address_tells_none(values: tuple[str, ...]) -> None:
    assert address.told(scope(*(("X-Ours", value) for value in values)), "X-Ours") is None
