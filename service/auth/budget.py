"""How much a grant may write soon after it read text from outside: that is the moment in which an injection acts.

Each read of low-trust text begins an hour in which the grant has a budget of writes. Kept in memory, on the monotonic
clock: a restart of the service begins anew, and so does the owner's decision to raise STRONGROOM_WRITE_BUDGET.
Every client on this machine that has no token shares one grant and so one budget. Thread-safe.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import structlog

from service.auth.model import Grant
from service.errors import Forbidden

WINDOW_S: Final = 3600.0
"""Seconds after a low-trust read in which writes are counted (decisions.md 11)."""

_log = structlog.get_logger()


@dataclass(slots=True)
class _Spent:
    """One grant's account: when it last read low-trust text, and its writes since, the oldest first."""

    read_at: float
    writes: deque[float] = field(default_factory=deque)
    is_told: bool = False


class Budget:
    """The accounts of all grants. `writes` is the budget; None is no limit, 0 allows none at all in that hour."""

    def __init__(self, writes: int | None, now: Callable[[], float] = time.monotonic) -> None:
        self._writes, self._now = writes, now
        self._accounts: dict[str, _Spent] = {}
        self._lock = threading.Lock()

    def note_read(self, grant: Grant) -> None:
        """The grant was given low-trust text."""
        if self._writes is None:
            return
        with self._lock:
            now = self._now()
            for old in [name for name, account in self._accounts.items() if now - account.read_at >= WINDOW_S]:
                del self._accounts[old]
            self._accounts.setdefault(grant.id, _Spent(now)).read_at = now

    def spend(self, grant: Grant) -> None:
        """The grant is about to write.

        Raises:
            Forbidden: it has read low-trust text within the hour and written as much as it may since.
        """
        with self._lock:
            account, now = self._accounts.get(grant.id), self._now()
            if self._writes is None or account is None or now - account.read_at >= WINDOW_S:
                return
            while account.writes and now - account.writes[0] >= WINDOW_S:
                account.writes.popleft()
            if len(account.writes) < self._writes:
                account.writes.append(now)
                account.is_told = False
                return
            is_news, account.is_told = not account.is_told, True
        if is_news:
            _log.warning("budget.exhausted", grant=grant.id, writes=self._writes)
        limit = {0: "it may not write", 1: "1 write is all it may do"}.get(
            self._writes, f"{self._writes} writes is all it may do"
        )
        raise Forbidden(
            f"this session has read text from a low-trust folder within the last hour, and {limit} after that "
            "(STRONGROOM_WRITE_BUDGET). Nothing was written. Tell the owner, who can look at what was "
            "written so far, wait for the hour to pass, use another token, or raise the budget."
        )
