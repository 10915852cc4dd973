"""New tokens for a refresh token (auth.md 7.5): rotation that forgives what honest clients do and finds out thieves.

A refresh token is good once and gives the next one of its line. Three things happen to honest clients as well:

    asked twice at once        within the grace the same successor comes again, so that no second line begins
    the answer was lost        nothing of the successor was ever used: it is put aside, and there is a new one
    an old one turns up        neither of the two: somebody has a copy. The whole grant ends ("revoke"), or only this
                               request fails ("reject")

A successor's text is kept in memory for the grace and nowhere else; after a restart the second rule covers for the first.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field

from service.auth import grants, minting, tokens
from service.auth.asking import scopes_of
from service.auth.audit import Audit
from service.auth.grants import seconds_of
from service.auth.lifetimes import Lifetimes
from service.auth.minting import Issued, Line
from service.auth.refusal import Refusal, invalid_grant
from service.clock import Clock
from service.store.db import Database


@dataclass(slots=True)
class _Verdict:
    """What one transaction decided: the event for the audit log, and what the client gets."""

    event: str
    issued: Issued | None = None
    refusal: Refusal = field(default_factory=invalid_grant)


class Refresh:
    """Renews the access of clients. Threads may share one; every process has its own memory of successors.

    Args:
        resource: ours; a grant for another one (our address has changed since) gets nothing.
    """

    def __init__(self, resource: str, database: Database, clock: Clock, audit: Audit, lifetimes: Lifetimes) -> None:
        self._resource, self._database, self._clock = resource, database, clock
        self._audit, self._lifetimes = audit, lifetimes
        self._successors: dict[bytes, tuple[int, str]] = {}  # written and read within transactions, so one at a time

    def renew(self, client_id: str, token: str, scope: str | None = None) -> Issued:
        """Tokens for a refresh token.

        Args:
            scope: less than the token has, for good; None or empty for the same.

        Raises:
            Refusal: `invalid_grant`, whatever is wrong with the token; `invalid_scope` when more is asked than it has.
        """
        if not tokens.is_there(self._database.connection(), "token", token):
            raise invalid_grant()
        now = seconds_of(self._clock.now())
        self._forget(now)
        with self._database.transaction() as connection:
            row = connection.execute(
                "SELECT t.*, g.redirect_uri, g.expires AS grant_expires, g.client_id, g.resource, g.revoked AS ended "
                "FROM token t JOIN grant_ g ON g.id = t.grant_id WHERE t.hash = ? AND t.kind = 'r'",
                (tokens.digest(token),),
            ).fetchone()
            if row is None or not self._is_good(row, client_id, now):
                raise invalid_grant()
            verdict = self._decide(connection, row, scope, now)
        self._audit.note(verdict.event, grant=row["grant_id"], client=client_id, generation=row["gen"])
        if verdict.issued is None:
            raise verdict.refusal
        return verdict.issued

    def _is_good(self, row: sqlite3.Row, client_id: str, now: int) -> bool:
        """Whether the token is this client's, and its grant and itself have not come to their end."""
        return (
            row["client_id"] == client_id
            and row["ended"] is None
            and row["resource"] == self._resource
            and now < row["grant_expires"]
            and now < row["expires"]
        )

    def _decide(self, connection: sqlite3.Connection, row: sqlite3.Row, scope: str | None, now: int) -> _Verdict:
        child = connection.execute(
            "SELECT * FROM token WHERE parent = ? AND kind = 'r' AND revoked IS NULL", (row["hash"],)
        ).fetchone()
        if row["revoked"] is None and row["rotated"] is None:
            return self._rotate(connection, row, scope, now, "refresh")
        if row["revoked"] is None and child is not None and child["rotated"] is None:
            known = self._successors.get(row["hash"])
            if known is not None and tokens.digest(known[1]) == child["hash"]:
                line = Line.of(row, _narrowed(child, scope))
                issued = minting.beside(connection, line, now, self._lifetimes, known[1])
                return _Verdict("refresh_replay_in_grace", issued)
            if child["used_at"] is None:
                connection.execute(
                    "UPDATE token SET revoked = ? WHERE hash = ? OR parent = ?", (now, child["hash"], child["hash"])
                )
                grants.move_epoch(connection)
                return self._rotate(connection, row, scope, now, "refresh_lost_response")
        if self._lifetimes.ends_on_reuse:
            grants.end(connection, (row["grant_id"],), self._clock.now(), "reuse")
        return _Verdict("refresh_reuse")

    def _rotate(
        self, connection: sqlite3.Connection, row: sqlite3.Row, scope: str | None, now: int, event: str
    ) -> _Verdict:
        line = Line.of(row, _narrowed(row, scope))
        connection.execute(
            "UPDATE token SET rotated = ?, used_at = COALESCE(used_at, ?) WHERE hash = ?", (now, now, row["hash"])
        )
        successor = minting.refresh_token(connection, line, now, self._lifetimes, parent=row)
        issued = minting.beside(connection, line, now, self._lifetimes, successor)
        if self._lifetimes.grace_s:
            self._successors[row["hash"]] = (now, successor)
        return _Verdict(event, issued)

    def _forget(self, now: int) -> None:
        """Let go of the texts whose grace is over, whichever way the clock went."""
        for key, (since, _) in tuple(self._successors.items()):
            if abs(now - since) > self._lifetimes.grace_s:
                self._successors.pop(key, None)


def _narrowed(row: sqlite3.Row, scope: str | None) -> frozenset[str]:
    """The scopes asked for, which must be of those that the token has (RFC 6749 §6).

    Raises:
        Refusal: `invalid_scope`. The transaction is undone, so the token stays good.
    """
    has = frozenset(row["scopes"].split())
    wanted = scopes_of(scope, otherwise=has)
    if not wanted <= has:
        raise Refusal("invalid_scope", "a refresh cannot give more than there was; sign in again for that.")
    return wanted
