"""Grants: what the owner gave and can take back, looked up by their tokens on every request.

A grant has one static token, or the access and refresh tokens of an OAuth client. Every function reads the database anew:
nothing is remembered, so what another process revoked is revoked here too.
"""

from __future__ import annotations

import re
import secrets
import sqlite3
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from service.auth.model import Grant
from service.clock import Clock
from service.errors import Forbidden
from service.store.db import Database

MIN_TOUCH_S: Final = 60
"""`last_used` is written at most this often (seconds) for each grant."""

_ID_LETTERS: Final = "abcdefghjkmnpqrstuvwxyz23456789"  # none that look alike: i l o 0 1
_ID_CHARS: Final = 6


@dataclass(frozen=True, slots=True)
class GivenBack:
    """What a client gave back: a token of this grant, or all of it."""

    grant_id: str
    has_grant_ended: bool


class Grants:
    """The grants of one appliance. Threads and processes may share them.

    Args:
        resource: what our tokens are good for (RFC 8707): the public URL of `/mcp`. OAuth tokens that were given for
            another one are not found; None looks at no token's resource, which is for commands.
    """

    def __init__(self, database: Database, clock: Clock, resource: str | None = None) -> None:
        self.database, self.clock, self._resource = database, clock, resource

    @property
    def path(self) -> Path:
        """The file they are kept in."""
        return self.database.path

    def find(self, token_hash: bytes) -> Grant | None:
        """The living grant behind the hash of a static or access token, or None. It ends when the token does."""
        row = (
            self.database.connection()
            .execute(
                "SELECT g.*, t.expires AS token_expires, t.scopes AS token_scopes FROM token t JOIN grant_ g ON g.id = t.grant_id "
                "WHERE t.hash = ? AND t.kind IN ('s', 'a') AND t.revoked IS NULL AND (t.expires IS NULL OR t.expires > ?)",
                (token_hash, seconds_of(self.clock.now())),
            )
            .fetchone()
        )
        if row is None or (self._resource is not None and row["resource"] not in (None, self._resource)):
            return None
        grant = grant_of(row)
        if not grant.is_alive(self.clock.now()):
            return None
        ends = [end for end in (grant.expires, _moment_or_none(row["token_expires"])) if end is not None]
        scopes = grant.scopes & frozenset(row["token_scopes"].split())  # a refresh may have narrowed them
        return replace(grant, expires=min(ends, default=None), scopes=scopes, token_hash=token_hash)

    def grant_behind(self, token_hash: bytes) -> Grant | None:
        """The grant that a token of any kind stood for, dead or alive: for whoever found one and wants it revoked."""
        row = self.database.connection().execute(
            "SELECT g.* FROM token t JOIN grant_ g ON g.id = t.grant_id WHERE t.hash = ?", (token_hash,)
        )
        found = row.fetchone()
        return None if found is None else grant_of(found)

    def check(self, grant: Grant) -> None:
        """Read the grant again, by the token that it was found by: a client may have given back that one alone, and another
        refresh may have put it aside. The owner's own (`local`) lives as long as its connection.

        Raises:
            Forbidden: it was revoked or has expired, or its token was.
        """
        if grant.kind == "local":
            return
        found = self.living((grant.id,)) if grant.token_hash is None else self.find(grant.token_hash)
        if not found:
            raise Forbidden("this token was revoked or has expired; nothing was changed. Ask the owner for a new one.")

    def living(self, ids: Collection[str]) -> frozenset[str]:
        """Those of `ids` whose grants are alive."""
        marks = ", ".join("?" * len(ids))
        rows = self.database.connection().execute(
            f"SELECT * FROM grant_ WHERE id IN ({marks})",  # noqa: S608  # only question marks
            tuple(ids),
        )
        now = self.clock.now()
        return frozenset(grant.id for grant in map(grant_of, rows) if grant.is_alive(now))

    def all(self) -> tuple[Grant, ...]:
        """Every grant there ever was, the oldest first."""
        rows = self.database.connection().execute("SELECT * FROM grant_ ORDER BY created, rowid")
        return tuple(grant_of(row) for row in rows)

    def revoke_token(self, token_hash: bytes, client_id: str) -> GivenBack | None:
        """Take back what a client gives back (RFC 7009): an access token alone, or with a refresh token its grant.

        Returns None when there is no such token of this client, or it was taken back before.
        """
        if self.grant_behind(token_hash) is None:
            return None
        now = self.clock.now()
        with self.database.transaction() as connection:
            row = connection.execute(
                "SELECT t.kind, t.grant_id FROM token t JOIN grant_ g ON g.id = t.grant_id "
                "WHERE t.hash = ? AND g.client_id = ? AND t.kind IN ('a', 'r') AND t.revoked IS NULL AND g.revoked IS NULL",
                (token_hash, client_id),
            ).fetchone()
            if row is None:
                return None
            if row["kind"] == "r":
                end(connection, (row["grant_id"],), now, "client")
            else:
                connection.execute("UPDATE token SET revoked = ? WHERE hash = ?", (seconds_of(now), token_hash))
                move_epoch(connection)
        return GivenBack(row["grant_id"], has_grant_ended=row["kind"] == "r")

    def note_first_use(self, token_hash: bytes) -> None:
        """Note that an access token was used, which tells that the answer it came with was not lost (`refresh.py`)."""
        with self.database.transaction() as connection:
            connection.execute(
                "UPDATE token SET used_at = :now WHERE used_at IS NULL AND (hash = :hash "
                "OR hash = (SELECT parent FROM token WHERE hash = :hash AND kind = 'a'))",
                {"now": seconds_of(self.clock.now()), "hash": token_hash},
            )

    def end(self, ids: Iterable[str], reason: str) -> tuple[Grant, ...]:
        """Take back these grants, in a transaction of its own; returns those that ended now.

        Args:
            reason: one word for the log and the list, such as `owner` or `reuse`.
        """
        with self.database.transaction() as connection:
            ended = end(connection, ids, self.clock.now(), reason)
        return tuple(grant for grant in self.all() if grant.id in ended)

    def epoch(self) -> int:
        """A number that goes up with every revocation."""
        return epoch_of(self.database.connection())

    def touch(self, grant: Grant, address: str | None = None) -> None:
        """Note that the grant was used now, and from where; written at most once in MIN_TOUCH_S."""
        now = seconds_of(self.clock.now())
        with self.database.transaction() as connection:
            connection.execute(
                "UPDATE grant_ SET last_used = ?, last_ip = ? WHERE id = ? AND (last_used IS NULL OR last_used <= ?)",
                (now, address, grant.id, now - MIN_TOUCH_S),
            )


def end(connection: sqlite3.Connection, ids: Iterable[str], now: datetime, reason: str) -> frozenset[str]:
    """Take back grants within the caller's transaction, and move the epoch so that running servers notice."""
    ended = []
    for grant_id in ids:
        changed = connection.execute(
            "UPDATE grant_ SET revoked = ?, reason = ? WHERE id = ? AND revoked IS NULL",
            (seconds_of(now), reason, grant_id),
        )
        if changed.rowcount:
            ended.append(grant_id)
    move_epoch(connection)
    return frozenset(ended)


def epoch_of(connection: sqlite3.Connection) -> int:
    """As `Grants.epoch`, within the caller's transaction."""
    return int(connection.execute("SELECT v FROM auth_meta WHERE k = 'epoch'").fetchone()["v"])


def move_epoch(connection: sqlite3.Connection) -> None:
    """Let running servers look at the tokens of all requests in flight again (`live.py`)."""
    connection.execute("UPDATE auth_meta SET v = v + 1 WHERE k = 'epoch'")


def new_id(connection: sqlite3.Connection) -> str:
    """An id for a grant: short, typeable, free."""
    while True:
        found = "".join(secrets.choice(_ID_LETTERS) for _ in range(_ID_CHARS))
        is_taken = connection.execute("SELECT 1 FROM grant_ WHERE id = ?", (found,)).fetchone()
        if re.search(r"\d", found) and not is_taken:  # with a digit it is no word, so no name a person would choose
            return found


def grant_of(row: sqlite3.Row) -> Grant:
    """A row of `grant_` as a value."""
    return Grant(
        id=row["id"],
        kind=row["kind"],
        name=row["label"],
        scopes=frozenset(row["scopes"].split()),
        created=moment_of(row["created"]),
        expires=_moment_or_none(row["expires"]),
        last_used=_moment_or_none(row["last_used"]),
        revoked=_moment_or_none(row["revoked"]),
        folders=tuple(row["folders"].split("\n")) if row["folders"] else (),
        client_id=row["client_id"],
        last_address=row["last_ip"],
    )


def moment_of(seconds: int) -> datetime:
    """A time as the tables keep it, as a value (aware, UTC)."""
    return datetime.fromtimestamp(seconds, UTC)


def seconds_of(moment: datetime) -> int:
    """A time as the tables keep it: whole seconds since 1970, UTC."""
    return int(moment.timestamp())


def _moment_or_none(seconds: int | None) -> datetime | None:
    return None if seconds is None else moment_of(seconds)
