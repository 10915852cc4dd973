"""The edge's `/mcp`: what the guard let in goes home, signed, and home's answer comes back as it comes.

Nothing is kept: a body lives as long as its request, an answer is passed on piece by piece. Nothing is sent twice, because
a write might be done twice (complaints.md 58). Whoever hangs up, or loses the grant, takes the connection home along, and
with it what home was doing for the request.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import anyio
import httpx2
import structlog
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from service.auth import assertion, audience
from service.auth.guard import Reply
from service.auth.model import acting
from service.logs import Sparingly
from service.web.home import Home, NotHomeError

PASSED_BACK: Final = (
    b"content-type",
    b"content-length",
    b"cache-control",
    b"x-accel-buffering",
    b"retry-after",
    b"allow",
)
"""What of home's answer the client gets, besides its status and body."""

KINDS: Final = ("", "application/json", "text/event-stream", "text/plain")
"""Of content that home answers with. A page or a program would be the edge's own in a browser's eyes."""

FOR_THE_EDGE_TO_SAY: Final = (401, 407)
"""Home knows no tokens; a client would throw its own away."""

_INTERNAL_ERROR: Final = -32603
_EVENT_STREAM: Final = "text/event-stream"
_READABLE: Final = re.compile(rb"[\t\x20-\x7e]*")
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class _Trouble:
    """Why there is no answer of home's: an HTTP status, and a sentence for whoever asked."""

    status: int
    why: str


_AWAY: Final = _Trouble(
    503, "The vault is not reachable right now: its home does not answer. Nothing was done; try again in a while."
)
_NOT_TAKEN: Final = _Trouble(
    502,
    "The vault is not reachable right now: its home did not take the request, perhaps because it was just restarted. "
    "Nothing was done; try again in a few seconds.",
)
_CUT: Final = _Trouble(
    502,
    "The connection to the vault broke before the answer was complete. If this was to change something, look whether it was "
    "changed before you try again.",
)
_SLOW: Final = _Trouble(
    504,
    "The vault did not answer in time. If this was to change something, look whether it was changed before you try again.",
)
_ODD: Final = _Trouble(
    502,
    "The vault gave no answer that can be passed on; tell the owner. If this was to change something, look whether it was "
    "changed before you try again.",
)
_BUSY: Final = _Trouble(
    503, "The vault is busy or is just being stopped. Nothing was done; try again in a few seconds."
)
_TOO_MUCH: Final = _Trouble(502, "This access is limited to more folders than can be told to the vault; ask the owner.")


class Forward:
    """An ASGI endpoint behind the guard and `WholeBody`."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._failed = Sparingly(_log, "request.failed")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body: bytes = (await receive())["body"]
        passing = _Passing(send)
        with self._home.in_flight():
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_until_gone, receive, tasks.cancel_scope)
                trouble = await self._ask(scope, body, passing)
                if trouble is not None:
                    self._failed.note(reason=f"no answer from home ({trouble.status})")
                    await passing.tell(trouble, body, scope, receive)
                tasks.cancel_scope.cancel()

    async def _ask(self, scope: Scope, body: bytes, passing: _Passing) -> _Trouble | None:
        """Let home answer; what went wrong, when something did."""
        if not await self._home.is_there():
            return _AWAY
        try:
            async with self._home.request(audience.PATH, acting(), scope["headers"], body) as answer:
                if answer.status_code == 503:
                    return _BUSY
                if not _is_one_of_homes(answer):
                    return _ODD
                await passing.take(answer)
                return None
        except (NotHomeError, httpx2.HTTPError, httpx2.StreamError, assertion.TooLongError) as error:
            self._home.look_again()
            return _trouble_of(error)


class _Passing:
    """An answer on its way from home to the client."""

    def __init__(self, send: Send) -> None:
        self._reply = Reply(send)
        self._is_events = False
        self._tail = b""

    async def take(self, answer: httpx2.Response) -> None:
        """Pass on all of it, each piece as it comes."""
        headers = [(name, value) for name, value in _headers(answer) if name in PASSED_BACK]
        self._is_events = answer.headers.get("content-type", "").startswith(_EVENT_STREAM)
        await self._reply.send({"type": "http.response.start", "status": answer.status_code, "headers": headers})
        async for piece in answer.aiter_raw():
            self._tail = (self._tail + piece)[-4:]
            await self._reply.send({"type": "http.response.body", "body": piece, "more_body": True})
        await self._reply.send({"type": "http.response.body", "body": b"", "more_body": False})

    async def tell(self, trouble: _Trouble, body: bytes, scope: Scope, receive: Receive) -> None:
        """Say what went wrong, in the protocol's own form, as far as an answer that has begun leaves room for it.

        One that has begun and is no stream of events stays incomplete: its connection is closed, so nobody takes it for whole.
        """
        error = {"jsonrpc": "2.0", "id": _id_of(body), "error": {"code": _INTERNAL_ERROR, "message": trouble.why}}
        if not self._reply.has_begun:
            later = {"retry-after": "5"} if trouble.status == 503 else {}
            await JSONResponse(error, trouble.status, {**later, "cache-control": "no-store"})(
                scope, receive, self._reply.send
            )
        elif self._is_events:
            is_between = self._tail.replace(b"\r", b"").endswith(b"\n\n") or not self._tail
            event = b"event: message\ndata: " + json.dumps(error).encode() + b"\n\n" if is_between else b""
            await self._reply.send({"type": "http.response.body", "body": event, "more_body": False})


def _is_one_of_homes(answer: httpx2.Response) -> bool:
    """Whether home, as it is when nobody has changed it, could have answered so."""
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    is_final = answer.status_code in (200, 202) or 400 <= answer.status_code < 600
    is_plain = kind in KINDS and answer.headers.get("content-encoding", "identity") == "identity"
    return is_final and is_plain and answer.status_code not in FOR_THE_EDGE_TO_SAY


def _headers(answer: httpx2.Response) -> Iterator[tuple[bytes, bytes]]:
    """Each that can be written into an answer of ours; no length beside chunks (RFC 9112 §6.3)."""
    is_chunked = "transfer-encoding" in answer.headers
    for name, value in answer.headers.raw:
        if _READABLE.fullmatch(value) and not (is_chunked and name.lower() == b"content-length"):
            yield name.lower(), value


async def _until_gone(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


def _id_of(body: bytes) -> str | int | None:
    """The id that an error has to name; None when the request has none that could be read."""
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError):
        return None
    found = asked.get("id") if isinstance(asked, dict) else None
    return found if isinstance(found, str | int) else None


def _trouble_of(error: Exception) -> _Trouble:
    match error:
        case NotHomeError(status=404):
            return _NOT_TAKEN
        case httpx2.ConnectError() | httpx2.ConnectTimeout() | httpx2.PoolTimeout():
            return _AWAY
        case httpx2.TimeoutException():
            return _SLOW
        case assertion.TooLongError():
            return _TOO_MUCH
        case _:
            return _CUT
