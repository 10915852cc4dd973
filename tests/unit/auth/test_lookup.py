"""Asking the database from the event loop: a crowd shares the way, and each still gets an answer of its own."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from service.auth import static
from service.auth.grants import Grants
from service.auth.lookup import Lookup
from service.auth.model import Grant
from service.auth.tables import SCHEMA
from service.auth.tokens import digest
from service.errors import Misconfigured, Unavailable
from service.store.db import Database
from tests.support.clock import HeldClock

pytestmark = pytest.mark.anyio


class SlowGrants(Grants):
    """Holds the first question until it is let go on; keeps what was asked, and in which thread; refuses `BAD`."""

    BAD = b"bad"

    def __init__(self, folder: Path) -> None:
        super().__init__(Database(folder, [SCHEMA]), HeldClock.at("2026-03-01T12:00:00"))
        self.held, self.asked = threading.Event(), list[bytes]()
        self.has_begun = threading.Event()

    def find(self, token_hash: bytes) -> Grant | None:
        self.asked.append(token_hash)
        self.has_begun.set()
        assert self.held.wait(5)
        if token_hash == self.BAD:
            raise Misconfigured("the state database is damaged.")
        return super().find(token_hash)


@asynccontextmanager
async def asking(grants: Grants) -> AsyncIterator[Lookup]:
    lookup = Lookup(grants)
    try:
        yield lookup
    finally:
        lookup.close()


async def test_a_crowd_is_answered_each_with_its_own(tmp_path: Path) -> None:
    """issue 6, 32 clients: who comes while the database is asked is asked about in the next round, and not before."""
    grants = SlowGrants(tmp_path)
    made = [static.create(grants, f"client {number}") for number in range(3)]
    answers: dict[int, Grant | None] = {}
    async with asking(grants) as lookup, anyio.create_task_group() as tasks:

        async def ask(number: int, token_hash: bytes) -> None:
            answers[number] = await lookup.find(token_hash)

        tasks.start_soon(ask, 0, digest(made[0][1]))
        await anyio.to_thread.run_sync(grants.has_begun.wait, 5)
        for number in (1, 2):
            tasks.start_soon(ask, number, digest(made[number][1]))
        tasks.start_soon(ask, 3, digest("a stranger's"))
        await anyio.wait_all_tasks_blocked()
        assert grants.asked == [digest(made[0][1])]
        grants.held.set()
    found = [answers[number] for number in range(4)]
    assert [grant.name if grant else None for grant in found] == ["client 0", "client 1", "client 2", None]


async def test_one_that_fails_fails_alone(tmp_path: Path) -> None:
    """Never taking silence for a yes; nor another's trouble for one's own."""
    grants = SlowGrants(tmp_path)
    _, token = static.create(grants, "sound")
    refused: list[str] = []
    async with asking(grants) as lookup, anyio.create_task_group() as tasks:

        async def ask_badly() -> None:
            with pytest.raises(Unavailable):
                await lookup.find(SlowGrants.BAD)
            refused.append("bad")

        tasks.start_soon(lookup.find, digest("first"))
        await anyio.to_thread.run_sync(grants.has_begun.wait, 5)
        tasks.start_soon(ask_badly)
        await anyio.wait_all_tasks_blocked()
        grants.held.set()
        assert await lookup.find(digest(token)) is not None
    assert refused == ["bad"]


async def test_who_has_left_is_not_asked_about(tmp_path: Path) -> None:
    """A crowd that comes and goes while the disk hangs leaves no work behind."""
    grants = SlowGrants(tmp_path)
    async with asking(grants) as lookup, anyio.create_task_group() as tasks:
        tasks.start_soon(lookup.find, digest("first"))
        await anyio.to_thread.run_sync(grants.has_begun.wait, 5)
        with anyio.move_on_after(0.01):
            await lookup.find(digest("impatient"))
        grants.held.set()
        await lookup.find(digest("last"))
    assert grants.asked == [digest("first"), digest("last")]
