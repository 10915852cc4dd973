"""Wrong guesses at the passphrase cost time: five, and then a wait that doubles, for everybody; kept in the database.

A guess is counted before it is looked at, together with the question whether one may be made, in one transaction. So of any
number of guesses at the same instant only as many are looked at as were free, and a restart forgets none (auth.md 7.3).
Whoever the wait locks out of the page can still come in by the second door (`pending.py`) or with a passkey.
"""

from __future__ import annotations

import ipaddress
import sqlite3
from dataclasses import dataclass
from typing import Final

from service.auth.grants import seconds_of
from service.clock import Clock
from service.store.db import Database

FREE: Final = 5
"""Wrong guesses in WINDOW_S that cost nothing."""

WINDOW_S: Final = 600
FIRST_WAIT_S: Final = 30
LONGEST_WAIT_S: Final = 3600
FORGOTTEN_AFTER_S: Final = 86400
"""Once there was a wait, so long a quiet (seconds) begins the count anew. Were it WINDOW_S, five guesses every ten
minutes would never meet a long wait."""

FREE_OF_ONE: Final = 5
"""Guesses from one known address in WINDOW_OF_ONE_S."""

WINDOW_OF_ONE_S: Final = 60

_EVERYBODY: Final = "login"
_NET_V6: Final = 64


@dataclass(frozen=True, slots=True)
class Limits:
    """How many guesses are free, and how long the waits are (seconds)."""

    free: int = FREE
    window_s: int = WINDOW_S
    first_wait_s: int = FIRST_WAIT_S
    longest_wait_s: int = LONGEST_WAIT_S
    free_of_one: int = FREE_OF_ONE
    window_of_one_s: int = WINDOW_OF_ONE_S


class Throttle:
    """The count of wrong guesses of one appliance. Threads and processes may share it."""

    def __init__(self, database: Database, clock: Clock, limits: Limits | None = None) -> None:
        self._database, self._clock, self._limits = database, clock, limits or Limits()

    def wait_s(self, address: str | None = None) -> int:
        """How long (seconds) until a guess may be made; 0: now. Counts nothing."""
        return self._wait_s(self._database.connection(), seconds_of(self._clock.now()), address)

    def guess(self, address: str | None = None) -> int:
        """Ask for one guess, before it is looked at. It counts as wrong until `right` takes it back.

        Args:
            address: of the browser, where it is known.

        Returns:
            0 when it may be looked at; else how long (seconds) to wait, and it must not be.
        """
        with self._database.transaction() as connection:
            now = seconds_of(self._clock.now())
            if wait_s := self._wait_s(connection, now, address):
                return wait_s
            self._count(connection, now)
            if address is not None:
                self._count_of_one(connection, now, share_of(address))
        return 0

    def right(self, address: str | None = None) -> None:
        """The owner was here: forget the guesses, his and those of `address`."""
        keys = (_EVERYBODY, *(() if address is None else (share_of(address),)))
        with self._database.transaction() as connection:
            connection.executemany("DELETE FROM throttle WHERE key = ?", [(key,) for key in keys])

    def fails(self) -> int:
        """Guesses that are counted now, of everybody."""
        row = self._database.connection().execute("SELECT fails FROM throttle WHERE key = ?", (_EVERYBODY,)).fetchone()
        return 0 if row is None else int(row["fails"])

    def _wait_s(self, connection: sqlite3.Connection, now: int, address: str | None) -> int:
        limits, waits = self._limits, [0]
        row = _row(connection, _EVERYBODY)
        if row is not None:
            wait_s = int(row["until"]) - now
            if wait_s <= limits.longest_wait_s:  # else the clock was put back since (attack 57)
                waits.append(wait_s)
        if address is not None and (row := _row(connection, share_of(address))) is not None:
            wait_s = int(row["first"]) + limits.window_of_one_s - now
            if row["fails"] >= limits.free_of_one and wait_s <= limits.window_of_one_s:
                waits.append(wait_s)
        return max(waits)

    def _count(self, connection: sqlite3.Connection, now: int) -> None:
        limits, row = self._limits, _row(connection, _EVERYBODY)
        fails, first = (0, now) if row is None or _is_forgotten(row, now, limits) else (row["fails"], row["first"])
        fails += 1
        wait_s = 0
        if fails >= limits.free:
            wait_s = min(limits.first_wait_s * 2 ** min(fails - limits.free, 30), limits.longest_wait_s)
        _write(connection, _EVERYBODY, fails, first, now + wait_s)

    def _count_of_one(self, connection: sqlite3.Connection, now: int, share: str) -> None:
        window_s = self._limits.window_of_one_s
        connection.execute(
            "DELETE FROM throttle WHERE key != ? AND (first <= ? OR first > ?)", (_EVERYBODY, now - window_s, now)
        )
        row = _row(connection, share)
        fails, first = (0, now) if row is None else (row["fails"], row["first"])
        _write(connection, share, fails + 1, first, now)


def forget(connection: sqlite3.Connection) -> None:
    """Forget every guess, within the caller's transaction: the passphrase they were made at is no more."""
    connection.execute("DELETE FROM throttle")


def share_of(address: str) -> str:
    """What counts as one visitor: an IPv4 address, or the /64 that everybody with IPv6 has to himself."""
    found = ipaddress.ip_address(address)
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    return str(ipaddress.ip_network((int(found), _NET_V6), strict=False))


def _is_forgotten(row: sqlite3.Row, now: int, limits: Limits) -> bool:
    if row["fails"] >= limits.free:
        return not -limits.longest_wait_s <= now - int(row["until"]) < FORGOTTEN_AFTER_S
    return not 0 <= now - int(row["first"]) < limits.window_s


def _row(connection: sqlite3.Connection, key: str) -> sqlite3.Row | None:
    row: sqlite3.Row | None = connection.execute("SELECT * FROM throttle WHERE key = ?", (key,)).fetchone()
    return row


def _write(connection: sqlite3.Connection, key: str, fails: int, first: int, until: int) -> None:
    connection.execute("INSERT OR REPLACE INTO throttle VALUES (?, ?, ?, ?)", (key, fails, first, until))
