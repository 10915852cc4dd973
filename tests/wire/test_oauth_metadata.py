"""How a client finds out that it can sign in, and where: the 401, the documents, what a browser's page may read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from service.web.oauth.metadata import RESOURCE_PATHS, SERVER_PATHS
from tests.support.service import Answer, Service

DOCUMENTS = (*RESOURCE_PATHS, *SERVER_PATHS)
BASE = "https://notes.example.org"


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with a public address."""
    with Service.start(tmp_path_factory.mktemp("public"), PUBLIC_URL=f"{BASE}/") as started:
        yield started


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service where nobody can sign in."""
    with Service.start(tmp_path_factory.mktemp("without"), OAUTH="0") as started:
        yield started


def test_a_client_gets_from_the_401_to_the_token_endpoint(service: Service) -> None:
    """Attack 75; auth.md 4.4 claude-ai-mcp#345; complaint 47; RFC 9728 §5.1."""
    challenge = service.ask("/mcp", method="POST", body=b"{}").headers["www-authenticate"]
    found = re.search(r'resource_metadata="([^"]+)"', challenge)
    assert found is not None
    resource = json.loads(service.ask(found[1].removeprefix(service.url)).body)
    assert resource["resource"] == f"{service.url}/mcp"
    assert resource["authorization_servers"] == [service.url]
    assert resource["scopes_supported"] == ["vault:read", "vault:write"]
    server = json.loads(service.ask("/.well-known/oauth-authorization-server").body)
    assert server["issuer"] == service.url
    assert server["token_endpoint"] == f"{service.url}/oauth/token"


def test_the_challenge_names_an_error_only_when_a_token_was_sent(service: Service) -> None:
    """Attack 75; RFC 6750 §3.1."""
    asked = service.ask("/mcp", [("Authorization", "Bearer sra_unknown")], method="POST", body=b"{}")
    assert 'error="invalid_token"' in asked.headers["www-authenticate"]
    assert "resource_metadata=" in asked.headers["www-authenticate"]


@pytest.mark.parametrize("paths", [RESOURCE_PATHS, SERVER_PATHS])
def test_each_document_is_the_same_in_all_its_places(service: Service, paths: tuple[str, ...]) -> None:
    """auth.md 4.4 gemini-cli#15754, typescript-sdk#1027, Waishnav/devspace#42; complaint 48."""
    answers = [service.ask(path) for path in paths]
    assert all(answer == answers[0] for answer in answers)
    assert answers[0].status == 200
    assert answers[0].headers["content-type"] == "application/json"
    assert answers[0].headers["cache-control"] == "no-store"


def test_the_server_says_what_clients_choose_by(service: Service) -> None:
    """auth.md 4.4 python-sdk#2260, claude-ai-mcp#42: `none` exactly, iss, CIMD, offline_access in this document alone."""
    server = json.loads(service.ask("/.well-known/oauth-authorization-server").body)
    assert server["token_endpoint_auth_methods_supported"] == ["none"]
    assert server["revocation_endpoint_auth_methods_supported"] == ["none"]
    assert server["code_challenge_methods_supported"] == ["S256"]
    assert server["response_types_supported"] == ["code"]
    assert server["grant_types_supported"] == ["authorization_code", "refresh_token"]
    assert server["authorization_response_iss_parameter_supported"] is True
    assert server["client_id_metadata_document_supported"] is True
    assert "offline_access" in server["scopes_supported"]
    assert "offline_access" not in service.ask(RESOURCE_PATHS[0]).body.decode()


@pytest.mark.parametrize("path", DOCUMENTS)
def test_no_header_changes_a_word_of_a_document(public: Service, path: str) -> None:
    """Attack 72; auth.md 4.4 claude-ai-mcp#560: whatever a header says, the documents name our own address."""
    plain = public.ask(path, [("Host", "notes.example.org")])
    spoofed = [
        ("Host", "notes.example.org"),
        ("X-Forwarded-Host", "evil.example"),
        ("X-Forwarded-Proto", "http"),
        ("Forwarded", "host=evil.example;proto=http"),
        ("X-Original-URL", "https://evil.example/"),
    ]
    assert public.ask(path, spoofed) == plain
    assert public.ask(path) == plain
    assert BASE.encode() in plain.body
    assert public.ask(path, [("Host", "evil.example")]).status == 421
    assert public.ask(path, [("Origin", "https://evil.example")]).status == 403


@pytest.mark.parametrize("path", DOCUMENTS)
def test_a_page_may_read_a_document_and_its_preflight_is_answered(service: Service, path: str) -> None:
    """auth.md 7.1, attack 46: CORS, and never with credentials."""
    origin = ("Origin", "http://localhost:6274")
    read = service.ask(path, [origin])
    assert read.headers["access-control-allow-origin"] == "*"
    preflight = service.ask(
        path,
        [
            origin,
            ("Access-Control-Request-Method", "GET"),
            ("Access-Control-Request-Headers", "mcp-protocol-version"),
        ],
        method="OPTIONS",
    )
    assert preflight.status == 204
    assert "mcp-protocol-version" in preflight.headers["access-control-allow-headers"]
    for answer in (read, preflight):
        assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_a_document_is_only_read(service: Service, method: str) -> None:
    """auth.md 7.1."""
    answer = service.ask(RESOURCE_PATHS[0], method=method, body=b"")
    assert (answer.status, answer.body) == (405, b"")


def test_a_page_of_this_machine_may_call_the_protocol(service: Service) -> None:
    """auth.md 4.1, Inspector's page: a preflight carries no token by its nature; what it asks for still needs one."""
    origin = ("Origin", "http://localhost:6274")
    preflight = service.ask(
        "/mcp",
        [
            origin,
            ("Access-Control-Request-Method", "POST"),
            ("Access-Control-Request-Headers", "authorization"),
        ],
        method="OPTIONS",
    )
    assert (preflight.status, preflight.body) == (204, b"")
    assert preflight.headers["access-control-allow-headers"] == "authorization"
    refused = service.ask("/mcp", [origin], method="POST", body=b"{}")
    assert refused.status == 401
    assert refused.headers["access-control-allow-origin"] == "*"
    assert "www-authenticate" in refused.headers["access-control-expose-headers"]


@pytest.mark.parametrize("path", [*DOCUMENTS, "/oauth/authorize", "/oauth/token", "/oauth/register", "/oauth/revoke"])
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_without_oauth_no_path_of_it_is_there(without: Service, path: str, method: str) -> None:
    """auth.md 4.4 claude-ai-mcp#457: a client must not think that it can sign in."""
    assert without.ask(path, method=method) == Answer(404, {"content-length": "0", "connection": "close"}, b"")


def test_without_oauth_the_challenge_names_no_document(without: Service) -> None:
    """RFC 9728 §5.1: `resource_metadata` must lead to a document."""
    assert without.ask("/mcp", method="POST", body=b"{}").headers["www-authenticate"] == 'bearer realm="strongroom"'
