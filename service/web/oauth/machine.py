"""What the doors that programs call share: a small body in little time, and an answer that nobody keeps (RFC 6749 §5.1).

A refusal becomes the JSON error of OAuth; a state that cannot be read becomes 503, so that nobody is let in by a fault. There
is no limit by address: hosted clients share a few (auth.md 4.4 claude-ai-mcp#709), and what is guessed here has 256 bits.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Final

import anyio
import structlog
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.auth.refusal import Refusal
from service.errors import Misconfigured, Unavailable
from service.logs import Sparingly
from service.web.body import WholeBody
from service.web.oauth.cors import Readable

MAX_BYTES: Final = 16 * 1024
WITHIN_S: Final = 10.0

MAX_THROWN_AWAY_BYTES: Final = 8 * 1024 * 1024
THROW_AWAY_WITHIN_S: Final = 5.0

_TOO_LARGE: Final = 413
_STATUSES: Final = {"invalid_client": 401, "access_denied": 403}
_log = structlog.get_logger()

Answer = Callable[[Request], Awaitable[Response]]


def machine_door(answer: Answer) -> ASGIApp:
    """An endpoint for programs: POST, from pages too; `answer` may raise Refusal and whatever a broken state raises."""
    return _KeptByNobody(Readable(WholeBody(_Door(answer), within_s=WITHIN_S, max_bytes=MAX_BYTES), ("POST",)))


def json_answer(body: bytes, status: int = 200) -> Response:
    """A JSON answer."""
    return Response(body, status, media_type="application/json")


class _Door:
    """An ASGI endpoint around a function that answers or raises."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._failed = Sparingly(_log, "sign_in.failed")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            response = await self._answer(Request(scope, receive))
        except Refusal as refusal:
            response = _refused(refusal)
        except (Unavailable, Misconfigured):
            self._failed.note(reason="the state cannot be used")
            body = {"error": "temporarily_unavailable", "error_description": "try again in a moment."}
            response = json_answer(json.dumps(body).encode(), 503)
            response.headers["retry-after"] = "1"
        await response(scope, receive, send)


def _refused(refusal: Refusal) -> Response:
    body = {"error": refusal.error, "error_description": str(refusal)}
    response = json_answer(json.dumps(body).encode(), _STATUSES.get(refusal.error, 400))
    if refusal.error == "invalid_client":
        response.headers["www-authenticate"] = 'Basic realm="strongroom"'  # RFC 6749 §5.2
    return response


class _Body:
    """A request's body, of which we know whether its end was read."""

    def __init__(self, receive: Receive) -> None:
        self._receive, self._is_over = receive, False

    async def receive(self) -> Message:
        message = await self._receive()
        self._is_over = message["type"] == "http.disconnect" or not message.get("more_body", False)
        return message

    async def throw_away(self) -> None:
        """Read what still comes and keep none of it: a connection that is closed with bytes unread is reset, and the client
        would never see why."""
        left = MAX_THROWN_AWAY_BYTES
        with anyio.move_on_after(THROW_AWAY_WITHIN_S):
            while left > 0 and not self._is_over:
                left -= len((await self.receive()).get("body", b""))


class _KeptByNobody:
    """Adds `no-store` to every answer of an endpoint, those about the body's size and time too (attack 45)."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = _Body(receive)

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                if message["status"] == _TOO_LARGE:
                    await body.throw_away()
                kept = [(name, value) for name, value in message.get("headers", ()) if name != b"cache-control"]
                message = {**message, "headers": [*kept, (b"cache-control", b"no-store"), (b"pragma", b"no-cache")]}
            await send(message)

        await self._app(scope, body.receive, marked)
