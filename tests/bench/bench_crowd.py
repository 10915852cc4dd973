"""What a crowd at the door costs a real client: `python -m tests.bench.bench_crowd [CALLS]`.

A real service over HTTP and one client with a token that calls a tool over a connection it keeps, and over a new one each
time. Alone, then beside a crowd in a process of its own (1,000 connections that say nothing, and 200 that send a head or
a body one byte a second; whoever is put out comes back), then alone again. `ratio` is the middle one to the mean of the
other two. Nothing here is asserted in a test.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from service.web import serving
from tests.support.service import ROOT, Service

CALLS: Final = 300
IDLE: Final = 1000
SLOW: Final = 200
READY: Final = "they are all there"

HEADERS: Final = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
CALL: Final = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "read_note", "arguments": {"path": "a.md"}},
}


def main(calls: int) -> None:
    """Print one line a way of calling."""
    serving.allow_many_files()
    with tempfile.TemporaryDirectory() as scratch, Service.start(Path(scratch)) as service:
        (service.vault / "a.md").write_text("# A note\n")
        token = service.token("client")
        measure(service.port, token, calls // 4)
        before = measure(service.port, token, calls)
        with crowd(service.port):
            beside = measure(service.port, token, calls)
        after = measure(service.port, token, calls)
    print(f"{'':20}{'alone':>18}{'beside the crowd':>20}{'ratio':>14}\n{'':20}{'p50 ms   p95':>18}{'p50 ms   p95':>20}")
    for way in before:
        alone = [(one + other) / 2 for one, other in zip(summary(before[way]), summary(after[way]), strict=True)]
        busy = summary(beside[way])
        ratios = [late / early for late, early in zip(busy, alone, strict=True)]
        print(f"{way:20}{alone[0]:11.2f}{alone[1]:7.2f}{busy[0]:13.2f}{busy[1]:7.2f}{ratios[0]:8.2f}{ratios[1]:6.2f}")


def measure(port: int, token: str, calls: int) -> Mapping[str, Sequence[float]]:
    """Milliseconds of each call, in turns."""
    kept = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    times: dict[str, list[float]] = {"kept connection": [], "new connection": []}
    for _ in range(calls):
        times["kept connection"].append(_timed(kept, token))
        fresh = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        times["new connection"].append(_timed(fresh, token))
        fresh.close()
    kept.close()
    return times


def summary(times: Sequence[float]) -> tuple[float, float]:
    ordered = sorted(times)
    return statistics.median(ordered), ordered[len(ordered) * 95 // 100]


def _timed(connection: http.client.HTTPConnection, token: str) -> float:
    began = time.perf_counter()
    connection.request("POST", "/mcp", json.dumps(CALL), {**HEADERS, "Authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    said = answer.read()
    assert answer.status == 200, answer.status
    assert b'"result"' in said
    return 1000 * (time.perf_counter() - began)


@contextlib.contextmanager
def crowd(port: int) -> Iterator[None]:
    """The crowd, all there."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.bench_crowd", "--crowd", str(port)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == READY
        yield
    finally:
        process.kill()
        process.wait()


async def gather(port: int) -> None:
    """Be the crowd until killed."""
    there = asyncio.Semaphore(0)
    tasks = [asyncio.create_task(_wait(port, there)) for _ in range(IDLE)]
    tasks += [asyncio.create_task(_trickle(port, there, number % 2 == 0)) for number in range(SLOW)]
    for _ in range(IDLE + SLOW):
        await there.acquire()
    print(READY, flush=True)
    await asyncio.gather(*tasks)


async def _wait(port: int, there: asyncio.Semaphore) -> None:
    while True:
        with contextlib.suppress(OSError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            there.release()
            await reader.read()
            writer.close()
        await asyncio.sleep(1)


async def _trickle(port: int, there: asyncio.Semaphore, is_head: bool) -> None:
    start = b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nX: " if is_head else b""
    start = start or b"POST /oauth/token HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999\r\n\r\n"
    while True:
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            there.release()
            writer.write(start)
            while not writer.is_closing():
                writer.write(b"a")
                await writer.drain()
                await asyncio.sleep(1)
        await asyncio.sleep(1)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--crowd"]:
        serving.allow_many_files()
        asyncio.run(gather(int(sys.argv[2])))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else CALLS)
