"""How long finding and reading take: `python -m tests.bench.bench_search [NOTES]`.

On a generated vault of NOTES notes (default 10,000) and, where the shared folder lies beside the checkout, on the public
collection `wdd`. Compared in the same run with `rg -i -F -l`, or grep where rg is not installed. Every query is another
one, so that nothing remembered counts. Times are of a warm disk cache; what cannot be measured here is counted.
"""

from __future__ import annotations

import random
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, TypeVar

from service.search.query import Mode, Query, search
from service.tools.context import Room
from service.vault import listing, notes
from tests.support.rooms import room_for, settings_for
from tests.support.vaults import generate

T = TypeVar("T")

WDD: Final = Path(__file__).resolve().parents[2].parent / "shared" / "vaults" / "wdd.tar.xz"
ROUNDS: Final = 7
KINDS: Final[dict[str, Sequence[str]]] = {
    "nothing": [f"zzqx{number}" for number in range(ROUNDS)],
    "rare": ["0x8004", "deprecat", "quiesce", "topolog", "thermal", "biometr", "NTSTATUS"],
    "common": ["driver", "system", "project", "notes", "kernel", "review", "question"],
    "phrase": [
        "the driver",
        "operating system",
        "garden project",
        "kernel mode",
        "for more",
        "plan question",
        "in the",
    ],
    "one letter": list("qzxjkwv"),
    "not English": ["straße", "été", "系統", "会議", "проект", "οδός", "می‌روم"],
}

QUESTIONS: Final = [
    "how to create a new file system driver",
    "what did I plan for the garden",
    "debug a blue screen",
    "meeting about the budget",
    "quince",
    "water light winter",
    "会議メモ 東京",
]
"""Questions in plain words, for ranked search; compared with a literal search for the same."""


def main(count: int) -> None:
    """Print one table for each vault."""
    skipped: list[str] = []
    other = next((name for name in ("rg", "grep") if shutil.which(name)), None)
    if other != "rg":
        skipped.append("rg is not installed" + (", compared with grep" if other else ""))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        settings = settings_for(folder)
        made = generate(settings.vault, count)
        measure(
            f"generated, {made.notes} notes, {made.size_bytes / 1e6:.0f} MB", room_for(settings), settings.vault, other
        )
    if WDD.exists():
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            settings = settings_for(folder)
            with tarfile.open(WDD) as archive:
                archive.extractall(settings.vault, filter="data")
            measure("wdd, 14,386 notes, 56 MB", room_for(settings), settings.vault, other)
    else:
        skipped.append("wdd: the shared folder is not beside this checkout")
    print(f"\nskipped: {len(skipped)}", *skipped, sep="\n  ")


def measure(title: str, room: Room, folder: Path, other: str | None) -> None:
    """Print what each kind of question takes, in ms: the median and the slowest of ROUNDS."""
    vault = room.vault
    print(f"\n{title}\n{'':24}{'median':>9}{'slowest':>9}{other or '':>9}{'ratio':>8}")
    search(vault, Query("warm up"))
    for kind, words in KINDS.items():
        ours = timed(words, lambda word: search(vault, Query(word)))
        theirs = timed(words, lambda word: run_other(other, word, folder)) if other else []
        show(f"search: {kind}", ours, theirs)
    literal = timed(QUESTIONS, lambda words: search(vault, Query(words)))
    ranked = timed(QUESTIONS, lambda words: search(vault, Query(words, Mode.RANKED)))
    print(f"{'':24}{'':18}{'literal':>9}")
    show("search: ranked", ranked, literal)
    entries = listing.by_path(vault)
    some = random.Random(1).sample(entries, 200)
    show("read_note", timed((entry.path for entry in some), lambda path: notes.read(vault, path)), [])
    show("list_recent", timed(range(ROUNDS), lambda _: listing.newest(vault, limit=10)), [])
    show("get_vault_tree", timed(range(ROUNDS), lambda _: listing.tree(vault, depth=100, limit=500)), [])


def timed(questions: Iterable[T], ask: Callable[[T], object]) -> list[float]:
    """How long each question takes, in ms."""
    times = []
    for question in questions:
        began = time.perf_counter()
        ask(question)
        times.append((time.perf_counter() - began) * 1000)
    return times


def run_other(name: str | None, word: str, folder: Path) -> None:
    """Search as rg or grep does: which files hold the word, case ignored."""
    options = ["-i", "-F", "-l"] if name == "rg" else ["-r", "-l", "-i", "-F"]
    subprocess.run([name or "", *options, "-e", word, "."], cwd=folder, stdout=subprocess.DEVNULL, check=False)


def show(what: str, ours: Sequence[float], theirs: Sequence[float]) -> None:
    """One line of the table."""
    median = statistics.median(ours)
    line = f"{what:24}{median:9.1f}{max(ours):9.1f}"
    print(line + (f"{statistics.median(theirs):9.1f}{median / statistics.median(theirs):8.2f}" if theirs else ""))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
