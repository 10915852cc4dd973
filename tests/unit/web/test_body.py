"""A body is read whole, in bounded time and space."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

import anyio
import pytest
from starlette.types import Message, Receive, Scope, Send

from service.web.body import WholeBody

pytestmark = pytest.mark.anyio


async def asked(
    pieces: Iterable[bytes], *, declared: str | None = None, is_endless: bool = False
) -> tuple[int, list[bytes]]:
    """The status, and the bodies that came through, for a body sent in `pieces` (endless: the last never comes)."""
    arrived, statuses = [], []
    waiting = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
    if not is_endless:
        waiting.append({"type": "http.request", "body": b"", "more_body": False})

    async def receive() -> Message:
        if not waiting:
            await anyio.sleep_forever()
        return waiting.pop(0)

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    async def app(_scope: Scope, receive: Receive, send: Send) -> None:
        arrived.append((await receive())["body"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    headers = [] if declared is None else [(b"content-length", declared.encode())]
    scope: Scope = {"type": "http", "method": "POST", "headers": headers}
    with anyio.fail_after(5):
        await WholeBody(app, within_s=0.1, max_bytes=10)(scope, receive, send)
    return statuses[0], arrived


@pytest.mark.parametrize("pieces", [[], [b"0123456789"], [b"01234", b"", b"56789"]])
async def test_a_body_that_fits_comes_through_in_one_piece(pieces: list[bytes]) -> None:
    """guards.md test 35."""
    assert await asked(pieces) == (200, [b"".join(pieces)])


@pytest.mark.parametrize(("pieces", "declared"), [([b"x" * 11], None), ([b"x"] * 11, None), ([], "11"), ([], "9" * 30)])
async def test_a_body_that_is_too_large_is_413(pieces: list[bytes], declared: str | None) -> None:
    """guards.md test 35: by what is declared, and by what comes."""
    assert await asked(pieces, declared=declared) == (413, [])


@pytest.mark.parametrize("zeros", [1, 4300, 15_000])
async def test_zeros_before_a_length_do_not_count(zeros: int) -> None:
    """RFC 9110 §8.6: 1*DIGIT. A head has room for more of them than Python turns into a number."""
    assert await asked([b"0123456789"], declared="0" * zeros + "10") == (200, [b"0123456789"])
    assert await asked([], declared="0" * zeros + "11") == (413, [])


async def test_a_body_that_does_not_come_in_time_is_408() -> None:
    """guards.md test 34."""
    assert await asked([b"x"], is_endless=True) == (408, [])


async def test_a_client_that_leaves_gets_nothing() -> None:
    """The rest of the chain never hears of it."""
    said: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        said.append(message)

    async def app(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise AssertionError("called")

    done: Callable[[Scope, Receive, Send], Awaitable[None]] = WholeBody(app)
    await done({"type": "http", "method": "POST", "headers": []}, receive, send)
    assert said == []


async def test_large_bodies_at_once_are_bounded_together_and_small_ones_pass() -> None:
    """Our decision: a token is no right to all the memory. What one request held is free when it ends."""
    let_go, statuses = anyio.Event(), []

    async def app(_scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await let_go.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})

    layer = WholeBody(app, max_bytes=10, large_bytes=3, max_large_bytes=16)

    async def ask(size: int) -> None:
        waiting = [{"type": "http.request", "body": b"x" * size, "more_body": False}]

        async def receive() -> Message:
            return waiting.pop()

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                statuses.append((size, message["status"]))

        await layer({"type": "http", "method": "POST", "headers": []}, receive, send)

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            for size in (8, 7, 9, 3, 3):
                tasks.start_soon(ask, size)
            await anyio.wait_all_tasks_blocked()
            assert statuses == [(9, 503)]
            let_go.set()
        await ask(10)
    assert sorted(statuses) == [(3, 200), (3, 200), (7, 200), (8, 200), (9, 503), (10, 200)]
