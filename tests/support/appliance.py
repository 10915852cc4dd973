"""One container of our image, started by testcontainers on a vault and a state folder of the test's own.

Everything a test does to it goes the way a person's would: the CLI through `exec`, tools through the official SDK's client
over HTTP or stdio, signals through the engine, edits from outside on the mounted folder.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar
from unittest import mock

import anyio
import httpx2
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent
from testcontainers.core.config import testcontainers_config
from testcontainers.core.container import DockerContainer

from tests.support.engine import IMAGE, Engine

OWNER: Final = 1000
"""UID and GID of the notes, unless a test says otherwise: the image's own user."""
PORT: Final = 8484
_STARTED: Final = "server.started"

START_TIMEOUT_S: Final = 40
LABEL: Final = f"strongroom.test={os.getpid()}"
HARDENED: Final[Mapping[str, object]] = {
    "read_only": True,
    "cap_drop": ["ALL"],
    "security_opt": ["no-new-privileges"],
    "pids_limit": 256,
    "mem_limit": "1g",
}

_ENDED: Final = ("exited", "dead", "stopped")
T = TypeVar("T")
testcontainers_config.ryuk_disabled = True  # it would be pulled; conftest.py removes what we label


@dataclass(frozen=True, slots=True)
class Folders:
    """A vault and a state folder on the host, owned by the user that the container runs as."""

    vault: Path
    state: Path
    owner: int = OWNER

    @classmethod
    def make(cls, parent: Path, owner: int = OWNER) -> Folders:
        """Two empty folders in `parent`. As root they get the owner; else the owner is who runs the tests."""
        folders = cls(parent / "vault", parent / "state", owner if os.getuid() == 0 else os.getuid())
        for folder in (folders.vault, folders.state):
            folder.mkdir(parents=True)
            folder.chmod(0o700)
            folders._own(folder)
        return folders

    def write(self, name: str, data: bytes) -> Path:
        """Write a note from outside, as an editor on the host would."""
        path = self.vault / name
        for folder in reversed(path.parents):
            if folder.is_relative_to(self.vault) and not folder.exists():
                folder.mkdir()
                self._own(folder)
        path.write_bytes(data)
        self._own(path)
        return path

    def read(self, name: str) -> bytes:
        return (self.vault / name).read_bytes()

    def git_bytes(self, *words: str) -> bytes:
        """Run the git that everybody has on our history, from outside; what it printed.

        Raises:
            AssertionError: when git fails.
        """
        trusting = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
        command = ["git", "--git-dir", str(self.state / "history.git"), *words]
        done = subprocess.run(command, env={**os.environ, **trusting}, capture_output=True, timeout=60, check=False)
        assert done.returncode == 0, f"git {words[0]}: {done.stderr.decode()}"
        return done.stdout

    def git(self, *words: str) -> str:
        """The same, as text without the last line break."""
        return self.git_bytes(*words).decode().removesuffix("\n")

    def committed(self, name: str, revision: str = "HEAD") -> bytes | None:
        """A note's bytes at `revision`, as git has them; None when it is not there."""
        if name not in self.git("ls-tree", "-r", "-z", "--name-only", revision).split("\0"):
            return None
        return self.git_bytes("cat-file", "blob", f"{revision}:{name}")

    def has_history(self) -> bool:
        """Whether anything was committed yet; git itself cannot be asked while the history is being laid out."""
        git_dir = self.state / "history.git"
        loose = [path for path in (git_dir / "refs").rglob("*") if path.is_file() and path.suffix != ".lock"]
        return loose != [] or (git_dir / "packed-refs").exists()

    def temporary_files(self) -> list[str]:
        """Names of what a write leaves in the vault when it is cut short; none after a start."""
        return [path.name for path in self.vault.rglob("*") if path.name.endswith(".tmp")]

    def fsck(self) -> None:
        """See that git finds nothing wrong with our history.

        Raises:
            AssertionError: with what it found.
        """
        assert [line for line in self.git("fsck", "--strict", "--no-dangling").splitlines() if line] == []

    def _own(self, path: Path) -> None:
        if os.getuid() == 0:
            os.chown(path, self.owner, self.owner)


@dataclass(slots=True)
class Exit:
    """How a command in the container ended."""

    code: int
    out: str
    err: str


@dataclass(slots=True)
class Appliance:
    """A container of the image. `start` it, and `remove` it whatever happened."""

    engine: Engine
    folders: Folders
    image: str = IMAGE
    command: Sequence[str] | None = None
    user: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    mounts: Sequence[tuple[str, str, str]] | None = None
    options: Mapping[str, object] = field(default_factory=dict)
    port: int = field(init=False, default=0)
    _container: DockerContainer | None = field(init=False, default=None)

    # -- life ----------------------------------------------------------------------------------------------------------

    def start(self, *, is_waiting: bool = True) -> Appliance:
        """Create and start the container; wait until it answers.

        Raises:
            AssertionError: with its log, when it stops or does not answer in time.
        """
        self.port = free_port()
        with mock.patch.dict(os.environ, {"DOCKER_HOST": self.engine.socket}):
            container = DockerContainer(self.image, docker_client_kw={"timeout": 90})
            container.with_envs(**self.env)
            container.ports = {f"{PORT}/tcp": ("127.0.0.1", self.port)}  # type: ignore[dict-item]  # docker's own form
            for source, target, mode in self.mounts if self.mounts is not None else self._own_mounts():
                container.with_volume_mapping(source, target, mode)
            if self.command is not None:
                container.with_command(list(self.command))
            container.with_tmpfs_mount("/tmp", "size=64m,mode=1777")
            container.with_kwargs(**{"labels": dict([LABEL.split("=")]), **self._identity(), **self.options})
            self._container = container
            container.start()
        return self.wait_until_up() if is_waiting else self

    def wait_until_up(self) -> Appliance:
        """Wait until it answers HTTP (any status: without a token it is 401)."""
        self.wait_for(lambda: self.status_of("/mcp") > 0, START_TIMEOUT_S, "answer")
        return self

    def wait_for(self, is_so: Callable[[], bool], timeout_s: float, what: str) -> float:
        """Wait until `is_so()`; seconds it took.

        Raises:
            AssertionError: with the container's last words, when it takes longer or the container ends meanwhile.
        """
        began = time.monotonic()
        while not is_so():
            took = time.monotonic() - began
            if took > timeout_s or self.state_word() in _ENDED:
                raise AssertionError(
                    f"it did not {what} within {took:.1f} s; it is {self.state_word()}:\n{self.log()[-3000:]}"
                )
            time.sleep(0.05)
        return time.monotonic() - began

    def stop(self, timeout_s: int = 30) -> float:
        """SIGTERM, as `docker stop` does; seconds until it was gone."""
        began = time.monotonic()
        self.wrapped.stop(timeout=timeout_s)
        return time.monotonic() - began

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        self.wrapped.kill("SIGKILL")
        self.exit_code()

    def start_again(self) -> Appliance:
        """Start the stopped container, and wait until what a kill left behind is settled: it answers lists before that."""
        begun = self.log().count(_STARTED)
        self.wrapped.start()
        self.wait_until_up()
        if begun:  # else it is no server, or says other things
            self.wait_for(lambda: self.log().count(_STARTED) > begun, START_TIMEOUT_S, "open its vault")
        return self

    def exit_code(self, timeout_s: float = START_TIMEOUT_S) -> int:
        """Wait for its end; the exit code. (Asked for, because podman's own `wait` looks only every few seconds.)

        Raises:
            AssertionError: when it still runs.
        """
        deadline = time.monotonic() + timeout_s
        while self.state_word() not in _ENDED:
            assert time.monotonic() < deadline, f"it still runs after {timeout_s:g} s:\n{self.log()[-3000:]}"
            time.sleep(0.05)
        return int(self.wrapped.attrs["State"]["ExitCode"])

    def state_word(self) -> str:
        self.wrapped.reload()
        return str(self.wrapped.status)

    def remove(self) -> None:
        """Remove the container, running or not, with its anonymous volumes."""
        if self._container is None:
            return
        container, self._container = self._container, None
        container.stop(force=True, delete_volume=True)

    # -- asking it -----------------------------------------------------------------------------------------------------

    @property
    def wrapped(self) -> Any:  # docker-py has no types
        """docker-py's container."""
        assert self._container is not None, "not started"
        return self._container.get_wrapped_container()

    @property
    def name(self) -> str:
        return str(self.wrapped.name)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def exec(self, *words: str) -> Exit:
        """Run a command inside, as the container's user."""
        code, (out, err) = self.wrapped.exec_run(list(words), demux=True)
        return Exit(code, (out or b"").decode(), (err or b"").decode())

    def cli(self, *words: str) -> str:
        """Run `strongroom WORDS` inside; what it printed.

        Raises:
            AssertionError: when it fails.
        """
        done = self.exec("strongroom", *words)
        assert done.code == 0, (
            f"strongroom {' '.join(words)} ended with {done.code}:\n{done.out[-1500:]}{done.err[-1500:]}"
        )
        return done.out

    def cli_json(self, *words: str) -> Any:
        """Run `strongroom WORDS --json` inside; what it said."""
        return json.loads(self.cli(*words, "--json"))

    def token(self, name: str = "test") -> str:
        """A new token."""
        return str(self.cli_json("tokens", "create", "--name", name)["token"])

    def health(self) -> Exit:
        """The image's own health check."""
        return self.exec("python", "-m", "ops.health")

    def engine_health(self) -> str:
        """What the engine's own health check says: healthy, unhealthy or starting.

        Podman's runs by a systemd timer, so it is run by hand; Docker's runs by itself.
        """
        if self.engine.name == "podman":
            is_well = self.engine.run("healthcheck", "run", self.name, is_checked=False).returncode == 0
            return "healthy" if is_well else "unhealthy"
        self.wrapped.reload()
        return str(self.wrapped.attrs["State"]["Health"]["Status"])

    def wait_until_healthy(self) -> Appliance:
        self.wait_for(lambda: self.health().code == 0, START_TIMEOUT_S, "become healthy")
        return self

    def log(self) -> str:
        return bytes(self.wrapped.logs(stdout=True, stderr=True)).decode("utf-8", "replace")

    def status_of(self, path: str, headers: Mapping[str, str] | None = None) -> int:
        """HTTP status of a GET; 0 when nothing answers."""
        try:
            with urllib.request.urlopen(
                urllib.request.Request(self.url + path, headers=dict(headers or {})), timeout=5
            ) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            with error:
                return error.code
        except OSError:
            return 0

    # -- tools ---------------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def client(self, token: str, headers: Mapping[str, str] | None = None) -> AsyncIterator[Client]:
        """The official client over HTTP."""
        everything = {"Authorization": f"Bearer {token}", **(headers or {})}
        async with (
            httpx2.AsyncClient(headers=everything, timeout=httpx2.Timeout(30, read=120)) as http,
            Client(streamable_http_client(f"{self.url}/mcp", http_client=http)) as client,
        ):
            yield client

    @asynccontextmanager
    async def stdio_client(self) -> AsyncIterator[Client]:
        """The official client over stdio, beside the running service: `exec -i CONTAINER strongroom stdio /vault`."""
        command = [*self.engine.command, "exec", "-i", self.name, "strongroom", "stdio", "/vault"]
        parameters = StdioServerParameters(command=command[0], args=command[1:], env=self.engine.environment)
        async with Client(parameters) as client:
            yield client

    def call(self, token: str, tool: str, **arguments: object) -> CallToolResult:
        """Call one tool over HTTP.

        Raises:
            AssertionError: when the tool answers with an error.
        """

        async def once() -> CallToolResult:
            async with self.client(token) as client:
                return await client.call_tool(tool, arguments)

        result = within(30, once)
        assert not result.is_error, f"{tool}: {text_of(result)}"
        return result

    # -- details -------------------------------------------------------------------------------------------------------

    def _own_mounts(self) -> Sequence[tuple[str, str, str]]:
        return (str(self.folders.vault), "/vault", "rw"), (str(self.folders.state), "/state", "rw")

    def _identity(self) -> dict[str, object]:
        if self.user is not None:
            return {"user": self.user}
        if os.getuid() == 0:
            return {} if self.folders.owner == OWNER else {"user": f"{self.folders.owner}:{self.folders.owner}"}
        rootless: dict[str, object] = {"userns_mode": "keep-id"} if self.engine.name == "podman" else {}
        return {"user": f"{os.getuid()}:{os.getgid()}", **rootless}


def within(timeout_s: float, work: Callable[[], Any]) -> Any:
    """Run async `work` to its end, or fail after `timeout_s`."""

    async def bounded() -> Any:
        with anyio.fail_after(timeout_s):
            return await work()

    return anyio.run(bounded)


def until_cut(work: Callable[[], Awaitable[float | None]]) -> float:
    """Run async work against a server that goes away under it; what it returned, or 0."""
    done: list[float] = []

    async def remember() -> None:
        done.append(await work() or 0)

    try:
        within(60, remember)
    except (
        Exception,
        BaseExceptionGroup,
    ) as error:  # the connection is cut in the middle: which error is not our matter
        if isinstance(error, AssertionError) or (
            isinstance(error, BaseExceptionGroup) and error.subgroup(AssertionError)
        ):
            raise
    return done[0] if done else 0


def text_of(result: CallToolResult) -> str:
    """All text of a tool's answer."""
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


def structured(result: CallToolResult) -> Mapping[str, object]:
    """The structured part of a tool's answer."""
    assert result.structured_content is not None, text_of(result)
    return result.structured_content


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
