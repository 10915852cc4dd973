"""The few answers that are not the protocol's: all empty, so that they tell nothing about what is inside."""

from __future__ import annotations

from starlette.responses import Response
from starlette.types import Receive, Scope, Send


async def not_found(scope: Scope, receive: Receive, send: Send) -> None:
    """404, the same for an unknown path, a wrong origin secret and whatever else is nobody's business."""
    await Response(status_code=404)(scope, receive, send)


async def misdirected(scope: Scope, receive: Receive, send: Send) -> None:
    """421: the Host header names somebody else (DNS rebinding)."""
    await Response(status_code=421)(scope, receive, send)


async def foreign_origin(scope: Scope, receive: Receive, send: Send) -> None:
    """403: a web page of another origin is asking."""
    await Response(status_code=403)(scope, receive, send)


async def too_slow(scope: Scope, receive: Receive, send: Send) -> None:
    """408: the body did not come in time. `protocol.py` ends the connection when the rest is long in coming."""
    await Response(status_code=408)(scope, receive, send)


async def too_large(scope: Scope, receive: Receive, send: Send) -> None:
    """413: the body is larger than we read."""
    await Response(status_code=413)(scope, receive, send)


async def too_many(scope: Scope, receive: Receive, send: Send) -> None:
    """503: too many large bodies at once."""
    await Response(status_code=503, headers={"retry-after": "1"})(scope, receive, send)


async def crashed(scope: Scope, receive: Receive, send: Send) -> None:
    """500: a bug, which the log knows more about."""
    await Response(status_code=500)(scope, receive, send)
