"""One look for all who asked before it began.

Where a look at the vault is a walk over the disk, a crowd that asks at once would walk one after the other, and the last
would wait for all of them. Each asker needs no more than a look that began after it had asked, and one serves them all.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Generic, TypeVar

T = TypeVar("T")

_WAIT_S: Final = 0.1


class Shared(Generic[T]):
    """`look`, done by one thread at a time. Thread-safe.

    Args:
        look: takes what is called now and then while it looks, and raises to give up.
    """

    def __init__(self, look: Callable[[Callable[[], None]], T]) -> None:
        self._look = look
        self._lock = threading.Lock()
        self._seen: tuple[int, T] | None = None

    def now(self, check: Callable[[], None]) -> T:
        """What a look gave that began after this was called. One that fails is nobody's but its own asker's.

        Raises:
            As `look`, and `check` while another look is waited for.
        """
        asked_ns = time.monotonic_ns()
        with held(self._lock, check):
            if self._seen is not None and self._seen[0] > asked_ns:
                return self._seen[1]
            began_ns = time.monotonic_ns()
            found = self._look(check)
            self._seen = began_ns, found
            return found


@contextmanager
def held(lock: threading.Lock, check: Callable[[], None]) -> Iterator[None]:
    """Hold a lock, waiting for it no longer than `check` allows."""
    while not lock.acquire(timeout=_WAIT_S):
        check()
    try:
        yield
    finally:
        lock.release()
