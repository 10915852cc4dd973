"""Starting, stopping, and starting twice."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from tests.support.service import MODERN, ROOT, Service, environment, wait_until
from tests.wire.test_revocation import Stream

LISTEN = {"notifications": {"toolsListChanged": True}}


@pytest.mark.anyio
async def test_it_stops_within_ten_seconds_with_an_open_stream_and_a_stuck_tool(tmp_path: Path) -> None:
    """house.md facts 4 and 5, decisions.md 12, attack line 94: the stream ends cleanly, the exit code is 0."""
    with Service.start(tmp_path, module="tests.support.odd_tools") as service:
        token = service.token("laptop")
        stream, stuck = Stream(), Stream()
        with anyio.fail_after(40):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(lambda: stream.run(service, token, "subscriptions/listen", MODERN, **LISTEN))
                tasks.start_soon(lambda: stuck.run(service, token, "tools/call", MODERN, name="be_stuck", arguments={}))
                await stream.begun.wait()
                await anyio.to_thread.run_sync(lambda: wait_until((service.state / "stuck.begun").exists, 15, "begin"))
                took_s = await anyio.to_thread.run_sync(service.stop)
        assert took_s < 10
        assert service.process.returncode == 0
        assert (stream.status, stream.error) == (200, None)
        assert stuck.status == 503
        assert service.lines()[-1]["event"] == "server.stopped"
        assert service.errors == ""


def committed(service: Service) -> list[str]:
    """Subjects and reasons of all commits, the newest first, as git tells them."""
    done = subprocess.run(
        [
            "git",
            f"--git-dir={service.state / 'history.git'}",
            "log",
            "--format=%s / %(trailers:key=Strongroom-Reason,valueonly)",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    return [line for line in done.stdout.splitlines() if line]


def test_what_is_there_is_committed_at_the_start_and_what_was_written_at_the_stop(tmp_path: Path) -> None:
    """The issue: at start and at shutdown, if anything changed, whoever changed it; nothing changed, no commit."""
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "a.md").write_text("from before\n")
    with Service.start(tmp_path) as service:
        wait_until(lambda: len(committed(service)) == 1, 20, "commit at the start")
        (service.vault / "a.md").write_text("from outside\n")
        service.stop()
        assert len(committed(service)) == 2
    with Service.start(tmp_path) as service:
        service.stop()
        assert len(committed(service)) == 2
        assert service.errors == ""


def test_it_stops_at_once_when_nothing_is_going_on(tmp_path: Path) -> None:
    with Service.start(tmp_path) as service:
        assert service.stop() < 3
        assert service.process.returncode == 0
        assert not (service.state / "strongroom.sock").exists()


@pytest.mark.anyio
async def test_a_call_at_work_is_finished_before_it_stops(tmp_path: Path) -> None:
    """decisions.md 12: a write that was accepted is answered."""
    with Service.start(tmp_path, module="tests.support.odd_tools") as service:
        token = service.token("laptop")
        call = Stream()
        with anyio.fail_after(30):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(
                    lambda: call.run(
                        service, token, "tools/call", MODERN, name="write_when_told", arguments={"name": "last"}
                    )
                )
                await anyio.to_thread.run_sync(lambda: wait_until((service.state / "last.begun").exists, 15, "begin"))
                service.process.send_signal(signal.SIGTERM)
                await anyio.to_thread.run_sync(
                    lambda: wait_until(lambda: bool(service.lines("server.stopping")), 10, "begin to stop")
                )
                (service.state / "last.go").touch()
                await anyio.to_thread.run_sync(lambda: service.process.wait(15))
        assert call.status == 200
        assert b"written" in call.received
        assert (service.vault / "last.md").exists()


@pytest.mark.parametrize("delay_s", [0.05, 0.6, 1.2, 1.8])
def test_sigterm_during_the_start_ends_it(tmp_path: Path, delay_s: float) -> None:
    """house.md fact 5: process 1 has a handler before anything heavy is imported."""
    with Service.start(tmp_path, is_waiting=False) as service:
        process = service.process
        wait_until(lambda: _catches_sigterm(process.pid), 10, "install its handler")
        time.sleep(delay_s)  # no event to wait for: the point is to hit it anywhere
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) in (0, 143)


def _catches_sigterm(pid: int) -> bool:
    [line] = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("SigCgt")]
    return bool(int(line.split()[1], 16) & 1 << (signal.SIGTERM - 1))


def test_a_second_server_on_the_same_state_refuses_and_names_the_first(tmp_path: Path) -> None:
    """decisions.md 6."""
    with Service.start(tmp_path) as first:
        second = first.cli("serve")
        assert second.returncode == 6
        assert f"already serves this state (process {first.process.pid}, started" in second.stderr
        first.process.kill()
        first.process.wait()
    with Service.start(tmp_path) as third:
        assert third.ask("/healthz").status == 200


def test_a_port_in_use_is_said_in_a_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-m", "ops", "serve"],
            cwd=ROOT,
            env=environment(tmp_path, PORT=str(port)),
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    assert done.returncode == 6
    assert f"port {port} on 127.0.0.1 is in use by another program; stop it, or set STRONGROOM_PORT." in done.stderr


@pytest.mark.parametrize(("settings", "is_warned"), [({}, True), ({"ORIGIN_SECRET": "x" * 40}, False)])
def test_listening_to_everybody_without_an_origin_secret_is_warned_of_once(
    tmp_path: Path, settings: dict[str, str], is_warned: bool
) -> None:
    """decisions.md 9 in place of attack 92 (a container listens on 0.0.0.0 and is published on 127.0.0.1): one warning that
    names both ways out."""
    with Service.start(tmp_path, HOST="0.0.0.0", **settings) as service:
        warned = service.lines("server.reachable_from_outside")
        assert len(warned) == is_warned
        for line in warned:
            assert "STRONGROOM_ORIGIN_SECRET" in line["way_out"]
            assert "127.0.0.1" in line["way_out"]


def test_nothing_is_written_into_a_state_that_others_may_write(tmp_path: Path) -> None:
    """auth.md attack line 86: and a state inside the vault is refused before anything is made."""
    inside = environment(tmp_path)
    inside["STRONGROOM_STATE"] = str(tmp_path / "vault" / "state")
    done = subprocess.run(
        [sys.executable, "-m", "ops", "serve"],
        cwd=ROOT,
        env=inside,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 7
    assert "lies inside STRONGROOM_VAULT" in done.stderr
    assert os.listdir(tmp_path / "vault") == []


def test_every_line_on_stdout_is_json(tmp_path: Path) -> None:
    """The issue: JSON lines, and nothing on stderr."""
    with Service.start(tmp_path) as service:
        service.ask("/mcp")
        service.stop()
        for line in service.log.splitlines():
            assert {"event", "level", "time"} <= json.loads(line).keys()
        assert service.errors == ""
