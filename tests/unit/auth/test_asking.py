"""Authorization requests: what is shown to the owner, what is sent back to the client, what passes."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest

from service.auth.asked import Asked, Client, SentBack, ShownError
from tests.support.clock import HeldClock
from tests.support.signing_in import BASE, HERE, RESOURCE, VERIFIER, SigningIn, challenge_of

CHALLENGE = challenge_of(VERIFIER)


@pytest.fixture
def rooms(tmp_path: Path) -> SigningIn:
    return SigningIn.over(tmp_path, HeldClock.at("2026-03-01T12:00:00"))


@pytest.fixture
def client(rooms: SigningIn) -> Client:
    return rooms.client()


def parameters(client: Client, *more: tuple[str, str], **changed: str | None) -> list[tuple[str, str]]:
    """A good request, with changes; None leaves a parameter out."""
    usual: dict[str, str | None] = {
        "response_type": "code",
        "client_id": client.id,
        "redirect_uri": HERE,
        "state": "s",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        **changed,
    }
    return [*((name, value) for name, value in usual.items() if value is not None), *more]


def sent_back(read: Asked | ShownError | SentBack) -> dict[str, list[str]]:
    assert isinstance(read, SentBack), read
    assert read.location.startswith(f"{HERE}?")
    return parse_qs(urlsplit(read.location).query, keep_blank_values=True)


def test_a_good_request_passes(rooms: SigningIn, client: Client) -> None:
    """auth.md 7.1; the resource defaults to ours (4.4 openai/codex#20729)."""
    read = rooms.asking.read(parameters(client))
    assert read == Asked(client, HERE, "s", CHALLENGE, frozenset(("vault:read", "vault:write")), RESOURCE)


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": ""}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": "s256"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge": "x"}, "invalid_request"),
        ({"code_challenge": CHALLENGE[:-1]}, "invalid_request"),
        ({"code_challenge": CHALLENGE + "A"}, "invalid_request"),
        ({"code_challenge": CHALLENGE[:-1] + "="}, "invalid_request"),
        ({"code_challenge": CHALLENGE[:-1] + "+"}, "invalid_request"),
        ({"code_challenge": CHALLENGE[:-1] + "é"}, "invalid_request"),
        ({"code_challenge": CHALLENGE + "\n"}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": "code token"}, "unsupported_response_type"),
        ({"response_type": "id_token"}, "unsupported_response_type"),
        ({"response_type": None}, "invalid_request"),
        ({"response_mode": "fragment"}, "invalid_request"),
        ({"response_mode": "form_post"}, "invalid_request"),
        ({"scope": "admin"}, "invalid_scope"),
        ({"scope": "vault:read admin"}, "invalid_scope"),
        ({"scope": "vault:read\tvault:write"}, "invalid_scope"),
        ({"scope": "VAULT:READ"}, "invalid_scope"),
        ({"request": "eyJ"}, "request_not_supported"),
        ({"request_uri": "https://evil.example/r"}, "request_uri_not_supported"),
        ({"resource": "https://other.example/mcp"}, "invalid_target"),
        ({"resource": "http://notes.example.org/mcp"}, "invalid_target"),
        ({"resource": "https://192.0.2.1/mcp"}, "invalid_target"),
        ({"resource": f"{BASE}/mcp/x"}, "invalid_target"),
        ({"resource": f"{BASE}/mcp?x"}, "invalid_target"),
        ({"resource": f"{BASE}.evil.example/mcp"}, "invalid_target"),
        ({"resource": f"{BASE}:8443/mcp"}, "invalid_target"),
        ({"resource": "//notes.example.org/mcp"}, "invalid_target"),
    ],
)
def test_the_client_is_told_what_is_wrong_at_its_own_redirect(
    rooms: SigningIn, client: Client, changed: dict[str, str | None], error: str
) -> None:
    """Attacks 1-4, 6, 13-17: with `iss` exactly once, the state, and no word of what was sent."""
    back = sent_back(rooms.asking.read(parameters(client, **changed)))
    assert back["error"] == [error]
    assert back["iss"] == [BASE]
    assert back["state"] == ["s"]
    assert set(back) == {"error", "error_description", "iss", "state"}
    for value in changed.values():
        assert value in (None, "") or len(value) < 12 or value not in back["error_description"][0]


@pytest.mark.parametrize(
    "name",
    ["client_id", "redirect_uri", "scope", "state", "code_challenge", "response_type", "code_challenge_method", "x"],
)
def test_a_repeated_parameter_goes_nowhere(rooms: SigningIn, client: Client, name: str) -> None:
    """Attack 5."""
    good = dict(parameters(client, scope="vault:read", x="1"))
    for second in (good[name], "https://evil.example/"):
        read = rooms.asking.read([*good.items(), (name, second)])
        assert isinstance(read, ShownError)
        assert read.status == 400


@pytest.mark.parametrize(
    "client_id",
    [
        "",
        "nobody",
        "https://evil.example/client.json",
        "https://chatgpt.com/oauth/a%2fb/client.json",
        "dcr-' OR 1=1 --",
        "\ud800",
    ],
)
def test_an_unknown_client_is_shown_a_way_out_and_sent_nowhere(
    rooms: SigningIn, client: Client, client_id: str
) -> None:
    """Attack 7, attack 58; auth.md 4.4 claude-code#4760, 2.7 number 5."""
    read = rooms.asking.read(parameters(client, client_id=client_id))
    assert isinstance(read, ShownError)
    assert read.status == 400
    assert "auth clients add" in read.why if client_id.startswith("https") else "add it again" in read.why
    assert rooms.events() == ["client_unknown"]


def test_a_client_that_was_taken_back_is_shown_the_same(rooms: SigningIn, client: Client) -> None:
    """auth.md 7.7."""
    rooms.clients.disable(client.id)
    read = rooms.asking.read(parameters(client))
    assert isinstance(read, ShownError)
    assert "add it again" in read.why


@pytest.mark.parametrize(
    "redirect_uri",
    [
        "https://claude.ai/api/mcp/auth_callback",
        "http://localhost:3000/callback/",
        "http://localhost:3000/x/../callback",
        "http://localhost:3000/callback#f",
        "http://localhost:3000/callback?x=1",
        "http://LOCALHOST:3000/callback",
        "https://localhost:3000/callback",
        "http://127.0.0.1:3000/callback",
        "http://localhost.evil.example:3000/callback",
        "http://localhost@evil.example/callback",
        "javascript:alert(1)",
        "http://localhost:3000/callback\r\nX: y",
    ],
)
def test_another_redirect_is_shown_and_sent_nowhere(rooms: SigningIn, client: Client, redirect_uri: str) -> None:
    """Attack 8, attack 9; even with everything else wrong too."""
    for more in ({}, {"response_type": "token"}, {"resource": "https://evil.example"}):
        read = rooms.asking.read(parameters(client, redirect_uri=redirect_uri, **more))
        assert isinstance(read, ShownError)
        assert redirect_uri not in read.why
    assert set(rooms.events()) == {"redirect_refused"}


def test_a_port_of_this_machine_is_taken_as_it_comes(rooms: SigningIn, client: Client) -> None:
    """Attack 9; auth.md 4.4 github/copilot-cli#1951."""
    read = rooms.asking.read(parameters(client, redirect_uri="http://localhost:49152/callback"))
    assert isinstance(read, Asked)
    assert read.redirect_uri == "http://localhost:49152/callback"


@pytest.mark.parametrize(
    ("client_id", "redirect_uri", "domain"),
    [
        ("https://vscode.dev/oauth/client-metadata.json", "https://vscode.dev/redirect", "vscode.dev"),
        ("https://vscode.dev/oauth/client-metadata.json", "http://127.0.0.1:33418/", None),
        ("https://claude.ai/oauth/claude-code-client-metadata", "http://localhost:3118/callback", None),
        ("https://claude.ai/oauth/claude-code-client-metadata", "claude://claude.ai/mcp-auth-callback/sdk", None),
    ],
)
def test_a_known_client_is_verified_only_where_its_host_gets_the_answer(
    rooms: SigningIn, client_id: str, redirect_uri: str, domain: str | None
) -> None:
    """Issue 5: names the client (verified or not). Any program on a device can give the id of a known one."""
    known = rooms.clients.find(client_id)
    assert known is not None
    read = rooms.asking.read(parameters(known, redirect_uri=redirect_uri))
    assert isinstance(read, Asked)
    assert (read.client.id, read.client.name, read.client.domain) == (known.id, known.name, domain)


def test_the_only_redirect_may_be_left_out(rooms: SigningIn, client: Client) -> None:
    """RFC 6749 §3.1.2.3; one of several may not."""
    read = rooms.asking.read(parameters(client, redirect_uri=None))
    assert isinstance(read, Asked)
    assert read.redirect_uri == HERE
    pinned = rooms.clients.find("https://claude.ai/oauth/mcp-oauth-client-metadata")
    assert pinned is not None
    assert isinstance(rooms.asking.read(parameters(pinned, redirect_uri=None)), ShownError)


def test_what_the_owner_no_longer_allows_is_refused_to_registered_clients(tmp_path: Path) -> None:
    """auth.md 7.2: the list holds at each request, not only at registration."""
    clock, uri = HeldClock.at("2026-03-01T12:00:00"), "https://app.example/cb"
    before = SigningIn.over(tmp_path, clock, REDIRECTS=uri)
    client = before.client(uri)
    assert isinstance(before.asking.read(parameters(client, redirect_uri=uri)), Asked)
    assert isinstance(SigningIn.over(tmp_path, clock).asking.read(parameters(client, redirect_uri=uri)), ShownError)


@pytest.mark.parametrize(
    "resources",
    [[RESOURCE], [f"{RESOURCE}/"], [BASE], [f"{BASE}/"], [RESOURCE, RESOURCE], [BASE, f"{RESOURCE}/"], [""]],
)
def test_our_resource_is_taken_in_its_four_spellings(rooms: SigningIn, client: Client, resources: list[str]) -> None:
    """Attack 15; RFC 8707 §2; auth.md 4.4 microsoft/vscode#278512; complaint 48: normalised."""
    read = rooms.asking.read(parameters(client, *(("resource", one) for one in resources)))
    assert isinstance(read, Asked)
    assert read.resource == RESOURCE


def test_one_foreign_resource_among_ours_is_refused(rooms: SigningIn, client: Client) -> None:
    """Attack 15."""
    read = rooms.asking.read(parameters(client, ("resource", RESOURCE), ("resource", "https://evil.example/mcp")))
    assert sent_back(read)["error"] == ["invalid_target"]
    assert rooms.events() == ["resource_refused"]


@pytest.mark.parametrize(
    ("scope", "scopes"),
    [
        (None, {"vault:read", "vault:write"}),
        ("", {"vault:read", "vault:write"}),
        ("offline_access", {"vault:read", "vault:write"}),
        ("vault:read offline_access", {"vault:read"}),
        ("vault:read", {"vault:read"}),
        ("vault:write", {"vault:read", "vault:write"}),
        (" vault:write  vault:read ", {"vault:read", "vault:write"}),
    ],
)
def test_offline_access_is_taken_and_means_nothing(
    rooms: SigningIn, client: Client, scope: str | None, scopes: set[str]
) -> None:
    """Attack 16; auth.md 4.4 claude-ai-mcp#42, supabase/auth#2628."""
    read = rooms.asking.read(parameters(client, scope=scope))
    assert isinstance(read, Asked)
    assert read.scopes == scopes


@pytest.mark.parametrize("name", ["prompt", "login_hint", "nonce", "display", "max_age", "claims", "id_token_hint"])
def test_what_we_do_not_know_is_ignored(rooms: SigningIn, client: Client, name: str) -> None:
    """RFC 6749 §3.1; Inspector sends prompt=consent."""
    assert isinstance(rooms.asking.read(parameters(client, (name, "consent"))), Asked)


@pytest.mark.parametrize(
    "state",
    [
        "a\r\nSet-Cookie: x=1",
        "<script>alert(1)</script>",
        "&iss=https://evil.example&code=mine",
        "ü🙂",
        "%0d%0a",
        "#x",
        "x" * 4096,
    ],
)
def test_a_state_comes_back_as_it_was_and_adds_nothing(rooms: SigningIn, client: Client, state: str) -> None:
    """Attack 12, attack 14: encoded; no header can begin in it, no parameter can come out of it."""
    read = rooms.asking.read(parameters(client, state=state, response_type="token"))
    assert isinstance(read, SentBack)
    assert read.location.isascii()
    assert read.location.isprintable()
    assert "<" not in read.location
    back = parse_qsl(urlsplit(read.location).query, keep_blank_values=True)
    assert [value for name, value in back if name == "state"] == [state]
    assert [name for name, _ in back] == ["error", "error_description", "state", "iss"]
    assert rooms.flow.deny(rooms.asked(client, state=state)).isascii()


def test_a_huge_state_is_refused(rooms: SigningIn, client: Client) -> None:
    """Attack 12: 10 KB."""
    assert isinstance(rooms.asking.read(parameters(client, state="x" * 10_000)), ShownError)


def test_a_registered_query_stays_as_it_is(rooms: SigningIn) -> None:
    """auth.md 1.5 number 7: not even a blank value is lost."""
    uri = "http://localhost:3000/cb?a=&b=%2F&a"
    client = rooms.client(uri)
    location = rooms.flow.deny(rooms.asked(client))
    assert location.startswith(f"{uri}&error=access_denied&")
    assert location.count("iss=") == 1
