"""One look for all who asked before it began; none for who asked later. search.md 5, issue 6."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from service.store.sharing import Shared


class Looks:
    """Numbers its looks; the first of them waits until it is let go on."""

    def __init__(self) -> None:
        self.numbers = itertools.count(1)
        self.has_begun, self.may_go_on = threading.Event(), threading.Event()

    def look(self, check: Callable[[], None]) -> int:
        number = next(self.numbers)
        if number == 1:
            self.has_begun.set()
            assert self.may_go_on.wait(5)
        check()
        return number


def test_who_asks_while_a_look_goes_on_gets_the_next_and_all_of_them_the_same() -> None:
    """Never older than the moment of asking: what changed behind the look that goes on would not be in it."""
    looks, waiting = Looks(), [threading.Event() for _ in range(8)]
    shared = Shared(looks.look)
    with ThreadPoolExecutor(9) as threads:
        first = threads.submit(shared.now, lambda: None)
        assert looks.has_begun.wait(5)
        crowd = [threads.submit(shared.now, waits.set) for waits in waiting]
        assert all(
            waits.wait(5) for waits in waiting
        )  # `held` calls the check while it waits: so all of them have asked
        looks.may_go_on.set()
        assert first.result(5) == 1
        assert {one.result(5) for one in crowd} == {2}


def test_who_asks_afterwards_gets_a_look_of_its_own() -> None:
    """Nothing is remembered for later."""
    looks = Looks()
    looks.may_go_on.set()
    shared = Shared(looks.look)
    assert [shared.now(lambda: None) for _ in range(3)] == [1, 2, 3]


def test_a_look_that_is_given_up_is_not_shared() -> None:
    """A deadline is its asker's own; the next one looks for itself."""
    looks = Looks()
    looks.may_go_on.set()
    shared = Shared(looks.look)

    def give_up() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        shared.now(give_up)
    assert shared.now(lambda: None) == 2
