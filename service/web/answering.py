"""How a call is answered: as JSON, or as a stream of events where a stream has something to say.

Most calls are over before anything could be said about them, and JSON costs half of a stream. So the protocol answers as
JSON, save where news is asked for (`only_listens`) or progress. What JSON lacks is done here, around the protocol: a client
that leaves ends its call, and an answer that is long in coming becomes a stream that says now and then that it is still
awaited, so that no proxy in between gives it up.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import anyio
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.auth.guard import only_listens

LATE_S: Final = 10.0
"""An answer that has not begun by then begins as a stream. Proxies wait for a first byte for 30 s and more."""

PING_S: Final = 15.0
"""Between two signs of life on a stream; the same as the SDK's."""

_STREAM: Final = "text/event-stream"
_HEADERS: Final = [
    (b"content-type", _STREAM.encode()),
    (b"cache-control", b"no-cache, no-transform"),
    (b"connection", b"keep-alive"),
    (b"x-accel-buffering", b"no"),
]


class Answering:
    """An ASGI endpoint in front of the protocol's two.

    Args:
        as_json: answers a request as JSON; it need not notice that the client has left.
        as_stream: answers as a stream of events, and notices.
        speaking: the names of tools that say something before they answer, though nobody asked for progress.
    """

    def __init__(
        self,
        as_json: ASGIApp,
        as_stream: ASGIApp,
        speaking: Sequence[str] = (),
        *,
        late_s: float = LATE_S,
        ping_s: float = PING_S,
    ) -> None:
        self._as_json, self._as_stream = as_json, as_stream
        self._speaking = tuple(json.dumps(name).encode() for name in speaking)
        self._late_s, self._ping_s = late_s, ping_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        first = await receive()
        if first["type"] == "http.disconnect":
            return
        if asks_for_stream(scope, first["body"], self._speaking):
            await self._as_stream(scope, _following(first, receive), send)
            return
        reply = _Reply(send, self._ping_s)
        with anyio.CancelScope() as call:
            leaving = asyncio.create_task(_left(receive, call.cancel))
            late = contextlib.ExitStack()
            if accepts_stream(scope):
                late.callback(asyncio.get_running_loop().call_later(self._late_s, reply.be_a_stream).cancel)
            try:
                with late:
                    await self._as_json(scope, _following(first, lambda: _awaited(leaving)), reply.send)
            finally:
                leaving.cancel()
                reply.end()


def asks_for_stream(scope: Scope, body: bytes, speaking: Sequence[bytes] = ()) -> bool:
    """Whether a request is to hear of more than its answer: news, how far it is (`_meta.progressToken`), or what a tool says.

    The words may stand in a note that is written, too: a stream is always right, only dearer. Who takes no stream is told the
    answer alone, instead of being refused for what it would not hear.
    """
    if only_listens(scope):
        return True
    return accepts_stream(scope) and (
        b'"progressToken"' in body or any(name in body for name in speaking) or _is_modern(scope)
    )


def _is_modern(scope: Scope) -> bool:
    """Whether the SDK chooses by itself: in the 2026-07-28 protocol its stream begins with the first thing to say, and an
    answer before that is JSON."""
    named = [value.decode("latin-1") for name, value in scope["headers"] if name == b"mcp-protocol-version"]
    return bool(named) and named[0] not in HANDSHAKE_PROTOCOL_VERSIONS


def accepts_stream(scope: Scope) -> bool:
    """Whether the client takes a stream for an answer, by name or by `*/*` or `text/*`, as the SDK reads it."""
    accepted = [value.decode("latin-1").lower() for name, value in scope["headers"] if name == b"accept"]
    kinds = [kind.split(";")[0].strip() for value in accepted for kind in value.split(",")]
    return any(kind in (_STREAM, "text/*", "*/*") for kind in kinds)


def _following(first: Message, receive: Receive) -> Receive:
    """The whole body, then whatever follows."""
    pending = [first]

    async def following() -> Message:
        return pending.pop() if pending else await receive()

    return following


async def _left(receive: Receive, end: Callable[[], None]) -> Message:
    """Wait until the client has left, and end the call."""
    while (message := await receive())["type"] != "http.disconnect":
        pass
    end()
    return message


def _awaited(leaving: asyncio.Task[Message]) -> Awaitable[Message]:
    return asyncio.shield(leaving)


class _Reply:
    """The way back of an answer in JSON; one that is late is sent as the one event of a stream."""

    def __init__(self, send: Send, ping_s: float) -> None:
        self._send, self._ping_s = send, ping_s
        self._turn = asyncio.Lock()
        self._has_begun = self._is_stream = False
        self._pinging: asyncio.Task[None] | None = None

    def be_a_stream(self) -> None:
        """Begin, unless the answer has begun, and say that it is awaited until it comes."""
        self._pinging = asyncio.create_task(self._ping())

    def end(self) -> None:
        """Say nothing any more."""
        if self._pinging is not None:
            self._pinging.cancel()

    async def send(self, message: Message) -> None:
        async with self._turn:
            if not self._is_stream:
                self._has_begun = True
                await self._send(message)
            elif message["type"] == "http.response.body":
                self.end()
                data = message.get("body", b"")
                event = b"event: message\r\ndata: " + data + b"\r\n\r\n" if data else b""
                await self._send({"type": "http.response.body", "body": event, "more_body": False})

    async def _ping(self) -> None:
        async with self._turn:
            if self._has_begun:
                return
            self._is_stream = True
            await self._send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        while True:
            async with self._turn:
                await self._send({"type": "http.response.body", "body": b": ping\r\n\r\n", "more_body": True})
            await asyncio.sleep(self._ping_s)
