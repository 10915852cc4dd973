"""The official SDK's own client signs in by itself: the code that many clients are made of (auth.md 4.4, python-sdk).

It finds the metadata, registers or names its document, checks `iss` and `state`, and renews by itself.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from urllib.parse import parse_qsl, urlsplit

import anyio.to_thread
import httpx2
import pytest
from mcp.client import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

from tests.support.internet import Internet
from tests.support.service import ERAS, Service, text_of
from tests.support.sign_in import Place

pytestmark = pytest.mark.anyio

CALLBACK = "http://localhost:54321/callback"
DOCUMENT = "https://claude.ai/oauth/claude-code-client-metadata"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("sdk")
    (folder / "vault").mkdir()
    (folder / "vault" / "a.md").write_text("from the vault\n")
    with Service.start(folder) as service:
        yield Place(service, Internet(service.url, service.port))


class Memory:
    """What the SDK's client keeps between two starts of it."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class Person:
    """Opens what the client shows, and is sent back to it. `asked` counts how often."""

    def __init__(self, place: Place) -> None:
        self._place, self._left, self.asked = place, "", 0

    async def open(self, url: str) -> None:
        self.asked += 1
        self._left = await anyio.to_thread.run_sync(partial(self._place.owner().allow, url))

    async def come_back(self) -> AuthorizationCodeResult:
        assert self._left.startswith(CALLBACK)
        said = dict(parse_qsl(urlsplit(self._left).query))
        return AuthorizationCodeResult(code=said["code"], state=said["state"], iss=said["iss"])


@asynccontextmanager
async def signed_in(
    place: Place, era: str, memory: Memory, person: Person, document: str | None
) -> AsyncIterator[Client]:
    about = OAuthClientMetadata(
        client_name="An SDK client",
        redirect_uris=[AnyUrl(CALLBACK)],
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
        token_endpoint_auth_method="none",
    )
    url = f"{place.service.url}/mcp"
    auth = OAuthClientProvider(url, about, memory, person.open, person.come_back, client_metadata_url=document)
    async with (
        httpx2.AsyncClient(auth=auth, timeout=httpx2.Timeout(30, read=60)) as http,
        Client(streamable_http_client(url, http_client=http), mode=era) as client,
    ):
        yield client, auth


@pytest.mark.parametrize("document", [None, DOCUMENT], ids=["registers", "has a document"])
@pytest.mark.parametrize("era", ERAS)
async def test_the_sdks_client_gets_in_and_renews_by_itself(place: Place, era: str, document: str | None) -> None:
    """python-sdk#1842: with nothing but the URL; when its token has run out it renews it, and asks no person."""
    memory, person = Memory(), Person(place)
    async with signed_in(place, era, memory, person, document) as (client, auth):
        assert "read_note" in {tool.name for tool in (await client.list_tools()).tools}
        assert "from the vault" in text_of(await client.call_tool("read_note", {"path": "a.md"}))
        assert memory.client is not None
        assert (memory.client.client_id == document) == (document is not None)
        before = memory.tokens
        auth.context.token_expiry_time = 1.0
        assert "from the vault" in text_of(await client.call_tool("read_note", {"path": "a.md"}))
    assert before is not None
    assert memory.tokens is not None
    assert memory.tokens.refresh_token != before.refresh_token
    assert person.asked == 1


async def test_after_a_revocation_the_sdks_client_asks_the_owner_again(place: Place) -> None:
    """auth.md 4.1: the 401 begins a new sign-in, under the name that the client keeps, and the owner decides."""
    memory, person = Memory(), Person(place)
    async with signed_in(place, ERAS[0], memory, person, None) as (client, _):
        await client.list_tools()
    newest = place.service.cli_json("tokens", "list")[-1]["id"]
    place.service.cli_json("tokens", "revoke", newest)
    async with signed_in(place, ERAS[0], memory, person, None) as (client, _):
        assert "read_note" in {tool.name for tool in (await client.list_tools()).tools}
    assert person.asked == 2
