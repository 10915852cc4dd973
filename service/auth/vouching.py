"""At home, a grant of kind `edge` is good for as long as the request that brought it: the edge, which alone knows the grant,
closes the connection when it is revoked. So before a change becomes visible, the question is whether the request is over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from service.auth.model import Grant, acting_as
from service.clock import Clock
from service.errors import Forbidden


@dataclass(eq=False, slots=True)
class Vouched:
    """One request for which the edge vouches. `is_over` is set in the event loop and read by the threads of tools."""

    grant: Grant
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
        if one is None or one.is_over or one.grant.id != grant.id or not grant.is_alive(clock.now()):
            raise Forbidden("the request ended before the change was made; nothing was changed. Ask again.")

    return look
