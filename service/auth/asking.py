"""Reading an authorization request (RFC 6749 §4.1.1, RFC 7636, RFC 8707, RFC 9207): every check before anybody sees a page.

Until client and redirect are known to belong together nothing is sent anywhere: the owner sees an error. From then on the
client is told, at its own redirect, with `iss`. What was sent is never repeated in an error.

    parameters ─► one of each? ─► client? ─► its redirect? ─► state ─► what for? ─► Asked
                  └───────── ShownError ────────────────┘     └── SentBack ──┘
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from service.auth import audience, catalogue, redirects
from service.auth.asked import Asked, Client, SentBack, ShownError
from service.auth.audit import Audit
from service.auth.clients import Clients
from service.auth.location import Answer
from service.auth.model import READ, SCOPES
from service.auth.refusal import Refusal
from service.auth.registration import OFFLINE_ACCESS

MAX_STATE_CHARS: Final = 4096

Parameters = Sequence[tuple[str, str]]

_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}")
"""RFC 7636 §4.2: the base64url of a SHA-256, which is always so long."""

_MAY_REPEAT: Final = "resource"


class Asking:
    """The reader of authorization requests.

    Args:
        base: our address, the issuer.
        allowed: more redirects that the owner allows (STRONGROOM_REDIRECTS), exactly.
    """

    def __init__(self, base: str, clients: Clients, audit: Audit, allowed: Sequence[str] = ()) -> None:
        self._base, self._clients, self._audit, self._allowed = base, clients, audit, allowed

    def read(self, parameters: Parameters) -> Asked | ShownError | SentBack:
        """Check a request, decoded once from its query, in order.

        Raises:
            Unavailable, Misconfigured: the state cannot be read.
        """
        if _repeated(parameters):
            return ShownError("This request is malformed", "A parameter is there twice. Start again from your client.")
        given = {name: value for name, value in parameters if value}  # RFC 6749 §3.1: empty counts as left out
        client = self._clients.find(given.get("client_id", ""))
        if client is None or client.is_disabled:
            return self._unknown(given.get("client_id", ""), client)
        redirect_uri = self._redirect(client, given.get("redirect_uri"))
        if redirect_uri is None:
            self._audit.note("redirect_refused", client=client.id)
            return ShownError(
                "This request was refused",
                "It asks to send you to an address that does not belong to this client. If you did not expect that, close "
                "this page; otherwise remove the connector in your client and add it again.",
            )
        state = given.get("state")
        if state is not None and len(state) > MAX_STATE_CHARS:
            return ShownError("This request is malformed", "Its state is too long. Start again from your client.")
        answer = Answer(self._base, redirect_uri, state)
        try:
            scopes = _what_for(
                given, [value for name, value in parameters if name == _MAY_REPEAT and value], self._base
            )
        except Refusal as refusal:
            if refusal.error == "invalid_target":
                self._audit.note("resource_refused", client=client.id)
            return SentBack(answer.with_error(refusal.error, str(refusal)))
        if client.kind == "dcr":
            self._clients.note_use(client.id)
        return Asked(
            _as_far_as_verified(client, redirect_uri),
            redirect_uri,
            state,
            given["code_challenge"],
            scopes,
            audience.canonical(self._base),
        )

    def _redirect(self, client: Client, asked: str | None) -> str | None:
        """The redirect to use. It may be left out by a client that has just one (RFC 6749 §3.1.2.3)."""
        if asked is None:
            only = client.redirect_uris[0] if len(client.redirect_uris) == 1 else None
            asked = None if only is None or redirects.ONE_WORD in only else only
        if asked is None or not any(redirects.matches(uri, asked) for uri in client.redirect_uris):
            return None
        # What registered itself holds only as long as the owner's list does; a document is pinned or was added by the owner.
        return asked if client.kind != "dcr" or redirects.is_allowed(asked, self._allowed) else None

    def _unknown(self, client_id: str, client: Client | None) -> ShownError:
        self._audit.note("client_unknown", client=client_id[:200], is_disabled=client is not None)
        if client is None and catalogue.looks_like_document(client_id):
            return ShownError(
                "This client is not known here",
                "It names itself by a document that is not among the known ones. If you trust it, add it on the machine with: "
                "strongroom auth clients add URL",
            )
        return ShownError(
            "This client is not known here",
            "It may have been here before and been forgotten or taken back. Remove the connector in your client and add it "
            "again.",
        )


def _what_for(given: Mapping[str, str], asked_resources: Sequence[str], base: str) -> frozenset[str]:
    """Check everything that the client may be told about; the scopes it asks for.

    Raises:
        Refusal: with the code of RFC 6749 §4.1.2.1, RFC 8707 §2 or OpenID Connect Core §6.
    """
    for name, error in (("request", "request_not_supported"), ("request_uri", "request_uri_not_supported")):
        if name in given:
            raise Refusal(error, f"{name} is not supported; send the parameters themselves.")
    if "response_type" not in given:
        raise Refusal("invalid_request", "response_type is missing.")
    if given["response_type"] != "code":
        raise Refusal("unsupported_response_type", "only response_type=code is supported.")
    if given.get("response_mode", "query") != "query":
        raise Refusal("invalid_request", "only response_mode=query is supported.")
    if given.get("code_challenge_method") != "S256":
        raise Refusal("invalid_request", "code_challenge_method must be S256 (PKCE).")
    if not _CHALLENGE.fullmatch(given.get("code_challenge", "")):
        raise Refusal("invalid_request", "code_challenge must be the base64url of a SHA-256: 43 characters (PKCE).")
    if not audience.are_ours(base, asked_resources):
        raise Refusal("invalid_target", "resource is not this server; its metadata names the one there is.")
    return scopes_of(given.get("scope"))


def scopes_of(given: str | None, otherwise: frozenset[str] = frozenset(SCOPES)) -> frozenset[str]:
    """The scopes of a request, or `otherwise` when it names none. Whoever may write may read; `offline_access` has no meaning
    here, since there is always a refresh token (auth.md 4.4 claude-ai-mcp#42, supabase/auth#2628).

    Raises:
        Refusal: `invalid_scope`.
    """
    words = frozenset((given or "").split(" ")) - {"", OFFLINE_ACCESS}
    if words - frozenset(SCOPES):
        raise Refusal("invalid_scope", f"the scopes here are {' and '.join(SCOPES)}.")
    return words | {READ} if words else otherwise


def _as_far_as_verified(client: Client, redirect_uri: str) -> Client:
    """Without its domain where that stands for nothing: on a device any program can wait for the answer, and give any id
    (draft-ietf-oauth-client-id-metadata-document, impersonation through localhost redirects)."""
    return replace(client, domain=None) if redirects.is_native(redirect_uri) else client


def _repeated(parameters: Parameters) -> bool:
    names = [name for name, _ in parameters if name != _MAY_REPEAT]
    return len(names) != len(set(names))
