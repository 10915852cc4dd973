"""Work with the state away from the event loop: what is late, broken or too much lets nobody in."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from service.auth.audit import Audit
from service.auth.purge import EVERY_S
from service.auth.refusal import Refusal
from service.auth.tokens import digest
from service.errors import GrantNotFound, Unavailable
from service.settings import load
from service.web.oauth import threads as threads_
from service.web.oauth.desk import Desk
from service.web.oauth.housekeeping import keep_house
from service.web.oauth.threads import MAX_OF_STRANGERS, MAX_WAITING, Threads
from tests.support.clock import HeldClock
from tests.support.signing_in import BASE, SigningIn

pytestmark = pytest.mark.anyio


@pytest.fixture
def rooms(tmp_path: Path) -> SigningIn:
    return SigningIn.over(tmp_path, HeldClock.at("2026-03-01T12:00:00"))


@pytest.fixture
def threads(rooms: SigningIn) -> Iterator[Threads]:
    made = Threads(rooms.database.path)
    yield made
    made.close()


def fail_with(error: Exception) -> None:
    raise error


async def test_what_is_found_and_what_goes_wrong_comes_back(threads: Threads) -> None:
    """auth.md 7.7: fail closed; an error of ours stays what it is."""
    assert await threads.run(lambda: 7) == 7
    with pytest.raises(GrantNotFound):
        await threads.run(lambda: fail_with(GrantNotFound("x")))
    for broken in (sqlite3.OperationalError("disk I/O error"), OSError(5, "gone")):
        with pytest.raises(Unavailable):
            await threads.run(lambda error=broken: fail_with(error))  # type: ignore[misc]


async def test_an_answer_that_does_not_come_is_not_waited_for(
    threads: Threads, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attack 82: a disk that hangs. The event loop goes on meanwhile."""
    monkeypatch.setattr(threads_, "WITHIN_S", 0.1)
    is_over = threading.Event()
    try:
        with pytest.raises(Unavailable), anyio.fail_after(5):
            await threads.run(lambda: is_over.wait(20))
    finally:
        is_over.set()


async def test_whoever_was_told_to_try_again_has_had_nothing_done(
    threads: Threads, rooms: SigningIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attack 82: while another program held the database, codes waited in line, their clients were told 503, and then they were
    exchanged all the same; to try again was a replay (attack 34), which ended the grant."""
    monkeypatch.setattr(threads_, "WITHIN_S", 0.4)
    monkeypatch.setattr(threads_, "IN_LINE_S", 0.1)
    client = rooms.client()
    code = rooms.code(client)
    is_over, are_done = threading.Event(), []
    async with anyio.create_task_group() as tasks:

        async def wait_for_the_disk() -> None:
            with pytest.raises(Unavailable):
                await threads.run(lambda: is_over.wait(20))

        async def exchange() -> None:
            with pytest.raises(Unavailable):
                await threads.run(lambda: are_done.append(rooms.redeem(client, code)))
            is_over.set()

        for _ in range(2):
            tasks.start_soon(wait_for_the_disk)
        await anyio.sleep(0)
        tasks.start_soon(exchange)
    threads._pool.shutdown(wait=True)  # whatever stood in line has had its turn
    assert not are_done
    assert rooms.redeem(client, code).access_token


async def test_nobody_piles_up_work(threads: Threads) -> None:
    """More than MAX_WAITING at once are told to come back; the others are served, and then there is room again."""
    is_over, refused, served = threading.Event(), [], []

    async def ask() -> None:
        try:
            served.append(await threads.run(lambda: is_over.wait(20)))
        except Unavailable as error:
            refused.append(error)
            is_over.set()

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            for _ in range(MAX_WAITING + 3):
                tasks.start_soon(ask)
    assert (len(served), len(refused)) == (MAX_WAITING, 3)
    assert await threads.run(lambda: 1) == 1


async def test_strangers_leave_room_for_those_who_hold_something(threads: Threads) -> None:
    """Attack 61's kind: 150 connections that began sign-ins had seven of ten renewals of tokens answered with 503."""
    is_over, refused, served = threading.Event(), [], []

    async def ask() -> None:
        try:
            served.append(await threads.run(lambda: is_over.wait(20), is_for_anybody=True))
        except Unavailable as error:
            refused.append(error)

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            for _ in range(2 * MAX_OF_STRANGERS):
                tasks.start_soon(ask)
            await anyio.sleep(0)
            tasks.start_soon(threads.run, lambda: served.append(True))
            await anyio.sleep(0)
            is_over.set()
    assert (len(served), len(refused)) == (MAX_OF_STRANGERS + 1, MAX_OF_STRANGERS)
    assert await threads.run(lambda: 1, is_for_anybody=True) == 1


def test_what_a_stranger_makes_up_waits_for_nobody_who_writes(rooms: SigningIn) -> None:
    """Attack 61's kind, for tokens: a look, and no turn at the one place where something can be written."""
    client = rooms.client()
    writer = sqlite3.connect(rooms.database.path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    try:
        with pytest.raises(Refusal):
            rooms.refresh.renew(client.id, "srr_made_up")
        with pytest.raises(Refusal):
            rooms.redeem(client, "src_made_up")
        assert rooms.grants.revoke_token(digest("srr_made_up"), client.id) is None
    finally:
        writer.close()


async def test_another_database_in_its_place_is_not_believed(rooms: SigningIn, threads: Threads) -> None:
    """Attack 82: revocations would go into the new one, unseen."""
    path = rooms.database.path
    path.rename(path.with_suffix(".old"))
    for _ in range(2):
        with pytest.raises(Unavailable):
            await threads.run(lambda: 1)
        path.touch()


async def test_the_house_is_kept_while_the_server_lives(rooms: SigningIn, threads: Threads, tmp_path: Path) -> None:
    """auth.md 7.6: hourly; what is over goes by itself, and a failure does not end it."""
    assert EVERY_S == 3600
    client = rooms.client()
    rooms.code(client)
    rooms.client()
    rooms.clock.move(rooms.clock.now().replace(year=2027) - rooms.clock.now())
    desk = Desk.laid_out(
        base=BASE,
        settings=load({"STRONGROOM_STATE": str(tmp_path)}),
        clock=rooms.clock,
        grants=rooms.grants,
        audit=Audit(tmp_path, rooms.clock),
        threads=threads,
        missing_folders=None,
    )
    left = "SELECT count(*) AS n FROM client"
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(keep_house, desk, 0.01)
            while rooms.database.connection().execute(left).fetchone()["n"]:
                await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()
    assert rooms.database.connection().execute("SELECT count(*) AS n FROM code").fetchone()["n"] == 0
