"""The whole way, from the first 401 to a tool's answer: the official SDK's own OAuth client, and requests to the owner's page.

The owner is a browser without script that types the passphrase.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import anyio.to_thread
import httpx2
import pytest
from mcp.client import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

from tests.support.internet import Internet
from tests.support.oauth_client import Owner
from tests.support.service import ERAS, Answer, Service
from tests.support.signing_in import HERE, VERIFIER, challenge_of

pytestmark = pytest.mark.anyio
CLAUDE_CODE = "https://claude.ai/oauth/claude-code-client-metadata"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("whole")
    (folder / "vault").mkdir()
    (folder / "vault" / "Note.md").write_text("found me\n")
    with Service.start(folder) as started:
        yield started


@pytest.fixture(scope="module")
def owner(service: Service) -> Owner:
    passphrase = (service.state / "initial-passphrase").read_text(encoding="utf-8").strip()
    return Owner(Internet(service.url, service.port), passphrase)


@dataclass
class Keeper:
    """What the SDK's client keeps between its runs, and the callback that its owner is sent to."""

    owner: Owner
    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None
    sent_to: list[str] = field(default_factory=list)

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info

    async def open_page(self, url: str) -> None:
        self.sent_to.append(await anyio.to_thread.run_sync(self.owner.allow, url))

    async def callback(self) -> AuthorizationCodeResult:
        said = parse_qs(urlsplit(self.sent_to[-1]).query)
        return AuthorizationCodeResult(code=said["code"][0], state=said["state"][0], iss=said["iss"][0])

    def provider(self, service: Service, redirect_uri: str, document: str | None = None) -> OAuthClientProvider:
        metadata = OAuthClientMetadata(
            client_name="SDK",
            redirect_uris=[AnyUrl(redirect_uri)],
            grant_types=["authorization_code", "refresh_token"],
            token_endpoint_auth_method="none",
        )
        return OAuthClientProvider(
            f"{service.url}/mcp", metadata, self, self.open_page, self.callback, client_metadata_url=document
        )


async def note(service: Service, provider: OAuthClientProvider, era: str) -> str:
    """What a tool says about the one note there is."""
    async with (
        httpx2.AsyncClient(auth=provider, timeout=httpx2.Timeout(30, read=60)) as http,
        Client(streamable_http_client(f"{service.url}/mcp", http_client=http), mode=era) as client,
    ):
        return str(await client.call_tool("read_note", {"path": "Note.md"}))


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("document", [None, CLAUDE_CODE])
async def test_the_official_client_signs_in_and_calls_a_tool(
    service: Service, owner: Owner, era: str, document: str | None
) -> None:
    """auth.md 7.1 as the SDK reads it, in both eras, registered (RFC 7591) and by a pinned document (CIMD)."""
    keeper = Keeper(owner)
    redirect_uri = "http://localhost/callback" if document else HERE
    assert "found me" in await note(service, keeper.provider(service, redirect_uri, document), era)
    assert keeper.client is not None
    assert (keeper.client.client_id == document) == (document is not None)
    assert keeper.sent_to[-1].startswith(f"{redirect_uri}?")


async def test_the_official_client_renews_and_comes_back(service: Service, owner: Owner) -> None:
    """auth.md 4.4 claude-code#21333: what it kept is good in its next run, and renewed without the owner."""
    keeper = Keeper(owner)
    assert "found me" in await note(service, keeper.provider(service, HERE), ERAS[0])
    assert keeper.tokens is not None
    first = keeper.tokens.refresh_token
    again = keeper.provider(service, HERE)
    await again._initialize()
    again.context.token_expiry_time = 1.0  # it believes that its access token has run out
    assert "found me" in await note(service, again, ERAS[0])
    assert keeper.tokens.refresh_token != first
    assert len(keeper.sent_to) == 1


async def test_after_a_revocation_the_official_client_asks_the_owner_again(service: Service, owner: Owner) -> None:
    """auth.md 4.1: the 401 begins a new sign-in, and the owner decides."""
    keeper = Keeper(owner)
    await note(service, keeper.provider(service, HERE), ERAS[0])
    with closing(sqlite3.connect(service.state / "strongroom.db")) as reader:
        newest = reader.execute("SELECT id FROM grant_ ORDER BY created DESC, rowid DESC LIMIT 1").fetchone()[0]
    assert service.cli("tokens", "revoke", newest).returncode == 0
    assert "found me" in await note(service, keeper.provider(service, HERE), ERAS[0])
    assert len(keeper.sent_to) == 2


# -- the owner's page, asked by strangers --------------------------------------------------------------------------------


def asked(service: Service, *more: tuple[str, str], path: str = "/oauth/authorize", **changed: str | None) -> Answer:
    """A good request of Claude Code, with changes; None leaves a parameter out."""
    usual: dict[str, str | None] = {
        "response_type": "code",
        "client_id": CLAUDE_CODE,
        "redirect_uri": "http://localhost:3118/callback",
        "state": "s",
        "code_challenge": challenge_of(VERIFIER),
        "code_challenge_method": "S256",
        **changed,
    }
    pairs = [*((name, value) for name, value in usual.items() if value is not None), *more]
    return service.ask(f"{path}?{urlencode(pairs)}")


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge": "x"}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"resource": "https://other.example/mcp"}, "invalid_target"),
        ({"scope": "admin"}, "invalid_scope"),
        ({"request_uri": "http://127.0.0.1:1/"}, "request_uri_not_supported"),
        ({"request": "x"}, "request_not_supported"),
    ],
)
def test_an_error_reaches_the_client_with_the_issuer_once(
    service: Service, changed: dict[str, str | None], error: str
) -> None:
    """Attacks 1-4, 6, 14-17; auth.md 4.4 openai/codex#41836, claude-ai-mcp#250: 302 or 303."""
    answer = asked(service, **changed)
    assert answer.status in (302, 303)
    location = answer.headers["location"]
    assert location.startswith("http://localhost:3118/callback?")
    back = parse_qsl(urlsplit(location).query, keep_blank_values=True)
    assert [value for name, value in back if name == "iss"] == [service.url]
    assert dict(back)["error"] == error
    assert dict(back)["state"] == "s"


@pytest.mark.parametrize(
    "more",
    [
        (("client_id", CLAUDE_CODE),),
        (("redirect_uri", "http://localhost:3118/callback"),),
        (("scope", "vault:read"), ("scope", "vault:write")),
        (("state", "t"),),
    ],
)
def test_repeated_parameters_lead_nowhere(service: Service, more: tuple[tuple[str, str], ...]) -> None:
    """Attack 5."""
    answer = asked(service, *more)
    assert answer.status == 400
    assert "location" not in answer.headers


@pytest.mark.parametrize(
    "changed",
    [
        {"client_id": "nobody"},
        {"client_id": "https://evil.example/client.json"},
        {"client_id": None},
        {"redirect_uri": "https://evil.example/callback"},
        {"redirect_uri": "http://localhost.evil.example/callback"},
        {"redirect_uri": "http://localhost:3118/x/../callback"},
        {"redirect_uri": "http://localhost:3118/callback\r\nX-Injected: 1"},
        {"state": "x" * 10_000},
    ],
)
def test_who_is_not_known_or_not_at_home_gets_a_page(service: Service, changed: dict[str, str | None]) -> None:
    """Attacks 7, 8, 12, 58: HTML, 400, and no way to anywhere."""
    answer = asked(service, **changed)
    assert answer.status == 400
    assert answer.headers["content-type"].startswith("text/html")
    assert "location" not in answer.headers
    assert b"evil.example" not in answer.body
    assert b"http-equiv" not in answer.body.lower()


@pytest.mark.parametrize("state", ["a\r\nSet-Cookie: x=1", "<script>alert(1)</script>", "&iss=https://evil.example"])
def test_a_state_begins_no_header_and_no_parameter(service: Service, state: str) -> None:
    """Attack 12, attack 14."""
    answer = asked(service, state=state, response_type="token")
    back = parse_qsl(urlsplit(answer.headers["location"]).query, keep_blank_values=True)
    assert [value.lower() for name, value in back if name == "state"] == [state.lower()]
    assert [value for name, value in back if name == "iss"] == [service.url]
    assert "set-cookie" not in answer.headers


def test_the_page_is_at_the_root_too_and_takes_our_resource_twice(service: Service) -> None:
    """auth.md 4.4 claude-ai-mcp#846; attack 15."""
    twice = (("resource", f"{service.url}/mcp"), ("resource", f"{service.url}/"))
    for path in ("/oauth/authorize", "/authorize"):
        answer = asked(service, *twice, path=path, scope="vault:read offline_access", prompt="consent")
        assert answer.status == 200
        assert b"Claude Code" in answer.body
