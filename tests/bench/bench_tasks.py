"""How long a list of tasks takes: `python -m tests.bench.bench_tasks [NOTES]`.

On a vault of NOTES notes (default 10,000), each with some tasks, compared in the same run with a literal search
for `- [`, which reads the same bytes. The first list finds the tasks of every note, later ones remember them by content.
Complaint 5: under 5 s on 2 cores, which is told here and asserted nowhere.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Final

from service.search.query import Query as Search
from service.search.query import search
from service.vault import tasks
from service.vault.tasks import Query
from tests.support.rooms import room_for, settings_for

ROUNDS: Final = 5
TASKS_A_NOTE: Final = 5
WORDS: Final = [
    "water",
    "the",
    "herbs",
    "before",
    "noon",
    "and",
    "call",
    "old",
    "gate,",
    "*then*",
    "[[Plan]]",
    "`notes`",
]
BOUND_S: Final = 5.0


def main(count: int) -> None:
    """Print one table."""
    with tempfile.TemporaryDirectory() as scratch:
        settings = settings_for(Path(scratch))
        added = write_notes(settings.vault, count)
        vault = room_for(settings).vault
        search(vault, Search("warm up"))
        literal = [ms(lambda: search(vault, Search("- ["))) for _ in range(ROUNDS)]
        first = ms(lambda: tasks.find(vault, Query()))
        later = [ms(lambda: tasks.find(vault, Query())) for _ in range(ROUNDS)]
        bounded = [ms(lambda: tasks.find(vault, Query(due_before=date(2026, 1, 1), tag="home"))) for _ in range(ROUNDS)]
    base = statistics.median(literal)
    print(f"{count} notes, {added} tasks\n{'':32}{'ms':>9}{'x search':>10}{'of 5 s':>8}")
    for name, times in (
        ("literal search for '- ['", literal),
        ("list_tasks, first", [first]),
        ("list_tasks, later", later),
        ("list_tasks, by date and tag", bounded),
    ):
        took = statistics.median(times)
        print(f"{name:32}{took:9.0f}{took / base:10.2f}{took / 1000 / BOUND_S:8.2f}")


def write_notes(folder: Path, count: int) -> int:
    """Notes of some two kilobytes with a few tasks each; returns how many tasks."""
    choose = random.Random(1)
    for number in range(count):
        words = " ".join(choose.choices(WORDS, k=250))
        lines = [f"# Note {number}", "", words, ""]
        for task in range(TASKS_A_NOTE):
            day = date(2026, 1, 1) + timedelta(choose.randrange(400))
            box = choose.choice(" xx/-")
            lines.append(
                f"- [{box}] {choose.choice(WORDS)} #home 🔁 every week ⏳ {day - timedelta(2)} 📅 {day} ^t{task}"
            )
        path = folder / f"folder {number % 50}" / f"note {number}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join([*lines, "", words]) + "\n", encoding="utf-8")
    return count * TASKS_A_NOTE


def ms(ask: Callable[[], object]) -> float:
    """How long an answer takes."""
    began = time.perf_counter()
    ask()
    return (time.perf_counter() - began) * 1000


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
