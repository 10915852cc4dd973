"""Waiting for a scan, but not for ever."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from service.errors import Unavailable
from service.vault import patience


@pytest.fixture
def dead_disk() -> Iterator[threading.Event]:
    """Work that waits for this event hangs until the test is over."""
    event = threading.Event()
    yield event
    event.set()
    for thread in threading.enumerate():
        if thread.name.startswith("strongroom-scan"):
            thread.join(10)


def test_what_work_gives_or_raises_comes_back() -> None:
    """Our decision."""
    assert patience.within(10, lambda _deadline: 7) == 7
    with pytest.raises(ValueError, match="x"):
        patience.within(10, lambda _deadline: int("x"))


def test_work_that_never_comes_back_is_left_behind(dead_disk: threading.Event) -> None:
    """The brief: a stuck disk does not hold a worker thread for ever."""
    with pytest.raises(Unavailable, match="disk does not answer"):
        patience.within(0.01, lambda _deadline: dead_disk.wait(), grace_s=0.01)


def test_when_several_are_left_behind_no_further_one_is_begun(dead_disk: threading.Event) -> None:
    """Our decision: or retries would pile up threads."""
    for _ in range(patience.MAX_STUCK):
        with pytest.raises(Unavailable):
            patience.within(0.01, lambda _deadline: dead_disk.wait(), grace_s=0.01)
    begun = threading.Event()
    with pytest.raises(Unavailable, match="disk does not answer"):
        patience.within(10, lambda _deadline: begun.set())
    assert not begun.is_set()
