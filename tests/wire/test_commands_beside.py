"""Commands beside a running service, while its tools write: what a person does on a real machine.

Issue 2: doctor and backup; the health check of the image.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ops import exits
from ops.archive import verified
from tests.support.service import Service, environment

NOTE = "Inbox/Log.md"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    folder = tmp_path_factory.mktemp("beside")
    (folder / "vault" / "Inbox").mkdir(parents=True)
    (folder / "vault" / NOTE).write_text("0\n", encoding="utf-8")
    with Service.start(folder, PORT=str(port)) as running:
        yield running


def test_doctor_finds_the_running_service_on_its_port(service: Service) -> None:
    told = {check["name"]: check for check in service.cli_json("doctor")["checks"]}
    assert told["port"]["verdict"] == "ok", told["port"]
    assert f"the server on port {service.port} is ready" in told["port"]["found"]
    assert [name for name, check in told.items() if check["verdict"] == "FAIL"] == []


def test_the_health_check_says_ready(service: Service) -> None:
    done = service.cli("health")
    assert (done.returncode, done.stdout) == (exits.OK, "ready\n")


class Writer(threading.Thread):
    """Appends a number a line to the note, until told to stop. A tool that is refused ends it with its answer."""

    def __init__(self, service: Service) -> None:
        super().__init__()
        self._service, self._token = service, service.token("writer")
        self.stop, self.written, self.trouble = threading.Event(), 0, ""

    def run(self) -> None:
        while not self.stop.is_set():
            call = {"name": "append_to_note", "arguments": {"path": NOTE, "content": str(self.written + 1)}}
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
            answer = self._service.post(self._token, message)
            if answer.status != 200 or b'"isError":true' in answer.body:
                self.trouble = answer.body.decode()
                return
            self.written += 1


def test_a_backup_while_tools_write_disturbs_no_write_and_holds_whole_notes(service: Service, tmp_path: Path) -> None:
    writer = Writer(service)
    writer.start()
    try:
        while writer.written < 3 and writer.is_alive():
            writer.stop.wait(0.01)
        before = writer.written
        done = service.cli("backup", str(tmp_path / "b.tar"))
        after = writer.written
    finally:
        writer.stop.set()
        writer.join(30)
    assert (done.returncode, writer.trouble) == (exits.OK, "")
    with verified(tmp_path / "b.tar") as archive:
        lines = b"".join(archive.pieces(f"vault/{NOTE}")).decode().splitlines()
    assert lines == [str(number) for number in range(len(lines))]
    assert before <= len(lines) - 1 <= after + 1


def test_restoring_onto_a_state_that_a_server_uses_is_refused(service: Service, tmp_path: Path) -> None:
    assert service.cli("backup", str(tmp_path / "b.tar")).returncode == exits.OK
    done = service.cli("restore-backup", str(tmp_path / "b.tar"), "--overwrite")
    assert done.returncode == exits.UNAVAILABLE
    assert "stop it first" in done.stderr


def test_a_restored_house_serves_with_the_tokens_it_had(service: Service, tmp_path: Path) -> None:
    """Issue 2: restore on a new, empty machine."""
    token = service.token("traveller")
    assert service.cli("backup", str(tmp_path / "b.tar")).returncode == exits.OK
    (tmp_path / "new").mkdir()
    environ = environment(tmp_path / "new")
    done = service.cli("restore-backup", str(tmp_path / "b.tar"), **environ)
    assert done.returncode == exits.OK, done.stderr
    call = {"name": "read_note", "arguments": {"path": NOTE}}
    with Service.start(tmp_path / "new") as restored:
        answer = restored.post(token, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
    assert answer.status == 200
    assert b"Inbox/Log.md" in answer.body
