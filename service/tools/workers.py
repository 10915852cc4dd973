"""Threads for tools that a cancelled call does not wait for.

The SDK's own worker threads shield the wait: a call whose client left, or whose grant was revoked, would keep its stream
open until the tool came back (measured on mcp 2.3.0). Here the wait ends at once; the thread goes on to its end, keeps
its place in the limit until then, and the permit check stops whatever it still wanted to write.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

MAX_RUNNING: Final = 32
"""Tool calls at work at once, the abandoned ones included. More wait in line."""

T = TypeVar("T")


class Workers:
    """A bounded set of worker threads, begun as they are needed."""

    def __init__(self, limit: int = MAX_RUNNING) -> None:
        # The standard pool: with what belongs to it, a call through anyio's threads cost four times as much (bench_calls).
        self._threads = ThreadPoolExecutor(limit, thread_name_prefix="tool")

    async def run(self, work: Callable[[], T]) -> T:
        """Run `work` in a thread and wait for it, or stop waiting when cancelled: work not yet begun never begins."""
        context = contextvars.copy_context()
        return await asyncio.get_running_loop().run_in_executor(self._threads, context.run, work)
