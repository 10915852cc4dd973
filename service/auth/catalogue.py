"""Clients that are known before they come: their metadata documents (CIMD), pinned in the package.

A client may name itself by the URL of a document that describes it. We never fetch one because a client says so (no
request can make us call anybody, and an outage elsewhere locks nobody out); what is not pinned here is added by the
owner's command (`strongroom auth clients add URL`).
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Final
from urllib.parse import urlsplit

from service.auth import redirects
from service.auth.asked import Client
from service.auth.redirects import ONE_WORD
from service.errors import BadArgument

MAX_NAME_CHARS: Final = 80
NAMELESS: Final = "a client without a name"

_ID: Final = re.compile(r"https://[a-z0-9-]+(?:\.[a-z0-9-]+)+(?:/[A-Za-z0-9._~!$&'()*+,;=:@-]+)+")
MAX_ID_CHARS: Final = 300
_MAX_MARKS: Final = 2


def pinned() -> Sequence[Client]:
    """The documents in the package. An id may hold ONE_WORD; more exact ids come first."""
    text = resources.files("service.auth").joinpath("known_clients.json").read_text(encoding="utf-8")
    return tuple(
        Client(
            one["client_id"],
            "cimd",
            one["client_name"],
            urlsplit(one["client_id"]).hostname,
            tuple(one["redirect_uris"]),
        )
        for one in json.loads(text)
    )


def find(known: Sequence[Client], client_id: str) -> Client | None:
    """The pinned client of this id, to the letter; the word that an id may choose holds in its addresses too."""
    for client in known:
        if client.id == client_id:
            return None if ONE_WORD in client_id else client
    for client in known:
        before, _, after = client.id.partition(ONE_WORD)
        if redirects.fits(client.id, client_id):
            word = client_id[len(before) : len(client_id) - len(after)]
            uris = tuple(uri.replace(ONE_WORD, word) for uri in client.redirect_uris)
            return Client(client_id, client.kind, client.name, client.domain, uris)
    return None


def looks_like_document(client_id: str) -> bool:
    """Whether a client names itself by a URL."""
    return client_id.startswith("https://")


def read(url: str, document: Mapping[str, object], allowed: Sequence[str] = ()) -> Client:
    """A document that the owner had fetched from `url`, as a client.

    Kept are redirects on the document's own host, and those that every client may use. A document must name itself
    (draft-ietf-oauth-client-id-metadata-document §4).

    Args:
        allowed: more redirects that the owner allows, exactly.

    Raises:
        BadArgument: it is no such document, or none of its redirects can be used.
    """
    host = urlsplit(url).hostname or ""
    if len(url) > MAX_ID_CHARS or not _ID.fullmatch(url) or ".." in url:
        raise BadArgument("a client's document has an address such as https://app.example/oauth/client.json.")
    if document.get("client_id") != url:
        raise BadArgument("the document does not name itself by the address it was fetched from; nothing was added.")
    given = document.get("redirect_uris")
    named = [uri for uri in given if isinstance(uri, str)] if isinstance(given, list) else []
    kept = tuple(uri for uri in named if redirects.is_on(uri, host) or redirects.is_allowed(uri, allowed))
    if not kept:
        raise BadArgument(
            f"the document names no redirect on {host} and none that is allowed here; add one to STRONGROOM_REDIRECTS."
        )
    return Client(url, "cimd", cleaned_name(document.get("client_name"), host), host, kept)


def cleaned_name(given: object, otherwise: str = NAMELESS) -> str:
    """A client's own word for itself, fit for a page, a list and a commit: one line, at most MAX_NAME_CHARS, and nothing in
    it that is not seen or that turns the direction of what follows (attack 27)."""
    text = unicodedata.normalize("NFC", given[: 4 * MAX_NAME_CHARS]) if isinstance(given, str) else ""
    kept, marks = [], 0
    for char in text:
        category = unicodedata.category(char)
        marks = marks + 1 if category.startswith("M") else 0
        if category.startswith("Z") or char in "\t\n\r":
            kept.append(" ")
        elif not category.startswith("C") and marks <= _MAX_MARKS:
            kept.append(char)
    name = " ".join("".join(kept).split())[:MAX_NAME_CHARS].rstrip()
    return name or otherwise
