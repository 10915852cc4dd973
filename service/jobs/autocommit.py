"""When history is written by itself: at start, every so often, a quiet minute after a tool wrote, and at the end.

No timer lives here: `scheduler.py` calls `at_start`, `on_time` and `look`, and the lifespan calls `finish`. A failure is
logged at ERROR once, not at each try, and tried again a minute later; Busy is no failure.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import structlog

from service.clock import Clock
from service.errors import AppError, Busy, Closing
from service.history.history import History
from service.history.model import CommitReport
from service.settings import Settings

RETRY_AFTER: Final = timedelta(minutes=1)
"""After a commit that failed; most causes (a lost mount, a full disk, somebody's git at work) pass."""
TARDY_AT_LEAST: Final = timedelta(seconds=15)
"""Readiness does not turn red sooner, however short the interval is: a commit of many notes takes seconds by itself."""
FINISH_BUDGET_S: Final = 5.0
"""Seconds the last commit may take: SIGTERM to exit is 10 (decisions.md 12), and requests get up to 4 of them."""
_LAST_FLUSH_SHARE: Final = 0.4
_JOIN_GRACE_S: Final = 0.5

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Rhythm:
    """How often. `every` of zero: never by the clock."""

    every: timedelta
    quiet: timedelta
    max_wait: timedelta

    @classmethod
    def of(cls, settings: Settings) -> Rhythm:
        """The rhythm the settings ask for."""
        return cls(
            timedelta(seconds=settings.commit_every_s),
            timedelta(seconds=settings.commit_quiet_s),
            timedelta(seconds=settings.commit_max_wait_s),
        )


class Autocommit:
    """Decides when to commit. Its methods may be called from any thread; commits themselves queue at the history lock."""

    def __init__(self, history: History, rhythm: Rhythm, clock: Clock) -> None:
        self._history, self._rhythm, self._clock = history, rhythm, clock
        self._started_at = clock.now()
        self._finishing = threading.Event()
        self._retry_at: datetime | None = None
        self._told = ""

    def at_start(self) -> None:
        """Commit whatever changed while nobody was looking."""
        self._full("start")

    def on_time(self) -> None:
        """Commit whatever changed since."""
        self._full("timer")

    def look(self) -> None:
        """Commit the tools' writes if they have come to rest, or have waited long enough; retry a commit that failed."""
        now = self._clock.now()
        if self._retry_at is not None and now >= self._retry_at:
            self._full("retry")
            return
        pending = self._history.pending()
        if pending is None:
            return
        if now - pending.newest >= self._rhythm.quiet or now - pending.oldest >= self._rhythm.max_wait:
            self._attempt("tools", self._history.flush)

    def finish(self, budget_s: float = FINISH_BUDGET_S) -> None:
        """End what is running, commit the tools' writes, then the rest if there is time. Returns within `budget_s`."""
        self._finishing.set()
        last = threading.Thread(
            target=self._finish, args=(time.monotonic() + budget_s,), name="last-commit", daemon=True
        )
        last.start()
        last.join(budget_s + _JOIN_GRACE_S)
        if last.is_alive():
            _log.error("history.last_commit_abandoned", way_out="what is missing is committed at the next start")

    def problems(self) -> list[str]:
        """What readiness should know, a sentence each; empty when history is young and sane."""
        status = self._history.status()
        if status.last_error is not None:
            return [status.last_error]
        if not self._rhythm.every:
            return []
        since = max(self._started_at, status.last_success or self._started_at)
        age = self._clock.now() - since
        if age > max(2 * self._rhythm.every, TARDY_AT_LEAST):
            return [
                f"no commit has gone through for {round(age.total_seconds())} s; look at the log, or run: strongroom doctor"
            ]
        return []

    def _finish(self, deadline: float) -> None:
        def in_time() -> None:
            if time.monotonic() > deadline:
                raise Closing

        remaining_s = deadline - time.monotonic()
        self._attempt("tools", lambda: self._history.flush(remaining_s * _LAST_FLUSH_SHARE))
        left_s = max(0.0, deadline - time.monotonic())
        self._attempt(
            "stop",
            lambda: self._history.commit("stop", keep_going=in_time, may_use_child=False, lock_timeout_s=left_s),
        )

    def _full(self, reason: str) -> None:
        is_done = self._attempt(reason, lambda: self._history.commit(reason, keep_going=self._unless_finishing))
        self._retry_at = None if is_done else self._clock.now() + RETRY_AFTER

    def _unless_finishing(self) -> None:
        if self._finishing.is_set():
            raise Closing

    def _attempt(self, reason: str, work: Callable[[], CommitReport]) -> bool:
        began = time.monotonic()
        try:
            report = work()
        except Closing:
            _log.info("history.commit_ended_early", reason=reason)
            return True
        except Busy as error:
            _log.info("history.busy", reason=reason, why=str(error))
            return False
        except AppError as error:
            self._tell_failure(reason, error)
            return False
        self._tell_success(reason, report, (time.monotonic() - began) * 1000)
        return True

    def _tell_failure(self, reason: str, error: AppError) -> None:
        if str(error) != self._told:
            _log.error("history.commit_failed", reason=reason, code=error.code, why=str(error))
        self._told = str(error)

    def _tell_success(self, reason: str, report: CommitReport, took_ms: float) -> None:
        if self._told and reason != "tools":
            _log.info("history.commit_works_again", reason=reason)
            self._told = ""
        if report.healed:
            _log.warning("history.healed", what=list(report.healed))
        if report.commits:
            _log.info(
                "history.committed",
                reason=reason,
                commits=len(report.commits),
                added=report.added,
                changed=report.changed,
                removed=report.removed,
                left=len(report.problems),
                ms=round(took_ms),
            )
