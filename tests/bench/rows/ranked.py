"""Ranked search for three words, in this process: seconds of the processor of the asking thread, so that a busy machine
does not count."""

from __future__ import annotations

from service.search.query import Mode, Query, search
from tests.bench.model import Target
from tests.bench.run import Run
from tests.bench.turns import timed
from tests.bench.vaults import Measured
from tests.support.rooms import close, room_for, settings_for

TARGETS = {"wdd": Target(20, "ms"), "100k": Target(100, "ms")}


async def measure(run: Run, vault: Measured) -> None:
    with run.folder() as folder:
        room = room_for(settings_for(folder, VAULT=str(vault.folder)))
        for _ in range(60):
            if not search(room.vault, Query("warm up", Mode.RANKED)).skipped:
                break
        queries = [run.questions(vault).three_words() for _ in range(2 * run.rounds)]
        ours = [timed(lambda words=words: search(room.vault, Query(words, Mode.RANKED))) for words in queries]  # type: ignore[misc]
        is_aimed = vault.name in TARGETS
        target = TARGETS.get(vault.name, Target(100, "ms"))
        run.bound("ranked", vault.name, "in process, three words", ours, target, is_aimed=is_aimed)
        close(room)
