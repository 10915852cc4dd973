"""The owner's answer: a grant and a code for it, or a refusal; and where the browser goes with it."""

from __future__ import annotations

from typing import Final

from service.auth import ending, tokens
from service.auth.asked import Asked, Choice
from service.auth.audit import Audit
from service.auth.grants import new_id, seconds_of
from service.auth.lifetimes import CODE_S, DAY_S, Lifetimes
from service.auth.location import Answer
from service.auth.model import READ
from service.clock import Clock
from service.errors import BadArgument, Refused
from service.store.db import Database

MIN_DAYS: Final = 1


class Flow:
    """Gives what the owner allowed.

    Args:
        base: our address, the issuer.
    """

    def __init__(self, base: str, database: Database, clock: Clock, audit: Audit, lifetimes: Lifetimes) -> None:
        self._base, self._database, self._clock = base, database, clock
        self._audit, self._lifetimes = audit, lifetimes

    def allow(self, asked: Asked, choice: Choice, address: str | None = None) -> str:
        """Make a grant and a code for it; where to send the browser.

        An older grant of the same client stays as it is: one id stands for all devices of an owner and for all accounts
        at a hosted client, so to end it would sign out another device. The list shows both, with their last use.

        Args:
            choice: never more than was asked; `days` beyond STRONGROOM_GRANT_LIFETIME count as that.
            address: of the owner's browser, where it is known.

        Raises:
            BadArgument: nothing that was asked is allowed, or for no time.
            Refused: the client was disabled meanwhile.
        """
        scopes = choice.scopes & asked.scopes
        if READ not in scopes or choice.days < MIN_DAYS:
            raise BadArgument("choose at least reading, and at least one day; or deny.")
        code, now = tokens.made(tokens.CODE), seconds_of(self._clock.now())
        expires = now + min(choice.days * DAY_S, self._lifetimes.grant_s)
        words, folders = " ".join(sorted(scopes)), "\n".join(choice.folders)
        with self._database.transaction() as connection:
            row = connection.execute("SELECT kind, disabled FROM client WHERE id = ?", (asked.client.id,)).fetchone()
            if (row is None and asked.client.kind == "dcr") or (row is not None and row["disabled"] is not None):
                raise Refused("this client was taken back meanwhile; remove the connector in it and add it again.")
            if ending.comes_too_late(connection, asked):
                raise Refused("everything was revoked meanwhile; begin again at the client.")
            grant_id = new_id(connection)
            connection.execute(
                "INSERT INTO grant_ (id, kind, label, client_id, scopes, resource, redirect_uri, created, last_ip, expires, "
                "folders) VALUES (?, 'oauth', ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(grant_id, asked.client.name, asked.client.id, words, asked.resource, asked.redirect_uri),
                    *(now, address, expires, folders),
                ),
            )
            connection.execute(
                "INSERT INTO code (hash, grant_id, client_id, challenge, redirect_uri, expires) VALUES (?, ?, ?, ?, ?, ?)",
                (tokens.digest(code), grant_id, asked.client.id, asked.challenge, asked.redirect_uri, now + CODE_S),
            )
        self._audit.note(
            "grant", grant=grant_id, client=asked.client.id, scopes=words, folders=len(choice.folders), address=address
        )
        return self._answer(asked).with_code(code)

    def deny(self, asked: Asked) -> str:
        """Where to send the browser when the owner said no."""
        return self._answer(asked).with_error("access_denied", "The owner said no.")

    def _answer(self, asked: Asked) -> Answer:
        return Answer(self._base, asked.redirect_uri, asked.state)
