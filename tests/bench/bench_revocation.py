"""How long after a revocation a stream is closed: `python -m tests.bench.bench_revocation [SAMPLES]`.

A real service over HTTP; each sample opens a stream that waits for news (`subscriptions/listen`), revokes its grant at a
random moment, and reads to the stream's clean end. By transaction: the clock starts when COMMIT returns in this process. By
command: `strongroom tokens revoke ID` runs as another process, and the clock starts when its commit becomes visible, which
a thread looks for every millisecond. Target: 99 of 100 under a second (decisions.md 20). Nothing here is asserted in a test.
"""

from __future__ import annotations

import json
import random
import socket
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from service.auth import static, tables
from service.auth.grants import Grants
from service.auth.live import POLL_S
from service.clock import SystemClock
from service.store.db import Database
from tests.support.service import MODERN, Service

SAMPLES: Final = 100
COMMAND_SAMPLES: Final = 60
END: Final = b"\r\n0\r\n\r\n"


def main(samples: int) -> None:
    """Print one line a way of revoking."""
    with tempfile.TemporaryDirectory() as scratch, Service.start(Path(scratch)) as service:
        database = Database(service.state, (tables.SCHEMA,))
        grants = Grants(database, SystemClock(ZoneInfo("UTC")))
        print(f"{'':16}{'samples':>8}{'p50 ms':>9}{'p95 ms':>9}{'p99 ms':>9}{'worst ms':>10}")
        show("by transaction", [closed(service, grants, _by_transaction(grants)) for _ in range(samples)])
        show(
            "by command",
            [closed(service, grants, _by_command(grants, service)) for _ in range(min(samples, COMMAND_SAMPLES))],
        )
        database.close()


def closed(service: Service, grants: Grants, revoke: Callable[[str], float]) -> float:
    """Milliseconds from a commit to the end of the stream.

    Raises:
        AssertionError: the stream was torn instead of ended.
    """
    grant, token = static.create(grants, f"t{random.getrandbits(60):x}")
    with listening(service.port, token) as stream:
        time.sleep(random.uniform(0, POLL_S))  # so that the samples do not keep step with the server's look
        ended: list[float] = []
        reader = threading.Thread(target=lambda: ended.append(_end_of(stream)))
        reader.start()
        committed = revoke(grant.id)
        reader.join(10)
        assert ended, "the stream did not end cleanly"
    return 1000 * (ended[0] - committed)


def listening(port: int, token: str) -> socket.socket:
    """A stream that has begun."""
    meta = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
    params = {"notifications": {"toolsListChanged": True}, "_meta": meta}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params}).encode()
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
        f"Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {MODERN}\r\n"
        f"Mcp-Method: subscriptions/listen\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    stream = socket.create_connection(("127.0.0.1", port), timeout=10)
    stream.sendall(head.encode() + body)
    received = b""
    while b"data:" not in received:
        piece = stream.recv(4096)
        assert piece, received
        received += piece
    return stream


def _end_of(stream: socket.socket) -> float:
    received = b"\r\n"
    while not received.endswith(END):
        piece = stream.recv(4096)
        assert piece, "torn"
        received = (received + piece)[-64:]
    return time.monotonic()


def _by_transaction(grants: Grants) -> Callable[[str], float]:
    def revoke(grant_id: str) -> float:
        grants.end([grant_id], "owner")
        return time.monotonic()

    return revoke


def _by_command(grants: Grants, service: Service) -> Callable[[str], float]:
    def revoke(grant_id: str) -> float:
        epoch = grants.epoch()
        seen: list[float] = []

        def watch() -> None:
            deadline = time.monotonic() + 30
            while grants.epoch() == epoch and time.monotonic() < deadline:
                time.sleep(0.001)
            seen.append(time.monotonic())

        watcher = threading.Thread(target=watch)
        watcher.start()
        done = service.cli("tokens", "revoke", grant_id)
        assert done.returncode == 0, done.stderr
        watcher.join()
        return seen[0]

    return revoke


def show(what: str, taken: Sequence[float]) -> None:
    ordered = sorted(taken)
    late = [ordered[min(len(ordered) - 1, len(ordered) * percent // 100)] for percent in (95, 99)]
    figures = (statistics.median(ordered), *late, ordered[-1])
    print(f"{what:16}{len(ordered):8}{figures[0]:9.0f}{figures[1]:9.0f}{figures[2]:9.0f}{figures[3]:10.0f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SAMPLES)
