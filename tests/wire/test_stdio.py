"""`strongroom stdio`: alone it serves the vault itself, beside a running service it joins in.

decisions.md 6; auth.md 7.10 and attack line 95.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import anyio
import pytest
from mcp import StdioServerParameters
from mcp.client import Client

from ops import door, stdio
from service.tools.catalogue import SPECS
from service.web import owner
from tests.support.rooms import ALL_TOOLSETS
from tests.support.service import ERAS, ROOT, Service, environment, text_of, wait_until
from tests.wire.test_tools import all_called

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with Service.start(tmp_path_factory.mktemp("running")) as service:
        (service.vault / "a.md").write_text("hello from the vault\n")
        yield service


@asynccontextmanager
async def client_of(environ: Mapping[str, str], *words: str, era: str = "auto") -> AsyncIterator[Client]:
    """The official client, which starts `strongroom stdio WORDS` as a child."""
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "ops", "stdio", *words], env=dict(environ), cwd=ROOT
    )
    with anyio.fail_after(60):
        async with Client(parameters, mode=era) as client:
            yield client


@contextmanager
def child(environ: Mapping[str, str], *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """`strongroom stdio WORDS`, spoken to by hand."""
    process = subprocess.Popen(
        [sys.executable, "-m", "ops", "stdio", *words],
        cwd=ROOT,
        env=dict(environ),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait(10)
        for pipe in (process.stdin, process.stdout, process.stderr):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()


@pytest.mark.anyio
async def test_every_tool_does_its_work_over_stdio(tmp_path: Path) -> None:
    """The issue: each tool through the official client over stdio as well."""
    environ = environment(tmp_path, TOOLSETS=ALL_TOOLSETS)
    (tmp_path / "vault" / "old.md").write_text("from before\n")
    heads = tmp_path / "state" / "history.git" / "refs" / "heads"
    async with client_of(environ) as client:
        await anyio.to_thread.run_sync(
            lambda: wait_until(lambda: heads.is_dir() and any(heads.iterdir()), 20, "make its first commit")
        )
        listed = await all_called(client, "stdio")
    assert listed.keys() == {spec.name for spec in SPECS}


def say(process: subprocess.Popen[bytes], message: Mapping[str, object] | bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(message if isinstance(message, bytes) else json.dumps(message).encode())
    process.stdin.write(b"\n")
    process.stdin.flush()


def hear(process: subprocess.Popen[bytes]) -> dict[str, object]:
    assert process.stdout is not None
    line = process.stdout.readline()
    said = json.loads(line)
    assert isinstance(said, dict)
    return said


def network_sockets(pid: int) -> list[str]:
    """What the process has open that is a socket of any kind but one joined to another process's."""
    inodes = {os.readlink(entry.path) for entry in os.scandir(f"/proc/{pid}/fd")}
    tables = [Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:] for name in ("tcp", "tcp6", "udp", "udp6")]
    return [line for table in tables for line in table if f"socket:[{line.split()[9]}]" in inodes]


@pytest.mark.anyio
@pytest.mark.parametrize("era", ERAS)
async def test_alone_it_serves_the_vault_itself(tmp_path: Path, era: str) -> None:
    """The same tools in both eras, writing as the owner at this machine."""
    environ = environment(tmp_path)
    (tmp_path / "vault" / "a.md").write_text("hello\n")
    async with client_of(environ, str(tmp_path / "vault"), era=era) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert "hello" in text_of(await client.call_tool("read_note", {"path": "a.md"}))
        await client.call_tool("create_note", {"path": "b.md", "content": "made\n"})
    assert "search_notes" in names
    assert (tmp_path / "vault" / "b.md").read_text() == "made\n"


@pytest.mark.anyio
@pytest.mark.parametrize("era", ERAS)
async def test_beside_a_running_service_it_joins_in(running: Service, era: str) -> None:
    """decisions.md 6: it pipes to the service's socket; the call is in the service's log, under the owner's name."""
    async with client_of(running.environ, str(running.vault), era=era) as client:
        over_stdio = (await client.list_tools()).tools
        assert "hello" in text_of(await client.call_tool("read_note", {"path": "a.md"}))
    async with running.client(running.token(f"t-{era}"), era) as client:
        assert (await client.list_tools()).tools == over_stdio
    called = [line for line in running.lines("tool.called") if line["grant"] == "local"]
    assert called[-1]["tool"] == "read_note"


@pytest.mark.anyio
@pytest.mark.parametrize("is_joining", [True, False])
async def test_read_only_hides_and_refuses_what_writes(running: Service, tmp_path: Path, is_joining: bool) -> None:
    """The scopes come from the flag, joined in or alone."""
    environ = running.environ if is_joining else environment(tmp_path)
    async with client_of(environ, environ["STRONGROOM_VAULT"], "--read-only") as client:
        assert "create_note" not in [tool.name for tool in (await client.list_tools()).tools]
        refused = await client.call_tool("create_note", {"path": "no.md", "content": "x"})
    assert text_of(refused).startswith("FORBIDDEN")
    assert not (Path(environ["STRONGROOM_VAULT"]) / "no.md").exists()


def test_nothing_but_the_protocol_is_on_stdout_and_no_network_is_used(tmp_path: Path) -> None:
    """Attack line 95."""
    with child(environment(tmp_path, LOG_LEVEL="debug"), str(tmp_path / "vault")) as process:
        say(process, INITIALIZE)
        assert hear(process)["id"] == 1
        assert network_sockets(process.pid) == []
        say(process, b"this is no message")
        say(process, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        say(
            process,
            {
                "jsonrpc": "2.0",
                "id": 2,
                "method": "tools/call",
                "params": {"name": "read_note", "arguments": {"path": "no.md"}},
            },
        )
        answers = [hear(process)]
        while answers[-1].get("id") != 2:
            answers.append(hear(process))
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(15) == 0
        assert process.stdout is not None
        assert process.stdout.read() == b""
        assert process.stderr is not None
        logged = [json.loads(line) for line in process.stderr.read().decode().splitlines()]
    assert [line["outcome"] for line in logged if line["event"] == "tool.called"] == ["NOT_FOUND"]


def test_without_a_state_folder_each_vault_gets_one_of_its_own(tmp_path: Path) -> None:
    """decisions.md 6: under the user's XDG state folder, keyed by the vault's real path."""
    environ = environment(tmp_path)
    del environ["STRONGROOM_STATE"], environ["STRONGROOM_VAULT"]
    environ["XDG_STATE_HOME"] = str(tmp_path / "xdg")
    (tmp_path / "link").symlink_to(tmp_path / "vault")
    (tmp_path / "other" / "vault").mkdir(parents=True)
    for vault in ("vault", "link", "other/vault"):
        with child(environ, str(tmp_path / vault)) as process:
            say(process, INITIALIZE)
            assert hear(process)["id"] == 1
    made = sorted(found.name for found in (tmp_path / "xdg" / "strongroom").iterdir())
    assert made == sorted(stdio.state_name(tmp_path / vault) for vault in ("vault", "other/vault"))
    assert stdio.environment({"HOME": "/h"}, tmp_path)["STRONGROOM_STATE"].startswith(
        str(Path.home() / ".local/state/strongroom/")
    )


def test_joining_costs_no_heavy_import(running: Service) -> None:
    """It starts in the time Python takes: neither the protocol library nor the service is imported."""
    program = (
        "import sys, threading\nsys.argv = ['strongroom', 'stdio']\n"
        "from ops.__main__ import main\nmain()\n"
        "heavy = {'mcp', 'pydantic', 'starlette', 'structlog', 'dulwich', 'service.app', 'asyncio'} & set(sys.modules)\n"
        "print(sorted(heavy), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=dict(running.environ),
        input=json.dumps(INITIALIZE).encode() + b"\n",
        capture_output=True,
        timeout=30,
        check=True,
    )
    assert json.loads(done.stdout)["id"] == 1
    assert done.stderr == b"[]\n"


def test_the_names_of_the_socket_agree() -> None:
    """ops.stdio does not import the service, so it repeats the name."""
    assert door.SOCKET_NAME == owner.SOCKET_NAME


def test_only_the_owner_can_open_the_socket(running: Service) -> None:
    """decisions.md 6: 0600, in a folder of mode 0700."""
    assert (running.state / door.SOCKET_NAME).stat().st_mode & 0o777 == 0o600
    assert running.state.stat().st_mode & 0o777 == 0o700


def test_a_service_of_another_vault_is_not_joined(running: Service, tmp_path: Path) -> None:
    """Notes would land in the wrong place."""
    (tmp_path / "vault").mkdir()
    done = running.cli("stdio", str(tmp_path / "vault"))
    assert done.returncode == 5
    assert "keeps the vault" in done.stderr
    assert done.stdout == ""


def test_a_second_process_of_its_own_is_told_who_holds_the_state(tmp_path: Path) -> None:
    """decisions.md 6: two servers on one state, the second refuses."""
    environ = environment(tmp_path)
    with child(environ, str(tmp_path / "vault")) as first:
        say(first, INITIALIZE)
        hear(first)
        with child(environ, str(tmp_path / "vault")) as second:
            assert second.wait(30) == 6
            assert second.stderr is not None
            assert f"already serves this state (process {first.pid}, started" in second.stderr.read().decode()


def test_it_waits_for_a_service_that_is_just_starting(tmp_path: Path) -> None:
    """A client that starts at the same moment as the service joins it."""
    with Service.start(tmp_path, is_waiting=False) as service:
        wait_until((service.state / "server.lock").exists, 20, "take the state")
        with child(service.environ) as process:
            say(process, INITIALIZE)
            assert hear(process)["id"] == 1
        service.wait_until_up()
        wait_until(lambda: bool(service.lines("session.opened")), 10, "log the session")


@pytest.mark.parametrize("is_joining", [True, False])
def test_a_terminated_client_ends_within_a_second_or_two(running: Service, tmp_path: Path, is_joining: bool) -> None:
    """A client may signal before it closes stdin; the thread that waits for a line must not hold the process."""
    environ = running.environ if is_joining else environment(tmp_path)
    with child(environ) as process:
        say(process, INITIALIZE)
        hear(process)
        began = time.monotonic()
        process.terminate()
        process.wait(10)
        assert time.monotonic() - began < 3


def test_a_session_ends_when_the_service_stops(tmp_path: Path) -> None:
    """The client sees its end, and stderr says why."""
    with Service.start(tmp_path) as service, child(service.environ) as process:
        say(process, INITIALIZE)
        hear(process)
        assert service.stop() < 10
        assert process.wait(10) == 0
        assert process.stderr is not None
        assert b"the service ended the session" in process.stderr.read()


def test_a_large_message_passes_both_ways(running: Service) -> None:
    """A million characters fit, as over HTTP."""
    content = "\U0001f600" * 1_000_000
    with child(running.environ) as process:
        say(process, INITIALIZE)
        hear(process)
        say(process, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        call = {"name": "create_note", "arguments": {"path": "large.md", "content": content}}
        threading.Thread(
            target=say, args=(process, {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call})
        ).start()
        assert hear(process)["id"] == 2
    assert (running.vault / "large.md").read_text(encoding="utf-8") == content
