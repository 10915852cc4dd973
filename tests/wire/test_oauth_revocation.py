"""What a client was given by signing in, taken back in every way there is: what ends, how soon, and what lives on.

auth.md 7.7 and attack lines 76, 77, 81, 82, 93, 94, for the access tokens of OAuth; tests/wire/test_revocation.py has them for
static tokens, and how a stream is read. decisions.md 20: the clock starts when the revoking command has committed, which is no
later than its end.
"""

from __future__ import annotations

import contextlib
import socket
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from tests.support.connectors import CODEX
from tests.support.oauth_client import Connection
from tests.support.rooms import ALL_TOOLSETS
from tests.support.service import ERAS, LEGACY, MODERN, wait_until
from tests.support.sign_in import Place
from tests.support.streams import PROMISED_S, Stream, in_thread, request
from tests.wire.test_lifecycle import LISTEN

pytestmark = pytest.mark.anyio
SLOW_PATHS = (
    "/oauth/token",
    "/oauth/register",
    "/oauth/revoke",
    "/oauth/consent",
    "/oauth/passkey",
    "/oauth/passkey/add",
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("revoked")
    with Place.open(folder, module="tests.support.odd_tools", TOOLSETS=ALL_TOOLSETS) as place:
        yield place


def connected(place: Place, name: str) -> Connection:
    """A client of this name that was let in."""
    return place.connected(replace(CODEX, name=name))


def access(client: Connection) -> str:
    assert client.tokens is not None
    return client.tokens.access


def take_back(place: Place, client: Connection, way: str) -> None:
    """Revoke what the client has."""
    assert client.tokens is not None
    rows = place.service.cli_json("tokens", "list")
    (row,) = (row for row in rows if row["client"] == client.client_id)
    match way:
        case "grant":
            place.service.cli_json("tokens", "revoke", row["id"])
        case "client":
            place.service.cli_json("tokens", "revoke", "--client", str(client.client_id))
        case "all":
            place.service.cli_json("tokens", "revoke", "--all")
        case "its refresh token":
            assert client.revoke(client.tokens.refresh).status_code == 200
        case "its access token":
            assert client.revoke(client.tokens.access).status_code == 200


@pytest.mark.parametrize("way", ["grant", "client", "its refresh token", "its access token", "all"])
async def test_streams_and_running_calls_end_within_a_second_and_another_clients_stream_lives_on(
    place: Place, way: str
) -> None:
    """attacks 76 and 77, in both eras: ended cleanly, nothing is written afterwards, and the token is good for nothing."""
    doomed = await in_thread(lambda: connected(place, f"Doomed by {way}"))
    kept = await in_thread(lambda: connected(place, f"Kept beside {way}"))
    listens, stays, call = Stream(), Stream(), Stream()
    name = f"late-{way.replace(' ', '-')}"
    service, arguments = place.service, {"name": name}
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: listens.run(service, access(doomed), "subscriptions/listen", MODERN, **LISTEN))
            tasks.start_soon(lambda: stays.run(service, access(kept), "subscriptions/listen", MODERN, **LISTEN))
            tasks.start_soon(
                lambda: call.run(
                    service, access(doomed), "tools/call", LEGACY, name="write_when_told", arguments=arguments
                )
            )
            await listens.begun.wait()
            await stays.begun.wait()
            await in_thread(lambda: wait_until((service.state / f"{name}.begun").exists, 15, "begin"))
            await in_thread(lambda: take_back(place, doomed, way))
            committed_by = time.monotonic()
            await listens.ended.wait()
            await call.ended.wait()
            assert max(listens.ended_at, call.ended_at) - committed_by < PROMISED_S
            if way == "all":
                await stays.ended.wait()
            else:
                assert (await in_thread(lambda: kept.talk.ask("tools/list")))["tools"]
                assert not stays.ended.is_set()
                await in_thread(lambda: take_back(place, kept, "grant"))
    assert (listens.error, call.error, stays.error) == (None, None, None)
    assert b"written" not in call.received
    (service.state / f"{name}.go").touch()
    await in_thread(lambda: wait_until((service.state / f"{name}.done").exists, 15, "go on to its end"))
    assert not (service.vault / f"{name}.md").exists()
    assert doomed.talk.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}).status_code == 401


@pytest.mark.parametrize("era", ERAS)
async def test_a_write_of_a_living_client_goes_through(place: Place, era: str) -> None:
    """The counterpart: the tool of the test above does write, for a token of the same kind."""
    client = await in_thread(lambda: place.connected(replace(CODEX, name=f"Alive {era}", is_modern=era == MODERN)))
    (place.service.state / f"alive-{era}.go").touch()
    result = await in_thread(lambda: client.talk.call("write_when_told", name=f"alive-{era}"))
    assert "written" in str(result)
    assert (place.service.vault / f"alive-{era}.md").exists()


async def test_a_stream_ends_with_its_access_token_although_the_grant_lives(place: Place) -> None:
    """attack 81: the token's own end, not the grant's, which goes on with the next token."""
    client = await in_thread(lambda: connected(place, "Short"))
    assert client.tokens is not None
    soon = int(time.time()) + 3
    with contextlib.closing(sqlite3.connect(place.service.state / "strongroom.db")) as database, database:
        changed = database.execute(
            "UPDATE token SET expires = ? WHERE kind = 'a' AND grant_id IN (SELECT id FROM grant_ WHERE client_id = ?)",
            (soon, client.client_id),
        )
        assert changed.rowcount == 1
    stream = Stream()
    with anyio.fail_after(20):
        await stream.run(place.service, access(client), "subscriptions/listen", MODERN, **LISTEN)
    assert (stream.status, stream.error) == (200, None)
    assert abs(time.time() - soon) < 1.5
    await in_thread(client.renew)
    assert (await in_thread(lambda: client.talk.ask("tools/list")))["tools"]


async def test_without_its_database_every_door_of_signing_in_is_shut(tmp_path: Path) -> None:
    """attack 82: fail closed. Nothing is given, nothing is let in, open streams end, and all is well when it is back."""
    with Place.open(tmp_path) as place:
        client = await in_thread(lambda: connected(place, "Laptop"))
        assert client.tokens is not None
        stream, database = Stream(), place.service.state / "strongroom.db"
        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(
                    lambda: stream.run(place.service, access(client), "subscriptions/listen", MODERN, **LISTEN)
                )
                await stream.begun.wait()
                database.rename(database.with_name("elsewhere.db"))
                assert client.talk.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}).status_code == 503
                assert client.refresh().status_code == 503
                assert client.register().status_code == 503
                assert client.revoke(client.tokens.refresh).status_code == 503
                url = client.authorize_url()
                assert place.internet.ask("GET", url).status_code == 503
                await stream.ended.wait()
        assert stream.error is None
        assert not database.exists(), "no other file was made in its place"
        database.with_name("elsewhere.db").rename(database)
        await in_thread(client.renew)
        assert (await in_thread(lambda: client.talk.ask("tools/list")))["tools"]


def test_while_another_program_writes_the_state_clients_are_told_to_come_back(tmp_path: Path) -> None:
    """attack 82: locked. What only reads goes on, what has to write gives up in time, and no token is lost."""
    with Place.open(tmp_path) as place:
        client = connected(place, "Laptop")
        with contextlib.closing(sqlite3.connect(place.service.state / "strongroom.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            assert client.refresh().status_code == 503
            message, _ = request("ping", LEGACY)
            assert place.service.post(access(client), message).status == 200
            other.execute("ROLLBACK")
        client.renew()


@pytest.mark.long
def test_trickling_bodies_at_the_doors_of_signing_in_are_cut_off_and_hold_nobody_up(tmp_path: Path) -> None:
    """attack 93 and attack 41: a byte now and then, at every door that takes a body, from a hundred at once."""
    with Place.open(tmp_path) as place, contextlib.ExitStack() as held:
        client = connected(place, "Laptop")
        trickling, slowest_s = set[socket.socket](), 0.0
        for path in SLOW_PATHS * 20:
            connection = held.enter_context(socket.create_connection(("127.0.0.1", place.service.port)))
            head = f"POST {path} HTTP/1.1\r\nHost: notes.example.org\r\nContent-Length: 9000\r\n"
            connection.sendall(f"{head}Content-Type: application/x-www-form-urlencoded\r\n\r\n".encode())
            trickling.add(connection)

        def all_cut_off() -> bool:
            nonlocal slowest_s
            for connection in tuple(trickling):
                try:
                    connection.sendall(b"a")
                except OSError:
                    trickling.discard(connection)
            asked_at = time.monotonic()
            client.renew()
            assert client.talk.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}).status_code == 200
            slowest_s = max(slowest_s, time.monotonic() - asked_at)
            return not trickling

        took_s = wait_until(all_cut_off, 40, lambda: f"cut off; {len(trickling)} left")
    assert took_s < 20
    assert slowest_s < 5


async def test_sigterm_ends_the_streams_of_clients_that_signed_in_and_all_is_over_in_five_seconds(
    tmp_path: Path,
) -> None:
    """attack 94; and what was given outlives it (attack 83)."""
    with Place.open(tmp_path) as place:
        client = await in_thread(lambda: connected(place, "Laptop"))
        streams = [Stream() for _ in range(3)]
        with anyio.fail_after(30):
            async with anyio.create_task_group() as tasks:
                for stream in streams:
                    tasks.start_soon(
                        lambda stream=stream: stream.run(
                            place.service, access(client), "subscriptions/listen", MODERN, **LISTEN
                        )
                    )
                for stream in streams:
                    await stream.begun.wait()
                took_s = await in_thread(place.service.stop)
        assert took_s < 5
        assert {(stream.status, stream.error) for stream in streams} == {(200, None)}
        assert place.service.process.returncode == 0
        tokens, client_id = client.tokens, client.client_id
    with Place.open(tmp_path) as place:
        again = place.connection(client.connector)
        again.discover()
        again.tokens, again.client_id = tokens, client_id
        assert again.talk.ask("tools/list")["tools"]
        again.renew()
