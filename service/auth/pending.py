"""Sign-ins that have begun and wait for the owner: one row each, ten minutes, good for one answer.

Everything that was asked is in the row and comes from nowhere else again; the page's form carries only the row's token, and
the browser that opened the page is known by its cookie. Both are stored as hashes. The short approve code is made from the
token: whoever is at the machine answers with it instead of the passphrase (`strongroom auth approve`), the second door.

A stranger can begin as many as he likes. When there is no room the oldest row of whoever holds the most goes, so where
addresses are known he pushes out his own; where they are not, there is room for a thousand (docs/explanation/sign-in.md).
"""

from __future__ import annotations

import hashlib
import json
import secrets
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from service.auth.asked import Asked, Choice, Client
from service.auth.grants import epoch_of, moment_of, seconds_of
from service.auth.throttle import share_of
from service.clock import Clock
from service.store.db import Database

LIFETIME_S: Final = 600
"""How long (seconds) a sign-in waits for its answer."""

MAX_ROWS: Final = 1000
"""Sign-ins that wait at once."""

MAX_ROWS_OF_ONE: Final = 20
"""Of these, begun from one known address (IPv6: one /64)."""

USED_ROWS_KEPT_S: Final = 3600
"""How long (seconds) the page can still say that it was used, rather than that it is unknown."""

MAX_USED_ROWS: Final = 1000
"""At most so many say so, the newest: to say no takes nothing, so a stranger can use up as many as he likes."""

CODE_CHARS: Final = 8
_TOKEN_BYTES: Final = 24
_COOKIE_BYTES: Final = 32
_LETTERS: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's base 32: no I, L, O, U
_MEANT: Final = str.maketrans({"O": "0", "I": "1", "L": "1", "-": None, " ": None})


@dataclass(frozen=True, slots=True)
class Opened:
    """A sign-in that has begun. The only copies of its secrets: `token` for the form, `cookie` for the browser.

    Args:
        approve_code: shown on the page, such as `7KQ2-M4XD`; no secret, since it is worth nothing away from the machine.
    """

    token: str
    cookie: str
    approve_code: str


@dataclass(frozen=True, slots=True)
class Pending:
    """A sign-in as it stands.

    Args:
        decision: what was allowed at the machine; None while nothing was.
        is_used: it has had its answer; nothing more can be done with it.
        is_signed_in: the owner was recognised on this very page, and has still to say yes or no.
        expires: aware, UTC.
        address: whence it was begun, where that is known.
    """

    asked: Asked
    approve_code: str
    decision: Choice | None
    is_used: bool
    is_signed_in: bool
    expires: datetime
    address: str | None


class Approvals:
    """The sign-ins of one appliance that wait. Threads and processes may share them."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        max_rows: int = MAX_ROWS,
        max_rows_of_one: int = MAX_ROWS_OF_ONE,
        max_used_rows: int = MAX_USED_ROWS,
    ) -> None:
        self._database, self._clock = database, clock
        self._max_rows, self._max_rows_of_one, self._max_used_rows = max_rows, max_rows_of_one, max_used_rows

    def open(self, asked: Asked, address: str | None = None, cookie: str | None = None) -> Opened:
        """Begin a sign-in.

        Args:
            address: of the browser, where it is known; None otherwise.
            cookie: what the browser brought. It is used again if we gave it within the hour, so that two tabs do not disturb
                each other; any other value is replaced, so that nobody can choose it for somebody.
        """
        share = "" if address is None else share_of(address)
        with self._database.transaction() as connection:
            now = seconds_of(self._clock.now())
            _sweep(connection, now, self._max_used_rows)
            self._make_room(connection, share)
            if cookie is None or not _is_ours(connection, cookie):
                cookie = secrets.token_urlsafe(_COOKIE_BYTES)
            token, code = _free_token(connection)
            connection.execute(
                "INSERT INTO pending VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL, ?, ?, NULL)",
                (
                    _hash(token),
                    _hash(cookie),
                    _hash(code),
                    asked.client.id,
                    asked.client.kind,
                    asked.client.name,
                    asked.client.domain,
                    asked.redirect_uri,
                    asked.state,
                    asked.challenge,
                    " ".join(sorted(asked.scopes)),
                    asked.resource,
                    address,
                    share,
                    now,
                    now + LIFETIME_S,
                ),
            )
        return Opened(token, cookie, _shown(code))

    def find(self, token: str, cookie: str) -> Pending | None:
        """The sign-in of this form in this browser; None when it is unknown, another browser's, expired or pushed out."""
        return self._find("hash", token, code_of(token), cookie)

    def find_by_code(self, code: str, cookie: str | None = None) -> Pending | None:
        """The sign-in with this approve code, in any spelling; where `cookie` is given, in this browser only."""
        return self._find("approve_code_hash", plain_code(code), code, cookie)

    def approve_by_code(self, code: str, choice: Choice) -> Pending | None:
        """Allow at the machine what the page with this code asks; its browser takes it when it asks next.

        No more is allowed than was asked. None when there is nothing (any more) to allow.
        """
        found = self.find_by_code(code)
        if found is None or found.is_used:
            return None
        allowed = Choice(choice.scopes & found.asked.scopes, choice.folders, choice.days)
        with self._database.transaction() as connection:
            changed = connection.execute(
                "UPDATE pending SET decision = ? WHERE approve_code_hash = ? AND used IS NULL AND expires > ?",
                (_written(allowed), _hash(plain_code(code)), seconds_of(self._clock.now())),
            )
        return self.find_by_code(code) if changed.rowcount else None

    def sign_in(
        self, token: str, cookie: str, still_counts: Callable[[sqlite3.Connection], bool] = lambda _: True
    ) -> bool:
        """Note that the owner was recognised (passphrase or passkey) in this form of this browser, while it waits.

        So a form that is shown again, because a folder does not exist, asks for nothing twice. False: it is gone.

        Args:
            still_counts: whether what he was recognised by counts now, asked in the same instant: it may have been taken back
                since it was looked at.
        """
        now = seconds_of(self._clock.now())
        with self._database.transaction() as connection:
            if not still_counts(connection):
                return False
            changed = connection.execute(
                "UPDATE pending SET signed_in = ? WHERE hash = ? AND cookie_hash = ? AND used IS NULL AND expires > ?",
                (now, _hash(token), _hash(cookie), now),
            )
        return changed.rowcount > 0

    def take(self, token: str, cookie: str, *, needs_sign_in: bool = False) -> Asked | None:
        """Use the sign-in up: to one caller what was asked, to every other and later one None.

        Args:
            needs_sign_in: only while the owner counts as recognised on it, which is looked at in the same instant.
        """
        taken = self._take("hash", token, cookie, "AND signed_in IS NOT NULL " if needs_sign_in else "")
        return None if taken is None else taken.asked

    def take_approved(self, code: str, cookie: str) -> tuple[Asked, Choice] | None:
        """As `take`, for the browser whose page shows this code, once it was allowed at the machine."""
        taken = self._take("approve_code_hash", plain_code(code), cookie, "AND decision IS NOT NULL ")
        return None if taken is None or taken.decision is None else (taken.asked, taken.decision)

    def was_answered(self, asked: Asked, cookie: str | None) -> bool:
        """Whether this browser has had an answer to this very request: its owner went back, or opened a link again."""
        row = self._database.connection().execute(
            "SELECT 1 FROM pending WHERE cookie_hash = ? AND used IS NOT NULL AND client_id = ? AND challenge = ? AND state IS ?",
            (_hash(cookie or ""), asked.client.id, asked.challenge, asked.state),
        )
        return row.fetchone() is not None

    def _find(self, column: str, secret: str, code: str, cookie: str | None) -> Pending | None:
        row = (
            self._database.connection()
            .execute(
                f"SELECT * FROM pending WHERE {column} = ? AND (? IS NULL OR cookie_hash = ?)",  # noqa: S608  # our names
                (_hash(secret), cookie, _hash(cookie or "")),
            )
            .fetchone()
        )
        now = seconds_of(self._clock.now())
        return None if row is None or (row["expires"] <= now and row["used"] is None) else _pending_of(row, code)

    def _take(self, column: str, secret: str, cookie: str, condition: str) -> Pending | None:
        now = seconds_of(self._clock.now())
        with self._database.transaction() as connection:
            row = connection.execute(
                f"UPDATE pending SET used = ? WHERE {column} = ? AND cookie_hash = ? AND used IS NULL "  # noqa: S608  # our names
                f"AND expires > ? {condition}RETURNING *",
                (now, _hash(secret), _hash(cookie), now),
            ).fetchone()
            epoch = epoch_of(connection)
        if row is None:
            return None
        taken = _pending_of(row, "")
        return replace(taken, asked=replace(taken.asked, taken_at=epoch))

    def _make_room(self, connection: sqlite3.Connection, share: str) -> None:
        mine = "SELECT count(*) FROM pending WHERE used IS NULL AND share = ?"
        if share and connection.execute(mine, (share,)).fetchone()[0] >= self._max_rows_of_one:
            _drop_oldest(connection, share)
        elif connection.execute("SELECT count(*) FROM pending WHERE used IS NULL").fetchone()[0] >= self._max_rows:
            greatest = connection.execute(
                "SELECT share FROM pending WHERE used IS NULL GROUP BY share ORDER BY count(*) DESC LIMIT 1"
            ).fetchone()
            _drop_oldest(connection, greatest["share"])


def end_all(connection: sqlite3.Connection) -> None:
    """Let every sign-in that waits begin anew, within the caller's transaction."""
    connection.execute("DELETE FROM pending WHERE used IS NULL")


def forget_who_signed_in(connection: sqlite3.Connection) -> None:
    """Ask anew on every page on which the owner was recognised and has not answered: what he was known by counts no more.
    Within the caller's transaction."""
    connection.execute("UPDATE pending SET signed_in = NULL WHERE used IS NULL")


def code_of(token: str) -> str:
    """The approve code of a form's token, as it is shown."""
    return _shown(_code(token))


def plain_code(typed: str) -> str:
    """An approve code as it was typed, without regard to case, dashes and letters that look like digits."""
    return typed[: 4 * CODE_CHARS].upper().translate(_MEANT)


def _code(token: str) -> str:
    number = int.from_bytes(hashlib.sha256(b"approve " + token.encode("utf-8", "surrogateescape")).digest())
    return "".join(_LETTERS[number >> 5 * place & 31] for place in range(CODE_CHARS))


def _shown(code: str) -> str:
    return f"{code[: CODE_CHARS // 2]}-{code[CODE_CHARS // 2 :]}"


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).digest()


def _sweep(connection: sqlite3.Connection, now: int, max_used: int) -> None:
    connection.execute(
        "DELETE FROM pending WHERE (used IS NULL AND expires <= ?) OR used <= ?", (now, now - USED_ROWS_KEPT_S)
    )
    connection.execute(
        "DELETE FROM pending WHERE rowid IN "
        "(SELECT rowid FROM pending WHERE used IS NOT NULL ORDER BY used DESC, rowid DESC LIMIT -1 OFFSET ?)",
        (max_used,),
    )


def _drop_oldest(connection: sqlite3.Connection, share: str) -> None:
    connection.execute(
        "DELETE FROM pending WHERE rowid = (SELECT rowid FROM pending WHERE used IS NULL AND share = ? "
        "ORDER BY created, rowid LIMIT 1)",
        (share,),
    )


def _is_ours(connection: sqlite3.Connection, cookie: str) -> bool:
    row = connection.execute("SELECT 1 FROM pending WHERE cookie_hash = ?", (_hash(cookie),))
    return row.fetchone() is not None


def _free_token(connection: sqlite3.Connection) -> tuple[str, str]:
    while True:
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        code = _code(token)
        if not connection.execute("SELECT 1 FROM pending WHERE approve_code_hash = ?", (_hash(code),)).fetchone():
            return token, code


def _written(choice: Choice) -> str:
    return json.dumps({"scopes": sorted(choice.scopes), "folders": choice.folders, "days": choice.days})


def _pending_of(row: sqlite3.Row, code: str) -> Pending:
    decision = None if row["decision"] is None else json.loads(row["decision"])
    return Pending(
        asked=Asked(
            client=Client(
                row["client_id"], row["client_kind"], row["client_name"], row["client_domain"], (row["redirect_uri"],)
            ),
            redirect_uri=row["redirect_uri"],
            state=row["state"],
            challenge=row["challenge"],
            scopes=frozenset(row["scopes"].split()),
            resource=row["resource"],
        ),
        approve_code=code,
        decision=None
        if decision is None
        else Choice(frozenset(decision["scopes"]), tuple(decision["folders"]), decision["days"]),
        is_used=row["used"] is not None,
        is_signed_in=row["signed_in"] is not None,
        expires=moment_of(row["expires"]),
        address=row["address"],
    )
