"""The door of /mcp, inside one process: what is decided in which order, and races between a look and a revocation."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Collection
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import anyio
import pytest
from starlette.types import Message, Receive, Scope, Send

from service.auth import static
from service.auth.grants import Grants
from service.auth.guard import Guard
from service.auth.live import MAX_REQUESTS_OF_ONE, Live, Request
from service.auth.lookup import Lookup
from service.auth.model import Grant, acting
from service.auth.tables import SCHEMA
from service.auth.tokens import digest
from service.store.db import Database
from tests.support.clock import HeldClock

pytestmark = pytest.mark.anyio


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock.at("2026-03-01T12:00:00")


@pytest.fixture
def grants(tmp_path: Path, clock: HeldClock) -> Grants:
    return Grants(Database(tmp_path, [SCHEMA]), clock)


async def answered(guard: Guard, token: str, method: str = "POST") -> tuple[int, list[Message]]:
    """The status and all messages of one request."""
    said: list[Message] = []

    async def receive() -> Message:
        await anyio.sleep_forever()
        raise AssertionError

    async def send(message: Message) -> None:
        said.append(message)

    headers = [(b"authorization", f"Bearer {token}".encode())]
    with anyio.fail_after(10):
        await guard({"type": "http", "method": method, "headers": headers}, receive, send)
    return said[0]["status"], said


async def wait_for_ever(_scope: Scope, _receive: Receive, _send: Send) -> None:
    await anyio.sleep_forever()


async def say_yes(scope: Scope, _receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": acting().name.encode()})


@asynccontextmanager
async def watched(live: Live, lookup: Lookup) -> AsyncIterator[None]:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(live.watch)
        yield
        tasks.cancel_scope.cancel()
    lookup.close()


class LateLookup(Lookup):
    """A look that is overtaken: the grant is revoked, and the poll has noticed, before its answer arrives."""

    def __init__(self, grants: Grants) -> None:
        super().__init__(grants)
        self.grants, self.polls, self.polled = grants, 0, anyio.Event()

    async def find(self, token_hash: bytes) -> Grant | None:
        grant = await super().find(token_hash)
        self.grants.end([grant.id for grant in self.grants.all()], "owner")
        self.polled = anyio.Event()
        await self.polled.wait()
        return grant

    async def ended(self, hashes: Collection[bytes], since_epoch: int) -> tuple[int, frozenset[bytes]]:
        answer = await super().ended(hashes, since_epoch)
        if since_epoch != answer[0]:
            self.polled.set()
        return answer


async def test_a_revocation_that_overtakes_the_look_still_ends_the_request(grants: Grants, clock: HeldClock) -> None:
    """decisions.md 20: a request is registered before its token is looked up."""
    _, token = static.create(grants, "laptop")
    lookup = LateLookup(grants)
    live = Live(lookup)
    async with watched(live, lookup):
        status, _ = await answered(Guard(wait_for_ever, lookup, live, clock), token)
    assert status == 401


async def test_the_grant_is_known_inside_and_the_token_is_not(grants: Grants, clock: HeldClock) -> None:
    """auth.md 7.8: what let a request in goes no further."""
    seen: list[Scope] = []

    async def look(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope)
        await say_yes(scope, receive, send)

    _, token = static.create(grants, "laptop")
    lookup = Lookup(grants)
    status, said = await answered(Guard(look, lookup, Live(lookup), clock), token)
    assert (status, said[1]["body"]) == (200, b"laptop")
    assert seen[0]["headers"] == []
    lookup.close()


async def test_a_full_or_stopping_house_lets_nobody_in(grants: Grants, clock: HeldClock) -> None:
    """One token takes at most its share; another is still let in."""
    (_, token), (_, other) = static.create(grants, "greedy"), static.create(grants, "modest")
    lookup = Lookup(grants)
    live = Live(lookup)
    guard = Guard(say_yes, lookup, live, clock)
    with ExitStack() as at_work:
        for _ in range(MAX_REQUESTS_OF_ONE):
            at_work.enter_context(live.serving(Request(digest(token), is_stream=False)))
        assert (await answered(guard, token))[0] == 503
        assert (await answered(guard, other))[0] == 200
    assert (await answered(guard, token))[0] == 200
    live.is_stopping = True
    assert (await answered(guard, other))[0] == 503
    lookup.close()


async def test_a_grant_with_many_tokens_takes_no_more_than_its_share(grants: Grants, clock: HeldClock) -> None:
    """A client gets one more access token with each refresh; they share one limit."""
    (greedy, token), (_, other) = static.create(grants, "greedy"), static.create(grants, "modest")
    lookup = Lookup(grants)
    live = Live(lookup)
    guard = Guard(say_yes, lookup, live, clock)
    with ExitStack() as at_work:
        for number in range(MAX_REQUESTS_OF_ONE):
            request = Request(digest(f"sra_{number}"), is_stream=False, grant_id=greedy.id)
            at_work.enter_context(live.serving(request))
        assert (await answered(guard, token))[0] == 503
        assert (await answered(guard, other))[0] == 200
    assert (await answered(guard, token))[0] == 200
    lookup.close()


async def test_a_database_that_hangs_lets_nobody_in(
    grants: Grants, clock: HeldClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """auth.md attack line 82: an answer comes in time, and it is no."""
    monkeypatch.setattr("service.auth.lookup.ANSWER_S", 0.1)
    let_go = threading.Event()

    class HungGrants(Grants):
        def find(self, token_hash: bytes) -> Grant | None:
            let_go.wait(10)
            return super().find(token_hash)

    _, token = static.create(grants, "laptop")
    lookup = Lookup(HungGrants(Database(grants.path.parent, [SCHEMA]), clock))
    try:
        assert (await answered(Guard(say_yes, lookup, Live(lookup), clock), token))[0] == 503
    finally:
        let_go.set()
        lookup.close()
