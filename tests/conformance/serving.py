"""`strongroom serve` for a client that cannot send a token: the conformance suite has no option for headers.

Run it as a module: `python -m tests.conformance.serving serve`. The token is read from the file `token` beside the state,
for every request anew, and put in before our own outermost layer. All else is the real thing.
"""

from __future__ import annotations

import os
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from ops import process
from service import logs, over_http
from service.settings import load
from service.web import http


class WithToken:
    """An ASGI application whose every request to /mcp has the token."""

    def __init__(self, inner: ASGIApp, token_file: Path) -> None:
        self._inner, self._token_file = inner, token_file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == "/mcp":
            token = self._token_file.read_bytes().strip()
            scope = {**scope, "headers": [*scope["headers"], (b"authorization", b"Bearer " + token)]}
        await self._inner(scope, receive, send)


def main() -> None:
    settings = load(os.environ)
    real, token_file = http.build, settings.state.parent / "token"
    http.build = lambda *args, **kwargs: WithToken(real(*args, **kwargs), token_file)
    logs.configure(logs.to_stdout(), level=settings.log_level, log_format=settings.log_format)
    over_http.serve(settings)
    process.leave()


if __name__ == "__main__":
    main()
