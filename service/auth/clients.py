"""The programs that may ask: those that are pinned, those that the owner added, those that registered themselves.

Registration alone grants nothing, so it is open by default; what it may cost is bounded. A client that has a grant is never
forgotten while it lasts and MIN_KEPT_DAYS after: many programs keep a dead client_id for ever (auth.md 4.4 claude-code#4760).
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from service.auth import catalogue, registration, window
from service.auth.asked import Client
from service.auth.grants import moment_of, seconds_of
from service.auth.refusal import Refusal, invalid_client
from service.clock import Clock
from service.errors import NotFound
from service.settings import Settings
from service.store.db import Database

MAX_WITHOUT_GRANT: Final = 200
"""Registered clients without a grant; one more puts out the one that was used longest ago."""

UNUSED_DAYS: Final = 7
"""A registered client that got no grant for so long is forgotten."""

MIN_KEPT_DAYS: Final = 180
"""A client is known at least so long after its last grant ended."""


_DAY_S: Final = 86_400
_WITHOUT_GRANT: Final = (
    "kind = 'dcr' AND NOT EXISTS (SELECT 1 FROM grant_ g WHERE g.client_id = client.id "
    "AND COALESCE(g.revoked, g.expires, :now) > :now - :kept)"
)


@dataclass(frozen=True, slots=True)
class Known:
    """A client in the owner's list. `created` and `last_used` are None for a pinned one that never came."""

    client: Client
    created: datetime | None
    last_used: datetime | None
    living_grants: int


class Clients:
    """All clients of one appliance. Threads and processes may share them."""

    def __init__(self, database: Database, clock: Clock, settings: Settings) -> None:
        self._database, self._clock, self._settings = database, clock, settings
        self._pinned = catalogue.pinned()

    def find(self, client_id: str) -> Client | None:
        """The client of this id, to the letter; one that is disabled says so."""
        if not client_id.isascii() or len(client_id) > catalogue.MAX_ID_CHARS:
            return None
        row = self._database.connection().execute("SELECT * FROM client WHERE id = ?", (client_id,)).fetchone()
        pinned = catalogue.find(self._pinned, client_id)
        if row is None:
            return pinned
        if pinned is not None and row["redirect_uris"] == "[]":
            return replace(pinned, is_disabled=row["disabled"] is not None)
        return _client_of(row)

    def living(self, client_id: str) -> Client:
        """The client that asks for tokens.

        Raises:
            Refusal: `invalid_client`; it is unknown, or the owner disabled it.
        """
        client = self.find(client_id)
        if client is None or client.is_disabled:
            raise invalid_client()
        return client

    def all(self) -> tuple[Known, ...]:
        """Every client, the pinned ones first."""
        connection, now = self._database.connection(), seconds_of(self._clock.now())
        grants = {
            row["client_id"]: row["n"]
            for row in connection.execute(
                "SELECT client_id, count(*) AS n FROM grant_ WHERE client_id IS NOT NULL AND revoked IS NULL "
                "AND (expires IS NULL OR expires > ?) GROUP BY client_id",
                (now,),
            )
        }
        rows = {row["id"]: row for row in connection.execute("SELECT * FROM client ORDER BY created, rowid")}
        ids = dict.fromkeys([*(one.id for one in self._pinned if "{" not in one.id), *grants, *rows])
        found = [(self.find(one), rows.get(one)) for one in ids]
        return tuple(
            Known(
                client,
                moment_of(row["created"]) if row else None,
                moment_of(row["last_used"]) if row and row["last_used"] else None,
                grants.get(client.id, 0),
            )
            for client, row in found
            if client is not None
        )

    # -- coming in -----------------------------------------------------------------------------------------------------

    def register(self, body: bytes) -> registration.Registered:
        """Take in a client that introduces itself (RFC 7591).

        Raises:
            Refusal: registration is closed, or what was sent cannot be used.
        """
        if not self.is_open():
            raise Refusal(
                "access_denied",
                "new clients are not taken in now; the owner can open the door with: strongroom auth open --minutes 10",
            )
        asked = registration.read(body, self._settings.redirects)
        now = seconds_of(self._clock.now())
        client = Client(f"dcr-{secrets.token_hex(16)}", "dcr", asked.name, None, asked.redirect_uris)
        with self._database.transaction() as connection:
            self._make_room(connection, now)
            _insert(connection, client, now)
        return registration.Registered(client, now, asked.scope)

    def add(self, url: str, document: Mapping[str, object]) -> Client:
        """Take in a client by its document, which the owner had fetched from `url`; replaces an older one of it.

        Raises:
            BadArgument: it is no such document, or none of its redirects can be used.
        """
        client = catalogue.read(url, document, self._settings.redirects)
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM client WHERE id = ?", (client.id,))
            _insert(connection, client, seconds_of(self._clock.now()))
        return client

    def note_use(self, client_id: str) -> None:
        """Write down that a client came, so that it is not the next to make room."""
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE client SET last_used = ? WHERE id = ?", (seconds_of(self._clock.now()), client_id)
            )

    def disable(self, client_id: str) -> Client:
        """Answer this client no more, until `enable`. Its grants are another matter: `ending.end_client`.

        Raises:
            NotFound: there is no such client.
        """
        return self._switch(client_id, is_disabled=True)

    def enable(self, client_id: str) -> Client:
        """Answer a disabled client again.

        Raises:
            NotFound: there is no such client.
        """
        return self._switch(client_id, is_disabled=False)

    # -- the door of registration --------------------------------------------------------------------------------------

    def is_open(self) -> bool:
        """Whether a client may introduce itself now."""
        match self._settings.registration:
            case "open":
                return True
            case "window":
                return window.is_open(self._database, self._clock.now())
            case _:
                return False

    # -- keeping the house ---------------------------------------------------------------------------------------------

    def prune(self) -> int:
        """Forget registered clients that got no grant in UNUSED_DAYS, or lost it MIN_KEPT_DAYS ago; how many."""
        now = seconds_of(self._clock.now())
        with self._database.transaction() as connection:
            done = connection.execute(
                f"DELETE FROM client WHERE {_WITHOUT_GRANT} AND max(created, COALESCE(last_used, 0)) < :now - :unused",  # noqa: S608
                {"now": now, "kept": MIN_KEPT_DAYS * _DAY_S, "unused": UNUSED_DAYS * _DAY_S},
            )
        return done.rowcount

    def _make_room(self, connection: sqlite3.Connection, now: int) -> None:
        """Those that never came back to ask for something go first, so that a flood of registrations puts out itself."""
        connection.execute(
            f"DELETE FROM client WHERE id IN (SELECT id FROM client WHERE {_WITHOUT_GRANT} "  # noqa: S608  # no value in it
            "ORDER BY last_used IS NULL, COALESCE(last_used, created) DESC, rowid DESC LIMIT -1 OFFSET :room)",
            {"now": now, "kept": MIN_KEPT_DAYS * _DAY_S, "room": MAX_WITHOUT_GRANT - 1},
        )

    def _switch(self, client_id: str, *, is_disabled: bool) -> Client:
        now = seconds_of(self._clock.now())
        with self._database.transaction() as connection:
            client = self.find(client_id)
            if client is None:
                raise NotFound(f"there is no client {client_id[:100]!r}; strongroom auth clients lists them.")
            if connection.execute("SELECT 1 FROM client WHERE id = ?", (client_id,)).fetchone() is None:
                _insert(connection, replace(client, redirect_uris=()), now)  # pinned: the package says the rest
            connection.execute("UPDATE client SET disabled = ? WHERE id = ?", (now if is_disabled else None, client_id))
        return replace(client, is_disabled=is_disabled)


def _insert(connection: sqlite3.Connection, client: Client, now: int) -> None:
    connection.execute(
        "INSERT INTO client (id, kind, name, domain, redirect_uris, created) VALUES (?, ?, ?, ?, ?, ?)",
        (client.id, client.kind, client.name, client.domain, json.dumps(client.redirect_uris), now),
    )


def _client_of(row: sqlite3.Row) -> Client:
    return Client(
        row["id"],
        row["kind"],
        row["name"],
        row["domain"],
        tuple(json.loads(row["redirect_uris"])),
        is_disabled=row["disabled"] is not None,
    )
