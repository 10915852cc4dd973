"""Ranked search for three words, in this process: seconds of the processor of the asking thread, so that a busy machine
does not count."""

from __future__ import annotations

from service.search.query import Mode, Query, search
from tests.bench.model import Target
from tests.bench.run import Run, in_process
from tests.bench.turns import timed
from tests.bench.vaults import Measured

TARGETS = {"wdd": Target(20, "ms"), "100k": Target(100, "ms")}


async def measure(run: Run, vault: Measured) -> None:
    with in_process(run, vault) as opened:
        search(opened, Query("warm up", Mode.RANKED))
        queries = [run.questions(vault).three_words() for _ in range(2 * run.rounds)]
        ours = [timed(lambda words=words: search(opened, Query(words, Mode.RANKED))) for words in queries]  # type: ignore[misc]
        target = TARGETS.get(vault.name, Target(100, "ms"))
        is_aimed = vault.name in TARGETS
        run.bound("ranked", vault.name, "in process, three words", ours, target, is_aimed=is_aimed)
