"""Letting web pages call us from a browser (an inspector, say): CORS, without credentials.

Nothing here rides on a cookie, so any page that `edge.py` lets through may read the answers: those of this machine and of
our own address. The others got their 403 there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_EXPOSED: Final = b"WWW-Authenticate, Retry-After"
_MAX_AGE_S: Final = 600


class Readable:
    """An ASGI endpoint whose answers pages may read, and that answers their preflight.

    Args:
        app: the endpoint.
        methods: what it takes; anything else is 405. None leaves that to the endpoint, and asks for a real preflight.
    """

    def __init__(self, app: ASGIApp, methods: Sequence[str] | None = None) -> None:
        self._app, self._methods = app, None if methods is None else (*methods, "OPTIONS")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = {name: value for name, value in scope["headers"] if name.startswith((b"origin", b"access-control-"))}
        is_preflight = scope["method"] == "OPTIONS" and (
            self._methods is not None or {b"origin", b"access-control-request-method"} <= asked.keys()
        )
        if is_preflight:
            app: ASGIApp = Response(status_code=204, headers=self._preflight(asked))
        elif self._methods is not None and scope["method"] not in self._methods:
            app = Response(status_code=405, headers={"allow": ", ".join(self._methods), "cache-control": "no-store"})
        else:
            app = self._app
        await app(scope, receive, _allowing(send) if b"origin" in asked or self._methods is not None else send)

    def _preflight(self, asked: dict[bytes, bytes]) -> dict[str, str]:
        named = asked.get(b"access-control-request-headers", b"authorization, content-type, mcp-protocol-version")
        return {
            "access-control-allow-methods": ", ".join(self._methods or ("POST", "OPTIONS")),
            "access-control-allow-headers": named.decode("latin-1"),
            "access-control-max-age": str(_MAX_AGE_S),
            "cache-control": "no-store",
            "vary": "Origin, Access-Control-Request-Headers",
        }


def _allowing(send: Send) -> Send:
    async def allow(message: Message) -> None:
        if message["type"] == "http.response.start":
            ours = [(b"access-control-allow-origin", b"*"), (b"access-control-expose-headers", _EXPOSED)]
            message = {**message, "headers": [*message.get("headers", ()), *ours]}
        await send(message)

    return allow
