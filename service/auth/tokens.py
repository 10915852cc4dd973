"""Tokens: made once, shown once, stored as a hash, looked up on every request, taken back at any time.

A token is 256 random bits, so a plain SHA-256 needs no salt and a lookup by hash needs no constant-time comparison. Every
function reads the database anew: nothing is remembered, so what another process revoked is revoked here too.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import sqlite3
import unicodedata
from collections.abc import Collection, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from service.auth.model import READ, SCOPES, Grant
from service.clock import Clock
from service.errors import BadArgument, Conflict, Forbidden, GrantNotFound
from service.store.db import Database

PREFIX: Final = "srs_"
"""Marks a static token, for secret scanners and for the redactor in `logs.py`."""

TOKEN_BYTES: Final = 32
MAX_NAME_CHARS: Final = 60
MAX_DAYS: Final = 3650
MIN_TOUCH_S: Final = 60
"""`last_used` is written at most this often (seconds) for each grant."""

_ID_LETTERS: Final = "abcdefghjkmnpqrstuvwxyz23456789"  # none that look alike: i l o 0 1
_ID_CHARS: Final = 6
_COLUMNS: Final = "g.id, g.kind, g.label, g.scopes, g.created, g.expires, g.last_used, g.revoked"


class Tokens:
    """The grants and tokens of one appliance. Threads and processes may share them."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database, self._clock = database, clock

    @property
    def path(self) -> Path:
        """The file they are kept in."""
        return self._database.path

    def create(self, name: str, *, is_read_only: bool = False, days: int | None = None) -> tuple[Grant, str]:
        """Make a token: the grant, and the only copy of the token there will ever be.

        Args:
            name: the owner's word for it; one line of at most MAX_NAME_CHARS.
            days: how long it lasts; None until it is revoked.

        Raises:
            BadArgument: the name or the number of days cannot be used.
            Conflict: a living token has that name.
        """
        name = _checked_name(name)
        if days is not None and not 1 <= days <= MAX_DAYS:
            raise BadArgument(f"a token lasts 1 to {MAX_DAYS} days; leave --days out for one that lasts until revoked.")
        now = self._clock.now().replace(microsecond=0)
        expires = now + timedelta(days=days) if days is not None else None
        scopes = (READ,) if is_read_only else SCOPES
        token = PREFIX + secrets.token_urlsafe(TOKEN_BYTES)
        with self._database.transaction() as connection:
            _free_the_name(connection, name, now)
            grant = Grant(_new_id(connection), "static", name, frozenset(scopes), created=now, expires=expires)
            words = " ".join(scopes)
            connection.execute(
                "INSERT INTO grant_ (id, kind, label, scopes, created, expires) VALUES (?, 'static', ?, ?, ?, ?)",
                (grant.id, name, words, _seconds(now), _until(expires)),
            )
            connection.execute(
                "INSERT INTO token (hash, kind, grant_id, scopes, created, expires) VALUES (?, 's', ?, ?, ?, ?)",
                (digest(token), grant.id, words, _seconds(now), _until(expires)),
            )
        return grant, token

    def find(self, token_hash: bytes) -> Grant | None:
        """The living grant behind a token's hash, or None."""
        row = (
            self._database.connection()
            .execute(
                f"SELECT {_COLUMNS} FROM token t JOIN grant_ g ON g.id = t.grant_id "  # noqa: S608  # our own words
                "WHERE t.hash = ? AND t.revoked IS NULL AND (t.expires IS NULL OR t.expires > ?)",
                (token_hash, _seconds(self._clock.now())),
            )
            .fetchone()
        )
        if row is None:
            return None
        grant = _grant(row)
        return grant if grant.is_alive(self._clock.now()) else None

    def check(self, grant: Grant) -> None:
        """Read the grant again. The owner's own (`local`) lives as long as its connection.

        Raises:
            Forbidden: it was revoked or has expired.
        """
        if grant.kind != "local" and grant.id not in self.living((grant.id,)):
            raise Forbidden("this token was revoked or has expired; nothing was changed. Ask the owner for a new one.")

    def living(self, ids: Collection[str]) -> frozenset[str]:
        """Those of `ids` whose grants are alive."""
        marks = ", ".join("?" * len(ids))
        rows = self._database.connection().execute(
            f"SELECT {_COLUMNS} FROM grant_ g WHERE g.id IN ({marks})",  # noqa: S608  # only question marks
            tuple(ids),
        )
        now = self._clock.now()
        return frozenset(grant.id for grant in map(_grant, rows) if grant.is_alive(now))

    def all(self) -> tuple[Grant, ...]:
        """Every grant there ever was, the oldest first."""
        rows = self._database.connection().execute(
            f"SELECT {_COLUMNS} FROM grant_ g ORDER BY g.created, g.rowid"  # noqa: S608  # our own words
        )
        return tuple(_grant(row) for row in rows)

    def revoke(self, word: str) -> tuple[Grant, ...]:
        """Take back the grant with this id, or else the living one of this name.

        Returns the grants that ended now: none when it was revoked before.

        Raises:
            GrantNotFound: nothing answers to it.
        """
        known = self.all()
        named = [grant for grant in known if grant.id == word] or [grant for grant in known if grant.name == word]
        if not named:
            raise GrantNotFound(word)
        return self._end(grant.id for grant in named)

    def revoke_all(self) -> tuple[Grant, ...]:
        """Take back every grant; returns those that ended now."""
        return self._end(grant.id for grant in self.all())

    def epoch(self) -> int:
        """A number that goes up with every revocation."""
        row = self._database.connection().execute("SELECT v FROM auth_meta WHERE k = 'epoch'").fetchone()
        return int(row["v"])

    def touch(self, grant: Grant) -> None:
        """Note that the grant was used now; written at most once in MIN_TOUCH_S."""
        now = _seconds(self._clock.now())
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE grant_ SET last_used = ? WHERE id = ? AND (last_used IS NULL OR last_used <= ?)",
                (now, grant.id, now - MIN_TOUCH_S),
            )

    def _end(self, ids: Iterable[str]) -> tuple[Grant, ...]:
        now, ended = self._clock.now().replace(microsecond=0), []
        with self._database.transaction() as connection:
            for grant_id in ids:
                changed = connection.execute(
                    "UPDATE grant_ SET revoked = ?, reason = 'owner' WHERE id = ? AND revoked IS NULL",
                    (_seconds(now), grant_id),
                )
                if changed.rowcount:
                    ended.append(grant_id)
            connection.execute("UPDATE auth_meta SET v = v + 1 WHERE k = 'epoch'")
        return tuple(grant for grant in self.all() if grant.id in ended)


def digest(token: str) -> bytes:
    """How a token is stored and looked up."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


def _checked_name(name: str) -> str:
    name = unicodedata.normalize("NFC", name.strip())
    if not 1 <= len(name) <= MAX_NAME_CHARS or not name.isprintable() or name.startswith("-"):
        raise BadArgument(f"a token's name is one line of 1 to {MAX_NAME_CHARS} printable characters, such as laptop.")
    return name


def _free_the_name(connection: sqlite3.Connection, name: str, now: datetime) -> None:
    """Let go of the name of a token that has expired; refuse when a living one has it."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM grant_ g WHERE g.label = ? AND g.revoked IS NULL AND g.kind = 'static'",  # noqa: S608
        (name,),
    ).fetchone()
    if row is None:
        return
    if _grant(row).is_alive(now):
        raise Conflict(f"there is a token named {name!r} ({row['id']}); revoke it first, or choose another name.")
    connection.execute("UPDATE grant_ SET revoked = expires, reason = 'expired' WHERE id = ?", (row["id"],))


def _new_id(connection: sqlite3.Connection) -> str:
    while True:
        found = "".join(secrets.choice(_ID_LETTERS) for _ in range(_ID_CHARS))
        is_taken = connection.execute("SELECT 1 FROM grant_ WHERE id = ?", (found,)).fetchone()
        if re.search(r"\d", found) and not is_taken:  # with a digit it is no word, so no name a person would choose
            return found


def _grant(row: sqlite3.Row) -> Grant:
    return Grant(
        id=row["id"],
        kind=row["kind"],
        name=row["label"],
        scopes=frozenset(row["scopes"].split()),
        created=_moment(row["created"]),
        expires=None if row["expires"] is None else _moment(row["expires"]),
        last_used=None if row["last_used"] is None else _moment(row["last_used"]),
        revoked=None if row["revoked"] is None else _moment(row["revoked"]),
    )


def _moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _until(moment: datetime | None) -> int | None:
    return None if moment is None else _seconds(moment)


def _seconds(moment: datetime) -> int:
    return int(moment.timestamp())
