"""Working with the database away from the event loop, with a deadline, and closed when it cannot be trusted.

As `service.auth.lookup`, whose questions must not wait behind these: here things are written, which may have to wait for
another program's write. A file that was deleted or put in another's place counts as unreadable.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, TypeVar

from service.errors import AppError, Unavailable

WITHIN_S: Final = 8.0
"""Shorter than clients wait for us (10 s, auth.md 4.1)."""

IN_LINE_S: Final = 2.5
"""What has waited longer for its turn is not begun any more: together with the 5 s that SQLite waits for another writer that
stays below WITHIN_S. So whoever is told to try again has had nothing done for him: a code that was exchanged behind his back
would be a replay the second time, and end the grant."""

MAX_WAITING: Final = 64
"""Beyond this many requests in line, the next is told to come back: nobody can pile up work here."""

MAX_OF_STRANGERS: Final = 32
"""Of these, requests that write something down for whoever comes: the rest is for those who hold something, so that a flood of
registrations cannot keep clients from renewing their tokens."""

_THREADS: Final = 2
T = TypeVar("T")


class Threads:
    """A few threads over one database file. Close it when the loop ends."""

    def __init__(self, database_path: Path) -> None:
        self._path, self._file = database_path, _identity(database_path)
        self._pool = ThreadPoolExecutor(max_workers=_THREADS, thread_name_prefix="sign-in")
        self._waiting = self._strangers = 0

    async def run(self, work: Callable[[], T], *, is_for_anybody: bool = False) -> T:
        """Run `work`; what it returns or raises. An answer that comes too late is thrown away.

        Args:
            is_for_anybody: it writes something down for whoever asks, a stranger like anybody else.

        Raises:
            Unavailable: no answer in time, the state cannot be read or written, or too many are waiting.
        """
        if self._waiting >= MAX_WAITING or (is_for_anybody and self._strangers >= MAX_OF_STRANGERS):
            raise Unavailable("too many are signing in at once; try again in a moment.")
        self._waiting += 1
        self._strangers += is_for_anybody
        future = asyncio.get_running_loop().run_in_executor(self._pool, self._checked, work, time.monotonic())
        future.add_done_callback(lambda done: self._one_less(done, is_for_anybody=is_for_anybody))
        try:
            async with asyncio.timeout(WITHIN_S):
                return await asyncio.shield(future)
        except (sqlite3.Error, OSError) as error:  # TimeoutError is an OSError
            raise Unavailable("the state cannot be read, so nobody is let in; see strongroom doctor.") from error

    def close(self) -> None:
        """Let the threads end; does not wait for a database that hangs."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _one_less(self, done: asyncio.Future[T], *, is_for_anybody: bool) -> None:
        self._waiting -= 1
        self._strangers -= is_for_anybody
        if not done.cancelled():
            done.exception()  # somebody who gave up waiting does not want to hear of it

    def _checked(self, work: Callable[[], T], since: float) -> T:
        if time.monotonic() - since > IN_LINE_S:
            raise Unavailable("the state was busy for too long; try again in a moment.")
        if _identity(self._path) != self._file:
            raise Unavailable("the state's database is another file now; restart the service.")
        return work()


def is_closed_state(error: AppError) -> bool:
    """Whether the state is at fault and not what was asked: the answer is 503 then."""
    return isinstance(error, Unavailable) or error.code == "MISCONFIGURED"


def _identity(path: Path) -> tuple[int, int]:
    seen = os.stat(path)
    return seen.st_dev, seen.st_ino
