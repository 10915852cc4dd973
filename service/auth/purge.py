"""Clearing away what is over: codes, tokens, sign-ins that wait no more; and grants that nobody can use any more.

Refresh tokens that were exchanged stay as long as their grant lives: by them a stolen copy is known (`refresh.py`). The rows
of grants stay for ever, since history names them.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from service.auth.grants import end, seconds_of
from service.clock import Clock
from service.store.db import Database

KEPT_S: Final = 86_400
"""How long (seconds) the tokens of a grant that ended are kept."""

EVERY_S: Final = 3600

MAX_ACCESS_TOKENS: Final = 1000
"""Of one grant; the oldest go. A client that renews in a loop must not fill the disk."""

MAX_GENERATIONS: Final = 60_000
"""Of one grant's line of refresh tokens: a renewal every five minutes for longer than a grant lasts by default. Of what is
older than that a copy is not found out, but refused."""


def purge(database: Database, clock: Clock) -> int:
    """Clear away; returns how many grants ended because nothing of theirs can be used or exchanged any more.

    A grant whose code was never exchanged ends as `unused`, one whose client has not come back in time as `idle`: the owner's
    list shows as living what is living.
    """
    moment = clock.now()
    now = seconds_of(moment)
    with database.transaction() as connection:
        connection.execute("DELETE FROM token WHERE kind = 'a' AND expires <= ?", (now - KEPT_S,))
        for table in ("token", "code"):
            connection.execute(
                f"DELETE FROM {table} WHERE grant_id IN "  # noqa: S608  # two names of ours
                "(SELECT id FROM grant_ WHERE kind = 'oauth' AND COALESCE(revoked, expires) <= ?)",
                (now - KEPT_S,),
            )
        _bound(connection)
        dead = connection.execute(
            "SELECT id, EXISTS (SELECT 1 FROM token t WHERE t.grant_id = grant_.id) AS had_tokens FROM grant_ "
            "WHERE kind = 'oauth' AND revoked IS NULL AND expires > :now "
            "AND NOT EXISTS (SELECT 1 FROM token t WHERE t.grant_id = grant_.id AND t.revoked IS NULL AND t.expires > :now "
            "AND (t.kind = 'a' OR t.rotated IS NULL)) "
            "AND NOT EXISTS (SELECT 1 FROM code c WHERE c.grant_id = grant_.id AND c.used IS NULL AND c.expires > :now)",
            {"now": now},
        ).fetchall()
        ended = 0
        for reason, is_wanted in (("idle", 1), ("unused", 0)):
            ids = [row["id"] for row in dead if row["had_tokens"] == is_wanted]
            ended += len(end(connection, ids, moment, reason)) if ids else 0
    return ended


def _bound(connection: sqlite3.Connection) -> None:
    """Keep what one client can bring about to a size, whatever it does."""
    connection.execute(
        "DELETE FROM token WHERE kind = 'r' AND gen < (SELECT max(gen) FROM token newest WHERE newest.grant_id = token.grant_id "
        "AND newest.kind = 'r') - ? AND grant_id IN (SELECT grant_id FROM token WHERE gen > ?)",
        (MAX_GENERATIONS, MAX_GENERATIONS),
    )
    many = connection.execute(
        "SELECT grant_id FROM token WHERE kind = 'a' GROUP BY grant_id HAVING count(*) > ?", (MAX_ACCESS_TOKENS,)
    ).fetchall()
    for row in many:
        connection.execute(
            "DELETE FROM token WHERE rowid IN (SELECT rowid FROM token WHERE grant_id = ? AND kind = 'a' "
            "ORDER BY created DESC, rowid DESC LIMIT -1 OFFSET ?)",
            (row["grant_id"], MAX_ACCESS_TOKENS),
        )
