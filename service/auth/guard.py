"""The door of `/mcp`: no request reaches the protocol without a living grant, and none outlives it.

It wraps the endpoint, not a path prefix, so no spelling of the path leads around it. 401 comes before anything else is
said, 405 after it. The grant is put into the context of all that the request does; the token itself goes no further.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

import anyio
import structlog
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.auth import address, bearer
from service.auth.bearer import Malformed, Nothing, Presented
from service.auth.live import Live, Request
from service.auth.lookup import Lookup
from service.auth.model import SCOPES, Grant, acting_as
from service.clock import Clock
from service.errors import Unavailable
from service.logs import Sparingly

LAST_WORD_S: Final = 2.0
"""A client that reads nothing any more gets this long to take the end of its stream."""

_log = structlog.get_logger()


class Guard:
    """An ASGI endpoint in front of another.

    Args:
        metadata_url: where a client without a token learns how to get one (RFC 9728); None where it cannot sign in.
        client_ip_header: the header whose word about a client's address is taken; empty for none.
    """

    def __init__(
        self,
        app: ASGIApp,
        lookup: Lookup,
        live: Live,
        clock: Clock,
        metadata_url: str | None = None,
        *,
        client_ip_header: str = "",
    ) -> None:
        self._app, self._lookup, self._live, self._clock = app, lookup, live, clock
        self._client_ip_header = client_ip_header
        self._challenge = _challenge(metadata_url)
        self._refused = Sparingly(_log, "request.refused")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match bearer.presented(scope["headers"]):
            case Nothing():
                self._refused.note(reason="no token")
                await self._unauthorized(None)(scope, receive, send)
            case Malformed():
                self._refused.note(reason="malformed authorization header")
                await self._unauthorized("invalid_token")(scope, receive, send)
            case Presented(token_hash):
                await self._with_token(token_hash, scope, receive, send)

    async def _with_token(self, token_hash: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        if self._live.is_stopping or self._live.is_full(token_hash):
            await unavailable()(scope, receive, send)
            return
        request = Request(token_hash, is_stream=only_listens(scope))
        with self._live.serving(request):
            try:
                grant = await self._lookup.find(token_hash)
            except Unavailable:
                self._refused.note(reason="the state cannot be read")
                await unavailable()(scope, receive, send)
                return
            if grant is None:
                self._refused.note(reason="unknown, revoked or expired token")
                await self._unauthorized("invalid_token")(scope, receive, send)
            elif self._live.is_full_of(grant.id):
                await unavailable()(scope, receive, send)
            elif scope["method"] != "POST":
                await Response(status_code=405, headers={"allow": "POST"})(scope, receive, send)
            else:
                request.grant_id = grant.id
                await self._serve(request, grant, scope, receive, send)

    async def _serve(self, request: Request, grant: Grant, scope: Scope, receive: Receive, send: Send) -> None:
        self._note_use(grant, scope)
        if grant.kind == "oauth":
            self._lookup.note_first_use(request.token_hash)
        if grant.expires is not None:
            left_s = (grant.expires - self._clock.now()).total_seconds()
            request.scope.deadline = anyio.current_time() + left_s
        reply = Reply(send)
        inside = {**scope, "headers": bearer.without_credentials(scope["headers"])}
        with request.scope, acting_as(grant):
            await self._app(inside, receive, reply.send)
        if request.scope.cancelled_caught and not reply.is_done:
            with anyio.move_on_after(LAST_WORD_S, shield=True):
                if reply.has_begun:
                    await send({"type": "http.response.body", "body": b"", "more_body": False})
                elif self._live.is_stopping:
                    await unavailable()(scope, receive, send)
                else:
                    await self._unauthorized("invalid_token")(scope, receive, send)

    def _unauthorized(self, error: str | None) -> Response:
        """RFC 6750 §3.1: `error` only when a token was sent. One body and one wording for whatever was wrong with it."""
        challenge = self._challenge
        if error is not None:
            challenge += f', error="{error}", error_description="unknown, revoked or expired token"'
        return Response(status_code=401, headers={"www-authenticate": challenge, "cache-control": "no-store"})

    def _note_use(self, grant: Grant, scope: Scope) -> None:
        if grant.last_used is None or _minutes_between(grant.last_used, self._clock.now()) >= 1:
            self._lookup.note_use(grant, address.seen(scope, self._client_ip_header))


class Reply:
    """Remembers how far the answer got, so that a stream that is cut off can be ended cleanly."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.has_begun = self.is_done = False

    async def send(self, message: Message) -> None:
        self.has_begun = True
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            self.is_done = True
        await self._send(message)


def only_listens(scope: Scope) -> bool:
    """Whether this is the modern era's stream of news; the header is compulsory there and checked against the body."""
    return (b"mcp-method", b"subscriptions/listen") in scope["headers"]


def _challenge(metadata_url: str | None) -> str:
    """RFC 6750 §3, RFC 9728 §5.1: the way to the documents and what to ask for."""
    if metadata_url is None:
        return 'Bearer realm="strongroom"'
    return f'Bearer resource_metadata="{metadata_url}", scope="{" ".join(SCOPES)}"'


def unavailable() -> Response:
    return Response(status_code=503, headers={"retry-after": "1"})


def _minutes_between(earlier: datetime, later: datetime) -> float:
    return (later - earlier).total_seconds() / 60
