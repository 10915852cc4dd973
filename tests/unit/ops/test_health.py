"""The health check: one request, one line, standard library only."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ops import exits, health
from ops.__main__ import main

HERE = Path(__file__).resolve().parents[3]


class Server:
    """Answers one request with `answer`, and keeps what was asked."""

    def __init__(self, answer: bytes) -> None:
        self.answer, self.asked = answer, b""
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self._serve)

    def _serve(self) -> None:
        connection, _ = self.listener.accept()
        with connection:
            while b"\r\n\r\n" not in self.asked:
                self.asked += connection.recv(4096)
            connection.sendall(self.answer)


@contextmanager
def server(answer: bytes) -> Iterator[Server]:
    running = Server(answer)
    running.thread.start()
    try:
        yield running
    finally:
        running.thread.join(timeout=5)
        running.listener.close()
        assert not running.thread.is_alive()


def test_ready_is_exit_code_0_and_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with server(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok") as running:
        assert health.main({"STRONGROOM_PORT": str(running.port)}) == 0
    assert capsys.readouterr().out == "ready\n"
    assert running.asked.startswith(b"GET /readyz HTTP/1.1\r\n")
    assert f"Host: 127.0.0.1:{running.port}".encode() in running.asked


def test_not_ready_is_exit_code_1_and_says_why_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with server(b"HTTP/1.1 503 Service Unavailable\r\n\r\nthe vault is missing\nhistory is held\n") as running:
        assert health.main({"STRONGROOM_PORT": str(running.port)}) == 1
    shown = capsys.readouterr().out
    assert shown == f"not ready (503 from 127.0.0.1:{running.port}/readyz): the vault is missing; history is held\n"


@pytest.mark.parametrize("answer", [b"", b"SSH-2.0-OpenSSH\r\n", b"HTTP/1.1\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n"])
def test_something_else_on_the_port_is_not_ready(answer: bytes) -> None:
    with server(answer) as running:
        is_ready, line = health.ask({"STRONGROOM_PORT": str(running.port)})
    assert not is_ready
    assert "no web server" in line


def test_nobody_on_the_port_is_not_ready() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    is_ready, line = health.ask({"STRONGROOM_PORT": str(port)})
    assert not is_ready
    assert "Connection refused" in line


def test_a_server_that_accepts_and_says_nothing_is_not_ready_in_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stuck event loop: the kernel accepts, nobody answers."""
    monkeypatch.setattr(health, "TIMEOUT_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        is_ready, line = health.ask({"STRONGROOM_PORT": str(listener.getsockname()[1])})
    assert not is_ready
    assert "within 0.05 s" in line


@pytest.mark.parametrize("host", ["0.0.0.0", "127.0.0.1", ""])
def test_a_server_that_listens_everywhere_is_asked_on_the_loopback(host: str) -> None:
    """The image sets STRONGROOM_HOST=0.0.0.0."""
    with server(b"HTTP/1.1 200 OK\r\n\r\n") as running:
        assert health.ask({"STRONGROOM_HOST": host, "STRONGROOM_PORT": str(running.port)}) == (True, "ready")


def test_the_port_may_come_from_a_file(tmp_path: Path) -> None:
    with server(b"HTTP/1.1 200 OK\r\n\r\n") as running:
        (tmp_path / "port").write_text(f"{running.port}\n", encoding="utf-8")
        assert health.ask({"STRONGROOM_PORT_FILE": str(tmp_path / "port")})[0]
    is_ready, line = health.ask({"STRONGROOM_PORT_FILE": str(tmp_path / "gone")})
    assert (is_ready, "STRONGROOM_PORT_FILE" in line) == (False, True)


@pytest.mark.parametrize("port", ["0", "65536", "x", "tcp://10.0.0.1:8484", "²"])
def test_a_port_that_is_none_is_told(port: str) -> None:
    is_ready, line = health.ask({"STRONGROOM_PORT": port})
    assert not is_ready
    assert "needs a port" in line


def test_the_default_port_is_the_settings_own() -> None:
    from service import settings

    assert health._address({}) == ("127.0.0.1", settings.load({}).port)


def test_the_check_needs_nothing_but_a_little_of_the_standard_library() -> None:
    """House, fact 6: importing mcp costs 1.5 s, every 30 s, for ever."""
    code = (
        "import sys, ops.health\n"
        "ours = {m.partition('.')[0] for m in sys.modules} - {'ops'} - set(sys.stdlib_module_names)\n"
        "site = {m for m in ours if getattr(sys.modules[m], '__file__', None) and m != '__main__'}\n"
        "sys.exit(','.join(sorted(site | ({'http', 'email', 'ssl', 'dataclasses', 'service'} & set(sys.modules)))) or 0)"
    )
    result = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=HERE, capture_output=True, text=True, timeout=30, check=False
    )
    assert (result.returncode, result.stderr) == (0, "")


def test_it_runs_as_a_module_as_the_image_does() -> None:
    with server(b"HTTP/1.1 200 OK\r\n\r\n") as running:
        result = subprocess.run(
            [sys.executable, "-m", "ops.health"],
            cwd=HERE,
            env=os.environ | {"STRONGROOM_PORT": str(running.port)},
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    assert (result.returncode, result.stdout, result.stderr) == (0, "ready\n", "")


def test_the_command_says_the_same(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("STRONGROOM_PORT", "x")
    assert main(["health"]) == exits.CHECK_FAILED
    assert "needs a port" in capsys.readouterr().out
