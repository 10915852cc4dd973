"""Grants as a person and a script see them: the rows of `strongroom tokens list`, and which of them a word means."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from ops import output
from service.auth.asked import Client
from service.auth.clients import Clients
from service.auth.model import Grant
from service.errors import Conflict, GrantNotFound
from service.store.db import Database

HEADINGS: Final = ("ID", "Kind", "Name", "May", "Folders", "Made", "Last used", "From", "Live", "Ends")
_KINDS: Final[Mapping[str, str]] = {"static": "token", "oauth": "sign-in"}


@dataclass(frozen=True, slots=True)
class Listing:
    """Grants, with what the rows say about them besides.

    Args:
        now: aware, UTC.
        hosted: ids of the grants whose client is reached at a web site; only there its host stands for it.
        streams: open streams by grant id, from the running service; None when none answers.
    """

    grants: Sequence[Grant]
    clients: Mapping[str, Client]
    now: datetime
    hosted: frozenset[str] = frozenset()
    streams: Mapping[str, int] | None = None

    def facts(self, grant: Grant) -> dict[str, output.Json]:
        """One grant for a script."""
        known = self.clients.get(grant.client_id or "")
        return {
            "id": grant.id,
            "name": grant.name,
            "kind": grant.kind,
            "scopes": sorted(grant.scopes),
            "created": grant.created.isoformat(),
            "expires": _iso(grant.expires),
            "last_used": _iso(grant.last_used),
            "revoked": _iso(grant.revoked),
            "state": self.state(grant),
            "folders": list(grant.folders),
            "client": grant.client_id,
            "client_name": known.name if known else None,
            "domain": self._domain(grant),
            "verified": self._domain(grant) is not None if grant.client_id else None,
            "address": grant.last_address,
            "streams": None if self.streams is None else self.streams.get(grant.id, 0),
        }

    def row(self, grant: Grant) -> tuple[str, ...]:
        """One grant for a person, under HEADINGS."""
        return (
            grant.id,
            _KINDS.get(grant.kind, grant.kind),
            self._name(grant),
            "read, write" if grant.may_write else "read",
            ", ".join(grant.folders) or "all",
            shown(grant.created),
            shown(grant.last_used),
            grant.last_address or "",
            "?" if self.streams is None else str(self.streams.get(grant.id, 0)),
            self._ends(grant),
        )

    def state(self, grant: Grant) -> str:
        """`alive`, `expired` or `revoked`."""
        if grant.revoked is not None:
            return "revoked"
        return "alive" if grant.is_alive(self.now) else "expired"

    def _name(self, grant: Grant) -> str:
        if grant.client_id is None:
            return grant.name
        return f"{grant.name} ({self._domain(grant) or 'unverified'})"

    def _domain(self, grant: Grant) -> str | None:
        known = self.clients.get(grant.client_id or "")
        return known.domain if known is not None and grant.id in self.hosted else None

    def _ends(self, grant: Grant) -> str:
        if self.state(grant) == "revoked":
            return f"revoked {shown(grant.revoked)}"
        return shown(grant.expires) if grant.expires else "when revoked"


def clients(known: Clients, grants: Iterable[Grant]) -> dict[str, Client]:
    """The clients that these grants were given to, by id; one that is not known any more is left out."""
    found = (known.find(client_id) for client_id in {grant.client_id for grant in grants} if client_id is not None)
    return {client.id: client for client in found if client is not None}


def hosted(database: Database) -> frozenset[str]:
    """The grants whose client is reached at a web site, by their ids."""
    rows = database.connection().execute("SELECT id FROM grant_ WHERE redirect_uri LIKE 'https://%'")
    return frozenset(row["id"] for row in rows)


def meant(word: str, all_grants: Sequence[Grant]) -> tuple[Grant, ...]:
    """The grant with this id, or else those of this name, living ones first of all.

    Raises:
        GrantNotFound: with the nearest ids and names.
        Conflict: several living ones have that name.
    """
    if by_id := [grant for grant in all_grants if grant.id == word]:
        return tuple(by_id)
    named = [grant for grant in all_grants if grant.name == word]
    living = [grant for grant in named if grant.revoked is None]
    if len(living) > 1:
        ids = ", ".join(grant.id for grant in living)
        raise Conflict(f"{len(living)} of them are named {word!r}: {ids}; name one by its id, or revoke --client.")
    if not named:
        raise GrantNotFound(word, nearest(word, (part for grant in all_grants for part in (grant.id, grant.name))))
    return tuple(living or named)


def meant_client(word: str, known: Iterable[Client], used: Iterable[str]) -> str:
    """The id of the client that a word means: its id, or its domain or name when only one has it.

    Args:
        used: ids that grants name. Of several clients with that name, those that were ever let in are meant.

    Raises:
        GrantNotFound: with the nearest.
        Conflict: several have that name or domain.
    """
    known, used = tuple(known), frozenset(used)
    if word in used or word in (client.id for client in known):
        return word
    lower = word.casefold()
    found = [client.id for client in known if lower in (client.name.casefold(), (client.domain or "").casefold())]
    found = [client_id for client_id in found if client_id in used] or found
    if len(found) > 1:
        raise Conflict(f"{len(found)} clients are named {word!r}: {', '.join(found)}; name one by its id.")
    if not found:
        words = (part for client in known for part in (client.id, client.name, client.domain or client.id))
        raise GrantNotFound(word, nearest(word, words), what="client")
    return found[0]


def nearest(word: str, known: Iterable[str]) -> list[str]:
    """What somebody who typed `word` may have meant, at most three."""
    return difflib.get_close_matches(word, list(dict.fromkeys(known)), n=3, cutoff=0.6)


def shown(moment: datetime | None) -> str:
    """A time for a person, in this machine's zone."""
    return "never" if moment is None else moment.astimezone().strftime("%Y-%m-%d %H:%M")


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
