"""The rooms behind signing in, over a database in a folder, with a clock that is held: for tests without HTTP.

rooms = SigningIn.over(tmp_path, clock)
issued = rooms.signed_in(client)
"""

from __future__ import annotations

import hashlib
import json
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlsplit

from service.auth import audience
from service.auth.asked import Asked, Choice, Client
from service.auth.asking import Asking
from service.auth.audit import Audit
from service.auth.clients import Clients
from service.auth.exchange import Exchange
from service.auth.flow import Flow
from service.auth.grants import Grants
from service.auth.lifetimes import Lifetimes
from service.auth.minting import Issued
from service.auth.model import SCOPES, Grant
from service.auth.refresh import Refresh
from service.auth.tables import SCHEMA
from service.auth.tokens import digest
from service.settings import load
from service.store.db import Database
from tests.support.clock import HeldClock

BASE: Final = "https://notes.example.org"
RESOURCE: Final = f"{BASE}/mcp"
VERIFIER: Final = "v" * 43
HERE: Final = "http://localhost:3000/callback"


def challenge_of(verifier: str) -> str:
    """PKCE S256."""
    return urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


@dataclass(frozen=True)
class SigningIn:
    """All rooms over one database."""

    clock: HeldClock
    database: Database
    audit: Audit
    grants: Grants
    clients: Clients
    asking: Asking
    flow: Flow
    exchange: Exchange
    refresh: Refresh

    @staticmethod
    def over(state: Path, clock: HeldClock, base: str = BASE, **environ: str) -> SigningIn:
        """Open them; `environ` are settings without their prefix."""
        settings = load({f"STRONGROOM_{name}": value for name, value in environ.items()})
        database, audit = Database(state, [SCHEMA]), Audit(state, clock)
        lifetimes, resource = Lifetimes.of(settings), audience.canonical(base)
        clients = Clients(database, clock, settings)
        return SigningIn(
            clock,
            database,
            audit,
            Grants(database, clock, resource),
            clients,
            Asking(base, clients, audit, settings.redirects),
            Flow(base, database, clock, audit, lifetimes),
            Exchange(resource, database, clock, audit, lifetimes),
            Refresh(resource, database, clock, audit, lifetimes),
        )

    def client(self, redirect_uri: str = HERE, name: str = "App") -> Client:
        """A client that registered itself."""
        return self.clients.register(json.dumps({"redirect_uris": [redirect_uri], "client_name": name}).encode()).client

    def asked(self, client: Client, redirect_uri: str | None = None, state: str | None = "s") -> Asked:
        """A request of it that passed every check."""
        uri = redirect_uri or client.redirect_uris[0]
        return Asked(client, uri, state, challenge_of(VERIFIER), frozenset(SCOPES), RESOURCE)

    def code(self, client: Client, days: int = 90, scopes: tuple[str, ...] = SCOPES) -> str:
        """A code that the owner allowed."""
        location = self.flow.allow(self.asked(client), Choice(frozenset(scopes), (), days))
        return parse_qs(urlsplit(location).query)["code"][0]

    def redeem(self, client: Client, code: str) -> Issued:
        """The code for tokens, as an honest client does."""
        return self.exchange.redeem(client.id, code, VERIFIER, client.redirect_uris[0])

    def signed_in(self, client: Client, days: int = 90, scopes: tuple[str, ...] = SCOPES) -> Issued:
        """All of it."""
        return self.redeem(client, self.code(client, days, scopes))

    def call(self, access_token: str) -> Grant | None:
        """A request to /mcp with it: the grant it runs under, None when it is refused."""
        grant = self.grants.find(digest(access_token))
        if grant is not None:
            self.grants.note_first_use(digest(access_token))
        return grant

    def events(self) -> list[str]:
        """What the audit log says, the events only."""
        return [str(line["event"]) for line in self.audit.lines()]
