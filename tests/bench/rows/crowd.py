"""Thirty-two clients at once over HTTP, each search another one, beside the same crowd at a bare server of the SDK.

The crowd keeps its connections and is as light as can be (`tests.bench.loopback`), so that the server is what is measured.
Both servers have one process, the same parser and the same form of answer; windows of some seconds take turns. Then one
official client by itself.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tests.bench import engines, loopback
from tests.bench.model import Figure, Target, Times
from tests.bench.run import Run, warm
from tests.bench.vaults import Measured
from tests.support.service import LEGACY, MODERN, ROOT, wait_until

TO_BARE = Target(0.35, is_least=True)
ONE_CLIENT = Target(15, "ms")
CLIENTS = 32
FEW_A_SECOND, MANY_A_SECOND = 1_500, 10_000
"""Queries that are ready; where they run out early, the rate is that of the time until then."""


async def measure(run: Run, vault: Measured) -> None:
    window_s, windows = (1.5, 2) if run.is_quick else (4.0, 4)
    is_aimed = vault.name == "wdd"
    with run.service(vault.folder) as service:
        token = service.token("bench")
        async with engines.ours_by_http(service, token) as engine:
            await warm(engine)
        is_json = await loopback.answers_json(service.port, token, run.questions(vault).next("rare"))
        with bare(run, is_json=is_json) as bare_port:
            for era in (MODERN, LEGACY):
                rates: dict[str, list[float]] = {"ours": [], "bare": []}
                late: list[float] = []
                for _ in range(windows):
                    queries = run.questions(vault).mixed(int(FEW_A_SECOND * window_s))
                    began = time.perf_counter()
                    took = await loopback.crowd(
                        service.port, era, "search_notes", queries, CLIENTS, window_s, token=token
                    )
                    rates["ours"].append(len(took) / (time.perf_counter() - began))
                    late += took
                    echoes = [f"echo {number}" for number in range(int(MANY_A_SECOND * window_s))]
                    began = time.perf_counter()
                    took = await loopback.crowd(bare_port, era, "echo", echoes, CLIENTS, window_s)
                    rates["bare"].append(len(took) / (time.perf_counter() - began))
                ratio = statistics.median(
                    mine / ceiling for mine, ceiling in zip(rates["ours"], rates["bare"], strict=True)
                )
                what = f"{CLIENTS} clients, {era if era == MODERN else '2025-11-25'}"
                run.tell(
                    Figure(
                        "crowd", vault.name, what, ratio, TO_BARE if is_aimed else None, unit="/s",
                        ours=Times.of(rates["ours"]), other=Times.of(rates["bare"]), against="the SDK's echo",
                    )
                )  # fmt: skip
        await _alone(run, vault, service.port, token)
        async with engines.ours_by_http(service, token) as engine:
            took = []
            for words in run.questions(vault).mixed(60 if run.is_quick else 400):
                began = time.perf_counter()
                await engine.search(words)
                took.append(1000 * (time.perf_counter() - began))
        one = Times.of(took)
        run.tell(
            Figure("crowd", vault.name, "one client alone, p99", one.p99, ONE_CLIENT if is_aimed else None, ours=one)
        )


async def _alone(run: Run, vault: Measured, port: int, token: str) -> None:
    queries: Sequence[str] = run.questions(vault).mixed(60 if run.is_quick else 400)
    took = await loopback.crowd(port, MODERN, "search_notes", queries, 1, 60, token=token)
    times = Times.of(took)
    run.tell(Figure("crowd", vault.name, "one light client alone, p99", times.p99, None, ours=times))


@contextmanager
def bare(run: Run, *, is_json: bool) -> Iterator[int]:
    """The bare server over HTTP; its port."""
    with run.folder() as folder, open(folder / "said", "w+", encoding="utf-8") as said:
        words = [sys.executable, str(ROOT / "tests" / "bench" / "bare.py"), "http", "json" if is_json else "events"]
        process = subprocess.Popen(words, cwd=ROOT, stdout=said, stderr=subprocess.STDOUT)

        def port() -> re.Match[str] | None:
            return re.search(r"running on http://127\.0\.0\.1:(\d+)", (folder / "said").read_text(encoding="utf-8"))

        try:
            wait_until(lambda: port() is not None, 30, "the bare server does not start")
            found = port()
            assert found is not None
            yield int(found[1])
        finally:
            process.kill()
            process.wait()
