"""A code for tokens (RFC 6749 §4.1.3, RFC 7636 §4.6): once, within a minute, by whoever began.

Everything happens in one transaction, so that of any number of attempts, in any number of processes, killed at any point, at
most one gets tokens. Who merely saw a code can burn it at most (a wrong verifier does); to end the grant of tokens that were
given takes the verifier.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import sqlite3
from base64 import urlsafe_b64encode
from typing import Final

from service.auth import grants, minting, tokens
from service.auth.audit import Audit
from service.auth.grants import seconds_of
from service.auth.lifetimes import CODE_S, Lifetimes
from service.auth.minting import Issued, Line
from service.auth.refusal import Refusal, invalid_grant
from service.clock import Clock
from service.store.db import Database

_VERIFIER: Final = re.compile(r"[A-Za-z0-9._~-]{43,128}")  # RFC 7636 §4.1


class Exchange:
    """Exchanges codes.

    Args:
        resource: ours; a grant for another one (our address has changed since) gets nothing.
    """

    def __init__(self, resource: str, database: Database, clock: Clock, audit: Audit, lifetimes: Lifetimes) -> None:
        self._resource, self._database, self._clock = resource, database, clock
        self._audit, self._lifetimes = audit, lifetimes

    def redeem(self, client_id: str, code: str, verifier: str, redirect_uri: str | None) -> Issued:
        """Tokens for a code.

        Args:
            redirect_uri: the one of the authorization request, to the letter; OAuth 2.1 lets it be left out.

        Raises:
            Refusal: `invalid_grant`, whatever is wrong with it.
        """
        if not tokens.is_there(self._database.connection(), "code", code):
            raise invalid_grant()
        now = seconds_of(self._clock.now())
        with self._database.transaction() as connection:
            row = connection.execute(
                "SELECT c.*, g.redirect_uri AS grant_redirect, g.expires AS grant_expires, g.scopes, g.resource, g.revoked "
                "FROM code c JOIN grant_ g ON g.id = c.grant_id WHERE c.hash = ?",
                (tokens.digest(code),),
            ).fetchone()
            found = self._judge(row, client_id, verifier, redirect_uri, now)
            match found:
                case "good":
                    connection.execute("UPDATE code SET used = ? WHERE hash = ?", (now, row["hash"]))
                    line = Line.of(row, frozenset(row["scopes"].split()))
                    refresh = minting.refresh_token(connection, line, now, self._lifetimes)
                    issued = minting.beside(connection, line, now, self._lifetimes, refresh)
                case "pkce_fail" | "code_replay":
                    connection.execute("UPDATE code SET used = ? WHERE hash = ?", (now, row["hash"]))
                    grants.end(connection, (row["grant_id"],), self._clock.now(), found)
                case _:
                    pass
        if found == "good":
            self._audit.note("exchange", grant=row["grant_id"], client=client_id)
            return issued
        if found in ("pkce_fail", "code_replay"):
            self._audit.note(found, grant=row["grant_id"], client=client_id)
        raise invalid_grant()

    def _judge(self, row: sqlite3.Row | None, client_id: str, verifier: str, redirect_uri: str | None, now: int) -> str:
        """`good`, an audit event that ends the grant, or nothing at all."""
        if row is None or row["client_id"] != client_id or row["revoked"] is not None:
            return ""
        is_right = _fits(verifier, row["challenge"])
        if row["used"] is not None:
            return "code_replay" if is_right else ""  # RFC 6749 §4.1.2; not by whoever merely saw the code
        if not row["expires"] - CODE_S - _CLOCK_STEP_S <= now < row["expires"]:
            return ""
        if row["resource"] != self._resource or now >= row["grant_expires"]:
            return ""
        if redirect_uri is not None and redirect_uri != row["redirect_uri"]:
            return ""  # a mistake of the client's, not a guess: the code stays good
        return "good" if is_right else "pkce_fail"


_CLOCK_STEP_S: Final = 30
"""A clock that was put back by more than this makes codes useless rather than long-lived."""


def _fits(verifier: str, challenge: str) -> bool:
    hashed = urlsafe_b64encode(hashlib.sha256(verifier.encode("utf-8", "replace")).digest()).rstrip(b"=")
    is_equal = hmac.compare_digest(hashed, challenge.encode())
    return is_equal and _VERIFIER.fullmatch(verifier) is not None


def missing(name: str) -> Refusal:
    """A field that this grant type needs is not there."""
    return Refusal("invalid_request", f"{name} is missing.")
