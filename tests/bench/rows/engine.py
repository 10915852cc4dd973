"""The literal engine alone, in this process, against one pass over the same memory.

The pass looks for a byte that no text holds, which is libc's `memchr`: it reads every byte once and does nothing else.
Ours is a whole search of a picture that is held still: the scan, the count, the lines of the page read from the disk. What
the look for changes adds is told beside it, and has a row of its own (`fresh`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from service.search.query import Query, search
from service.store.listings import Folders
from service.vault.picture.note import Note
from service.vault.picture.picture import Moment, Picture
from tests.bench.model import Target, aimed
from tests.bench.run import Run, in_process
from tests.bench.turns import timed
from tests.bench.vaults import Measured

TARGET = Target(1.5)
ABSENT = b"\xfd"


async def measure(run: Run, vault: Measured) -> None:
    with in_process(run, vault) as opened:
        moment = opened.picture.now()
        still = replace(opened, picture=cast(Picture, _Still(moment)))
        for kind in ("rare", "nothing"):
            ours: list[float] = []
            whole: list[float] = []
            passes: list[float] = []
            for _ in range(3 * run.rounds):
                words, others = run.questions(vault).some(kind, 2)
                passes.append(timed(lambda: _pass(moment)))
                ours.append(timed(lambda words=words: search(still, Query(words))))  # type: ignore[misc]
                whole.append(timed(lambda words=others: search(opened, Query(words))))  # type: ignore[misc]
            run.compare(
                "engine",
                vault.name,
                f"alone, {kind}",
                ours,
                passes,
                "one pass over the memory",
                aimed(TARGET, vault.name),
            )
            what = f"with the look for changes, {kind}"
            run.compare("engine", vault.name, what, whole, passes, "one pass over the memory", None)


def _pass(moment: Moment) -> None:
    for segment in moment.segments:
        segment.data.find(ABSENT)


class _Still:
    """A picture that does not look whether anything has changed."""

    def __init__(self, moment: Moment) -> None:
        self._moment = moment

    def now(self, _check: object = None) -> Moment:
        return self._moment

    def folders(self, _check: object = None) -> Folders[Note]:
        return self._moment.folders
