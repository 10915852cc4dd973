"""Taking back more than one grant: all that a client has, or all there is. In the caller's transaction, so all or nothing.

Whatever could still become a grant ends with it: requests that wait for the owner's word, and codes that were not exchanged.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from service.auth import grants as grants_
from service.auth import pending, window
from service.auth.asked import Asked
from service.auth.grants import seconds_of

_ALL_ENDED: Final = "all_ended"
"""The epoch at which everything was ended last."""


def end_client(connection: sqlite3.Connection, client_id: str, now: datetime) -> frozenset[str]:
    """End every grant of a client; returns the ids that ended now. `Clients.disable` switches the client itself off."""
    rows = connection.execute("SELECT id FROM grant_ WHERE client_id = ?", (client_id,)).fetchall()
    connection.execute("DELETE FROM pending WHERE client_id = ? AND used IS NULL", (client_id,))
    connection.execute("DELETE FROM code WHERE client_id = ? AND used IS NULL", (client_id,))
    return grants_.end(connection, [row["id"] for row in rows], now, "client")


def end_everything(connection: sqlite3.Connection, now: datetime, reason: str) -> frozenset[str]:
    """End every grant; returns the ids that ended now. Clients stay known: to be known gives no access."""
    rows = connection.execute("SELECT id FROM grant_").fetchall()
    pending.end_all(connection)
    connection.execute("DELETE FROM code WHERE used IS NULL")
    ended = grants_.end(connection, [row["id"] for row in rows], now, reason)
    connection.execute("INSERT OR REPLACE INTO auth_meta VALUES (?, ?)", (_ALL_ENDED, grants_.epoch_of(connection)))
    return ended


def comes_too_late(connection: sqlite3.Connection, asked: Asked) -> bool:
    """Whether everything was ended after this request was taken for its answer: between the two lies an instant, in which
    somebody with a stolen passphrase would otherwise get a grant that outlives the lockdown."""
    return asked.taken_at is not None and all_ended_since(connection, asked.taken_at)


def all_ended_since(connection: sqlite3.Connection, epoch: int) -> bool:
    """Whether everything was ended after this epoch, at which a first step was done that a second one relies on."""
    row = connection.execute("SELECT v FROM auth_meta WHERE k = ?", (_ALL_ENDED,)).fetchone()
    return row is not None and epoch < row["v"]


@dataclass(frozen=True, slots=True)
class Ended:
    """What a lockdown ended: ids of grants, numbers of passkeys and of clients."""

    grants: frozenset[str]
    passkeys: int
    clients: int


def lock_down(connection: sqlite3.Connection, now: datetime) -> Ended:
    """End everything that could let anybody in, whoever has stolen what. The passphrase is the caller's to renew.

    Clients that introduced themselves are switched off; they introduce themselves anew when they are added again. Those
    that are known by a document stay: a document is nobody's secret.
    """
    grants = end_everything(connection, now, "lockdown")
    passkeys = connection.execute("DELETE FROM passkey").rowcount
    connection.execute("DELETE FROM passkey_code")
    connection.execute("DELETE FROM passkey_challenge")
    clients = connection.execute(
        "UPDATE client SET disabled = ? WHERE kind = 'dcr' AND disabled IS NULL", (seconds_of(now),)
    ).rowcount
    window.shut(connection)
    return Ended(grants, passkeys, clients)
