"""`strongroom tokens` beside a running service: what is live, from where, and that it ends."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from zoneinfo import ZoneInfo

import anyio
import pytest
from anyio import to_thread
from mcp.client.subscriptions import SubscriptionLost

from ops import door
from service.auth.audit import Audit
from service.clock import SystemClock
from tests.support.service import Service, wait_until

ADDRESS = "198.51.100.23"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("tokens")
    with Service.start(folder, CLIENT_IP_HEADER="X-Real-IP") as running:
        yield running


def row(service: Service, name: str) -> dict[str, object]:
    (found,) = (row for row in service.cli_json("tokens", "list", "--all") if row["name"] == name)
    return dict(found)


@pytest.mark.anyio
async def test_the_list_shows_streams_while_they_are_open_and_the_address_of_the_client(service: Service) -> None:
    """Issue 5: address and live streams, from the running service and not from yesterday."""
    token = service.token("listener")
    service.token("idle")
    ended = anyio.Event()
    async with (
        service.client(token, **{"X-Real-IP": ADDRESS}) as client,
        client.listen(tools_list_changed=True) as news,
    ):

        async def follow() -> None:
            with pytest.raises(SubscriptionLost):
                async for _ in news:
                    pass
            ended.set()

        def is_shown() -> bool:
            return row(service, "listener")["streams"] == 1

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(follow)
            await to_thread.run_sync(lambda: wait_until(is_shown, 20, "show the stream"))
            assert row(service, "idle")["streams"] == 0
            assert row(service, "listener")["address"] == ADDRESS
            await to_thread.run_sync(lambda: service.cli("tokens", "revoke", "listener"))
            with anyio.fail_after(1):
                await ended.wait()
    assert row(service, "listener")["streams"] == 0
    audit = Audit(service.state, SystemClock(ZoneInfo("UTC")))
    wait_until(lambda: any(line["event"] == "stream_killed" for line in audit.lines()), 5, "note it in the audit log")
    (killed,) = (line for line in audit.lines() if line["event"] == "stream_killed")
    assert (killed["grant"], killed["streams"]) == (row(service, "listener")["id"], 1)


def test_a_header_that_nobody_named_is_no_address(service: Service) -> None:
    """complaint 54, attack 28."""
    token = service.token("liar")
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert service.post(token, message, ("X-Forwarded-For", ADDRESS)).status == 200
    wait_until(lambda: row(service, "liar")["address"] is not None, 10, "note the use")
    assert row(service, "liar")["address"] == "127.0.0.1"


def test_a_write_is_noted_with_grant_and_path_and_without_text(service: Service) -> None:
    """auth.md 7.9: what clients changed."""
    token = service.token("writer")
    call = {"name": "create_note", "arguments": {"path": "Inbox/New.md", "content": "deep secret\n"}}
    answer = service.post(token, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
    assert answer.status == 200
    lines = [json.loads(line) for line in service.cli("auth", "log", "--json").stdout.splitlines()]
    (write,) = (line for line in lines if line["event"] == "write")
    assert (write["grant"], write["what"], write["path"]) == (row(service, "writer")["id"], "created", "Inbox/New.md")
    assert "deep secret" not in json.dumps(lines)
    assert token not in json.dumps(lines)


@pytest.mark.parametrize("hello", [b'{"ask": "passphrase"}\n', b'{"ask": ["streams"]}\n', b'{"ask": null}\n', b"[]\n"])
def test_the_owners_door_tells_what_it_knows_and_nothing_else(service: Service, hello: bytes) -> None:
    """A question that is not understood gets a sentence, and the door stays open for the next."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(10)
        connection.connect(str(service.state / door.SOCKET_NAME))
        connection.sendall(hello)
        assert b'"error"' in connection.recv(65536)
    assert door.streams(service.state) is not None


def test_asking_does_not_count_as_a_session(service: Service) -> None:
    """Thirty-two sessions may be open, and the owner must still be able to look."""
    before = len(service.lines("session.opened"))
    for _ in range(3):
        assert door.streams(service.state) is not None
    assert len(service.lines("session.opened")) == before


def test_a_service_that_does_not_answer_counts_as_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stopped process must not stop the list."""
    monkeypatch.setattr(door, "_ANSWER_WITHIN_S", 0.05)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / door.SOCKET_NAME))
        listener.listen()
        assert door.streams(tmp_path) is None
    assert door.streams(tmp_path / "nowhere") is None
