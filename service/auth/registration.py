"""Reading what a client says about itself (RFC 7591): a small JSON document, of which we believe very little.

Kept are its name, cleaned, and those of its redirects that are allowed: Cursor registers three at once, and one that we do
not know must not cost it the others (auth.md 4.4). Secrets, logos and keys are ignored; every client is a public one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from service.auth import catalogue, redirects
from service.auth.asked import Client
from service.auth.model import SCOPES
from service.auth.refusal import Refusal

MAX_URIS: Final = 10
OFFLINE_ACCESS: Final = "offline_access"
"""Named in our metadata for clients that ask for a refresh token only where they see it (ChatGPT); has no meaning."""


@dataclass(frozen=True, slots=True)
class Introduced:
    """What a client said, as far as we take it. `scope` is what of its wish we know, None when it had none."""

    name: str
    redirect_uris: tuple[str, ...]
    scope: str | None


@dataclass(frozen=True, slots=True)
class Registered:
    """A client that was taken in, and when (seconds since 1970)."""

    client: Client
    issued_at: int
    scope: str | None

    def to_json(self) -> bytes:
        """RFC 7591 §3.2.1: all that we registered, which may be less than was asked."""
        members: dict[str, str | int | list[str]] = {
            "client_id": self.client.id,
            "client_id_issued_at": self.issued_at,
            "client_name": self.client.name,
            "redirect_uris": list(self.client.redirect_uris),
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        }
        if self.scope is not None:
            members["scope"] = self.scope
        return json.dumps(members, separators=(",", ":")).encode()


def read(body: bytes, allowed: Sequence[str] = ()) -> Introduced:
    """Read a registration request.

    Args:
        allowed: more redirects that the owner allows, exactly.

    Raises:
        Refusal: `invalid_client_metadata` or `invalid_redirect_uri`.
    """
    members = _object(body)
    uris = members.get("redirect_uris")
    if not isinstance(uris, list) or not uris or not all(isinstance(uri, str) for uri in uris):
        raise Refusal("invalid_redirect_uri", "redirect_uris must be a list of addresses.")
    if len(uris) > MAX_URIS:
        raise Refusal("invalid_redirect_uri", f"at most {MAX_URIS} redirect_uris are taken.")
    kept = tuple(dict.fromkeys(uri for uri in uris if redirects.is_allowed(uri, allowed)))
    if not kept:
        raise Refusal(
            "invalid_redirect_uri",
            "none of the redirect_uris is allowed here: known clients' own, http on localhost, or what the owner adds "
            "with STRONGROOM_REDIRECTS.",
        )
    wanted = members.get("grant_types")
    if isinstance(wanted, list) and wanted and "authorization_code" not in wanted:
        raise Refusal("invalid_client_metadata", "only grant_types authorization_code and refresh_token are there.")
    return Introduced(catalogue.cleaned_name(members.get("client_name")), kept, _known_scopes(members.get("scope")))


def _object(body: bytes) -> dict[str, object]:
    """As it can be read in one way only: in UTF-8 (RFC 8259 §8.1), each name once."""
    try:
        members = json.loads(body.decode("utf-8-sig"), object_pairs_hook=_once_each)
    except (ValueError, RecursionError):
        raise Refusal("invalid_client_metadata", "the body must be a JSON object in UTF-8.") from None
    if not isinstance(members, dict):
        raise Refusal("invalid_client_metadata", "the body must be a JSON object in UTF-8.")
    return members


def _once_each(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError
    return members


def _known_scopes(given: object) -> str | None:
    if not isinstance(given, str):
        return None
    return " ".join(word for word in dict.fromkeys(given.split()) if word in (*SCOPES, OFFLINE_ACCESS)) or None
