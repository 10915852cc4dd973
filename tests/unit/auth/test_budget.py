"""How much a grant may write after it read text from outside."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pytest
from structlog.testing import capture_logs

from service.auth.budget import WINDOW_S, Budget
from service.auth.model import local
from service.errors import Forbidden

GRANT = local(datetime(2026, 1, 1, tzinfo=UTC))
OTHER = replace(GRANT, id="other")


@dataclass
class Watch:
    """A monotonic clock that stands still until it is set."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


def writes(budget: Budget, at_most: int = 1000) -> int:
    """How many writes go through in a row."""
    for done in range(at_most):
        try:
            budget.spend(GRANT)
        except Forbidden:
            return done
    return at_most


def test_without_a_low_trust_read_nothing_is_counted() -> None:
    """decisions.md 11."""
    assert writes(Budget(3)) == 1000


def test_after_a_low_trust_read_there_are_that_many_writes_and_no_more() -> None:
    """decisions.md 11; writes before the read do not count."""
    budget = Budget(3)
    assert writes(budget, 10) == 10
    budget.note_read(GRANT)
    assert writes(budget) == 3
    budget.note_read(GRANT)
    assert writes(budget) == 0


def test_another_grant_has_its_own_budget() -> None:
    """Counted per grant."""
    budget = Budget(1)
    budget.note_read(GRANT)
    budget.note_read(OTHER)
    assert writes(budget) == 1
    budget.spend(OTHER)
    with pytest.raises(Forbidden):
        budget.spend(OTHER)


def test_an_hour_after_the_last_low_trust_read_all_is_as_before() -> None:
    """decisions.md 11: the hour after it read a low-trust note."""
    watch = Watch()
    budget = Budget(2, watch)
    budget.note_read(GRANT)
    assert writes(budget) == 2
    watch.now += WINDOW_S - 1
    assert writes(budget) == 0
    watch.now += 1
    assert writes(budget) == 1000


def test_in_an_hour_that_is_begun_again_old_writes_fall_out_one_by_one() -> None:
    """Never more than the budget in any hour, however often low-trust text is read."""
    watch = Watch()
    budget = Budget(2, watch)
    budget.note_read(GRANT)
    budget.spend(GRANT)
    watch.now += WINDOW_S / 2
    budget.note_read(GRANT)
    budget.spend(GRANT)
    assert writes(budget) == 0
    watch.now += WINDOW_S / 2
    budget.note_read(GRANT)
    assert writes(budget) == 1


@pytest.mark.parametrize(("limit", "expected"), [(0, 0), (None, 1000)])
def test_nought_is_none_and_no_limit_is_no_limit(limit: int | None, expected: int) -> None:
    """docs/reference/settings.md."""
    budget = Budget(limit)
    budget.note_read(GRANT)
    assert writes(budget) == expected


def test_threads_together_get_no_more() -> None:
    """Tools run in worker threads."""
    budget = Budget(50)
    budget.note_read(GRANT)
    with ThreadPoolExecutor(16) as threads:
        done = list(threads.map(lambda _: writes(budget, 20), range(16)))
    assert sum(done) == 50


def test_the_refusal_says_what_to_do_and_is_logged_once() -> None:
    """style.md, Errors and Logs: no path and no text is in either."""
    budget = Budget(1)
    budget.note_read(GRANT)
    with capture_logs() as lines:
        budget.spend(GRANT)
        for _ in range(3):
            with pytest.raises(Forbidden, match=r"STRONGROOM_WRITE_BUDGET.*Nothing was written. Tell the owner"):
                budget.spend(GRANT)
    assert lines == [{"event": "budget.exhausted", "grant": "local", "writes": 1, "log_level": "warning"}]


@pytest.mark.parametrize(
    ("writes", "words"),
    [
        (0, "hour, and it may not write after that"),
        (1, "1 write is all it may do after"),
        (2, "2 writes is all it may do"),
    ],
)
def test_the_refusal_counts_in_plain_words(writes: int, words: str) -> None:
    budget = Budget(writes)
    budget.note_read(GRANT)
    for _ in range(writes):
        budget.spend(GRANT)
    with pytest.raises(Forbidden, match=words):
        budget.spend(GRANT)
