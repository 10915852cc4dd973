"""HTTP/1.1 as uvicorn speaks it, with the limits it lacks: how long and how large a request's head may be, how many
connections may wait.

Measured on uvicorn 0.54: a head that comes one byte a second keeps its connection for ever, a 70 KB head is taken, and a
thousand idle connections are held. The parser is httptools (llhttp): h11 takes Content-Length together with
Transfer-Encoding, folded header lines and bare line feeds, which is what request smuggling is made of. See
docs/explanation/http.md.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Final

import structlog
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from service.logs import Sparingly

HEAD_WITHIN_S: Final = 10.0
"""From the connection (or the first byte of a further request) to the end of the head."""

REST_WITHIN_S: Final = 5.0
"""For the rest of what a client sends although its answer is already out (a 401, say); nobody reads it."""

MAX_HEAD_BYTES: Final = 16 * 1024
MAX_HEADERS: Final = 100

MAX_CONNECTIONS: Final = 512
"""Beyond this one that has never sent a request makes room, or else the one that has waited longest for its next."""

KEEP_ALIVE_S: Final = 65
"""Longer than the 60 s for which common proxies keep their side open, so that the proxy is the one who closes."""

_log = structlog.get_logger()


_VERSIONS: Final = ("1.0", "1.1")


class _RefusedError(Exception):
    """Raised inside the parser's callbacks; httptools turns it into a parser error."""


def bounded(
    *,
    head_within_s: float = HEAD_WITHIN_S,
    rest_within_s: float = REST_WITHIN_S,
    max_connections: int = MAX_CONNECTIONS,
) -> type[HttpToolsProtocol]:
    """A protocol class for one server; its connections share one waiting line."""
    waiting: OrderedDict[BoundedProtocol, None] = OrderedDict()

    class Bounded(BoundedProtocol):
        HEAD_WITHIN_S = head_within_s
        REST_WITHIN_S = rest_within_s
        MAX_CONNECTIONS = max_connections
        WAITING = waiting
        REFUSED = Sparingly(_log, "request.refused")

    return Bounded


class BoundedProtocol(HttpToolsProtocol):
    """One connection."""

    HEAD_WITHIN_S: float
    REST_WITHIN_S: float
    MAX_CONNECTIONS: int
    WAITING: OrderedDict[BoundedProtocol, None]
    REFUSED: Sparingly

    _timer: asyncio.TimerHandle | None = None
    _has_asked = False
    _is_in_request = False
    _is_in_body = False
    _head_bytes = 0
    _frame_bytes = 0
    _refusal = 400
    _is_refused = False

    # -- asyncio's callbacks ------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        super().connection_made(transport)
        self._wait()
        self._within(self.HEAD_WITHIN_S)
        if len(self.connections) > self.MAX_CONNECTIONS:
            silent = (one for one in self.WAITING if not one._has_asked and one is not self)
            gone = next(silent, next(iter(self.WAITING)))
            gone.transport.abort()
            gone._forget()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_refused:
            return
        if not self._is_in_request:
            self._head_bytes += len(data)
            if self._timer is None:
                self._within(self.HEAD_WITHIN_S)
        self._frame_bytes += len(data)
        super().data_received(data)
        if self._is_in_body and self._frame_bytes > MAX_HEAD_BYTES and not self._is_refused:
            self.send_400_response("")
        if not self._is_in_request and self._head_bytes > MAX_HEAD_BYTES and not self._is_refused:
            self._refusal = 431
            self.send_400_response("")

    # -- the parser's callbacks ---------------------------------------------------------------------------------------

    def on_headers_complete(self) -> None:
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size > MAX_HEAD_BYTES or len(self.headers) > MAX_HEADERS:
            self._refusal = 431
            raise _RefusedError
        if not self._is_read_alike():
            raise _RefusedError
        self._has_asked = self._is_in_request = self._is_in_body = True
        self._head_bytes = 0
        self._stop_timer()
        self.WAITING.pop(self, None)
        super().on_headers_complete()

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._is_in_body:
            raise _RefusedError  # a trailer: nobody here wants one, and there is no bound to it
        super().on_header(name, value.rstrip(b" \t"))  # no part of the value (RFC 9110 §5.5), which llhttp leaves there

    def on_body(self, body: bytes) -> None:
        self._frame_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._is_in_body, self._frame_bytes = False, 0
        super().on_message_complete()
        if self.cycle.response_complete:
            self._end_request()

    def on_response_complete(self) -> None:
        if self.pipeline:
            self._stop_timer()  # the next request is here already
        elif self.cycle.more_body:
            self._within(self.REST_WITHIN_S)
        else:
            self._end_request()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  # uvicorn's signature; we say nothing
        self.REFUSED.note(reason="no HTTP that everybody reads alike")
        self._is_refused = True
        if self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete:
            self.transport.abort()  # another answer is on its way; one inside it would be taken for part of it
            return
        head = [STATUS_LINE[self._refusal], b"content-length: 0\r\n", b"connection: close\r\n", b"\r\n"]
        self.transport.write(b"".join(head))
        # Only our side is closed yet: closing both with bytes unread resets the connection, and the client might never
        # see the answer. What still comes is thrown away.
        self.transport.write_eof()
        self._within(self.REST_WITHIN_S)

    def _is_read_alike(self) -> bool:
        """Whether no proxy in front can have read this head as another request (RFC 9112 §3.2 and §6.1)."""
        codings = [value.strip().lower() for name, value in self.headers if name == b"transfer-encoding"]
        version = self.parser.get_http_version()
        return (
            version in _VERSIONS
            and (self.url.startswith(b"/") or self.url == b"*")  # a whole URI would overrule the Host header
            and b"#" not in self.url
            and (not codings or (codings == [b"chunked"] and version != "1.0"))
        )

    # -- waiting ------------------------------------------------------------------------------------------------------

    def _end_request(self) -> None:
        self._is_in_request = False
        self._stop_timer()
        if not self.transport.is_closing():
            self._wait()

    def _wait(self) -> None:
        self.WAITING[self] = None
        self.WAITING.move_to_end(self)

    def _forget(self) -> None:
        self._stop_timer()
        self.WAITING.pop(self, None)

    def _within(self, seconds: float) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(seconds, self._too_late)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _too_late(self) -> None:
        self._timer = None
        self.transport.abort()
