"""How long a start takes and what rests in memory: `python -m tests.bench.bench_start [ROUNDS] [--vault FOLDER]`.

From the start of the process to the whole of its first answer to tools/list, for `strongroom stdio`, `strongroom serve` and
`strongroom stdio` beside a running service; each beside a bare server of the same SDK with one tool (`BARE`), in turns, so
that what else the machine does falls on both. The client is a few lines of sockets and pipes, which cost next to nothing.
Targets (issue 6): at most 0.85 of the bare server; the pipe 150 ms; 85 MiB with an empty vault, before anybody signed in.
With `--vault` also: seconds from that answer to the first answered search in it. Nothing here is asserted in a test.
"""

from __future__ import annotations

import argparse
import json
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.support.service import LEGACY, ROOT, environment
from tests.support.streams import request

ROUNDS: Final = 9
TARGET_RATIO: Final = 0.85
TARGET_PIPE_MS: Final = 150
TARGET_SEARCH_S: Final = 1.5
TARGET_REST_MIB: Final = 85
BARE: Final = """
import sys
from mcp.server.mcpserver import MCPServer

server = MCPServer("bare")

@server.tool()
def echo(text: str) -> str:
    return text

if sys.argv[1] == "stdio":
    server.run("stdio")
else:
    server.run("streamable-http", port=int(sys.argv[1]), stateless_http=True)
"""
_HELLO: Final = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}
_GREETED: Final = {"jsonrpc": "2.0", "method": "notifications/initialized"}
_WITHIN_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class Start:
    """One start. `wall_s` and `cpu_s` count to the first tools/list; `search_s` from there to the first search."""

    wall_s: float
    cpu_s: float
    rss_mib: float
    pss_mib: float
    search_s: float | None = None
    search_cpu_s: float | None = None


def main(rounds: int, vault: Path | None) -> None:
    """Print one line for each way of starting."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        bare = folder / "bare.py"
        bare.write_text(BARE, encoding="utf-8")
        environ = surroundings(folder, vault)
        token = made_token(environ)
        ways: dict[str, Callable[[], Start]] = {
            "bare, stdio": lambda: over_stdio([sys.executable, str(bare), "stdio"], environ),
            "strongroom stdio": lambda: over_stdio(strongroom("stdio"), environ, "word" if vault else None),
            "bare, HTTP": lambda: over_http([sys.executable, str(bare)], environ),
            "strongroom serve": lambda: over_http(strongroom("serve"), environ, token, "word" if vault else None),
        }
        took = {name: [start() for start in [ways[name]]] for name in ways}  # warms the caches; thrown away
        took = {name: [] for name in ways}
        for number in range(rounds):
            for name in list(ways)[:: 1 if number % 2 else -1]:
                took[name].append(ways[name]())
        took["the pipe"] = piped(environ, rounds)
    print(
        f"{'':20}{'wall ms':>9}{'cpu ms':>9}{'ratio':>7}{'of cpu':>8}{'RSS MiB':>9}{'PSS':>7}{'search s':>10}{'cpu s':>7}"
    )
    for name, starts in took.items():
        base = {"strongroom stdio": "bare, stdio", "strongroom serve": "bare, HTTP"}.get(name)
        show(name, starts, took[base] if base else None)
    print(
        f"targets: ratio {TARGET_RATIO}, the pipe {TARGET_PIPE_MS} ms, {TARGET_REST_MIB} MiB, search {TARGET_SEARCH_S} s"
    )


def surroundings(folder: Path, vault: Path | None = None) -> dict[str, str]:
    """The environment of what is started: an empty vault or the one named, and bytecode that is written once and kept."""
    more = {} if vault is None else {"VAULT": str(vault.resolve())}
    environ = environment(folder, LOG_LEVEL="warning", PORT="0", COMMIT_EVERY="0", **more)
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    environ["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    environ["PYTHONPATH"] = str(ROOT)
    return environ


def strongroom(*words: str) -> list[str]:
    """The command that a person types."""
    return [sys.executable, "-m", "ops", *words]


def made_token(environ: Mapping[str, str]) -> str:
    """A token for the service that these settings describe."""
    words = strongroom("tokens", "create", "--name", "bench", "--json")
    done = subprocess.run(words, cwd=ROOT, env=dict(environ), capture_output=True, check=True)
    return str(json.loads(done.stdout)["token"])


def over_stdio(words: Sequence[str], environ: Mapping[str, str], query: str | None = None) -> Start:
    """Start it, greet it, ask for its tools, and then perhaps search for a word."""
    began = time.perf_counter()
    with started(words, environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:

        def ask(*messages: Mapping[str, object]) -> None:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
            process.stdin.flush()
            wanted = messages[-1]["id"]
            while json.loads(line := process.stdout.readline() or b"{}").get("id") != wanted:
                assert line, f"{words} ended"

        ask(_HELLO)
        ask(_GREETED, request("tools/list", LEGACY)[0])
        wall_s = time.perf_counter() - began
        return _at_rest(process.pid, wall_s, None if query is None else lambda: ask(_search(query)))


def over_http(words: Sequence[str], environ: Mapping[str, str], token: str = "", query: str | None = None) -> Start:
    """Start it and ask for its tools as soon as its port takes a connection.

    Args:
        words: the command; a bare server (no `token`) gets the port as its last word.
    """
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = words if token else [*words, str(port)]
    began = time.perf_counter()
    with started(words, {**environ, "STRONGROOM_PORT": str(port)}) as process:

        def ask(message: Mapping[str, object]) -> None:
            body = json.dumps(message).encode()
            _posted(port, body, token)

        ask(request("tools/list", LEGACY)[0])
        wall_s = time.perf_counter() - began
        return _at_rest(process.pid, wall_s, None if query is None else lambda: ask(_search(query)))


def piped(environ: Mapping[str, str], rounds: int) -> list[Start]:
    """`strongroom stdio` beside a running service, so many times."""
    with started(strongroom("serve"), environ):
        door = Path(environ["STRONGROOM_STATE"]) / "strongroom.sock"
        until = time.monotonic() + _WITHIN_S
        while not door.is_socket():
            assert time.monotonic() < until, "the service did not start"
            time.sleep(0.01)
        over_stdio(strongroom("stdio"), environ)
        return [over_stdio(strongroom("stdio"), environ) for _ in range(rounds)]


@contextmanager
def started(
    words: Sequence[str],
    environ: Mapping[str, str],
    *,
    stdin: int = subprocess.DEVNULL,
    stdout: int = subprocess.DEVNULL,
) -> Iterator[subprocess.Popen[bytes]]:
    """A process, killed and reaped at the end."""
    process = subprocess.Popen(words, cwd=ROOT, env=dict(environ), stdin=stdin, stdout=stdout)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()


def cpu_s(pid: int) -> float:
    """Seconds of the processor that the threads of a process which still live have used."""
    spent = 0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        spent += int((thread / "schedstat").read_text().split()[0])
    return spent / 1e9


def resting_mib(pid: int) -> tuple[float, float]:
    """Resident memory of a process, and its share of it where it is shared with others (PSS)."""
    rolled = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    sizes = {line.split(":")[0]: int(line.split()[1]) for line in rolled.splitlines()[1:]}
    return sizes["Rss"] / 1024, sizes["Pss"] / 1024


def _at_rest(pid: int, wall_s: float, search: Callable[[], None] | None) -> Start:
    spent = cpu_s(pid)
    if search is None:
        time.sleep(0.3)  # what it does after its first answer
        return Start(wall_s, spent, *resting_mib(pid))
    began = time.perf_counter()
    search()
    search_s = time.perf_counter() - began
    return Start(wall_s, spent, *resting_mib(pid), search_s, cpu_s(pid) - spent)


def _search(query: str) -> dict[str, object]:
    message, _ = request("tools/call", LEGACY, name="search_notes", arguments={"query": query})
    return {**message, "id": 2}


def _posted(port: int, body: bytes, token: str) -> None:
    """POST to /mcp and read the answer to its end; waits for the port to be open."""
    until = time.monotonic() + _WITHIN_S
    while True:
        try:
            connection = socket.create_connection(("127.0.0.1", port), timeout=_WITHIN_S)
            break
        except ConnectionRefusedError:
            assert time.monotonic() < until, "nobody listens"
            time.sleep(0.002)
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nConnection: close\r\n"
        f"Accept: application/json, text/event-stream\r\nContent-Length: {len(body)}\r\n"
        + (f"Authorization: Bearer {token}\r\n" if token else "")
    )
    with connection:
        connection.sendall(head.encode() + b"\r\n" + body)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    assert answer.startswith(b"HTTP/1.1 200"), answer[:500]
    assert b'"result"' in answer, answer[:500]


def show(name: str, starts: Sequence[Start], base: Sequence[Start] | None) -> None:
    """One line of medians; `base` is what it is compared with, turn by turn."""

    def middle(of: Callable[[Start], float]) -> float:
        return statistics.median(map(of, starts))

    ratios = ""
    if base is not None:
        wall = statistics.median(one.wall_s / other.wall_s for one, other in zip(starts, base, strict=True))
        spent = statistics.median(one.cpu_s / other.cpu_s for one, other in zip(starts, base, strict=True))
        ratios = f"{wall:>7.2f}{spent:>8.2f}"
    line = f"{name:20}{middle(lambda s: s.wall_s) * 1000:>9.0f}{middle(lambda s: s.cpu_s) * 1000:>9.0f}{ratios:15}"
    line += f"{middle(lambda s: s.rss_mib):>9.1f}{middle(lambda s: s.pss_mib):>7.1f}"
    if starts[0].search_s is not None:
        line += f"{middle(lambda s: s.search_s or 0):>10.2f}{middle(lambda s: s.search_cpu_s or 0):>7.2f}"
    print(line)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("rounds", nargs="?", type=int, default=ROUNDS)
    parser.add_argument("--vault", type=Path)
    given = parser.parse_args()
    main(given.rounds, given.vault)
