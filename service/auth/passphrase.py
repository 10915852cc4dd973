"""How the owner is known: by a passphrase, of which the database holds an argon2id hash (RFC 9106, low-memory profile).

The first passphrase is made here, since a chosen one is a guessable one: it waits in a file of the state folder, mode 0600,
until it is shown, once. Looking at one takes 64 MiB and a tenth of a second, so it happens in a thread and one at a time.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sqlite3
import threading
import unicodedata
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio
import anyio.to_thread

from service.auth import pending, throttle, words
from service.clock import Clock
from service.errors import BadArgument, Conflict
from service.store.db import Database

if TYPE_CHECKING:
    from argon2 import PasswordHasher

INITIAL_FILE: Final = "initial-passphrase"
MIN_CHARS: Final = 15
"""Of a passphrase that a person chose (NIST SP 800-63B-4 §3.1.1.2, where it is the only factor)."""

MIN_DIFFERENT_CHARS: Final = 6
MAX_CHARS: Final = 512
"""Longer is no passphrase, and is not looked at."""

_HASH: Final = "passphrase"
_SINCE: Final = "passphrase_since"
_OFF: Final = "passphrase_off"


class Owner:
    """The one person whose notes these are. Threads and processes may share it.

    Args:
        state: the state folder.
        hasher: how hashes are made; tests bring a cheap one.

    Whoever counts guesses holds `turn` from the count to the verdict: else twenty right ones at the same instant would be
    counted as twenty wrong ones before the first is found right.
    """

    def __init__(self, database: Database, state: Path, clock: Clock, hasher: PasswordHasher | None = None) -> None:
        self._database, self._clock = database, clock
        self._initial = state / INITIAL_FILE
        self._given_hasher = hasher
        self._one_at_a_time = threading.Lock()
        self._waiting = anyio.CapacityLimiter(1)
        self.turn: Final = anyio.Lock()

    def prepare(self) -> bool:
        """Make the first passphrase if there is none and none was switched off; True when one was made.

        Crash-only: the file is there before its hash is, and a file without a hash is taken up again.

        Raises:
            OSError: the state cannot be written.
        """
        if self._word(_HASH) is not None or self.is_off():
            return False
        self._set(self._first())
        return True

    def has_passphrase(self) -> bool:
        """Whether one is set and not switched off."""
        return self._word(_HASH) is not None and not self.is_off()

    def is_off(self) -> bool:
        """Whether the owner signs in with passkeys alone."""
        return self._word(_OFF) is not None

    def reveal_initial(self) -> str | None:
        """The first passphrase, to the one caller who asks first; then its file is gone. None ever after."""
        mine = self._initial.with_name(f"{INITIAL_FILE}.{os.getpid()}.{threading.get_ident()}")
        try:
            os.rename(self._initial, mine)  # of any number of callers, one
        except FileNotFoundError:
            return None
        try:
            return mine.read_text(encoding="ascii").strip()
        finally:
            mine.unlink()

    def set(self, passphrase: str) -> None:
        """Take a new passphrase. Sign-ins that wait begin anew; guesses at the old one are forgotten; grants stay.

        Raises:
            BadArgument: it is too short, too long or too uniform.
        """
        self._set(_chosen(passphrase))
        self._initial.unlink(missing_ok=True)

    def renew(self) -> str:
        """As `set`, with a passphrase that is made here; returns it, the only copy."""
        made = words.passphrase()
        self._set(made)
        self._initial.unlink(missing_ok=True)
        return made

    def renewed(self) -> tuple[str, Callable[[sqlite3.Connection], None]]:
        """A passphrase that is made here, the only copy, and what stores it within the caller's transaction, as `set` does."""
        made = words.passphrase()
        return made, partial(self._store, self._hashed(made))

    def switch_off(self) -> None:
        """Let passkeys be the only way in. The passphrase is kept for the day it is switched on again.

        Raises:
            Conflict: there is no passkey, so nobody could sign in.
        """
        with self._database.transaction() as connection:
            if not self._has_passkey(connection):
                raise Conflict(
                    "there is no passkey yet, so nobody could sign in; add one with: strongroom auth passkey"
                )
            _write(connection, _OFF, "1")
            pending.forget_who_signed_in(connection)

    def switch_on(self) -> None:
        """Let the passphrase count again."""
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM sign_in WHERE k = ?", (_OFF,))

    async def verify(self, passphrase: str) -> bool:
        """Whether this is the passphrase; looked at in a thread, one at a time, others wait."""
        return await anyio.to_thread.run_sync(self.matches, passphrase, limiter=self._waiting)

    def matches(self, passphrase: str) -> bool:
        """As `verify`, in this thread. A hash of older parameters is made anew in passing."""
        hashed = self._word(_HASH)
        if hashed is None or self.is_off() or len(passphrase) > MAX_CHARS:
            return False
        from argon2.exceptions import InvalidHashError, VerificationError

        given = _plain(passphrase)
        with self._one_at_a_time:
            try:
                self._hasher.verify(hashed, given)
            except (VerificationError, InvalidHashError):
                return False
            if self._hasher.check_needs_rehash(hashed):
                self._replace(hashed, self._hasher.hash(given))
        return True

    @functools.cached_property
    def _hasher(self) -> PasswordHasher:
        """argon2 is imported for whoever signs in, not at each start."""
        from argon2 import PasswordHasher
        from argon2.profiles import RFC_9106_LOW_MEMORY

        return self._given_hasher or PasswordHasher.from_parameters(RFC_9106_LOW_MEMORY)

    def _first(self) -> str:
        with contextlib.suppress(FileNotFoundError):
            if found := self._initial.read_text(encoding="ascii").strip():
                return found
        made = words.passphrase()
        self._initial.unlink(missing_ok=True)  # cut short while it was written
        descriptor = os.open(self._initial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, f"{made}\n".encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        return made

    def _set(self, passphrase: str) -> None:
        hashed = self._hashed(passphrase)
        with self._database.transaction() as connection:
            self._store(hashed, connection)

    def _hashed(self, passphrase: str) -> str:
        with self._one_at_a_time:
            return self._hasher.hash(_plain(passphrase))

    def _store(self, hashed: str, connection: sqlite3.Connection) -> None:
        _write(connection, _HASH, hashed)
        _write(connection, _SINCE, self._clock.now().isoformat(timespec="seconds"))
        connection.execute("DELETE FROM sign_in WHERE k = ?", (_OFF,))
        pending.end_all(connection)
        throttle.forget(connection)

    def _replace(self, old: str, new: str) -> None:
        """Unless somebody has set another passphrase meanwhile."""
        with self._database.transaction() as connection:
            connection.execute("UPDATE sign_in SET v = ? WHERE k = ? AND v = ?", (new, _HASH, old))

    def _word(self, key: str) -> str | None:
        row = self._database.connection().execute("SELECT v FROM sign_in WHERE k = ?", (key,)).fetchone()
        return None if row is None else str(row["v"])

    @staticmethod
    def _has_passkey(connection: sqlite3.Connection) -> bool:
        return connection.execute("SELECT 1 FROM passkey LIMIT 1").fetchone() is not None


def counts(connection: sqlite3.Connection) -> bool:
    """Whether the passphrase lets anybody in, within the caller's transaction: it may have been switched off."""
    return connection.execute("SELECT 1 FROM sign_in WHERE k = ?", (_OFF,)).fetchone() is None


def _write(connection: sqlite3.Connection, key: str, value: str) -> None:
    connection.execute("INSERT OR REPLACE INTO sign_in VALUES (?, ?)", (key, value))


def _plain(passphrase: str) -> str:
    """As it was meant, whichever keyboard typed it: composed (RFC 8265 §4.2.2), blanks of any kind and number one space."""
    composed = unicodedata.normalize("NFC", passphrase.encode("utf-8", "replace").decode())
    return " ".join(composed.split())


def _chosen(passphrase: str) -> str:
    plain = _plain(passphrase)
    if len(plain) < MIN_CHARS:
        raise BadArgument(
            f"a passphrase needs at least {MIN_CHARS} characters; several words do, or let Strongroom make one."
        )
    if len(passphrase) > MAX_CHARS:
        raise BadArgument(f"a passphrase has at most {MAX_CHARS} characters; use a shorter one.")
    if len(set(plain)) < MIN_DIFFERENT_CHARS:
        raise BadArgument("that passphrase repeats a few characters; use several words, or let Strongroom make one.")
    return plain
