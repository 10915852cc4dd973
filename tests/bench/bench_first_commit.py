"""Whether a first commit holds up searches: `python -m tests.bench.bench_first_commit [NOTES [ROUNDS]]`.

A real service on a generated vault of NOTES notes (default 10,000) that has no history yet, one official client over HTTP,
distinct queries one after the other. In each of ROUNDS rounds (default 3) the service starts on a fresh state folder, so that
its first commit runs, and searches are timed until that commit is there; then as many are timed with the service at rest.
Figure: p99 during the commit divided by p99 at rest (the target is at most 2). Times are milliseconds of wall clock.
"""

from __future__ import annotations

import itertools
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import anyio
from mcp.client import Client

from tests.support.service import Service
from tests.support.vaults import generate

AT_LEAST: Final = 40
_WORDS: Final = ("garden", "system", "review", "question", "系統", "été", "проект", "winter", "straße", "family")


def main(count: int, rounds: int) -> None:
    """Print one table."""
    during: list[float] = []
    at_rest: list[float] = []
    commits_s: list[float] = []
    queries = _queries()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        made = generate(folder / "vault", count)
        for _ in range(rounds):
            shutil.rmtree(folder / "state", ignore_errors=True)
            (folder / "state").mkdir(mode=0o700)
            with Service.start(folder, is_waiting=False, COMMIT_EVERY="1h") as service:
                anyio.run(_one_round, service, queries, during, at_rest, commits_s)
                service.stop()
    print(
        f"{made.notes} notes, {made.size_bytes / 1e6:.1f} MB, {rounds} first commits of {min(commits_s):.1f}-{max(commits_s):.1f} s"
    )
    print(f"{'':14}{'searches':>9}{'median':>9}{'p95':>9}{'p99':>9}")
    for name, times in (("during", during), ("at rest", at_rest)):
        print(f"{name:14}{len(times):9}" + "".join(f"{_quantile(times, part):9.0f}" for part in (0.5, 0.95, 0.99)))
    ratios = [_quantile(during, part) / _quantile(at_rest, part) for part in (0.5, 0.95, 0.99)]
    print(f"{'ratio':14}{'':9}" + "".join(f"{ratio:9.2f}" for ratio in ratios))


async def _one_round(
    service: Service, queries: Iterator[str], during: list[float], at_rest: list[float], commits_s: list[float]
) -> None:
    token = service.token("bench")
    head = service.state / "history.git" / "refs" / "heads" / "main"
    service.wait_until_up()
    began = time.monotonic()
    async with service.client(token) as client:
        here: list[float] = []
        while not head.exists():
            here.append(await _search_ms(client, next(queries)))
        commits_s.append(time.monotonic() - began)
        during += here
        for _ in range(max(AT_LEAST, len(here))):
            at_rest.append(await _search_ms(client, next(queries)))


async def _search_ms(client: Client, query: str) -> float:
    began = time.monotonic()
    result = await client.call_tool("search_notes", {"query": query, "limit": 10})
    took = (time.monotonic() - began) * 1000
    if result.is_error:
        raise SystemExit(f"a search failed: {result.content}")
    return took


def _queries() -> Iterator[str]:
    """Queries that differ from call to call, from common to rare."""
    chance = random.Random(11)
    for number in itertools.count():
        yield (
            f"{chance.choice(_WORDS)} {chance.choice(_WORDS)}"[: chance.randint(3, 18)] if number % 3 else f"zq{number}"
        )


def _quantile(times: list[float], part: float) -> float:
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, round(part * (len(ordered) - 1)))]


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:]]
    main(*(numbers + [10_000, 3][len(numbers) :]))
