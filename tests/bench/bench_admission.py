"""What the guard and the scope check add to a tool call: `python -m tests.bench.bench_admission [ROUNDS]`.

In one process, without a network: the same call goes to the protocol's endpoint behind the guard and, with a grant that
needs no looking up, to the endpoint itself; in turns, and whose turn is first changes each time. `added` is the median of the
differences of each turn. Target: under 0.5 ms for a call that reads. A call that writes looks its grant up once more right
before the write becomes visible. Each way has the scope check in it, which is an attribute of the grant; `scope` times it
alone. Nothing here is asserted in a test.
"""

from __future__ import annotations

import io
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import anyio
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp
from starlette.types import ASGIApp, Message

from service import app, logs, over_http
from service.auth import model, static
from service.auth.guard import Guard
from service.auth.live import Live
from service.auth.lookup import Lookup
from service.auth.model import acting_as
from service.web import body
from tests.support.rooms import settings_for
from tests.support.service import LEGACY, MODERN

ROUNDS: Final = 400
WARM_UP: Final = 40
TARGET_MS: Final = 0.5

Call = Callable[[], Awaitable[None]]


def main(rounds: int) -> None:
    """Print one line an era and call."""
    logs.configure(io.StringIO(), level="info", log_format="json")
    with tempfile.TemporaryDirectory() as scratch:
        settings = settings_for(Path(scratch), WRITE_BUDGET="off")
        (settings.vault / "a.md").write_text("# A note\n\nof some lines\n")
        with app.assembled(settings) as appliance:
            anyio.run(measure, appliance, rounds)


async def measure(appliance: app.Appliance, rounds: int) -> None:
    manager = over_http.session_manager(appliance.server, as_json=False)
    lookup = Lookup(appliance.grants)
    bare = body.WholeBody(StreamableHTTPASGIApp(manager))
    guarded = Guard(body.WholeBody(StreamableHTTPASGIApp(manager)), lookup, Live(lookup), appliance.clock)
    grant, token = static.create(appliance.grants, "bench")
    print(f"{'':34}{'bare ms':>9}{'guarded':>9}{'added':>9}{'p95 added':>11}")
    async with manager.run():
        for era in (LEGACY, MODERN):
            for tool, arguments in (
                ("read_note", {"path": "a.md"}),
                ("append_to_note", {"path": "a.md", "content": "x"}),
            ):
                with acting_as(model.local(appliance.clock.now())):
                    plain = calling(bare, era, tool, arguments)
                    behind = calling(guarded, era, tool, arguments, token)
                    show(f"{era}, {tool}", await turns(plain, behind, rounds))
    refusal, spec = appliance.server._refusal, appliance.server._offers["append_to_note"]
    began = time.perf_counter()
    for _ in range(10_000):
        refusal(spec, grant)
    print(f"{'scope':34}{'':18}{(time.perf_counter() - began) / 10:9.4f}")
    lookup.close()


async def turns(plain: Call, behind: Call, rounds: int) -> Mapping[str, Sequence[float]]:
    """Milliseconds of each turn of each way, without the first turns."""
    times: dict[str, list[float]] = {"bare": [], "guarded": []}
    for turn in range(WARM_UP + rounds):
        order = [("bare", plain), ("guarded", behind)]
        for way, call in order if turn % 2 else reversed(order):
            began = time.perf_counter()
            await call()
            took_ms = 1000 * (time.perf_counter() - began)
            if turn >= WARM_UP:
                times[way].append(took_ms)
    return times


def show(what: str, times: Mapping[str, Sequence[float]]) -> None:
    added = sorted(late - early for early, late in zip(times["bare"], times["guarded"], strict=True))
    medians = [statistics.median(times[way]) for way in ("bare", "guarded")]
    late = added[len(added) * 95 // 100]
    print(f"{what:34}{medians[0]:9.2f}{medians[1]:9.2f}{statistics.median(added):9.3f}{late:11.2f}")


def calling(app: ASGIApp, era: str, tool: str, arguments: Mapping[str, object], token: str | None = None) -> Call:
    """One call of a tool, made ready; each time it is awaited, it is made once.

    Raises:
        AssertionError: when it is awaited and the tool does not do its work.
    """
    params: dict[str, Any] = {"name": tool, "arguments": arguments}
    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    headers += [(b"accept", b"application/json, text/event-stream")]
    if era == MODERN:
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        headers += [(b"mcp-protocol-version", MODERN.encode()), (b"mcp-method", b"tools/call")]
        headers += [(b"mcp-name", tool.encode())]
    if token is not None:
        headers.append((b"authorization", f"Bearer {token}".encode()))
    data = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/mcp",
        "raw_path": b"/mcp",
        "query_string": b"",
        "root_path": "",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 1),
    }

    async def call() -> None:
        sent: list[bytes] = []
        pending: list[Message] = [{"type": "http.request", "body": data, "more_body": False}]
        done = anyio.Event()

        async def receive() -> Message:
            if pending:
                return pending.pop()
            await done.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            sent.append(message.get("body", b""))
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                done.set()

        await app({**scope, "headers": list(headers)}, receive, send)
        said = b"".join(sent)
        assert b'"result"' in said, said[:300]
        assert b'"isError":true' not in said, said[:300]

    return call


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
