"""Threads for tools that a cancelled call does not wait for.

The SDK's own worker threads shield the wait: a call whose client left, or whose grant was revoked, would keep its stream
open until the tool came back (measured on mcp 2.3.0). Here the wait ends at once; the thread goes on to its end, keeps
its place in the limit until then, and the permit check stops whatever it still wanted to write.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Final, TypeVar

import anyio
import anyio.to_thread

MAX_RUNNING: Final = 32
"""Tool calls at work at once, the abandoned ones included. More wait in line."""

T = TypeVar("T")


class Workers:
    """A bounded set of worker threads. Belongs to the event loop that first uses it."""

    def __init__(self, limit: int = MAX_RUNNING) -> None:
        self._limit = limit
        self._places: anyio.CapacityLimiter | None = None

    async def run(self, work: Callable[[], T]) -> T:
        """Run `work` in a thread and wait for it, or stop waiting when cancelled."""
        if self._places is None:
            self._places = anyio.CapacityLimiter(self._limit)
        places, loop = self._places, asyncio.get_running_loop()
        holder, begun = object(), threading.Lock()

        def held() -> T:
            if not begun.acquire(blocking=False):
                raise asyncio.CancelledError  # cancelled while the thread woke up: nobody waits for this any more
            try:
                return work()
            finally:
                _leave(places, holder, loop)

        await places.acquire_on_behalf_of(holder)
        try:
            return await anyio.to_thread.run_sync(held, abandon_on_cancel=True, limiter=anyio.CapacityLimiter(1))
        finally:
            if begun.acquire(blocking=False):
                places.release_on_behalf_of(holder)


def _leave(places: anyio.CapacityLimiter, holder: object, loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.call_soon_threadsafe(places.release_on_behalf_of, holder)
    except RuntimeError:
        return  # the loop has ended meanwhile: nobody waits for the place
