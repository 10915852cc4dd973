"""A request's body, read whole before the protocol sees it: at most so much, in at most so long.

Only requests that passed the guard come here, so a stranger cannot make us hold a body at all.
"""

from __future__ import annotations

from typing import Final

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.web import answers

MAX_BODY_BYTES: Final = 13 * 1024 * 1024
"""A write of a million characters fits as many JSON libraries send it: an emoji is twelve bytes, `\\ud83d\\ude00`."""

LARGE_BYTES: Final = 1024 * 1024
"""Bodies above this are counted together, so that many at once do not take the memory."""

MAX_LARGE_BYTES: Final = 4 * MAX_BODY_BYTES
"""All large bodies at once; one that comes on top is answered 503."""

READ_WITHIN_S: Final = 30.0
"""Long enough for a full body over a phone, short enough that trickling clients do not pile up."""

_MAX_DIGITS: Final = 18
"""Of a length that is looked at; every longer one is too large anyway."""


class WholeBody:
    """An ASGI layer that hands on one complete body."""

    def __init__(
        self,
        app: ASGIApp,
        within_s: float = READ_WITHIN_S,
        max_bytes: int = MAX_BODY_BYTES,
        large_bytes: int = LARGE_BYTES,
        max_large_bytes: int = MAX_LARGE_BYTES,
    ) -> None:
        self._app, self._within_s, self._max_bytes = app, within_s, max_bytes
        self._large_bytes, self._max_large_bytes = large_bytes, max_large_bytes
        self._large: dict[object, int] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if _declared_bytes(scope) > self._max_bytes:
            await answers.too_large(scope, receive, send)
            return
        request = object()
        try:
            await self._read_and_pass_on(request, scope, receive, send)
        finally:
            self._large.pop(request, None)

    async def _read_and_pass_on(self, request: object, scope: Scope, receive: Receive, send: Send) -> None:
        body, is_complete = bytearray(), False
        with anyio.move_on_after(self._within_s):
            while not is_complete:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return
                body += message.get("body", b"")
                is_complete = not message.get("more_body", False)
                if len(body) > self._max_bytes:
                    await answers.too_large(scope, receive, send)
                    return
                if len(body) > self._large_bytes:
                    self._large[request] = len(body)
                    if sum(self._large.values()) > self._max_large_bytes:
                        await answers.too_many(scope, receive, send)
                        return
        if not is_complete:
            await answers.too_slow(scope, receive, send)
            return
        await self._app(scope, _replaying(bytes(body), receive), send)


def _replaying(body: bytes, receive: Receive) -> Receive:
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return pending.pop() if pending else await receive()

    return replay


def _declared_bytes(scope: Scope) -> int:
    """What the head says, capped: leading zeros without number are allowed (RFC 9110 §8.6), and Python reads no more than
    4300 digits."""
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value.lstrip(b"0")[:_MAX_DIGITS] or b"0")
    return 0
