"""The edge, with a home that was taken over: it knows the key, and answers with whatever may do harm.

Such a home may say what it likes about the notes, which are its own. It must not be able to crash what passes its answers on,
to send clients away to sign in, to have itself remembered, or to put a page into a browser under the edge's name.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import pytest

from tests.support.liar import Liar
from tests.support.service import Service, wait_until
from tests.support.split import KEY

LIST: Final = {"jsonrpc": "2.0", "id": 7, "method": "tools/list"}


@dataclass(frozen=True)
class Pair:
    edge: Service
    home: Liar
    token: str

    def answered(self, answer: bytes) -> tuple[int, dict[str, str], bytes]:
        """What the client gets when home says this."""
        self.home.answer = answer
        got = self.edge.post(self.token, LIST)
        return got.status, dict(got.headers), got.body


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with contextlib.closing(Liar()) as home:
        url = f"http://127.0.0.1:{home.port}"
        with Service.start(tmp_path_factory.mktemp("edge"), command="edge", EDGE_KEY=KEY, HOME_URL=url) as edge:
            wait_until(lambda: edge.lines("home.found") != [], 20, "find home")
            yield Pair(edge, home, edge.token("laptop"))


GOOD: Final = b"HTTP/1.1 200 OK\r\nMARK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"


def test_a_plain_answer_of_home_is_passed_on(pair: Pair) -> None:
    """The counterpart of all below: home is believed."""
    assert pair.answered(GOOD)[::2] == (200, b"{}")


NO_ANSWERS: Final = {
    "sign in again": b"HTTP/1.1 401 X\r\nMARK\r\nwww-authenticate: Bearer\r\ncontent-length: 0\r\n\r\n",
    "go elsewhere": b"HTTP/1.1 302 X\r\nMARK\r\nlocation: https://evil.example/\r\ncontent-length: 0\r\n\r\n",
    "go elsewhere for good": b"HTTP/1.1 308 X\r\nMARK\r\nlocation: https://evil.example/\r\ncontent-length: 0\r\n\r\n",
    "a proxy's word": b"HTTP/1.1 407 X\r\nMARK\r\ncontent-length: 0\r\n\r\n",
    "another protocol": b"HTTP/1.1 101 X\r\nMARK\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\nabc",
    "nothing, with a body": b"HTTP/1.1 204 X\r\nMARK\r\ncontent-length: 2\r\n\r\n{}",
    "not modified": b"HTTP/1.1 304 X\r\nMARK\r\ncontent-length: 20\r\n\r\n",
    "no status there is": b"HTTP/1.1 999 X\r\nMARK\r\ncontent-length: 2\r\n\r\n{}",
    "a page": b"HTTP/1.1 200 X\r\nMARK\r\ncontent-type: text/html\r\ncontent-length: 9\r\n\r\n<script/>",
    "a picture that is a program": b"HTTP/1.1 200 X\r\nMARK\r\ncontent-type: image/svg+xml\r\ncontent-length: 6\r\n\r\n<svg/>",
    "a kind that cannot be written": b"HTTP/1.1 200 X\r\nMARK\r\ncontent-type: application/json\x01\r\ncontent-length: 2\r\n\r\n{}",
    "packed": b"HTTP/1.1 200 X\r\nMARK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\n{}",
    "two lengths": b"HTTP/1.1 200 X\r\nMARK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}",
    "a length below nothing": b"HTTP/1.1 200 X\r\nMARK\r\ncontent-length: -2\r\n\r\n{}",
    "two marks": b"HTTP/1.1 200 X\r\nMARK\r\nMARK\r\ncontent-length: 2\r\n\r\n{}",
    "no letters in the mark": b"HTTP/1.1 200 X\r\nx-strongroom-answer: \xff.\xfe\r\ncontent-length: 2\r\n\r\n{}",
    "no HTTP": b"\0\1\2 nonsense\r\n\r\n",
    "a head without end": b"HTTP/1.1 200 X\r\nMARK\r\n" + b"x-more: " + b"a" * 400_000,
    "nothing at all": b"",
}


@pytest.mark.parametrize("lie", NO_ANSWERS.values(), ids=NO_ANSWERS)
def test_an_answer_that_home_never_gives_is_a_clear_502(pair: Pair, lie: bytes) -> None:
    """RFC 9110 §7.6.1, §15: neither is it passed on, nor does the client get no answer at all."""
    status, headers, body = pair.answered(lie)
    assert (status, headers["content-type"]) == (502, "application/json")
    assert json.loads(body)["id"] == LIST["id"]
    assert set(headers) <= {"content-type", "content-length", "cache-control", "connection"}
    assert pair.edge.lines("request.crashed") == []
    assert pair.answered(GOOD)[0] == 200


def test_an_answer_with_two_ways_to_end_ends_in_one(pair: Pair) -> None:
    """RFC 9112 §6.3: with both, the chunks decide; a length that contradicts them goes no further."""
    status, headers, body = pair.answered(
        b"HTTP/1.1 200 X\r\nMARK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    )
    assert (status, body) == (200, b"5\r\nhello\r\n0\r\n\r\n")
    assert "content-length" not in headers


def test_only_known_headers_with_readable_values_are_passed_on(pair: Pair) -> None:
    """RFC 9110 §7.6.1; nothing that a browser or a client keeps."""
    odd = (
        b"set-cookie: a=b\r\nstrict-transport-security: max-age=9\r\naccess-control-allow-origin: *\r\nkeep-alive: 9\r\n"
        b"location: /x\r\nwww-authenticate: Bearer\r\nretry-after: \xff\xfe\r\nallow: GET\r\n"
    )
    status, headers, _ = pair.answered(b"HTTP/1.1 405 X\r\nMARK\r\n" + odd + b"content-length: 0\r\n\r\n")
    assert (status, set(headers)) == (405, {"allow", "content-length", "connection"})
    assert pair.edge.lines("request.crashed") == []


def test_nothing_that_home_or_the_tunnel_says_is_remembered_for_the_next_request(pair: Pair) -> None:
    """A tunnel's own cookies come back with each ping: they would be sent on, and one day no head would hold them all."""
    cookies = b"".join(b"set-cookie: c%d=%s\r\n" % (number, b"x" * 2000) for number in range(12))
    pair.home.pong = cookies
    pings = len(pair.home.asked(b"/edge/ping"))
    pair.answered(b"HTTP/1.1 200 X\r\n" + cookies + b"content-length: 0\r\n\r\n")  # not even home's: no mark
    assert pair.answered(GOOD.replace(b"MARK\r\n", b"MARK\r\n" + cookies[:2100]))[0] == 200
    wait_until(lambda: len(pair.home.asked(b"/edge/ping")) >= pings + 2, 20, "ping twice")
    pair.home.pong = b""
    assert pair.answered(GOOD)[0] == 200
    assert [head for head in pair.home.heads if b"cookie" in head.lower()] == []
