"""What a call costs besides what the tool does: `python -m tests.bench.bench_calls [ROUNDS]`.

A tool that does next to nothing, ours and the SDK's own, answered as JSON and as a stream, from one client and from a crowd.
`cpu` is the server's processor time a call; the rest is what the client saw. The crowd's rate beside the ceiling on a real
vault is a row of `python -m tests.bench`. Nothing here is asserted in a test.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.bench.loopback import Connection
from tests.support.service import ERAS, ROOT, Service, wait_until
from tests.support.streams import request

ROUNDS: Final = 5
CROWD: Final = 32
CALLS: Final = 640
"""In a round of the crowd; one client makes a third of them."""

_TICKS: Final = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Way:
    """A way of calling, and what its calls took: seconds each, and the server's processor seconds in all."""

    name: str
    port: int
    pid: int
    asked: bytes
    clients: int
    took: list[float] = field(default_factory=list)
    cpu_s: float = 0.0

    def go(self, calls: int) -> None:
        before = cpu_s(self.pid)
        self.took += asyncio.run(_calls(self.port, self.asked, self.clients, calls))
        self.cpu_s += cpu_s(self.pid) - before

    def line(self) -> str:
        cuts = statistics.quantiles(self.took, n=100, method="inclusive")
        times = f"{1000 * self.cpu_s / len(self.took):>8.2f}{1000 * cuts[49]:>9.2f}{1000 * cuts[98]:>9.2f}"
        return f"{self.name:44}{self.clients:>8}{times}"


def main(rounds: int) -> None:
    """Print one line a way."""
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as held:
        ways = list(_ways(Path(scratch), held))
        for way in ways:
            way.go(CALLS // 10)
            way.took.clear()
            way.cpu_s = 0.0
        for _ in range(rounds):
            for way in ways:
                way.go(CALLS if way.clients > 1 else CALLS // 3)
        print(f"{'ms a call':44}{'clients':>8}{'cpu':>8}{'p50':>9}{'p99':>9}")
        for way in ways:
            print(way.line())


def _ways(folder: Path, held: ExitStack) -> Iterator[Way]:
    (folder / "vault").mkdir()
    (folder / "vault" / "a.md").write_text("# A note\n\nof some lines\n" * 20, encoding="utf-8")
    service = held.enter_context(Service.start(folder, WRITE_BUDGET="off"))
    token = service.token("bench")
    bare = {kind: held.enter_context(_bare(folder, kind)) for kind in ("json", "events")}
    for era in ERAS:
        for clients in (1, CROWD):
            for kind, (pid, port) in bare.items():
                asked = made_ready(port, era, "echo", {"query": "x"})
                yield Way(f"{era}: the SDK's echo, {kind}", port, pid, asked, clients)
            for tool, arguments in (("read_note", {"path": "a.md"}), ("resolve_link", {"link": "a"})):
                for more, kind in (({}, "json"), ({"_meta": {"progressToken": 1}}, "events")):
                    asked = made_ready(service.port, era, tool, arguments, token, **more)
                    yield Way(f"{era}: {tool}, {kind}", service.port, service.process.pid, asked, clients)


def made_ready(port: int, era: str, tool: str, arguments: dict[str, str], token: str = "", **more: object) -> bytes:
    """One call of a tool, as bytes."""
    message, headers = request("tools/call", era, name=tool, arguments=arguments, **more)
    body = json.dumps(message).encode()
    headers |= {"Host": f"127.0.0.1:{port}", "Content-Length": str(len(body))}
    headers |= {"Authorization": f"Bearer {token}"} if token else {}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"POST /mcp HTTP/1.1\r\n{lines}\r\n".encode() + body


def cpu_s(pid: int) -> float:
    """Processor seconds that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


@contextmanager
def _bare(folder: Path, kind: str) -> Iterator[tuple[int, int]]:
    """The SDK's own server; its process and port."""
    said = folder / f"bare-{kind}"
    words = [sys.executable, str(ROOT / "tests" / "bench" / "bare.py"), "http", kind]
    with open(said, "w", encoding="utf-8") as out:
        process = subprocess.Popen(words, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT)

    def port() -> int:
        found = re.search(r"running on http://127\.0\.0\.1:(\d+)", said.read_text(encoding="utf-8"))
        return int(found[1]) if found else 0

    try:
        wait_until(lambda: port() > 0, 30, "the bare server does not start")
        yield process.pid, port()
    finally:
        process.kill()
        process.wait()


async def _calls(port: int, asked: bytes, clients: int, calls: int) -> list[float]:
    left = iter(range(calls))

    async def one() -> list[float]:
        connection, took = await Connection.to(port), []
        for _ in left:
            began = time.perf_counter()
            await connection.ask(asked)
            took.append(time.perf_counter() - began)
        connection.close()
        return took

    found = await asyncio.gather(*(one() for _ in range(clients)))
    return [took for one in found for took in one]


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
