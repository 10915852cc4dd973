"""The clockwork: calls what is due, in threads of its own, and never two of a kind at once.

APScheduler with `coalesce`, `max_instances=1` and no misfire limit: a run that comes late comes once. It cannot wait when it
is shut down, so the last commit is not its business (`Autocommit.finish`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Final

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.interval import IntervalTrigger

from service.jobs.autocommit import Autocommit, Rhythm

LOOK_EVERY: Final = timedelta(seconds=5)
"""How often the journal is asked whether tools have come to rest; one small query."""
_THREADS: Final = 2


class Clockwork:
    """Runs an `Autocommit`. `start` it once, `stop` it once.

    Args:
        before_first: returns when the commit at the start may begin; called in a thread of the clockwork.
    """

    def __init__(
        self,
        autocommit: Autocommit,
        rhythm: Rhythm,
        look_every: timedelta = LOOK_EVERY,
        before_first: Callable[[], object] = lambda: None,
    ) -> None:
        self._autocommit = autocommit
        self._before_first = before_first
        self._is_stopped = False
        self._scheduler = BackgroundScheduler(
            executors={"default": ThreadPoolExecutor(_THREADS)},
            job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None},
            timezone=UTC,
        )
        self._scheduler.add_job(self._at_start, id="start", next_run_time=datetime.now(UTC))
        self._scheduler.add_job(autocommit.look, IntervalTrigger(seconds=look_every.total_seconds()), id="look")
        if rhythm.every:
            self._scheduler.add_job(
                autocommit.on_time, IntervalTrigger(seconds=rhythm.every.total_seconds()), id="commit"
            )

    @property
    def is_running(self) -> bool:
        """Whether things still happen by themselves."""
        return bool(self._scheduler.running)

    def start(self) -> None:
        """Begin, with a commit of whatever changed meanwhile."""
        self._scheduler.start()

    def stop(self) -> None:
        """Start nothing more, and make the last commit; bounded by `FINISH_BUDGET_S`. A second call does nothing."""
        if self._is_stopped:
            return
        self._is_stopped = True
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)
        self._autocommit.finish()

    def _at_start(self) -> None:
        self._before_first()
        self._autocommit.at_start()

    def problems(self) -> list[str]:
        """What readiness should know, a sentence each."""
        if not self.is_running:
            return ["the scheduler does not run, so nothing is committed by itself; restart the service."]
        return self._autocommit.problems()


@contextmanager
def running(clockwork: Clockwork) -> Iterator[Clockwork]:
    """The clockwork, going until the end of the block; then the last commit."""
    clockwork.start()
    try:
        yield clockwork
    finally:
        clockwork.stop()
