"""At home, a grant of kind `edge` is good for as long as the request that brought it: the edge, which alone knows the grant,
closes the connection when it is revoked, and says again and again which requests it still stands for. So before a change
becomes visible, the question is whether the request is over, and whether the edge was heard of just now: a tunnel that went
away would hide that it is.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final

from service.auth.model import Grant, acting_as
from service.clock import Clock
from service.errors import Forbidden

FRESH_S: Final = 0.7
"""How long ago the edge may have been heard of when a change becomes visible. With what the edge itself takes to see a
revocation (`live.POLL_S`) it is under the second that is promised (decisions.md 20)."""

WAITED_S: Final = 2.0
"""A change waits so long for a word of the edge, under the writer lock, before it is refused."""


class Pulse:
    """When one start of the edge was heard of last. Beats in the event loop; the threads of tools wait for it."""

    def __init__(self) -> None:
        self._beat = threading.Condition()
        self._at = time.monotonic()

    def beat(self) -> None:
        """It was heard of now."""
        with self._beat:
            self._at = time.monotonic()
            self._beat.notify_all()

    @property
    def age_s(self) -> float:
        """Seconds since then."""
        return time.monotonic() - self._at

    def is_felt(self) -> bool:
        """Whether it was heard of just now; waited for, a moment."""
        with self._beat:
            return self._beat.wait_for(lambda: self.age_s < FRESH_S, WAITED_S)


@dataclass(eq=False, slots=True)
class Vouched:
    """One request for which the edge vouches. `is_over` is set in the event loop and read by the threads of tools."""

    grant: Grant
    pulse: Pulse = field(default_factory=Pulse)
    is_over: bool = False


_VOUCHED: ContextVar[Vouched] = ContextVar("strongroom_vouched")


@contextmanager
def vouched_for(one: Vouched) -> Iterator[None]:
    """Run what is inside under the grant of `one`; afterwards it is over, for whatever still runs of it."""
    token = _VOUCHED.set(one)
    try:
        with acting_as(one.grant):
            yield
    finally:
        one.is_over = True
        _VOUCHED.reset(token)


def checking(check: Callable[[Grant], None], clock: Clock) -> Callable[[Grant], None]:
    """`Grants.check`, and for a grant of kind `edge` a look at the request instead, since the grant is not kept here.

    Raises (the function that is returned):
        Forbidden: the request is over, or the grant has expired.
    """

    def look(grant: Grant) -> None:
        if grant.kind != "edge":
            check(grant)
            return
        one = _VOUCHED.get(None)
        is_vouched_for = one is not None and one.grant.id == grant.id and one.pulse.is_felt() and not one.is_over
        if not is_vouched_for or not grant.is_alive(clock.now()):
            raise Forbidden("the request ended before the change was made; nothing was changed. Ask again.")

    return look
