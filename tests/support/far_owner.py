"""An owner who says yes from another process: what the consent page does, without the page, for tests of what comes after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo

from service.auth.asked import Asked, Choice
from service.auth.audit import Audit
from service.auth.clients import Clients
from service.auth.flow import Flow
from service.auth.lifetimes import Lifetimes
from service.auth.model import SCOPES
from service.auth.tables import SCHEMA
from service.clock import SystemClock
from service.settings import load
from service.store.db import Database
from tests.support.service import Service
from tests.support.signing_in import VERIFIER, challenge_of

DAYS: Final = 90


@dataclass(frozen=True)
class FarOwner:
    """The owner of a running service."""

    service: Service
    base: str

    def code(self, client_id: str, redirect_uri: str, scopes: tuple[str, ...] = SCOPES) -> str:
        """A code of that client, for the verifier VERIFIER, as if the owner had just allowed it."""
        settings, clock = load({}), SystemClock(ZoneInfo("UTC"))
        database = Database(self.service.state, [SCHEMA])
        try:
            client = Clients(database, clock, settings).living(client_id)
            flow = Flow(self.base, database, clock, Audit(self.service.state, clock), Lifetimes.of(settings))
            asked = Asked(client, redirect_uri, None, challenge_of(VERIFIER), frozenset(SCOPES), f"{self.base}/mcp")
            location = flow.allow(asked, Choice(frozenset(scopes), (), DAYS))
        finally:
            database.close()
        return parse_qs(urlsplit(location).query)["code"][0]
