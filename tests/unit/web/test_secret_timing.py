"""How long it takes to say no to an origin secret tells nothing about the right one."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import anyio
from starlette.types import Message, Receive, Scope, Send

from service.web.edge import Edge
from tests.support.rooms import settings_for

RIGHT = "0123456789abcdef" * 4
ROUNDS = 400


def test_a_wrong_origin_secret_takes_as_long_as_none(tmp_path: Path) -> None:
    """Attack 91: none, a wrong one, one that begins right, and the right one twice; the medians are alike."""
    edge = Edge(_never, settings_for(tmp_path, ORIGIN_SECRET=RIGHT))
    given = {
        "none": [],
        "wrong": ["x" * 64],
        "begins right": [RIGHT[:-1] + "x"],
        "short": [RIGHT[:8]],
        "twice": [RIGHT, RIGHT],
    }
    took: dict[str, list[float]] = {name: [] for name in given}

    async def ask() -> None:
        for _ in range(ROUNDS):
            for name, secrets in given.items():  # in turns, so that a busy machine slows all of them
                began = time.perf_counter()
                assert await _status(edge, secrets) == 404
                took[name].append(time.perf_counter() - began)

    anyio.run(ask)
    medians = [statistics.median(times) for times in took.values()]
    assert max(medians) < 2 * min(medians)


async def _never(scope: Scope, receive: Receive, send: Send) -> None:
    raise AssertionError("nobody gets in here")


async def _status(edge: Edge, secrets: list[str]) -> int:
    headers = [(b"host", b"127.0.0.1"), *((b"x-origin-secret", secret.encode()) for secret in secrets)]
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/mcp",
        "raw_path": b"/mcp",
        "query_string": b"",
        "headers": headers,
        "client": ("203.0.113.9", 1),
    }
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    await edge(scope, receive, send)
    return int(sent[0]["status"])
