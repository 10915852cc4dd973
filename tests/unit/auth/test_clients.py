"""Who may ask: pinned clients, registered ones, and what a flood of registrations costs."""

from __future__ import annotations

import json
import socket
from datetime import timedelta
from pathlib import Path

import pytest

from service.auth import catalogue
from service.auth.clients import MAX_WITHOUT_GRANT, MIN_KEPT_DAYS, UNUSED_DAYS, Clients
from service.auth.grants import seconds_of
from service.auth.refusal import Refusal
from service.auth.tables import SCHEMA
from service.auth.window import open_for
from service.errors import BadArgument, NotFound
from service.settings import load
from service.store.db import Database
from tests.support.clock import HeldClock

CURSOR = [
    "cursor://anysphere.cursor-mcp/oauth/callback",
    "https://www.cursor.com/agents/mcp/oauth/callback",
    "http://localhost:8787/callback",
]


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock.at("2026-03-01T12:00:00")


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database(tmp_path, [SCHEMA])


@pytest.fixture
def clients(database: Database, clock: HeldClock) -> Clients:
    return made(database, clock)


def made(database: Database, clock: HeldClock, **environ: str) -> Clients:
    return Clients(database, clock, load({f"STRONGROOM_{name}": value for name, value in environ.items()}))


def body(*uris: str, **members: object) -> bytes:
    return json.dumps({"redirect_uris": list(uris), "client_name": "App", **members}).encode()


def give_grant(database: Database, client_id: str, clock: HeldClock, revoked_days_ago: int | None = None) -> None:
    now = seconds_of(clock.now())
    revoked = None if revoked_days_ago is None else now - revoked_days_ago * 86400
    with database.transaction() as connection:
        connection.execute(
            "INSERT INTO grant_ (id, kind, label, client_id, scopes, created, expires, revoked) VALUES (?, 'oauth', 'x', ?, '', ?, ?, ?)",
            (client_id[-6:], client_id, now, now + 10 * 86400, revoked),
        )


# -- pinned --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sent",
    [
        body("http://localhost/").decode().encode("utf-16"),
        body("http://localhost/").decode().encode("utf-32-le"),
        b'{"redirect_uris":["https://evil.example/"],"redirect_uris":["http://localhost/"]}',
        b'{"redirect_uris":["http://localhost/"],"jwks":{"a":1,"a":2}}',
    ],
)
def test_what_can_be_read_in_two_ways_is_no_registration(clients: Clients, sent: bytes) -> None:
    """Attack 41's kind, for RFC 7591: what stands in front of us must not have read something else."""
    with pytest.raises(Refusal) as refused:
        clients.register(sent)
    assert refused.value.error == "invalid_client_metadata"
    assert clients.register(b"\xef\xbb\xbf" + body("http://localhost/")).client.redirect_uris == ("http://localhost/",)


@pytest.mark.parametrize(
    ("client_id", "name", "redirect"),
    [
        ("https://claude.ai/oauth/mcp-oauth-client-metadata", "Claude", "https://claude.ai/api/mcp/auth_callback"),
        ("https://claude.ai/oauth/claude-code-client-metadata", "Claude Code", "http://localhost/callback"),
        ("https://chatgpt.com/oauth/client.json", "ChatGPT", "https://chatgpt.com/connector_platform_oauth_redirect"),
        ("https://chatgpt.com/oauth/aB-1/client.json", "ChatGPT", "https://chatgpt.com/connector/oauth/aB-1"),
        ("https://chatgpt.com/oauth/codex/client.json", "Codex", "http://127.0.0.1/callback"),
        ("https://vscode.dev/oauth/client-metadata.json", "Visual Studio Code", "https://vscode.dev/redirect"),
        ("https://zed.dev/oauth/client-metadata.json", "Zed", "http://127.0.0.1/callback"),
    ],
)
def test_known_clients_are_known_before_they_come(clients: Clients, client_id: str, name: str, redirect: str) -> None:
    """auth.md 7.2."""
    found = clients.find(client_id)
    assert found is not None
    assert (found.kind, found.name) == ("cimd", name)
    assert found.domain is not None
    assert client_id.startswith(f"https://{found.domain}/")
    assert redirect in found.redirect_uris


@pytest.mark.parametrize(
    "client_id",
    [
        "https://chatgpt.com/oauth/../client.json",
        "https://chatgpt.com/oauth/a/../client.json",
        "https://chatgpt.com/oauth/a%2fb/client.json",
        "https://chatgpt.com/oauth/%2e%2e/client.json",
        "https://chatgpt.com/oauth/a/b/client.json",
        "https://chatgpt.com/oauth//client.json",
        "https://chatgpt.com/oauth/{word}/client.json",
        "https://chatgpt.com/oauth/a/client.json?x",
        "https://chatgpt.com/oauth/a/client.json\n",
        "https://chatgpt.com.evil/oauth/a/client.json",
        "https://CHATGPT.com/oauth/a/client.json",
        "https://claude.ai/oauth/mcp-oauth-client-metadata/",
        "https://claude.ai/oauth/mcp-oauth-client-metadata#x",
        "https://evil.example/client.json",
        "http://169.254.169.254/latest/meta-data",
    ],
)
def test_an_unknown_document_is_nobody_and_is_not_fetched(
    clients: Clients, client_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attack 58, attack 60: any connection would fail the test."""

    def refuse(*_: object) -> None:
        raise AssertionError("something was called over the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert clients.find(client_id) is None
    with pytest.raises(Refusal) as refused:
        clients.living(client_id)
    assert refused.value.error == "invalid_client"


def test_a_chatgpt_document_allows_its_own_callback_only(clients: Clients) -> None:
    """auth.md 4.1: the id in the document's address is the id of the callback."""
    found = clients.find("https://chatgpt.com/oauth/mine/client.json")
    assert found is not None
    assert "https://chatgpt.com/connector/oauth/mine" in found.redirect_uris
    assert not any("{" in uri for uri in found.redirect_uris)


# -- registered ----------------------------------------------------------------------------------------------------------


def test_cursors_three_redirects_are_kept(clients: Clients) -> None:
    """auth.md 4.4 plane-mcp-server#159."""
    taken = clients.register(body(*CURSOR, client_name="Cursor", token_endpoint_auth_method="client_secret_post"))
    answer = json.loads(taken.to_json())
    assert answer["redirect_uris"] == CURSOR
    assert answer["token_endpoint_auth_method"] == "none"
    assert "client_secret" not in answer
    assert clients.find(answer["client_id"]) == taken.client


def test_only_the_allowed_redirects_are_kept(clients: Clients) -> None:
    """Attack 11."""
    taken = clients.register(body("https://evil.example/cb", "http://localhost/cb", "javascript:alert(1)"))
    assert taken.client.redirect_uris == ("http://localhost/cb",)


@pytest.mark.parametrize(
    "uris",
    [
        ["javascript:alert(1)"],
        ["data:text/html,x"],
        ["file:///etc/passwd"],
        ["vbscript:x"],
        ["https://evil.example/cb"],
        ["https://localhost/cb"],
        [],
        "http://localhost/cb",
        [1],
        [None],
        [["http://localhost/cb"]],
        ["http://localhost/cb"] * 11,
        None,
    ],
)
def test_no_redirect_that_is_allowed_means_no_registration(clients: Clients, uris: object) -> None:
    """Attack 10, attack 11."""
    with pytest.raises(Refusal) as refused:
        clients.register(json.dumps({"redirect_uris": uris}).encode())
    assert refused.value.error == "invalid_redirect_uri"
    assert [known for known in clients.all() if known.client.kind == "dcr"] == []


@pytest.mark.parametrize("sent", [b"", b"[]", b"null", b'"x"', b"{", b"\xff", b"[" * 16000, b'{"redirect_uris":'])
def test_what_is_no_json_object_is_refused(clients: Clients, sent: bytes) -> None:
    """Attack 70 at this door."""
    with pytest.raises(Refusal) as refused:
        clients.register(sent)
    assert refused.value.error == "invalid_client_metadata"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("Claude", "Claude"),
        ("  a\t b\r\nc ", "a b c"),
        ("x" * 500, "x" * 80),
        ("safe\u202eedualC", "safeedualC"),
        ("a\u2066b\u2069\u200b\ufeff\x00\x1b[31mc", "ab[31mc"),
        ("e\u0301\u0301\u0301\u0301\u0301", "é\u0301\u0301"),
        ("\u202e\u200b", "a client without a name"),
        ("", "a client without a name"),
        (None, "a client without a name"),
        (["x"], "a client without a name"),
        ("\ud800x", "x"),
        ("a\u2028b\u2029c", "a b c"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
    ],
)
def test_a_name_is_one_line_that_shows_what_it_is(given: object, shown: str) -> None:
    """Attack 27, attack 62: bounded, without control and bidi characters; what shows it escapes it."""
    assert catalogue.cleaned_name(given) == shown


def test_registration_can_be_off_or_open_for_a_while(database: Database, clock: HeldClock) -> None:
    """auth.md 7.2: open | window | off."""
    off = made(database, clock, REGISTRATION="off")
    window = made(database, clock, REGISTRATION="window")
    for closed in (off, window):
        with pytest.raises(Refusal) as refused:
            closed.register(body("http://localhost/cb"))
        assert refused.value.error == "access_denied"
    open_for(database, clock, 10)
    assert not off.is_open()
    assert window.register(body("http://localhost/cb")).client.kind == "dcr"
    clock.move(timedelta(minutes=10))
    with pytest.raises(Refusal):
        window.register(body("http://localhost/cb"))


def test_a_flood_of_registrations_is_bounded_and_granted_clients_survive(
    database: Database, clients: Clients, clock: HeldClock
) -> None:
    """Attack 61."""
    granted = clients.register(body("http://localhost/cb")).client
    give_grant(database, granted.id, clock)
    asking = clients.register(body("http://localhost/cb")).client
    clients.note_use(asking.id)
    for _ in range(MAX_WITHOUT_GRANT + 100):
        latest = clients.register(body("http://localhost/cb")).client
    left = [known.client for known in clients.all() if known.client.kind == "dcr"]
    assert len(left) == MAX_WITHOUT_GRANT + 1
    assert granted in left
    assert asking in left
    assert latest in left


@pytest.mark.long
def test_ten_thousand_registrations_cost_little(database: Database, clients: Clients, clock: HeldClock) -> None:
    """Attack 61, in full: capped, the granted client survives, the database stays small."""
    database.connection().execute("PRAGMA synchronous=OFF")
    granted = clients.register(body("http://localhost/cb")).client
    give_grant(database, granted.id, clock)
    for _ in range(10_000):
        clients.register(
            body(*[f"http://localhost/{number}/{'x' * 900}" for number in range(10)], client_name="n" * 80)
        )
    database.connection().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert len([known for known in clients.all() if known.client.kind == "dcr"]) == MAX_WITHOUT_GRANT + 1
    assert clients.find(granted.id) == granted
    assert database.path.stat().st_size < 5_000_000


def test_clients_without_a_grant_are_forgotten_in_time(database: Database, clients: Clients, clock: HeldClock) -> None:
    """auth.md 7.2, 4.4 claude-code#4760: a client with a grant is kept, and long after it too."""
    unused = clients.register(body("http://localhost/cb")).client
    living = clients.register(body("http://localhost/cb")).client
    ended = clients.register(body("http://localhost/cb")).client
    give_grant(database, living.id, clock)
    give_grant(database, ended.id, clock, revoked_days_ago=0)
    assert clients.prune() == 0
    clock.move(timedelta(days=UNUSED_DAYS, seconds=1))
    assert clients.prune() == 1
    assert clients.find(unused.id) is None
    clock.move(timedelta(days=MIN_KEPT_DAYS - UNUSED_DAYS - 1))
    assert clients.prune() == 0
    clock.move(timedelta(days=30))
    assert clients.prune() == 2
    assert clients.find(living.id) is None


def test_registered_clients_are_known_after_a_restart(tmp_path: Path, clock: HeldClock) -> None:
    """auth.md 4.4 claude-ai-mcp#724, obsidian-web-mcp PR 41; complaint 50."""
    taken = made(Database(tmp_path, [SCHEMA]), clock).register(body("http://localhost/cb")).client
    assert made(Database(tmp_path, [SCHEMA]), clock).find(taken.id) == taken


# -- the owner's own -----------------------------------------------------------------------------------------------------

URL = "https://app.example/oauth/client.json"


def test_the_owner_can_add_a_client_by_its_document(clients: Clients) -> None:
    """auth.md 7.2: redirects on its own host, and those everybody may use."""
    given = {
        "client_id": URL,
        "client_name": "App\u202e",
        "redirect_uris": ["https://app.example/cb", "https://evil.example/cb", "http://localhost/cb", 7],
    }
    added = clients.add(URL, given)
    assert (added.name, added.domain) == ("App", "app.example")
    assert added.redirect_uris == ("https://app.example/cb", "http://localhost/cb")
    assert clients.find(URL) == added
    assert clients.add(URL, {**given, "client_name": "Newer"}).name == "Newer"


@pytest.mark.parametrize(
    ("url", "document"),
    [
        (URL, {"client_id": "https://other.example/x", "redirect_uris": ["https://app.example/cb"]}),
        (URL, {"redirect_uris": ["https://app.example/cb"]}),
        (URL, {"client_id": URL, "redirect_uris": ["https://evil.example/cb"]}),
        (URL, {"client_id": URL}),
        (URL, {"client_id": URL, "redirect_uris": "https://app.example/cb"}),
        ("http://app.example/x", {"client_id": "http://app.example/x", "redirect_uris": ["http://localhost/"]}),
        ("https://app.example/../x", {"client_id": "https://app.example/../x", "redirect_uris": ["http://localhost/"]}),
        ("https://app.example/", {"client_id": "https://app.example/", "redirect_uris": ["http://localhost/"]}),
    ],
)
def test_a_document_that_is_not_its_own_is_not_added(clients: Clients, url: str, document: dict[str, object]) -> None:
    """Attack 59, the part that needs no network: wrong client_id, no redirect, an odd address."""
    with pytest.raises(BadArgument):
        clients.add(url, document)
    assert clients.find(url) is None


def test_a_client_can_be_disabled_and_enabled_again(clients: Clients) -> None:
    """auth.md 7.7: whatever its kind; nothing else about it changes."""
    pinned = "https://claude.ai/oauth/mcp-oauth-client-metadata"
    registered = clients.register(body("http://localhost/cb")).client.id
    for client_id in (pinned, registered, "https://chatgpt.com/oauth/mine/client.json"):
        before = clients.living(client_id)
        assert clients.disable(client_id).is_disabled
        with pytest.raises(Refusal) as refused:
            clients.living(client_id)
        assert refused.value.error == "invalid_client"
        clients.enable(client_id)
        assert clients.living(client_id) == before
    with pytest.raises(NotFound):
        clients.disable("nobody")
