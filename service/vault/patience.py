"""Waiting for a scan of the disk, but not for ever.

A scan looks at its deadline between two files. A read that never comes back (a dead network disk) cannot look anywhere,
so the scan runs in a thread of its own that is left behind; a few of those and no further one is begun.
"""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from service.errors import Unavailable

MAX_STUCK: Final = 4
"""Threads left behind on a dead disk before further scans are refused at once."""

GRACE_S: Final = 5.0
"""Seconds past its deadline that a scan is waited for, since one file may be large."""

_STUCK: Final = "strongroom-scan-stuck"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment on the monotonic clock. `allowed_s` is what was allowed in all, for the sentence."""

    at: float
    allowed_s: float
    now: Callable[[], float]

    def check(self) -> None:
        """Raise Unavailable when the moment has passed."""
        if self.now() > self.at:
            raise Unavailable(
                f"looking through the notes was stopped after {self.allowed_s:g} s. What was found so far is remembered: try again, or "
                "name a smaller folder where that can be named."
            )


def within(
    allowed_s: float,
    work: Callable[[Deadline], T],
    now: Callable[[], float] = time.monotonic,
    grace_s: float = GRACE_S,
) -> T:
    """Do `work`, which checks its deadline, in a thread that is waited for no longer than that and `grace_s`.

    Raises:
        Unavailable: it took too long, or earlier work hangs on the disk.
    """
    if sum(thread.name == _STUCK for thread in threading.enumerate()) >= MAX_STUCK:
        raise Unavailable("the vault's disk does not answer; try again later, and ask the owner to look at it.")
    deadline = Deadline(now() + allowed_s, allowed_s, now)
    results: list[T] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work(deadline))
        except BaseException as failure:  # noqa: BLE001  # raised again in the thread that waits
            failures.append(failure)

    thread = threading.Thread(target=contextvars.copy_context().run, args=(run,), name="strongroom-scan", daemon=True)
    thread.start()
    thread.join(allowed_s + grace_s)
    if thread.is_alive():
        thread.name = _STUCK
        raise Unavailable("the vault's disk does not answer; try again later, and ask the owner to look at it.")
    if failures:
        raise failures[0]
    return results[0]
