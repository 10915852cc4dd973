"""Threads for tools that a cancelled call does not wait for.

The SDK's own worker threads shield the wait: a call whose client left, or whose grant was revoked, would keep its stream
open until the tool came back (measured on mcp 2.3.0). Here the wait ends at once; the thread goes on to its end, keeps
its place in the limit until then, and the permit check stops whatever it still wanted to write.

Nor does a call wait for ever for a disk that hangs (a dead network share): after WITHIN_S it is told so, and so are those in
line when all threads are stuck. Only work that may have changed something is waited for to its end, since nobody could say
what came of it.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from service.errors import Unavailable

MAX_RUNNING: Final = 32
"""Tool calls at work at once, the abandoned ones included. More wait in line."""

WITHIN_S: Final = 120.0
"""How long a call waits, its time in line included: twice what a question over all notes may take (`patience`)."""

T = TypeVar("T")


class Workers:
    """A bounded set of worker threads, begun as they are needed."""

    def __init__(self, limit: int = MAX_RUNNING, within_s: float = WITHIN_S) -> None:
        # The standard pool: with what belongs to it, a call through anyio's threads cost four times as much (bench_calls).
        self._threads = ThreadPoolExecutor(limit, thread_name_prefix="tool")
        self._within_s = within_s

    async def run(self, work: Callable[[], T], *, changes: bool = False) -> T:
        """Run `work` in a thread and wait for it, or stop waiting when cancelled: work not yet begun never begins.

        Args:
            changes: it changes something, so once it has begun it is waited for to its end.

        Raises:
            Unavailable: it took too long, or did not begin in that time and never will.
        """
        loop = asyncio.get_running_loop()
        begun = self._threads.submit(contextvars.copy_context().run, work)
        answer = asyncio.wrap_future(begun, loop=loop)
        given_up: list[bool] = []

        def give_up() -> None:
            if begun.cancel() or not changes:
                given_up.append(answer.cancel())

        late = loop.call_later(self._within_s, give_up)  # asyncio.wait would cost as much again as the thread
        try:
            return await answer
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if not any(given_up) or task is None or task.cancelling():
                raise
        finally:
            late.cancel()
        raise Unavailable(
            f"there was no answer within {self._within_s:g} s, and nothing was changed: the vault's disk hangs, or has very "
            "much to do. Try again later, and ask the owner to look at it."
        )
