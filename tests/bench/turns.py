"""Taking turns: ours and the others do the same work one after the other, so that what else the machine does hits all.

Whose turn is first changes each time; the first turn warms up and does not count. An engine that has used up its seconds
sits out the rest (the slowest need a minute a call), but takes LEAST turns at least.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeVar

import anyio

T = TypeVar("T")
Act = Callable[[T], Awaitable[object]]

LEAST: Final = 2


async def by_turns(
    acts: Mapping[str, Act[T]], draw: Callable[[], T], rounds: int, *, budget_s: float = 60, warm_up: int = 1
) -> dict[str, list[float]]:
    """Milliseconds of each turn of each engine; in one round all of them get the same that was drawn."""
    times: dict[str, list[float]] = {name: [] for name in acts}
    spent = dict.fromkeys(acts, 0.0)
    for turn in range(rounds + warm_up):
        given = draw()
        order = list(acts) if turn % 2 else list(reversed(list(acts)))
        for name in order:
            if spent[name] > budget_s and len(times[name]) >= LEAST:
                continue
            began = time.perf_counter()
            await acts[name](given)
            took = time.perf_counter() - began
            if turn < warm_up and took < 5:
                continue
            spent[name] += took
            times[name].append(1000 * took)
            await anyio.sleep(0)
    return times


def timed(work: Callable[[], object]) -> float:
    """Milliseconds of the processor that this process spends on some work, in whatever threads."""
    began = time.process_time()
    work()
    return 1000 * (time.process_time() - began)
