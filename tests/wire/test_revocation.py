"""A token taken back by another process: what ends, how soon, how cleanly, and what lives on.

auth.md 2.3, 7.7 and attack lines 76, 77, 81, 82; decisions.md 20: the clock starts when the revoking command has committed,
which is no later than its end.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from service.auth.live import BLIND_S
from service.auth.lookup import ANSWER_S
from tests.support.service import ERAS, LEGACY, MODERN, Service, text_of, wait_until
from tests.support.streams import PROMISED_S, Stream, in_thread, request

pytestmark = pytest.mark.anyio


async def test_an_open_stream_ends_cleanly_within_a_second_and_another_grants_stream_lives_on(service: Service) -> None:
    """Attacks 76 and 77: the modern era's listen stream; the last chunk arrives, no connection is torn."""
    doomed, kept = Stream(), Stream()
    token = await in_thread(lambda: service.token("doomed"))
    other = await in_thread(lambda: service.token("kept"))
    notifications = {"toolsListChanged": True}
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            for stream, its in ((doomed, token), (kept, other)):
                tasks.start_soon(
                    lambda stream=stream, its=its: stream.run(
                        service, its, "subscriptions/listen", MODERN, notifications=notifications
                    )
                )
                await stream.begun.wait()
            await in_thread(lambda: service.cli_json("tokens", "revoke", "doomed"))
            committed_by = time.monotonic()
            await doomed.ended.wait()
            assert doomed.ended_at - committed_by < PROMISED_S
            assert (doomed.status, doomed.error) == (200, None)
            async with service.client(other) as client:
                assert (await client.list_tools()).tools
            assert not kept.ended.is_set()
            await in_thread(lambda: service.cli_json("tokens", "revoke", "--all"))
            await kept.ended.wait()
    assert kept.error is None
    assert service.ask("/mcp", [("Authorization", f"Bearer {token}")], method="POST").status == 401


@pytest.mark.parametrize("wants_progress", [False, True])
@pytest.mark.parametrize("era", ERAS)
async def test_a_running_write_is_answered_within_a_second_and_writes_nothing_afterwards(
    service: Service, era: str, wants_progress: bool
) -> None:
    """Attack 76, decisions.md 20: no write of that grant becomes visible afterwards, although its thread goes on."""
    name = f"late-{era}-{wants_progress}"
    more = {"_meta": {"progressToken": 1}} if wants_progress else {}
    token = await in_thread(lambda: service.token(name))
    call = Stream()
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(
                lambda: call.run(
                    service, token, "tools/call", era, name="write_when_told", arguments={"name": name}, **more
                )
            )
            await in_thread(lambda: wait_until((service.state / f"{name}.begun").exists, 15, "begin"))
            await in_thread(lambda: service.cli_json("tokens", "revoke", name))
            committed_by = time.monotonic()
            await call.ended.wait()
    assert call.ended_at - committed_by < PROMISED_S
    assert call.error is None
    had_begun = era == LEGACY and wants_progress
    assert call.status == (200 if had_begun else 401), "a stream that had begun ends; an answer that had not is 401"
    assert b"written" not in call.received
    (service.state / f"{name}.go").touch()
    await in_thread(lambda: wait_until((service.state / f"{name}.done").exists, 15, "go on to its end"))
    assert not (service.vault / f"{name}.md").exists()
    assert [line["outcome"] for line in service.lines("tool.called")][-1] == "CANCELLED"


@pytest.mark.parametrize("era", ERAS)
async def test_a_write_of_a_living_grant_goes_through(service: Service, era: str) -> None:
    """The counterpart: the tool of the test above does write."""
    name = f"alive-{era}"
    token = await in_thread(lambda: service.token(name))
    (service.state / f"{name}.go").touch()
    async with service.client(token, era) as client:
        assert text_of(await client.call_tool("write_when_told", {"name": name})) == "written"
    assert (service.vault / f"{name}.md").read_text() == "written"


async def test_the_list_of_tokens_shows_when_each_was_last_used(service: Service) -> None:
    """auth.md 7.6: written beside the request, to the minute."""
    token = await in_thread(lambda: service.token("used"))
    await in_thread(lambda: service.token("unused"))
    async with service.client(token) as client:
        await client.list_tools()

    def last_used() -> dict[str, str | None]:
        return {row["name"]: row["last_used"] for row in service.cli_json("tokens", "list")}

    await in_thread(lambda: wait_until(lambda: last_used()["used"] is not None, 20, "be noted"))
    assert last_used()["unused"] is None


async def test_a_token_that_expires_ends_its_stream(service: Service) -> None:
    """auth.md attack line 81: a stream cannot outlive its token."""
    token = await in_thread(lambda: service.token("short", "--days", "1"))
    soon = int(time.time()) + 3
    with sqlite3.connect(service.state / "strongroom.db") as database:
        database.execute("UPDATE grant_ SET expires = ? WHERE label = 'short'", (soon,))
    stream = Stream()
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(
                lambda: stream.run(
                    service, token, "subscriptions/listen", MODERN, notifications={"toolsListChanged": True}
                )
            )
            await stream.ended.wait()
    assert stream.status == 200
    assert stream.error is None
    assert abs(time.time() - soon) < 1.5
    database.close()


async def test_without_its_database_the_service_lets_nobody_in_and_puts_everybody_out(tmp_path: Path) -> None:
    """auth.md attack line 82: fail closed. A file put in its place counts as unreadable, because revocations go there."""
    with Service.start(tmp_path) as service:
        token = service.token("laptop")
        stream = Stream()
        with anyio.fail_after(30):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(
                    lambda: stream.run(
                        service, token, "subscriptions/listen", MODERN, notifications={"toolsListChanged": True}
                    )
                )
                await stream.begun.wait()
                (service.state / "strongroom.db").rename(service.state / "elsewhere.db")
                assert service.post(token, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).status == 503
                await stream.ended.wait()
        assert stream.error is None
        assert [line["streams_closed"] for line in service.lines("state.unreadable")] == [1]
        (service.state / "elsewhere.db").rename(service.state / "strongroom.db")
        assert service.post(token, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).status == 200


async def test_tokens_outlive_a_restart(tmp_path: Path) -> None:
    """auth.md attack line 83: nobody has to sign in again because the service was restarted or killed."""
    with Service.start(tmp_path) as service:
        token = service.token("laptop")
        service.process.kill()
    with Service.start(tmp_path) as service:
        answer = service.post(token, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        assert answer.status == 200
        assert "tools" in json.loads(answer.body)["result"]


def test_another_program_that_writes_the_state_holds_nobody_up(tmp_path: Path) -> None:
    """guards.md test 34's kind: a backup, or a command on a slow disk; readers pass a writer in SQLite's WAL."""
    with Service.start(tmp_path) as service:
        fresh = [service.token(f"t{number}") for number in range(3)]  # their first use wants to be written down
        message, _ = request("ping", LEGACY)
        with contextlib.closing(sqlite3.connect(service.state / "strongroom.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            began = time.monotonic()
            while time.monotonic() - began < BLIND_S + 1:
                asked_at = time.monotonic()
                assert {service.post(token, message).status for token in fresh} == {200}
                assert time.monotonic() - asked_at < ANSWER_S
            other.execute("ROLLBACK")
