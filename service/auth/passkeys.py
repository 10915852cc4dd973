"""The owner's passkeys: made on a phone or laptop with a one-time code from the command line, used instead of the passphrase.

    strongroom auth passkey add ─► a code ─► /oauth/passkey/add ─► a passkey
    a client that asks ─► /oauth/passkey ─► a challenge ─► the passkey's signature ─► the owner

Of a code and a challenge only the hash is kept. Each is good once: whoever shows it, it is gone, whatever comes of it. A
challenge answers to the one that it was made for (a request that waits, in one browser) and to nobody else.
"""

from __future__ import annotations

import hashlib
import secrets
import sqlite3
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from service.auth import ceremonies, ending, pending, tokens
from service.auth.ceremonies import Answer, PasskeyRefused, Site
from service.auth.grants import epoch_of, moment_of, seconds_of
from service.clock import Clock
from service.errors import BadArgument, Conflict, Forbidden, Misconfigured, NotFound
from service.store.db import Database

CODE_LIFETIME_S: Final = 600
CHALLENGE_LIFETIME_S: Final = 300
MAX_WRONG_CODES: Final = 1_000_000
"""Wrong codes that a code outlives. Of 31^10 codes, so many guesses find one with a chance of 1 in 10^9. So guessing needs
no waiting times, which a stranger could impose on the owner; and nobody sends so many in ten minutes, so no stranger can
use the owner's code up either."""

MAX_PASSKEYS: Final = 50
MAX_NAME_CHARS: Final = 60
_MAX_OPEN: Final = 3
"""Challenges at once for one request in one browser: a page that is loaded again, or open twice."""

_LETTERS: Final = "abcdefghjkmnpqrstuvwxyz23456789"  # none that look alike: i l o 0 1
_CODE_CHARS: Final = 10
_CHALLENGE_BYTES: Final = 32
_USER_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class Passkey:
    """One passkey. `rp_id` is the host it was made for: browsers offer it there and nowhere else."""

    id: bytes
    name: str
    rp_id: str
    created: datetime
    last_used: datetime | None


class CodeRefused(Forbidden):
    """A code for a new passkey that is wrong, used, too old, or was guessed at too often; which, is not said."""

    def __init__(self) -> None:
        super().__init__(
            "this code is not right, was used, or is older than ten minutes. Make a new one on the machine that runs "
            "Strongroom: strongroom auth passkey add --name phone"
        )


class PasskeyNotFound(NotFound):
    def __init__(self, name: str) -> None:
        super().__init__(f"there is no passkey {name!r}; list them with: strongroom auth passkey list")


class Passkeys:
    """The passkeys of one appliance. Threads and processes may share them.

    Args:
        base: the address that clients use (`Settings.base_url`); it decides which passkeys can be used.
    """

    def __init__(self, database: Database, clock: Clock, base: str) -> None:
        self._database, self._clock, self.site = database, clock, Site.of(base)

    # -- what there is -------------------------------------------------------------------------------------------------

    def all(self) -> tuple[Passkey, ...]:
        """Every passkey, the oldest first."""
        rows = self._database.connection().execute("SELECT * FROM passkey ORDER BY created, rowid")
        return tuple(map(_passkey_of, rows))

    def is_usable(self, passkey: Passkey) -> bool:
        """Whether a browser can offer it: it was made for the address of today, and that can have passkeys at all."""
        return self.site.hindrance is None and passkey.rp_id == self.site.rp_id

    def usable(self) -> tuple[Passkey, ...]:
        """Those the owner can sign in with."""
        return tuple(passkey for passkey in self.all() if self.is_usable(passkey))

    def remove(self, name: str, *, leaving_one: bool = False) -> Passkey:
        """Forget a passkey: it opens nothing from now on, nor does a page that it has opened already.

        Args:
            leaving_one: keep the last one that can be used, for an owner whose passphrase is switched off.

        Raises:
            PasskeyNotFound: none has that name.
            Conflict: it is the last one, and one is to be left.
        """
        with self._database.transaction() as connection:
            row = connection.execute("SELECT * FROM passkey WHERE name = ?", (name,)).fetchone()
            if row is None:
                raise PasskeyNotFound(name)
            found = _passkey_of(row)
            if leaving_one and self.usable() == (found,):
                raise Conflict(
                    f"{name!r} is the last passkey, and the passphrase is switched off: nobody could sign in. Add another "
                    "passkey first, switch the passphrase on again (strongroom auth passphrase --on), or add --force."
                )
            connection.execute("DELETE FROM passkey WHERE id = ?", (found.id,))
            pending.forget_who_signed_in(connection)
        return found

    # -- making one ----------------------------------------------------------------------------------------------------

    def new_code(self, name: str) -> str:
        """A code with which one passkey, to be called `name`, can be made. It takes the place of an earlier one.

        Raises:
            Misconfigured: no browser could make a passkey for our address; says why.
            BadArgument: the name cannot be used.
            Conflict: a passkey has that name, or there are very many.
        """
        if self.site.hindrance is not None:
            raise Misconfigured(self.site.hindrance)
        name = _checked_name(name)
        code = "".join(secrets.choice(_LETTERS) for _ in range(_CODE_CHARS))
        with self._database.transaction() as connection:
            _make_sure_it_is_free(connection, name)
            connection.execute("DELETE FROM passkey_code")
            connection.execute(
                "INSERT INTO passkey_code (hash, name, expires, wrong) VALUES (?, ?, ?, 0)",
                (_code_hash(code), name, self._now() + CODE_LIFETIME_S),
            )
        return f"{code[:5]}-{code[5:]}"

    def begin_making(self, code: str, cookie_hash: bytes) -> str:
        """Use the code up, and let the browser with this cookie make a passkey: what it needs for that, as JSON.

        Raises:
            CodeRefused: it is not the code, or no longer.
        """
        now = self._now()
        with self._database.transaction() as connection:
            row = connection.execute(
                "SELECT name FROM passkey_code WHERE hash = ? AND expires > ? AND wrong < ?",
                (_code_hash(code), now, MAX_WRONG_CODES),
            ).fetchone()
            if row is None:
                connection.execute("UPDATE passkey_code SET wrong = wrong + 1 WHERE expires > ?", (now,))
            else:
                connection.execute("DELETE FROM passkey_code")
                challenge = self._challenge(connection, "make", cookie_hash, row["name"])
                user = _user(connection)
        if row is None:
            raise CodeRefused
        known = [passkey.id for passkey in self.all() if passkey.rp_id == self.site.rp_id]
        return ceremonies.to_make(self.site, challenge, user, known)

    def finish_making(self, text: str, cookie_hash: bytes) -> Passkey:
        """Keep the passkey that the browser made.

        Args:
            text: its answer, as JSON.

        Raises:
            PasskeyRefused: the answer proves nothing, comes too late, or from another browser.
            Conflict: the name was taken meanwhile.
        """
        answer = ceremonies.read(text)
        name, answered_at = self._answered(answer, "make", cookie_hash)
        made = ceremonies.made(self.site, answer)
        now = self._now()
        with self._database.transaction() as connection:
            if ending.all_ended_since(connection, answered_at):
                raise PasskeyRefused("everything was revoked meanwhile")
            _make_sure_it_is_free(connection, name)
            if connection.execute("SELECT 1 FROM passkey WHERE id = ?", (made.id,)).fetchone():
                raise PasskeyRefused("registered before")  # WebAuthn §7.1 step 26
            connection.execute(
                "INSERT INTO passkey (id, name, public_key, sign_count, rp_id, created) VALUES (?, ?, ?, ?, ?, ?)",
                (made.id, name, made.public_key, made.sign_count, self.site.rp_id, now),
            )
        return Passkey(made.id, name, self.site.rp_id, moment_of(now), None)

    # -- signing in ----------------------------------------------------------------------------------------------------

    def begin_signing_in(self, pending_hash: bytes, cookie_hash: bytes) -> str:
        """Let the browser with this cookie sign in for this request: what it needs for that, as JSON."""
        with self._database.transaction() as connection:
            challenge = self._challenge(connection, "sign in", _bound(pending_hash, cookie_hash), "")
        return ceremonies.to_sign_in(self.site, challenge)

    def finish_signing_in(self, text: str, pending_hash: bytes, cookie_hash: bytes) -> Passkey:
        """The passkey that signed for this request in this browser, so that the owner is there.

        Args:
            text: the browser's answer, as JSON.

        Raises:
            PasskeyRefused: nothing of the kind is proven; `why` says what is amiss.
        """
        answer = ceremonies.read(text)
        self._answered(answer, "sign in", _bound(pending_hash, cookie_hash))
        row = (
            self._database.connection()
            .execute("SELECT * FROM passkey WHERE id = ? AND rp_id = ?", (answer.passkey_id, self.site.rp_id))
            .fetchone()
        )
        if row is None:
            raise PasskeyRefused("unknown passkey")
        count = ceremonies.counted(self.site, answer, row["public_key"])
        with self._database.transaction() as connection:
            if answer.user is not None and not secrets.compare_digest(answer.user, _user(connection)):
                raise PasskeyRefused("another owner's passkey")
            self._count(connection, row["id"], count)
        return _passkey_of(row)

    # -- inside --------------------------------------------------------------------------------------------------------

    def _count(self, connection: sqlite3.Connection, passkey_id: bytes, count: int) -> None:
        """WebAuthn §7.2 step 22: a counter that does not go up means that there are two of this key. Passkeys that
        travel between devices do not count, and say 0 for ever."""
        changed = connection.execute(
            "UPDATE passkey SET sign_count = ?, last_used = ? WHERE id = ? AND (sign_count < ? OR (sign_count = 0 AND ? = 0))",
            (count, self._now(), passkey_id, count, count),
        )
        if changed.rowcount == 0:
            still_there = connection.execute("SELECT 1 FROM passkey WHERE id = ?", (passkey_id,)).fetchone()
            raise PasskeyRefused(ceremonies.COPIED if still_there else "unknown passkey")

    def _challenge(self, connection: sqlite3.Connection, purpose: str, bound: bytes, name: str) -> bytes:
        now, challenge = self._now(), secrets.token_bytes(_CHALLENGE_BYTES)
        connection.execute("DELETE FROM passkey_challenge WHERE expires <= ?", (now,))
        connection.execute(
            "DELETE FROM passkey_challenge WHERE bound = ? AND rowid NOT IN "
            "(SELECT rowid FROM passkey_challenge WHERE bound = ? ORDER BY rowid DESC LIMIT ?)",
            (bound, bound, _MAX_OPEN - 1),
        )
        connection.execute(
            "INSERT INTO passkey_challenge (hash, purpose, bound, name, expires) VALUES (?, ?, ?, ?, ?)",
            (hashlib.sha256(challenge).digest(), purpose, bound, name, now + CHALLENGE_LIFETIME_S),
        )
        return challenge

    def _answered(self, answer: Answer, purpose: str, bound: bytes) -> tuple[str, int]:
        """Use up the challenge that is answered; the name that was kept with it, and the epoch.

        Raises:
            PasskeyRefused: it is none of ours, was used, is too old, or was made for something else.
        """
        with self._database.transaction() as connection:
            row = connection.execute(
                "DELETE FROM passkey_challenge WHERE hash = ? RETURNING purpose, bound, name, expires",
                (hashlib.sha256(answer.challenge).digest(),),
            ).fetchone()
            epoch = epoch_of(connection)
        if row is None:
            raise PasskeyRefused("unknown or used challenge")
        if row["expires"] <= self._now():
            raise PasskeyRefused("challenge too old")
        if row["purpose"] != purpose or not secrets.compare_digest(row["bound"], bound):
            raise PasskeyRefused("challenge of another request or browser")
        return str(row["name"]), epoch

    def _now(self) -> int:
        return seconds_of(self._clock.now())


def is_known(connection: sqlite3.Connection, passkey: Passkey) -> bool:
    """Whether this passkey is (still) one of the owner's, within the caller's transaction."""
    return connection.execute("SELECT 1 FROM passkey WHERE id = ?", (passkey.id,)).fetchone() is not None


def normal(code: str) -> str:
    """A code as it was meant: letter case, blanks and hyphens do not matter."""
    return "".join(char for char in code.lower() if char not in "- \t\r\n")


def _code_hash(code: str) -> bytes:
    return tokens.digest(normal(code))


def _bound(pending_hash: bytes, cookie_hash: bytes) -> bytes:
    return hashlib.sha256(pending_hash + b"\0" + cookie_hash).digest()


def _user(connection: sqlite3.Connection) -> bytes:
    """The owner's handle (WebAuthn §5.4.3): random, so that it tells nothing, and the same for every passkey."""
    connection.execute(
        "INSERT OR IGNORE INTO sign_in (k, v) VALUES ('passkey_user', ?)", (secrets.token_hex(_USER_BYTES),)
    )
    return bytes.fromhex(connection.execute("SELECT v FROM sign_in WHERE k = 'passkey_user'").fetchone()["v"])


def _make_sure_it_is_free(connection: sqlite3.Connection, name: str) -> None:
    names: Sequence[str] = [row["name"] for row in connection.execute("SELECT name FROM passkey")]
    if name in names:
        raise Conflict(f"there is a passkey {name!r}; choose another name, or remove it first.")
    if len(names) >= MAX_PASSKEYS:
        raise Conflict(f"there are {MAX_PASSKEYS} passkeys; remove those that are not used any more.")


def _checked_name(name: str) -> str:
    name = unicodedata.normalize("NFC", name.strip())
    if not 1 <= len(name) <= MAX_NAME_CHARS or not name.isprintable() or name.startswith("-"):
        raise BadArgument(f"a passkey's name is one line of 1 to {MAX_NAME_CHARS} printable characters, such as phone.")
    return name


def _passkey_of(row: sqlite3.Row) -> Passkey:
    used = row["last_used"]
    return Passkey(
        row["id"], row["name"], row["rp_id"], moment_of(row["created"]), None if used is None else moment_of(used)
    )
