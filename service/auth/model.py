"""Who is calling and what they may do: the grant, and which one the present call runs under.

A grant is found once at the edge (a bearer token, the owner's own socket) and put into the context of everything the
call does. Nothing below the edge guesses: without a grant there is no permission.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from service.errors import Forbidden

READ: Final = "vault:read"
WRITE: Final = "vault:write"
SCOPES: Final = (READ, WRITE)


@dataclass(frozen=True, slots=True)
class Grant:
    """A permission that can be revoked.

    Args:
        id: short and typeable; what logs, history and the commands call it.
        kind: `static` (a token made by a command), `oauth` (a client the owner signed in for), `edge` (either, as the edge
            of a split Strongroom vouches for it) or `local` (the owner at this machine, over stdio).
        name: the owner's word for it, shown in history.
        scopes: what it may do, of SCOPES.
        created: when it was given, UTC.
        expires: when it ends by itself, UTC; None never.
        last_used: to the minute, UTC; None when it never was.
        revoked: when it was taken back, UTC; None while it is alive.
        folders: the only folders it may see, vault-relative; none of them: the whole vault.
        client_id: the OAuth client it was given to; None for the other kinds.
        last_address: where its latest request came from, as far as that can be known.
        token_hash: the hash of the token by which the present call found it; None where there is none.
    """

    id: str
    kind: str
    name: str
    scopes: frozenset[str]
    created: datetime
    expires: datetime | None = None
    last_used: datetime | None = None
    revoked: datetime | None = None
    folders: tuple[str, ...] = ()
    client_id: str | None = None
    last_address: str | None = None
    token_hash: bytes | None = field(default=None, repr=False, compare=False)

    @property
    def may_write(self) -> bool:
        return WRITE in self.scopes

    def is_alive(self, now: datetime) -> bool:
        """Whether it can be used at `now` (aware, UTC)."""
        return self.revoked is None and (self.expires is None or now < self.expires)


def local(now: datetime, *, is_read_only: bool = False) -> Grant:
    """The owner's own grant, for a client started on this machine. It lives as long as its connection."""
    scopes = frozenset((READ,)) if is_read_only else frozenset(SCOPES)
    return Grant("local", "local", "this machine", scopes, created=now)


_ACTING: ContextVar[Grant] = ContextVar("strongroom_grant")


@contextmanager
def acting_as(grant: Grant) -> Iterator[None]:
    """Run what is inside, and every task and thread it starts, under `grant`."""
    token = _ACTING.set(grant)
    try:
        yield
    finally:
        _ACTING.reset(token)


def acting() -> Grant:
    """The grant of the present call.

    Raises:
        Forbidden: when there is none, which means that a door was left unguarded.
    """
    try:
        return _ACTING.get()
    except LookupError:
        raise Forbidden("this call carries no permission; connect with a token.") from None
