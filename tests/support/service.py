"""A running `strongroom serve` on a temporary vault, and clients for it: the real process, real HTTP, the official SDK.

with Service.start(tmp_path) as service:
    token = service.token("laptop")
    async with service.client(token, era=MODERN) as client:
        ...
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

LEGACY: Final = "legacy"
MODERN: Final = "2026-07-28"
ERAS: Final = (LEGACY, MODERN)
START_WITHIN_S: Final = 30
ROOT: Final = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer as it came: status, headers in lower case without the date, body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Service:
    """One process of the service. `log` is all that it has said since it started."""

    process: subprocess.Popen[bytes]
    environ: Mapping[str, str]
    folder: Path
    port: int = 0
    _said_before: int = 0

    @property
    def vault(self) -> Path:
        return self.folder / "vault"

    @property
    def state(self) -> Path:
        return self.folder / "state"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    # -- life ----------------------------------------------------------------------------------------------------------

    @staticmethod
    @contextmanager
    def start(
        folder: Path, *, module: str = "ops", command: str = "serve", is_waiting: bool = True, **settings: str
    ) -> Iterator[Service]:
        """Start it with `vault` and `state` below `folder`, on a port of its own; stop it at the end.

        Args:
            module: `ops`, or `tests.support.odd_tools` for tools that behave badly.
            command: `serve`, or `edge` for the public half of a split one.
            settings: without their prefix, save TZ.
        """
        environ = environment(folder, **{"PORT": "0", **settings})
        out_file = folder / "stdout"
        said_before = out_file.stat().st_size if out_file.exists() else 0
        with open(out_file, "ab") as out, open(folder / "stderr", "ab") as errors:
            process = subprocess.Popen(
                [sys.executable, "-m", module, command], cwd=ROOT, env=environ, stdout=out, stderr=errors
            )
        service = Service(process, environ, folder, _said_before=said_before)
        try:
            if is_waiting:
                service.wait_until_up()
            yield service
        finally:
            if process.poll() is None:
                process.kill()
            process.wait(10)

    def wait_until_up(self) -> None:
        """Wait for the line that says it is.

        Raises:
            AssertionError: with its last words.
        """

        def is_up() -> bool:
            assert self.process.poll() is None, f"it ended with {self.process.returncode}: {self.log}{self.errors}"
            started = self.lines("server.started")
            if started:
                self.port = int(started[-1]["port"])
            return bool(started)

        wait_until(is_up, START_WITHIN_S, lambda: f"start: {self.log}{self.errors}")

    def stop(self, within_s: float = 20) -> float:
        """SIGTERM; seconds until it was gone."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(within_s)
        return time.monotonic() - began

    # -- what it said --------------------------------------------------------------------------------------------------

    @property
    def log(self) -> str:
        return (self.folder / "stdout").read_bytes()[self._said_before :].decode()

    @property
    def errors(self) -> str:
        return (self.folder / "stderr").read_text(encoding="utf-8")

    def lines(self, event: str | None = None) -> list[dict[str, Any]]:
        """The log, each line read as JSON; only those of `event` when it is given."""
        whole = [line for line in self.log.splitlines(keepends=True) if line.endswith("\n")]
        read = [json.loads(line) for line in whole]
        return [line for line in read if event is None or line["event"] == event]

    # -- commands ------------------------------------------------------------------------------------------------------

    def cli(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run `strongroom WORDS` as another process with the same settings."""
        return subprocess.run(
            [sys.executable, "-m", "ops", *words],
            cwd=ROOT,
            env={**self.environ, **more},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def cli_json(self, *words: str) -> Any:
        """Run `strongroom WORDS --json`; what it said."""
        done = self.cli(*words, "--json")
        assert done.returncode == 0, f"{words} ended with {done.returncode}: {done.stderr}"
        return json.loads(done.stdout)

    def token(self, name: str, *options: str) -> str:
        """A new token."""
        return str(self.cli_json("tokens", "create", "--name", name, *options)["token"])

    # -- clients -------------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def client(self, token: str, era: str = MODERN, **headers: str) -> AsyncIterator[Client]:
        """The official client over HTTP."""
        everything = {"Authorization": f"Bearer {token}", **headers}
        async with (
            httpx2.AsyncClient(headers=everything, timeout=httpx2.Timeout(30, read=60)) as http,
            Client(streamable_http_client(f"{self.url}/mcp", http_client=http), mode=era) as client,
        ):
            yield client

    def ask(
        self, path: str, headers: Sequence[tuple[str, str]] = (), *, method: str = "GET", body: bytes | None = None
    ) -> Answer:
        """One request, spelled exactly so, over a connection of its own."""
        given = {name.lower() for name, _ in headers}
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
        lines += [] if "host" in given else [f"Host: 127.0.0.1:{self.port}"]
        lines += ["Connection: close"]
        lines += [f"Content-Length: {len(body)}"] if body is not None else []
        return self.send_raw("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + (body or b""))

    def send_raw(self, request: bytes, timeout_s: float = 15) -> Answer:
        """Send bytes and read the answer to its end."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout_s) as connection:
            connection.sendall(request)
            received = b""
            while piece := connection.recv(65536):
                received += piece
        head, _, body = received.partition(b"\r\n\r\n")
        first, *rest = head.decode("latin-1").split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in rest)
        headers.pop("date", None)
        return Answer(int(first.split()[1]) if first else 0, headers, body)

    def post(self, token: str, message: Mapping[str, object] | bytes, *headers: tuple[str, str]) -> Answer:
        """One message to /mcp in the handshake era, which needs no handshake with us."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        usual = [
            ("Authorization", f"Bearer {token}"),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ]
        return self.ask("/mcp", [*usual, *headers], method="POST", body=body)


def environment(folder: Path, **settings: str) -> dict[str, str]:
    """The environment of a process with `vault` and `state` below `folder`, and nothing of ours from outside."""
    (folder / "vault").mkdir(exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("STRONGROOM_")}
    ours = {"VAULT": str(folder / "vault"), "STATE": str(folder / "state"), "LOG_FORMAT": "json", **settings}
    named = {name if name == "TZ" else f"STRONGROOM_{name}": value for name, value in ours.items()}
    return {**kept, "PYTHONUNBUFFERED": "1", **named}


def wait_until(is_so: Callable[[], bool], within_s: float, what: Callable[[], str] | str) -> float:
    """Wait until `is_so()`; seconds it took.

    Raises:
        AssertionError: when it takes longer.
    """
    began = time.monotonic()
    while not is_so():
        took = time.monotonic() - began
        assert took < within_s, f"did not happen within {within_s} s: {what if isinstance(what, str) else what()}"
        time.sleep(0.01)
    return time.monotonic() - began


def text_of(result: CallToolResult) -> str:
    """All text of a tool's answer."""
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))
