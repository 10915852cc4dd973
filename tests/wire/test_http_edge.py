"""What a stranger, a proxy or a browser meets before the protocol: heads, hosts, origins, paths, the origin secret.

auth.md attack lines 63-75 and 89-93; guards.md tests 31-38.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import resource
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.web import protocol
from service.web.oauth import metadata
from tests.support.service import Answer, Service, wait_until

SECRET = "0123456789abcdef0123456789abcdef-one"
OTHER = "0123456789abcdef0123456789abcdef-two"
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
NOT_FOUND = Answer(404, {"content-length": "0", "connection": "close"}, b"")
ODD_PATHS = [
    "/",
    "/mcp/",
    "//mcp",
    "/mcp%2f",
    "/MCP",
    "/./mcp",
    "/%6dcp",
    "/mcp%0a",
    "/mcp;x",
    "/x/../mcp",
]


# -- paths and methods ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [*ODD_PATHS, "/.well-known/", "/oauth", "/healthz/", "/docs", "*"])
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_every_path_but_one_is_the_same_empty_404(service: Service, token: str, path: str, method: str) -> None:
    """Attack line 73: no redirect, no other spelling of /mcp, with a good token or without."""
    assert service.ask(path, method=method) == NOT_FOUND
    assert service.ask(path, [("Authorization", f"Bearer {token}")], method=method) == NOT_FOUND


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "OPTIONS"])
def test_other_methods_are_405_only_after_the_token(service: Service, token: str, method: str) -> None:
    """decisions.md 10: 401 comes before 405."""
    assert service.ask("/mcp", method=method).status == 401
    answer = service.ask("/mcp", [("Authorization", f"Bearer {token}")], method=method)
    assert (answer.status, answer.headers["allow"], answer.body) == (405, "post", b"")


def test_blanks_around_a_headers_value_are_no_part_of_it(service: Service, token: str) -> None:
    """RFC 9110 §5.5; conformance scenario http-header-validation: `Mcp-Name:   read_note  ` names read_note."""
    meta = {"protocolVersion": "2026-07-28", "clientCapabilities": {}}
    named = {f"io.modelcontextprotocol/{name}": value for name, value in meta.items()}
    params = {"name": "read_note", "arguments": {"path": "old.md"}, "_meta": named}
    blank = [
        ("Mcp-Protocol-Version", "\t2026-07-28 "),
        ("Mcp-Method", " tools/call\t"),
        ("Mcp-Name", "  read_note  "),
    ]
    answer = service.post(f"{token} \t ", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, *blank)
    assert answer.status == 200
    assert b"from before" in answer.body


# -- the token -----------------------------------------------------------------------------------------------------------


def test_without_a_token_the_challenge_names_no_error(service: Service) -> None:
    """RFC 6750 §3.1, attack 75."""
    answer = service.ask("/mcp", method="POST", body=b"{}")
    assert answer.status == 401
    assert answer.headers["www-authenticate"] == (
        f'bearer resource_metadata="{service.url}/.well-known/oauth-protected-resource/mcp", scope="vault:read vault:write"'
    )
    assert answer.body == b""


def test_whatever_is_wrong_with_a_token_gets_one_answer(service: Service, token: str) -> None:
    """Attack lines 64-66: same status, headers and body."""
    revoked = service.token("revoked")
    service.cli_json("tokens", "revoke", "revoked")
    good = f"Bearer {token}"
    wrong = [
        [("Authorization", value)]
        for value in (
            f"Bearer {revoked}",
            f"Bearer {token[:-1]}",
            f"Bearer {token}x",
            f"Bearer sra_{token[4:]}",
            "Bearer",
            "Bearer ",
            "Bearer  \t",
            f"Basic {token}",
            token,
            f"Bearer {token} {token}",
            "Bearer \xff\xfe",
        )
    ]
    wrong.append([("Authorization", good), ("Authorization", good)])
    wrong.append([("Authorization", good), ("authorization", "Bearer x")])
    answers = [service.ask("/mcp", headers, method="POST", body=b"{}") for headers in wrong]
    assert {answer.status for answer in answers} == {401}
    assert all(answer == answers[0] for answer in answers)
    assert 'error="invalid_token"' in answers[0].headers["www-authenticate"]


def test_a_token_in_the_query_is_ignored(service: Service, token: str) -> None:
    """Attack line 63."""
    for name in ("access_token", "token", "authorization"):
        assert service.ask(f"/mcp?{name}={token}", method="POST", body=b"{}").status == 401


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_schemes_letter_case_does_not_matter(service: Service, token: str, scheme: str) -> None:
    """Attack line 65; RFC 9110 §11.1."""
    answer = service.ask(
        "/mcp",
        [
            ("Authorization", f"{scheme} {token}"),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ],
        method="POST",
        body=json.dumps(LIST).encode(),
    )
    assert answer.status == 200


# -- Host and Origin -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with a public address and an origin secret that is being changed."""
    with Service.start(
        tmp_path_factory.mktemp("public"),
        PUBLIC_URL="https://notes.example.org",
        ALLOWED_HOSTS="nas.local:8484",
        ORIGIN_SECRET=f"{SECRET},{OTHER}",
    ) as service:
        yield service


def asked(service: Service, *headers: tuple[str, str]) -> int:
    return service.ask("/mcp", [("x-origin-secret", SECRET), *headers], method="POST").status


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "127.0.0.1:1",
        "[::1]:8484",
        "LOCALHOST:80",
        "notes.example.org",
        "notes.example.org:443",
        "NAS.local:8484",
    ],
)
def test_a_host_that_is_ours_is_answered(public: Service, host: str) -> None:
    """guards.md test 31."""
    assert asked(public, ("Host", host)) == 401


@pytest.mark.parametrize(
    "host",
    ["evil.example", "notes.example.org.", "notes.example.org:80", "xnotes.example.org", "127.0.0.1.evil.example",
     "127.0.0.1:80:80", "localhost@evil.example", "nas.local", "", "127.1", "[::1]x"],
)  # fmt: skip
def test_a_host_that_is_not_ours_is_421(public: Service, host: str) -> None:
    """Attack line 72: DNS rebinding."""
    assert asked(public, ("Host", host)) == 421


def test_two_hosts_or_none_are_421(public: Service) -> None:
    """guards.md test 31."""
    assert asked(public, ("Host", "localhost"), ("Host", "localhost")) == 421
    assert (
        public.send_raw(f"POST /mcp HTTP/1.1\r\nx-origin-secret: {SECRET}\r\nConnection: close\r\n\r\n".encode()).status
        == 421
    )


def test_forwarded_headers_are_never_believed(public: Service) -> None:
    """Attack line 72; complaints.md 54."""
    for name in ("X-Forwarded-Host", "Forwarded", "X-Forwarded-Proto", "X-Original-Host"):
        assert asked(public, ("Host", "evil.example"), (name, "notes.example.org")) == 421
        assert asked(public, (name, "evil.example")) == 401


@pytest.mark.parametrize(
    "origin", ["https://notes.example.org", "http://localhost:6274", "http://127.0.0.1:1", "HTTP://[::1]:3"]
)
def test_a_page_of_our_own_or_of_this_machine_may_ask(public: Service, origin: str) -> None:
    """guards.md test 32."""
    assert asked(public, ("Origin", origin)) == 401


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "https://notes.example.org.evil.example", "http://notes.example.org",
               "https://notes.example.org:8443", "http://localhost.evil.example", "file://localhost", "https://localhost@evil.example", ""]
)  # fmt: skip
def test_a_foreign_page_is_403(public: Service, origin: str) -> None:
    """Attack line 72."""
    assert asked(public, ("Origin", origin)) == 403


# -- the origin secret ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["/mcp", "/healthz", "/readyz", *ODD_PATHS, *metadata.RESOURCE_PATHS, *metadata.SERVER_PATHS]
)
@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("x-origin-secret", "wrong")],
        [("x-origin-secret", SECRET[:-1])],
        [("x-origin-secret", SECRET.upper())],
        [("x-origin-secret", f"{SECRET},{OTHER}")],
        [("x-origin-secret", SECRET), ("x-origin-secret", SECRET)],
        [("x-origin-secret", "")],
        [("x-origin-secret", "\xff\xfe")],
        [("Origin", "https://evil.example")],
    ],
)
def test_without_the_one_right_secret_every_path_is_the_same_404(
    public: Service, path: str, headers: list[tuple[str, str]]
) -> None:
    """Attack line 89: byte for byte, even with a wrong Host, and the health paths as soon as a tunnel asks."""
    outside = [*headers, ("Host", "notes.example.org"), ("X-Forwarded-For", "1.2.3.4")]
    assert public.ask(path, outside, method="GET") == NOT_FOUND
    assert public.ask(path, outside, method="POST") == NOT_FOUND


@pytest.mark.parametrize("secret", [SECRET, OTHER])
def test_while_it_is_being_changed_both_secrets_open(public: Service, secret: str) -> None:
    """auth.md 7.8."""
    assert public.ask("/mcp", [("X-Origin-Secret", secret)], method="POST").status == 401


def test_the_secret_is_in_no_line_of_the_log(public: Service) -> None:
    """Attack line 90."""
    asked(public)
    public.ask("/mcp", [("x-origin-secret", "a-wrong-secret-that-was-tried")])
    assert SECRET not in public.log + public.errors
    assert "a-wrong-secret" not in public.log + public.errors


# -- health --------------------------------------------------------------------------------------------------------------


def test_this_machine_may_ask_for_health_without_the_secret(public: Service) -> None:
    """decisions.md 9."""
    assert public.ask("/healthz").body == b"ok\n"
    assert public.ask("/readyz").body == b"ready\n"
    assert public.ask("/readyz", method="HEAD").status == 200


@pytest.mark.parametrize(
    "headers",
    [[("Host", "notes.example.org")], [("X-Forwarded-For", "127.0.0.1")], [("CF-Connecting-IP", "127.0.0.1")]],
)
def test_a_tunnel_beside_us_may_not(public: Service, headers: list[tuple[str, str]]) -> None:
    """decisions.md 9: a tunnel on this machine connects from loopback, too; it is told by what it says for whom."""
    for path in ("/healthz", "/readyz"):
        assert public.ask(path, [*headers, ("x-origin-secret", SECRET)]) == NOT_FOUND


def test_health_is_no_place_to_post(public: Service) -> None:
    assert public.ask("/healthz", method="POST") == NOT_FOUND


def test_readiness_says_why_not_when_the_vault_is_gone(tmp_path: Path) -> None:
    """decisions.md 9; the first line is what the container's health check shows."""
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "A.md").write_text("a note\n", encoding="utf-8")
    with Service.start(tmp_path) as service:
        # The first commit must not be the one that meets the missing vault: it would be tried again a minute later only.
        wait_until(lambda: bool(service.lines("history.committed")), 30, lambda: service.log)
        assert service.ask("/readyz").status == 200
        service.vault.rename(tmp_path / "elsewhere")
        gone = service.ask("/readyz")
        assert gone.status == 503
        assert b"there" in gone.body
        (tmp_path / "elsewhere").rename(service.vault)
        assert service.ask("/readyz").status == 200


# -- heads and bodies ----------------------------------------------------------------------------------------------------

HEAD = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n"


@pytest.mark.parametrize(
    "request_",
    [
        HEAD + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi",
        HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi",
        HEAD + b"Content-Length: 2, 2\r\n\r\nhi",
        HEAD + b"Content-Length: +2\r\n\r\nhi",
        HEAD + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"X-A: b\r\n c\r\nContent-Length: 2\r\n\r\nhi",
        b"POST /mcp HTTP/1.1\nHost: localhost\nContent-Length: 2\n\nhi",
        HEAD + b"Content-Length : 2\r\n\r\nhi",
        HEAD + b"X-A: a\0b\r\n\r\n",
        HEAD + b"X-A: a\rb\r\n\r\n",
        b"nonsense\r\n\r\n",
        b"POST http://evil.example/mcp HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST http://localhost/mcp HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /mcp#x HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /mcp HTTP/2.0\r\nHost: localhost\r\n\r\n",
        b"GET /mcp\r\n\r\n",
        b"POST /mcp HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    ],
)
def test_a_head_that_two_parsers_could_read_differently_is_400_and_the_connection_ends(
    service: Service, request_: bytes
) -> None:
    """guards.md test 36: what request smuggling is made of. `send_raw` reads to the end, so it did end."""
    assert service.send_raw(request_) == Answer(400, {"content-length": "0", "connection": "close"}, b"")


@pytest.mark.parametrize("after", [b"0\r\nX-T: " + b"a" * 300_000, b"1;x=" + b"a" * 300_000, b"0\r\nX-T: a\r\n\r\n"])
def test_what_comes_behind_a_body_is_not_heaped_up(service: Service, token: str, after: bytes) -> None:
    """guards.md test 37: trailers and chunk extensions have no bound in the parser, and nobody here wants them."""
    auth = f"Authorization: Bearer {token}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    refused = service.send_raw(HEAD + auth + b"2\r\n{}\r\n" + after)
    assert refused == Answer(400, {"content-length": "0", "connection": "close"}, b"")


def test_requests_sent_in_a_row_are_answered_in_a_row(service: Service, token: str) -> None:
    """RFC 9112 §9.3.2: a request whose body comes while the one before is answered has its full time."""
    body = json.dumps(LIST).encode()
    usual = f"Authorization: Bearer {token}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
    whole = HEAD + usual.encode() + f"Content-Length: {len(body)}\r\n".encode()
    with socket.create_connection(("127.0.0.1", service.port), timeout=20) as connection:
        connection.sendall(whole + b"\r\n" + body + whole + b"Connection: close\r\n\r\n" + body[:-1])
        received = connection.recv(100_000)
        began = time.monotonic()
        while time.monotonic() - began < protocol.REST_WITHIN_S + 1:
            connection.settimeout(0.5)
            with contextlib.suppress(TimeoutError):
                received += connection.recv(100_000)
        connection.settimeout(20)
        connection.sendall(body[-1:])
        while piece := connection.recv(100_000):
            received += piece
    assert received.count(b"HTTP/1.1 200") == 2
    assert received.count(b'"tools":[') == 2


def test_a_stranger_who_sends_nonsense_does_not_fill_the_log(service: Service) -> None:
    """guards.md test 67; one line a minute at most, with how often it was."""
    for _ in range(20):
        service.send_raw(b"nonsense\r\n\r\n")
    told = [line for line in service.lines() if line.get("reason") == "no HTTP that everybody reads alike"]
    assert len(told) <= 2
    assert not [line for line in service.lines() if "Invalid HTTP" in line["event"]]


@pytest.mark.parametrize(
    "head",
    [
        HEAD + b"X-A: " + b"a" * 70_000 + b"\r\n\r\n",
        HEAD + b"".join(b"X-%d: a\r\n" % number for number in range(1000)) + b"\r\n",
        b"POST /mcp?" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        HEAD + b"X-A: " + b"a" * 200_000,
    ],
)
def test_a_head_that_is_too_large_is_431(service: Service, head: bytes) -> None:
    """guards.md test 37."""
    assert service.send_raw(head).status == 431


def test_a_body_that_is_too_large_is_413_before_it_is_read(service: Service, token: str) -> None:
    """guards.md test 35, attack line 70."""
    usual = f"Authorization: Bearer {token}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
    declared = HEAD + usual.encode() + b"Content-Length: 15000000\r\n\r\n"
    assert service.send_raw(declared).status == 413
    piece = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    with socket.create_connection(("127.0.0.1", service.port), timeout=10) as connection:
        connection.sendall(HEAD + usual.encode() + b"Transfer-Encoding: chunked\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            for _ in range(240):
                connection.sendall(piece)
        assert connection.recv(100).startswith(b"HTTP/1.1 413")


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000 + b"]" * 100_000,
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":' + b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"}",
        b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":' + b"9" * 10_000 + b"}}",
        b"[" + json.dumps(LIST).encode() + b"]",
        b"\xff\xfe\x00",
        b"",
        b"nonsense",
        b'"text"',
        b'{"jsonrpc":"1.0","id":1,"method":"tools/list"}',
    ],
)
@pytest.mark.parametrize("modern", [False, True])
def test_a_body_that_is_no_message_is_400(service: Service, token: str, body: bytes, modern: bool) -> None:
    """guards.md test 39, attack line 70: never 500, in either era."""
    headers = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/list")] if modern else []
    answer = service.post(token, body, *headers)
    assert answer.status == 400, answer
    assert service.post(token, LIST).status == 200


def test_an_odd_type_or_accept_header_is_told_and_not_crashed_on(service: Service, token: str) -> None:
    """auth.md 4.4: nowledge-co/community#496."""
    auth = ("Authorization", f"Bearer {token}")
    body = json.dumps(LIST).encode()
    accept = ("Accept", "application/json, text/event-stream")
    assert service.ask("/mcp", [auth, accept], method="POST", body=body).status == 400
    assert service.ask("/mcp", [auth, accept, ("Content-Type", "text/plain")], method="POST", body=body).status == 400
    assert service.ask("/mcp", [auth, ("Content-Type", "application/json")], method="POST", body=body).status == 406


def test_a_websocket_upgrade_leads_nowhere(service: Service) -> None:
    """There is none, and asking does not keep the connection."""
    upgrade = [("Upgrade", "websocket"), ("Sec-WebSocket-Key", "x"), ("Sec-WebSocket-Version", "13")]
    assert service.ask("/mcp", upgrade).status == 401
    assert service.ask("/ws", upgrade).status == 404


# -- slow and many -------------------------------------------------------------------------------------------------------


def test_two_hundred_trickling_clients_do_not_hold_up_a_good_one_and_are_cut_off(tmp_path: Path) -> None:
    """guards.md test 34, attack line 93: heads, and bodies after a 401, one byte at a time."""
    with Service.start(tmp_path) as service, contextlib.ExitStack() as held:
        token = service.token("laptop")
        heads = [held.enter_context(socket.create_connection(("127.0.0.1", service.port))) for _ in range(150)]
        rests = [held.enter_context(socket.create_connection(("127.0.0.1", service.port))) for _ in range(50)]
        for connection in rests:
            connection.sendall(HEAD + b"Content-Length: 1000000\r\n\r\n")
        trickling, slowest_s = {*heads, *rests}, 0.0

        def all_cut_off() -> bool:
            nonlocal slowest_s
            for connection in tuple(trickling):
                try:
                    connection.sendall(b"\r" if connection in heads else b"x")
                except OSError:
                    trickling.discard(connection)
            asked_at = time.monotonic()
            assert service.post(token, LIST).status == 200
            slowest_s = max(slowest_s, time.monotonic() - asked_at)
            return not trickling

        took_s = wait_until(all_cut_off, 40, lambda: f"cut off; {len(trickling)} left")
    assert took_s < 20
    assert slowest_s < 5


@contextlib.contextmanager
def many_descriptors(number: int) -> Iterator[None]:
    """Let this process, and not the service, open that many more: an ordinary user starts with 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = len(os.listdir("/proc/self/fd")) + number
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_thousand_idle_connections_do_not_keep_anybody_out(tmp_path: Path) -> None:
    """Attack line 93: the ones that waited longest make room."""
    with Service.start(tmp_path) as service, contextlib.ExitStack() as held:
        token = service.token("laptop")
        held.enter_context(many_descriptors(1100))
        for _ in range(1000):
            held.enter_context(socket.create_connection(("127.0.0.1", service.port)))
        assert service.post(token, LIST).status == 200


def test_connections_that_never_asked_make_room_before_one_that_did(tmp_path: Path) -> None:
    """Attack line 93: a client between two calls keeps its connection, however many come and say nothing."""
    with Service.start(tmp_path) as service, contextlib.ExitStack() as held:
        authorization = {"Authorization": f"Bearer {service.token('laptop')}", "Content-Type": "application/json"}
        headers = authorization | {"Accept": "application/json, text/event-stream"}
        kept = http.client.HTTPConnection("127.0.0.1", service.port, timeout=10)
        held.callback(kept.close)
        held.enter_context(many_descriptors(700))
        for _ in range(2):
            kept.request("POST", "/mcp", json.dumps(LIST), headers)
            answer = kept.getresponse()
            assert (answer.status, bool(answer.read())) == (200, True)
            socket_before = kept.sock
            for _ in range(600):
                held.enter_context(socket.create_connection(("127.0.0.1", service.port)))
            assert service.ask("/mcp").status == 401
        assert kept.sock is socket_before


def test_one_client_cannot_take_every_place(service: Service) -> None:
    """At most 64 requests at work with one token: more is 503, and another token is still served."""
    greedy, other = service.token("greedy"), service.token("modest")
    auth = f"Authorization: Bearer {greedy}\r\nContent-Type: application/json\r\n".encode()
    with contextlib.ExitStack() as held:
        for _ in range(64):
            connection = held.enter_context(socket.create_connection(("127.0.0.1", service.port)))
            connection.sendall(HEAD + auth + b"Content-Length: 1000\r\n\r\n")
        wait_until(lambda: service.post(greedy, LIST).status == 503, 10, "turn the greedy one away")
        assert service.post(greedy, LIST).headers["retry-after"] == "1"
        assert service.post(other, LIST).status == 200
    wait_until(lambda: service.post(greedy, LIST).status == 200, 10, "let it in again")
