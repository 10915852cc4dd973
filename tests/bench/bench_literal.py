"""The literal engine alone, by kinds of questions: `python -m tests.bench.bench_literal VAULT`.

Processor time of one thread, the least of several rounds, beside one pass over the same memory by libc's `memchr`. The
picture is held still, so that only the search itself is measured; `tests.bench` has the whole calls.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from service.search import literal
from service.search.asked import Found, Query
from service.vault.model import Vault
from service.vault.patience import Deadline
from service.vault.picture.picture import Moment, Picture
from tests.support.rooms import room_for, settings_for

ROUNDS: Final = 9
ABSENT: Final = b"\xfd"
KINDS: Final[dict[str, Sequence[str]]] = {
    "nothing": ["zzqx17"],
    "rare": ["needlexyzzy", "0x8004", "deprecat"],
    "phrase": ["kernel mode", "for more"],
    "common": ["driver", "device", "the"],
    "one or two letters": ["e", "x", "ze", "[["],
    "not English": ["straße", "系統", "会議", "İstanbul", "ΟΔΌΣ", "🧠"],
}


def main(folder: Path) -> None:
    """Print a line for each question: hits, notes, milliseconds, and how many passes over the memory that is."""
    with tempfile.TemporaryDirectory() as scratch:
        vault = room_for(replace(settings_for(Path(scratch)), vault=folder)).vault
        moment = vault.picture.now()
        still = replace(vault, picture=_Still(moment))
        one_pass = least(lambda: [segment.data.find(ABSENT) for segment in moment.segments])
        size = sum(len(segment.data) for segment in moment.segments)
        print(f"{size / 1e6:.0f} MB in {len(moment.segments)} segments, one pass {one_pass:.2f} ms")
        for kind, queries in KINDS.items():
            for words in queries:
                found = ask(still, words)
                took = least(lambda words=words: ask(still, words))  # type: ignore[misc]
                total = f"{found.page.total}{'' if found.is_total_exact else '+'}"
                print(f"{kind:20}{words:14}{total:>9}{found.notes:>8}{took:9.2f} ms{took / one_pass:7.2f}")


def ask(vault: Vault, words: str) -> Found:
    return literal.found(vault, Query(words), Deadline(time.monotonic() + 600, 600, time.monotonic))


def least(work: Callable[[], object]) -> float:
    """The least processor time of several rounds, in ms."""
    times = []
    for _ in range(ROUNDS):
        began = time.thread_time()
        work()
        times.append((time.thread_time() - began) * 1000)
    return min(times)


class _Still(Picture):
    """A picture that does not look whether anything has changed."""

    def __init__(self, moment: Moment) -> None:
        self._moment = moment

    def now(self, check: Callable[[], None] = lambda: None) -> Moment:
        return self._moment


if __name__ == "__main__":
    main(Path(sys.argv[1]))
