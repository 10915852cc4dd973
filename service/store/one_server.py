"""The lock by which there is one server of a state, however often it is started."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from service.errors import AlreadyServed
from service.store.lock import Lock

_LOOKERS_S: Final = 1.0
"""`doctor` and `stdio` take the lock for an instant to see who holds it; that is no second server."""


def be_it(state: Path) -> Callable[[], None]:
    """Take the lock of this state; returns what gives it back.

    Raises:
        AlreadyServed: another process has it.
    """
    lock = Lock(state / "server.lock", "the state")
    deadline = time.monotonic() + _LOOKERS_S
    while (other := lock.try_hold()) is not None:
        if time.monotonic() > deadline:
            raise AlreadyServed(str(other))
        time.sleep(_LOOKERS_S / 20)
    return lock.release
