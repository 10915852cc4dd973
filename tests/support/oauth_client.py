"""A scripted client that connects as real connectors do, over real HTTP, and an owner who signs in for it.

How clients differ is data (`Connector`; the table of the real ones is `connectors.py`); the way is one:

    connection = Connection(connector, internet)
    connection.connect(Owner(internet, passphrase))      # 401, metadata, registration, page, code, tokens
    connection.talk.ask("tools/list")                    # initialize or server/discover come by themselves
"""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx2

from tests.support.conversation import LEGACY_VERSION, Conversation
from tests.support.internet import Internet
from tests.support.plain_browser import Page, PlainBrowser

_CHALLENGE: Final = re.compile(r'(\w+)="([^"]*)"')


@dataclass(frozen=True, slots=True)
class Connector:
    """What is peculiar to a client; the defaults are what the specification asks for.

    Args:
        name: as it registers itself.
        redirect_uri: where it waits for the answer.
        redirect_uris: what it registers; only `redirect_uri` when empty. What `redirect_uri` of a sign-in has in a place of
            its own (a port) may differ from all of them.
        document: the URL of its client ID metadata document, used when the server takes such (CIMD).
        finds: where it looks for the resource's metadata first: what the 401 names, the path with or without `/mcp`, or
            nowhere at all, because it guesses the endpoints (2025-03-26).
        resource: what it says it wants access to: as listed, with a slash more, or nothing.
        scope: what it asks for; None: what the 401 names, and `offline_access` when the server lists it.
        registration: members of its registration beside the usual.
        more: parameters of its authorization request beside the usual.
        is_modern: whether it speaks 2026-07-28.
    """

    name: str
    redirect_uri: str
    redirect_uris: tuple[str, ...] = ()
    document: str | None = None
    finds: Literal["challenge", "suffixed", "root", "guess"] = "challenge"
    resource: Literal["listed", "slash", "absent"] = "listed"
    scope: str | None = None
    registration: Mapping[str, object] = field(default_factory=dict)
    more: Mapping[str, str] = field(default_factory=dict)
    is_modern: bool = False


@dataclass(frozen=True, slots=True)
class Tokens:
    """A token response."""

    access: str
    refresh: str
    scope: str
    lifetime_s: int

    @classmethod
    def of(cls, answer: httpx2.Response) -> Tokens:
        """Read one as a client would.

        Raises:
            AssertionError: it is no complete token response (RFC 6749 §5.1), or may be stored on the way.
        """
        assert answer.status_code == 200, f"{answer.status_code} {answer.text}"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["content-type"].split(";")[0] == "application/json"
        said = answer.json()
        assert said["token_type"] == "Bearer"
        return cls(said["access_token"], said["refresh_token"], said["scope"], said["expires_in"])


class Owner:
    """The person who is asked, with a browser of their own."""

    def __init__(self, internet: Internet, passphrase: str) -> None:
        self.browser, self._passphrase = PlainBrowser(internet), passphrase

    def allow(self, url: str, answers: Mapping[str, str | list[str]] | None = None) -> str:
        """Open the page and allow what it says; where the browser is sent then.

        Raises:
            AssertionError: there is no such page, or it does not lead on.
        """
        return self._left(self.allowed(self.browser.open(url), answers))

    def allowed(self, page: Page, answers: Mapping[str, str | list[str]] | None = None) -> Page:
        """Press Allow on a page that is open."""
        assert page.status == 200, f"{page.status}: {page.text}"
        (name,) = (one for form in page.forms for one in form.passwords)
        return self.browser.submit(page, "Allow", {name: self._passphrase, **(answers or {})})

    def deny(self, url: str) -> str:
        """Open the page and refuse; where the browser is sent then."""
        return self._left(self.browser.submit(self.browser.open(url), "Deny"))

    @staticmethod
    def _left(page: Page) -> str:
        assert page.leads_to is not None, f"{page.status}: {page.text}"
        return page.leads_to


class Connection:
    """One attempt of a client to connect, and what it keeps of it."""

    def __init__(self, connector: Connector, internet: Internet) -> None:
        self.connector, self.internet = connector, internet
        self.client_id: str | None = None
        self.tokens: Tokens | None = None
        self.listed: dict[str, Any] = {}
        self.server: dict[str, Any] = {}
        self._challenged_scope = self._state = self._verifier = ""
        self.talk = Conversation(internet, connector.name, self._access, is_modern=connector.is_modern)

    @property
    def mcp(self) -> str:
        """The URL that a person types."""
        return f"{self.internet.base}/mcp"

    def _access(self) -> str | None:
        return None if self.tokens is None else self.tokens.access

    # -- finding the server --------------------------------------------------------------------------------------------

    def discover(self) -> None:
        """Ask without a token, and follow the 401 to the two metadata documents."""
        answer = self.talk.post({"jsonrpc": "2.0", "id": 0, "method": "ping"})
        assert answer.status_code == 401, "the first answer must be a challenge"
        challenge = dict(_CHALLENGE.findall(answer.headers["www-authenticate"]))
        self._challenged_scope = challenge.get("scope", "")
        base = self.internet.base
        if self.connector.finds == "guess":
            self.listed = {"resource": self.mcp, "authorization_servers": [base]}
            names = {"authorization": "authorize", "token": "token", "registration": "register", "revocation": "revoke"}
            self.server = {"issuer": base, **{f"{name}_endpoint": f"{base}/{path}" for name, path in names.items()}}
            return
        root = f"{base}/.well-known/oauth-protected-resource"
        where = {"challenge": challenge["resource_metadata"], "suffixed": f"{root}/mcp", "root": root}
        self.listed = self._document(where[self.connector.finds])
        assert self.listed["resource"] == self.mcp, "strict clients compare it with the URL that was typed"
        issuer = self.listed["authorization_servers"][0]
        self.server = self._document(f"{issuer}/.well-known/oauth-authorization-server")
        assert self.server["issuer"] == issuer
        assert "S256" in self.server["code_challenge_methods_supported"]

    def _document(self, url: str) -> dict[str, Any]:
        answer = self.internet.ask("GET", url, {"Accept": "application/json", "MCP-Protocol-Version": LEGACY_VERSION})
        assert answer.status_code == 200, f"{url}: {answer.status_code}"
        found: dict[str, Any] = answer.json()
        return found

    # -- becoming known ------------------------------------------------------------------------------------------------

    def introduce(self) -> None:
        """Take the document's URL for a name where the server takes such, else register (RFC 7591)."""
        if self.connector.document is not None and self._takes_documents():
            self.client_id = self.connector.document
            return
        answer = self.register()
        assert answer.status_code == 201, f"{answer.status_code} {answer.text}"
        said = answer.json()
        assert said["token_endpoint_auth_method"] == "none"
        assert "client_secret" not in said
        self.client_id = said["client_id"]

    def register(self) -> httpx2.Response:
        """Send the registration as it is."""
        told = {
            "client_name": self.connector.name,
            "redirect_uris": list(self.connector.redirect_uris or (self.connector.redirect_uri,)),
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
            **self.connector.registration,
        }
        return self.internet.ask("POST", self.server["registration_endpoint"], json=told)

    def _takes_documents(self) -> bool:
        methods = self.server.get("token_endpoint_auth_methods_supported", [])
        return bool(self.server.get("client_id_metadata_document_supported")) and "none" in methods

    # -- signing in ----------------------------------------------------------------------------------------------------

    def authorize_url(self, **changed: str | None) -> str:
        """Where to send the owner. `changed` replaces parameters; None leaves one out."""
        self._state, self._verifier = secrets.token_urlsafe(24), secrets.token_urlsafe(48)
        digest = hashlib.sha256(self._verifier.encode()).digest()
        told: dict[str, str | None] = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.connector.redirect_uri,
            "state": self._state,
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
            "scope": self._scope(),
            "resource": self._resource(),
            **self.connector.more,
            **changed,
        }
        given = {name: value for name, value in told.items() if value is not None}
        return f"{self.server['authorization_endpoint']}?{urlencode(given)}"

    def code_from(self, location: str) -> str:
        """Take the code from where the owner was sent, as a careful client does.

        Raises:
            AssertionError: it is not our address, not our state, another issuer (RFC 9207), or an error.
        """
        said = self.said_at(location)
        assert "error" not in said, f"{said}"
        return said["code"]

    def said_at(self, location: str) -> dict[str, str]:
        """What the server says at our address, checked for state and issuer, which errors carry as well."""
        before, _, query = location.partition("?")
        assert before == self.connector.redirect_uri.partition("?")[0], f"sent to {urlsplit(location).netloc}"
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=True)
        said = dict(pairs)
        assert len(said) == len(pairs), "a parameter stands there twice"
        assert said.pop("state") == self._state
        assert said.pop("iss") == self.server["issuer"]
        return said

    def exchange(self, code: str, **changed: str | None) -> httpx2.Response:
        """Send the code as it is. `changed` replaces parameters; None leaves one out."""
        told = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.connector.redirect_uri,
            "client_id": self.client_id,
            "code_verifier": self._verifier,
            "resource": self._resource(),
            **changed,
        }
        return self._token_request(told)

    def sign_in(self, owner: Owner, answers: Mapping[str, str | list[str]] | None = None) -> Tokens:
        """From the page to the tokens."""
        code = self.code_from(owner.allow(self.authorize_url(), answers))
        self.tokens = Tokens.of(self.exchange(code))
        return self.tokens

    def connect(self, owner: Owner, answers: Mapping[str, str | list[str]] | None = None) -> Tokens:
        """Everything, from the 401 to the tokens."""
        self.discover()
        self.introduce()
        return self.sign_in(owner, answers)

    def refresh(self, token: str | None = None, **changed: str | None) -> httpx2.Response:
        """Send a refresh token as it is, the last one unless another is given; the new tokens are not kept."""
        last = None if self.tokens is None else self.tokens.refresh
        told = {
            "grant_type": "refresh_token",
            "refresh_token": token or last,
            "client_id": self.client_id,
            "resource": self._resource(),
            **changed,
        }
        return self._token_request(told)

    def renew(self) -> Tokens:
        """Refresh, and go on with what came."""
        self.tokens = Tokens.of(self.refresh())
        return self.tokens

    def revoke(self, token: str, **changed: str) -> httpx2.Response:
        """Give a token back (RFC 7009)."""
        told = {"token": token, "client_id": self.client_id or "", **changed}
        return self.internet.ask("POST", self.server["revocation_endpoint"], form=told)

    def _token_request(self, told: Mapping[str, str | None]) -> httpx2.Response:
        given = {name: value for name, value in told.items() if value is not None}
        return self.internet.ask("POST", self.server["token_endpoint"], {"Accept": "application/json"}, form=given)

    def _scope(self) -> str | None:
        if self.connector.scope is not None:
            return self.connector.scope or None
        offline = " offline_access" if "offline_access" in self.server.get("scopes_supported", []) else ""
        return f"{self._challenged_scope}{offline}" or None

    def _resource(self) -> str | None:
        listed = str(self.listed["resource"])
        return {"listed": listed, "slash": f"{listed}/", "absent": None}[self.connector.resource]
