"""Static tokens: made by a command, for clients that cannot sign in by themselves. One grant each, one token."""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from service.auth import tokens
from service.auth.grants import Grants, grant_of, new_id, seconds_of
from service.auth.model import READ, SCOPES, Grant
from service.errors import BadArgument, Conflict
from service.guards import folders as folders_

MAX_NAME_CHARS: Final = 60
MAX_DAYS: Final = 3650


def create(
    grants: Grants, name: str, *, is_read_only: bool = False, days: int | None = None, folders: Sequence[str] = ()
) -> tuple[Grant, str]:
    """Make a token: the grant, and the only copy of the token there will ever be.

    Args:
        name: the owner's word for it; one line of at most MAX_NAME_CHARS.
        days: how long it lasts; None until it is revoked.
        folders: the only folders it may see, as the owner wrote them; none of them: the whole vault.

    Raises:
        BadArgument: the name, the number of days or a folder cannot be used.
        Conflict: a living token has that name.
    """
    name = _checked_name(name)
    if days is not None and not 1 <= days <= MAX_DAYS:
        raise BadArgument(f"a token lasts 1 to {MAX_DAYS} days; leave --days out for one that lasts until revoked.")
    allowed = folders_.parse(folders)
    now = grants.clock.now().replace(microsecond=0)
    expires = now + timedelta(days=days) if days is not None else None
    scopes = (READ,) if is_read_only else SCOPES
    token = tokens.made(tokens.STATIC)
    with grants.database.transaction() as connection:
        _free_the_name(connection, name, now)
        grant = Grant(
            new_id(connection), "static", name, frozenset(scopes), created=now, expires=expires, folders=allowed
        )
        words, until = " ".join(scopes), None if expires is None else seconds_of(expires)
        connection.execute(
            "INSERT INTO grant_ (id, kind, label, scopes, folders, created, expires) VALUES (?, 'static', ?, ?, ?, ?, ?)",
            (grant.id, name, words, "\n".join(allowed), seconds_of(now), until),
        )
        connection.execute(
            "INSERT INTO token (hash, kind, grant_id, scopes, created, expires) VALUES (?, 's', ?, ?, ?, ?)",
            (tokens.digest(token), grant.id, words, seconds_of(now), until),
        )
    return grant, token


def _checked_name(name: str) -> str:
    name = unicodedata.normalize("NFC", name.strip())
    if not 1 <= len(name) <= MAX_NAME_CHARS or not name.isprintable() or name.startswith("-"):
        raise BadArgument(f"a token's name is one line of 1 to {MAX_NAME_CHARS} printable characters, such as laptop.")
    return name


def _free_the_name(connection: sqlite3.Connection, name: str, now: datetime) -> None:
    """Let go of the name of a token that has expired; refuse when a living one has it."""
    row = connection.execute(
        "SELECT * FROM grant_ WHERE label = ? AND revoked IS NULL AND kind = 'static'", (name,)
    ).fetchone()
    if row is None:
        return
    if grant_of(row).is_alive(now):
        raise Conflict(f"there is a token named {name!r} ({row['id']}); revoke it first, or choose another name.")
    connection.execute("UPDATE grant_ SET revoked = expires, reason = 'expired' WHERE id = ?", (row["id"],))
