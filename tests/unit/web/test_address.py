"""Where a request comes from: one header that the owner named, or nobody knows."""

from __future__ import annotations

import pytest

from service.web.oauth.address import client_address


def test_without_a_named_header_nobody_knows() -> None:
    """Complaint 54: no header is believed that the owner did not name."""
    spoofed = [
        (b"x-forwarded-for", b"192.0.2.7"),
        (b"cf-connecting-ip", b"192.0.2.7"),
        (b"forwarded", b"for=192.0.2.7"),
    ]
    assert client_address(spoofed, "") is None


def test_the_named_header_says_it() -> None:
    headers = [(b"x-forwarded-for", b"198.51.100.1"), (b"cf-connecting-ip", b" 192.0.2.7 ")]
    assert client_address(headers, "CF-Connecting-IP") == "192.0.2.7"


@pytest.mark.parametrize(
    "lines",
    [
        [b""],
        [b"unknown"],
        [b"192.0.2.7, 198.51.100.1"],
        [b"192.0.2.7", b"192.0.2.7"],
        [b"192.0.2.7:4711"],
        [b"fe80::1%eth0"],
        [b"192.0.2.07"],
        [b"3221225991"],
        ["\u0661.2.3.4".encode()],
        [b"<script>"],
        [b"1" * 5000],
        [],
    ],
)
def test_what_is_no_one_address_is_none(lines: list[bytes]) -> None:
    assert client_address([(b"cf-connecting-ip", line) for line in lines], "CF-Connecting-IP") is None


def test_of_forwarded_for_the_element_of_the_nearest_proxy_counts() -> None:
    """Attack 28: what a client sends itself stands further left."""
    spoofed = [(b"x-forwarded-for", b"10.0.0.1, unknown, 192.0.2.7")]
    assert client_address(spoofed, "X-Forwarded-For") == "192.0.2.7"
    assert client_address([*spoofed, (b"x-forwarded-for", b"10.0.0.2")], "X-Forwarded-For") is None


def test_one_address_has_one_spelling() -> None:
    assert client_address([(b"x-real-ip", b"2001:DB8:0:0::1")], "X-Real-IP") == "2001:db8::1"
    assert client_address([(b"x-real-ip", b"::ffff:192.0.2.7")], "X-Real-IP") == "192.0.2.7"
