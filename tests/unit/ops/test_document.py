"""Fetching a client's document: what a URL may lead to, and what it may not (attack 59). The server is real, and so is TLS."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from ops import document
from ops.document import Way, fetch, is_public
from service.errors import AppError, Refused, Unavailable
from tests.support.certificates import contexts

HOST: Final = "app.example"
URL: Final = f"https://{HOST}/oauth/client.json"
GOOD: Final = {"client_id": URL, "client_name": "App", "redirect_uris": [f"https://{HOST}/cb"]}


@dataclass
class Server:
    """A TLS server that says the same thing to whoever asks. `asked` is what it was asked, `names` the SNI names."""

    way: Way
    answer: bytes = b""
    asked: list[bytes] = field(default_factory=list)
    names: list[str | None] = field(default_factory=list)
    hang_up: threading.Event = field(default_factory=threading.Event)

    def says(self, body: bytes, *headers: str, status: str = "200 OK", content_type: str = "application/json") -> None:
        lines = [
            f"HTTP/1.1 {status}",
            f"Content-Type: {content_type}",
            f"Content-Length: {len(body)}",
            *headers,
            "",
            "",
        ]
        self.answer = "\r\n".join(lines).encode() + body


@contextmanager
def serving(folder: Path, certified_for: str = HOST) -> Iterator[Server]:
    ours, theirs = contexts(folder, certified_for)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = Server(way(listener.getsockname()[1], theirs))
        server.says(json.dumps(GOOD).encode())
        ours.sni_callback = lambda _socket, name, _context: server.names.append(name)  # type: ignore[attr-defined]

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.settimeout(10)
                    try:
                        with ours.wrap_socket(connection, server_side=True) as inside:
                            server.asked.append(inside.recv(65536))
                            inside.sendall(server.answer)
                            if not server.answer.endswith(b"..."):
                                continue
                            server.hang_up.wait(10)
                    except OSError:
                        continue

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield server
        finally:
            server.hang_up.set()
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(10)


def way(port: int, tls: ssl.SSLContext, *addresses: str, within_s: float = 10.0) -> Way:
    async def look_up(_host: str, _port: int) -> Sequence[str]:
        return addresses or ["127.0.0.1"]

    return Way(look_up, lambda address: address == "127.0.0.1" or is_public(address), tls, within_s, port)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path) as running:
        yield running


def test_a_document_is_fetched_from_the_host_that_it_names(server: Server) -> None:
    """auth.md 7.2: fetched in the command, at the owner's request; the certificate is that of the name in the URL."""
    assert fetch(URL, server.way) == GOOD
    (asked,) = server.asked
    head = asked.decode().lower().split("\r\n")
    assert head[0] == "get /oauth/client.json http/1.1"
    assert f"host: {HOST}" in head
    assert server.names == [HOST]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (lambda s: s.says(b"", "Location: https://127.0.0.1/", status="302 Found"), "redirect"),
        (lambda s: s.says(b"", f"Location: {URL}2", status="308 Permanent Redirect"), "redirect"),
        (lambda s: s.says(b"no", status="404 Not Found"), "status 404"),
        (lambda s: s.says(json.dumps({**GOOD, "x": "y" * 6000}).encode()), "longer than 5120 bytes"),
        (lambda s: s.says(json.dumps({**GOOD, "client_id": URL + "/"}).encode()), "another client's"),
        (lambda s: s.says(json.dumps({**GOOD, "client_id": URL.upper()}).encode()), "another client's"),
        (lambda s: s.says(json.dumps({**GOOD, "client_secret": "s"}).encode()), "a secret"),
        (lambda s: s.says(b"[1]"), "no JSON object"),
        (lambda s: s.says(b"{"), "no JSON object"),
        (lambda s: s.says(b"\xff\xfe"), "no JSON object"),
        (lambda s: s.says(b"[" * 5000), "no JSON object"),
        (lambda s: s.says(json.dumps(GOOD).encode(), content_type="text/html"), "no JSON document"),
    ],
    ids=["302", "308", "404", "6KB", "other id", "case", "secret", "array", "half", "bytes", "deep", "html"],
)
def test_what_is_no_such_document_is_refused(server: Server, answer: Callable[[Server], None], why: str) -> None:
    """attack 59: redirect, 6 KB, wrong client_id."""
    answer(server)
    with pytest.raises(Refused, match=why):
        fetch(URL, server.way)
    assert len(server.asked) == 1, "asked once, and nowhere else"


def test_a_document_that_grows_for_ever_is_cut_off_at_its_limit(server: Server) -> None:
    """attack 59: a length that is not told beforehand, and the connection kept open."""
    server.answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + b"{" * 10_000 + b"..."
    with pytest.raises(Refused, match="longer"):
        fetch(URL, server.way)


@pytest.mark.parametrize("begun", [b"...", b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{..."])
def test_a_host_that_lets_us_wait_is_left_in_time(server: Server, begun: bytes) -> None:
    """attack 59: the ten seconds are for everything together, so a byte now and then does not stretch them."""
    server.answer = begun
    with pytest.raises(Unavailable, match=r"within 0\.5 seconds"):
        fetch(URL, way(server.way.port, server.way.tls, within_s=0.5))


@pytest.mark.parametrize(
    "url",
    [
        "http://app.example/client.json",
        "HTTPS://app.example/client.json",
        "https://app.example",
        "https://app.example/",
        "https://app.example:8443/client.json",
        "https://user@app.example/client.json",
        "https://app.example@127.0.0.1/client.json",
        "https://app.example/client.json#x",
        "https://app.example/../client.json",
        "https://app.example/%2e%2e/client.json",
        "https://127.0.0.1/client.json",
        "https://[::1]/client.json",
        "https://2130706433/client.json",
        "https://0x7f.1/client.json",
        "https://localhost/client.json",
        "https://App.example/client.json",
        "https://app.example./client.json",
        "https://app\u3002example/client.json",
        "https://app.example\\@evil.example/client.json",
        "https://app.example/a b",
        "https://app.example/\n",
        "https://app.example/" + "x" * 600,
        "file:///etc/passwd",
        "//app.example/client.json",
        "https://[",
        "",
    ],
)
def test_a_url_that_can_name_no_client_is_refused_before_anything_is_looked_up(url: str) -> None:
    """attack 59: http, addresses instead of names, and what two parsers read differently."""

    async def look_up(_host: str, _port: int) -> Sequence[str]:
        raise AssertionError("looked up")

    with pytest.raises(Refused, match="URL"):
        fetch(url, Way(look_up))


@pytest.mark.parametrize(
    "addresses",
    [["127.0.0.1"], ["10.0.0.7"], ["169.254.169.254"], ["93.184.215.14", "192.168.1.1"], ["::1"], ["nonsense"], []],
)
def test_a_name_that_leads_home_is_asked_nothing(addresses: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """attack 59: private addresses, also as one of several."""

    async def look_up(_host: str, _port: int) -> Sequence[str]:
        return addresses

    def connect(*_: object) -> None:
        raise AssertionError("connected")

    monkeypatch.setattr(socket.socket, "connect", connect)
    with pytest.raises(Refused, match="none of the internet"):
        fetch(URL, Way(look_up))


def test_a_name_is_looked_up_once_so_a_second_answer_changes_nothing(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """attack 59, DNS rebinding: the connection goes to the address that was checked."""
    answers = [["127.0.0.1"], ["10.0.0.1"]]
    resolved: list[object] = []
    genuine = socket.getaddrinfo

    async def look_up(_host: str, _port: int) -> Sequence[str]:
        return answers.pop(0)

    def getaddrinfo(host: object, *rest: object, **more: object) -> object:
        resolved.append(host)
        return genuine(host, *rest, **more)  # type: ignore[call-overload]  # passed on as it came

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    there = server.way
    assert fetch(URL, Way(look_up, there.may_connect, there.tls, there.within_s, there.port)) == GOOD
    assert len(answers) == 1
    assert HOST not in resolved


def test_another_address_of_the_name_is_tried_when_one_is_dead(server: Server) -> None:
    """A host with IPv6 in its name and none on the line is an ordinary thing."""
    there = server.way

    async def look_up(_host: str, _port: int) -> Sequence[str]:
        return ["127.0.0.9", "127.0.0.1"]

    both = Way(look_up, lambda _: True, there.tls, there.within_s, there.port)
    assert fetch(URL, both) == GOOD


def test_a_certificate_of_another_name_is_not_accepted(tmp_path: Path) -> None:
    """attack 59: whoever holds the address is not yet whoever holds the name."""
    with serving(tmp_path, certified_for="evil.example") as server, pytest.raises(Unavailable):
        fetch(URL, server.way)
    assert server.asked == []


def test_a_proxy_in_the_environment_does_not_take_over(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """attack 59: a proxy would look the name up itself, where nothing is checked."""
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert fetch(URL, server.way) == GOOD


def test_nobody_there_is_a_sentence(tmp_path: Path) -> None:
    """style.md, Errors."""
    _, theirs = contexts(tmp_path, HOST)
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(Unavailable, match="could not be asked"):
        fetch(URL, way(port, theirs))

    async def nowhere(_host: str, _port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_NONAME, "no such name")

    with pytest.raises(AppError, match="no address"):
        fetch(URL, Way(nowhere))


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.9.9.9", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1",
        "192.0.2.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fc00::1",
        "ff02::1", "2001:db8::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a00:1",
        "2002:7f00:1::", "2002:a00:1::1", "fe80::1%eth0", "localhost", "", "2130706433",
    ],
)  # fmt: skip
def test_an_address_that_is_not_of_the_internet_is_known(address: str) -> None:
    """attack 59: also behind the forms in which IPv6 carries IPv4."""
    assert not is_public(address)


@pytest.mark.parametrize(
    "address", ["93.184.215.14", "2606:2800:220:1::1", "::ffff:93.184.215.14", "64:ff9b::5db8:d70e"]
)
def test_an_address_of_the_internet_is_known(address: str) -> None:
    """attack 59: and the command is of use."""
    assert is_public(address)


def test_the_ordinary_way_asks_this_machines_resolver() -> None:
    """Nothing is looked up here: it is an address already."""
    import asyncio

    assert asyncio.run(document._looked_up("127.0.0.1", 443)) == ["127.0.0.1"]
