"""Where an owner may be sent back to: every spelling that is not one of ours is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.auth import redirects
from service.auth.redirects import EXACT

LOOPBACK = [
    "http://localhost/callback",
    "http://127.0.0.1/callback",
    "http://127.0.0.1:3334/oauth/callback",
    "http://127.0.0.1:33418/",
    "http://127.0.0.1",
    "http://[::1]:65535/cb",
    "http://localhost:7777/oauth/callback?server=notes&x=%20",
]
OF_KNOWN_CLIENTS = [
    *sorted(EXACT),
    "https://chatgpt.com/connector/oauth/aB3_-x",
    "cursor://anysphere.cursor-retrieval/oauth/user-notes/callback",
]
ODD = [
    "",
    "https://claude.ai/x/../api/mcp/auth_callback",
    "https://claude.ai/x/%2e%2e/api/mcp/auth_callback",
    "https://claude.ai/api/mcp/auth_callback#f",
    "https://claude.ai/api/mcp/auth_callback/",
    "https://claude.ai/api/mcp/auth_callback?",
    "https://claude.ai/api/mcp/auth_callback?next=https://evil.example",
    "https://user@claude.ai/api/mcp/auth_callback",
    "https://claude.ai@evil.example/api/mcp/auth_callback",
    "https://claude.ai\\@evil.example/api/mcp/auth_callback",
    "https://evil.claude.ai/api/mcp/auth_callback",
    "https://evil.claude.ai.example/api/mcp/auth_callback",
    "https://claude.ai.evil/api/mcp/auth_callback",
    "https://CLAUDE.ai/api/mcp/auth_callback",
    "HTTPS://claude.ai/api/mcp/auth_callback",
    "https://claude.ai./api/mcp/auth_callback",
    "https://claude.ai:443/api/mcp/auth_callback",
    "https://claude.ai:8443/api/mcp/auth_callback",
    "http://claude.ai/api/mcp/auth_callback",
    "https:/claude.ai/api/mcp/auth_callback",
    "https:claude.ai/api/mcp/auth_callback",
    "//claude.ai/api/mcp/auth_callback",
    "https://claude.ai/api/mcp/auth_callback\t",
    "\thttps://claude.ai/api/mcp/auth_callback",
    " https://claude.ai/api/mcp/auth_callback",
    "https://claude.ai/api/mcp/auth_callback\r\nX: y",
    "https://claude.ai/api/mcp/auth_callback\n",
    "https://clаude.ai/api/mcp/auth_callback",  # a Cyrillic a
    "https://xn--clude-4ve.ai/api/mcp/auth_callback",
    "https://chatgpt.com/connector/oauth/",
    "https://chatgpt.com/connector/oauth/a/b",
    "https://chatgpt.com/connector/oauth/../../evil",
    "https://chatgpt.com/connector/oauth/a%2f..",
    "https://chatgpt.com/connector/oauth/a?x=1",
    "https://chatgpt.com/connector/oauth/a\n",
    "https://chatgpt.com/connector/oauth/{word}",
    "https://chatgpt.com/connector/oauth/" + "a" * 129,
    "https://chatgptXcom/connector/oauth/a",
    "cursor://evil/oauth/callback",
    "cursor://anysphere.cursor-mcp/oauth/user-/callback",
    "cursor://anysphere.cursor-mcp/oauth/user-x/../callback",
    "claude://claude.ai/mcp-auth-callback/other",
    "claude://evil/mcp-auth-callback/sdk",
    "javascript:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    "vbscript:x",
    "https://localhost/callback",
    "https://127.0.0.1:8080/callback",
    "http://0.0.0.0:8080/callback",
    "http://0/callback",
    "http://2130706433/callback",
    "http://0x7f000001/callback",
    "http://0177.0.0.1/callback",
    "http://127.1/callback",
    "http://127.0.0.2/callback",
    "http://[::]/callback",
    "http://[0:0:0:0:0:0:0:1]/callback",
    "http://[::ffff:127.0.0.1]/callback",
    "http://[::1%25lo]/callback",
    "http://::1/callback",
    "http://127.0.0.1.evil.example/callback",
    "http://127.0.0.1@evil.example/callback",
    "http://localhost@evil.example/callback",
    "http://localhost:80@evil.example/callback",
    "http://localhost\\@evil.example/callback",
    "http://localhost.evil.example/callback",
    "http://localhost./callback",
    "http://LOCALHOST/callback",
    "Http://localhost/callback",
    "http://localhost:/callback",
    "http://localhost:0/callback",
    "http://localhost:65536/callback",
    "http://localhost:99999999/callback",
    "http://localhost:080/callback",
    "http://localhost:８０/callback",
    "http://localhost:-1/callback",
    "http://localhost:8080/../callback",
    "http://localhost:8080/./callback",
    "http://localhost:8080/.",
    "http://localhost:8080/..",
    "http://localhost:8080/%2e%2e/callback",
    "http://localhost:8080//evil.example/callback",
    "http://localhost:8080/callback#x",
    "http://localhost:8080/call back",
    "http://localhost:8080/call\x00back",
    "http://localhost:8080/callbäck",
    "http://localhost:8080/callback?x=%zz",
    "http://localhost:8080/callback?x=1#f",
    "http://localhost:8080/callback?code=mine",
    "http://localhost:8080/callback?a=1&state=mine",
    "http://localhost:8080/callback?%69ss=mine",
    "http://localhost:8080/callback?error",
    "http://localhost:8080/" + "a" * 1000,
]


@pytest.mark.parametrize("uri", [*LOOPBACK, *OF_KNOWN_CLIENTS])
def test_known_clients_and_this_machine_are_allowed(uri: str) -> None:
    """auth.md 4.1 and 7.2."""
    assert redirects.is_allowed(uri)
    assert redirects.matches(uri, uri) or uri.endswith("aB3_-x")


@pytest.mark.parametrize("uri", ODD)
def test_no_odd_spelling_is_allowed(uri: str) -> None:
    """Attack 8, attack 10."""
    assert not redirects.is_allowed(uri)
    assert not any(redirects.matches(known, uri) for known in (*LOOPBACK, *OF_KNOWN_CLIENTS))


def test_the_port_does_not_count_on_this_machine_and_nowhere_else() -> None:
    """Attack 9; RFC 8252 §7.3; auth.md 4.4 copilot-cli#1951, fastmcp#3588."""
    assert redirects.matches("http://localhost/callback", "http://localhost:51234/callback")
    assert redirects.matches("http://127.0.0.1:3334/oauth/callback", "http://127.0.0.1:1/oauth/callback")
    assert redirects.matches("http://127.0.0.1:3334/cb?a=1", "http://127.0.0.1/cb?a=1")
    assert not redirects.matches("http://localhost/callback", "http://127.0.0.1:51234/callback")
    assert not redirects.matches("http://localhost/callback", "http://localhost:51234/callback/")
    assert not redirects.matches("http://localhost/callback", "http://localhost:51234/callback?x=1")
    assert not redirects.matches("https://app.example/cb", "https://app.example:8443/cb")
    assert not redirects.matches("https://localhost/cb", "https://localhost:8443/cb")


def test_an_address_may_leave_one_word_to_the_client() -> None:
    """auth.md 4.1: Codex adds an id to its callback, and takes any port."""
    registered = "http://127.0.0.1/callback/{word}"
    assert redirects.matches(registered, "http://127.0.0.1:1455/callback/abc-1")
    for odd in (
        "http://127.0.0.1:1455/callback/",
        "http://127.0.0.1:1455/callback/a/b",
        "http://127.0.0.1:1/callback/..",
    ):
        assert not redirects.matches(registered, odd)


def test_the_owner_can_allow_more_to_the_letter() -> None:
    """auth.md 7.2, STRONGROOM_REDIRECTS."""
    more = ("https://app.example/callback", "myapp://callback")
    assert redirects.is_allowed("https://app.example/callback", more)
    assert redirects.is_allowed("myapp://callback", more)
    for other in ("https://app.example/callback/", "https://app.example:443/callback", "myapp://callback/x"):
        assert not redirects.is_allowed(other, more)


def test_hosted_and_native_are_told_apart() -> None:
    """auth.md 7.4: tokens of clients on one's own machine last longer."""
    assert redirects.is_native("http://localhost:1/cb")
    assert redirects.is_native("cursor://anysphere.cursor-mcp/oauth/callback")
    assert not redirects.is_native("https://claude.ai/api/mcp/auth_callback")
    assert redirects.is_loopback("http://localhost:1/cb")
    assert not redirects.is_loopback("cursor://anysphere.cursor-mcp/oauth/callback")


def test_an_address_on_a_documents_own_host() -> None:
    """auth.md 7.2: a document that the owner added may lead to its own host."""
    assert redirects.is_on("https://app.example/a/b?x=1", "app.example")
    for odd in (
        "https://app.example.evil/a",
        "https://app.example:8443/a",
        "https://app.example@evil/a",
        "https://app.example/a/../b",
        "https://app.example/a#f",
        "http://app.example/a",
    ):
        assert not redirects.is_on(odd, "app.example")


def test_every_pinned_client_has_redirects_that_are_allowed() -> None:
    """auth.md 7.2: what the package pins obeys the same rule."""
    from service.auth import catalogue

    known = catalogue.pinned()
    assert len(known) >= 7
    for client in known:
        assert client.domain in ("claude.ai", "chatgpt.com", "vscode.dev", "zed.dev")
        assert all(redirects.is_allowed(uri.replace("{word}", "x")) for uri in client.redirect_uris)
    assert Path(catalogue.__file__).with_name("known_clients.json").is_file()
