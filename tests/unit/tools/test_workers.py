"""Threads for tools: bounded, and a call that is cancelled waits for none of them."""

from __future__ import annotations

import threading
from contextvars import ContextVar

import anyio
import pytest

from service.tools.workers import Workers

pytestmark = pytest.mark.anyio

WHO: ContextVar[str] = ContextVar("who")


async def test_work_is_done_under_the_calls_own_context() -> None:
    """The grant of a call is in its context; a thread that served another must not keep that one's."""
    workers = Workers(1)
    for name in ("one", "two"):
        WHO.set(name)
        assert await workers.run(WHO.get) == name


async def test_a_cancelled_call_ends_at_once_and_its_thread_keeps_its_place() -> None:
    """house.md fact 4: a thread cannot be stopped; so many as are stuck, so many fewer work."""
    workers, begun, held = Workers(1), threading.Event(), threading.Event()
    done: list[str] = []

    def stuck() -> None:
        begun.set()
        held.wait(10)
        done.append("stuck")

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(workers.run, stuck)
            await anyio.to_thread.run_sync(begun.wait, 5)
            tasks.cancel_scope.cancel()
        with anyio.move_on_after(0.05):
            await workers.run(lambda: done.append("never"))
        assert done == []
        held.set()
        await workers.run(lambda: done.append("next"))
    assert done == ["stuck", "next"]


async def test_what_goes_wrong_is_told_to_who_waits() -> None:
    def wrong() -> None:
        raise LookupError("it is gone")

    with pytest.raises(LookupError, match="it is gone"):
        await Workers().run(wrong)
