"""Making the tokens of an OAuth grant, within the caller's transaction: a refresh token and the access tokens beside it.

A refresh token knows the one it was made from (`parent`); an access token knows the refresh token it was given with. So a
grant has one line of refresh tokens, and of each link it is known whether it was used (`used_at`): by being exchanged, or by
one of its access tokens being used.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field

from service.auth import tokens
from service.auth.lifetimes import Lifetimes


@dataclass(frozen=True, slots=True)
class Issued:
    """What the client gets: the only copies there will ever be, which no log shows."""

    access_token: str = field(repr=False)
    refresh_token: str = field(repr=False)
    expires_in_s: int
    scopes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Line:
    """What a new token takes over from its grant."""

    grant_id: str
    redirect_uri: str
    ends: int
    scopes: frozenset[str]

    @staticmethod
    def of(row: sqlite3.Row, scopes: frozenset[str]) -> Line:
        """Of a row with the grant's `grant_id`, `redirect_uri` and `grant_expires`."""
        return Line(row["grant_id"], row["redirect_uri"], row["grant_expires"], scopes)


def refresh_token(
    connection: sqlite3.Connection, line: Line, now: int, lifetimes: Lifetimes, parent: sqlite3.Row | None = None
) -> str:
    """The next refresh token of the line; the first one without a `parent`."""
    token = tokens.made(tokens.REFRESH)
    connection.execute(
        "INSERT INTO token (hash, kind, grant_id, gen, parent, scopes, created, expires) VALUES (?, 'r', ?, ?, ?, ?, ?, ?)",
        (
            *(tokens.digest(token), line.grant_id, 0 if parent is None else parent["gen"] + 1),
            *(None if parent is None else parent["hash"], " ".join(sorted(line.scopes)), now),
            min(now + lifetimes.idle_s, line.ends),
        ),
    )
    return token


def beside(connection: sqlite3.Connection, line: Line, now: int, lifetimes: Lifetimes, refresh: str) -> Issued:
    """An access token beside the refresh token `refresh`; both together."""
    token = tokens.made(tokens.ACCESS)
    ends = min(now + lifetimes.access_for(line.redirect_uri), line.ends)
    connection.execute(
        "INSERT INTO token (hash, kind, grant_id, parent, scopes, created, expires) VALUES (?, 'a', ?, ?, ?, ?, ?)",
        (tokens.digest(token), line.grant_id, tokens.digest(refresh), " ".join(sorted(line.scopes)), now, ends),
    )
    return Issued(token, refresh, max(ends - now, 1), line.scopes)
