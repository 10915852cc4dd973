"""`/healthz`: the process answers. `/readyz`: it can do its work, or the sentences that say why not, one a line.

Only this machine itself may ask (`edge.py` sees to that), so the sentences may be plain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import anyio
import anyio.to_thread
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from service.web import answers

ANSWER_WITHIN_S: Final = 3.0
"""Under the health check's own limit of 4 s, so that it gets our words and not silence."""

Problems = Callable[[], Sequence[str]]
"""Looks at everything now; returns one sentence for each thing that is wrong. May take a while; runs in a thread."""


class Healthz:
    """An ASGI endpoint that says ok."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await _only_when_asked(PlainTextResponse("ok\n"), scope, receive, send)


class Readyz:
    """An ASGI endpoint over a look at everything."""

    def __init__(self, problems: Problems, within_s: float = ANSWER_WITHIN_S) -> None:
        self._problems, self._within_s = problems, within_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found: Sequence[str] = ("looking took too long: a disk or a mount hangs",)
        with anyio.move_on_after(self._within_s):
            found = await anyio.to_thread.run_sync(self._problems, abandon_on_cancel=True)
        answer = PlainTextResponse("ready\n") if not found else PlainTextResponse("\n".join(found) + "\n", 503)
        await _only_when_asked(answer, scope, receive, send)


async def _only_when_asked(answer: PlainTextResponse, scope: Scope, receive: Receive, send: Send) -> None:
    app = answer if scope["method"] in ("GET", "HEAD") else answers.not_found
    await app(scope, receive, send)
