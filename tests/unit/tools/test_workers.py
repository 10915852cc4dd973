"""Threads for tools: bounded, and a call that is cancelled waits for none of them."""

from __future__ import annotations

import threading
from contextvars import ContextVar

import anyio
import pytest

from service.errors import Unavailable
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


async def test_who_only_asks_waits_for_no_disk_that_hangs_and_nobody_waits_in_line_behind_it() -> None:
    """Issue 6: a dead disk must not hang all calls for ever; what never began has changed nothing and never will."""
    workers, begun, held = Workers(1, within_s=0.3), threading.Event(), threading.Event()
    done: list[str] = []

    def stuck() -> None:
        begun.set()
        held.wait(10)

    with anyio.fail_after(5):
        with pytest.raises(Unavailable, match="disk hangs"):
            await workers.run(stuck)
        assert begun.is_set()
        with pytest.raises(Unavailable, match="nothing was changed"):
            await workers.run(lambda: done.append("never"), changes=True)
        held.set()
        assert await workers.run(lambda: list(done)) == []


async def test_a_change_that_has_begun_is_waited_for_to_its_end() -> None:
    """Nobody could say otherwise whether it took place."""
    workers = Workers(1, within_s=0.01)

    def change() -> str:
        threading.Event().wait(0.1)  # longer than any question is waited for here
        return "changed"

    with anyio.fail_after(5):
        assert await workers.run(change, changes=True) == "changed"
