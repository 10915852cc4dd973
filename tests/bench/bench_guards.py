"""What the guards cost: `python -m tests.bench.bench_guards [NOTES]`.

On ordinary notes (NOTES of the public collection `wdd`, default 3,000, where the shared folder lies beside the checkout;
else as many generated ones) in MB per second of processor time; and on hostile texts, how the time grows from 64 KB to
1 MB and, for a few, to 10 MB. 1.0 is growth in step with the length; both ends of a ratio come from the same run.
"""

from __future__ import annotations

import random
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from service.errors import UnsafeContent
from service.guards import incoming, markdown, outgoing
from service.guards.markdown import blocks
from tests.support.markdown_hostile import hostile
from tests.support.vaults import generate

WDD: Final = Path(__file__).resolve().parents[2].parent / "shared" / "vaults" / "wdd.tar.xz"
KB: Final = 1024
MB: Final = 1024 * KB
AT_TEN_MB: Final = ("'a'", "'['", "'`'", "'> '", "'- '", "'\\n'", "'[a]('", "a million headings")


def read_all(text: str) -> None:
    """What a guard asks of the scanner: every reading of a text."""
    for reading in markdown.readings(text):
        markdown.document(reading)


def write(text: str) -> None:
    """What a new note costs the input guard, refused or not."""
    with suppress(UnsafeContent):
        incoming.guard("", text, [(0, len(text))])


WORK: Final[Mapping[str, Callable[[str], object]]] = {
    "scanner, blocks alone": blocks.scan,
    "scanner, one reading": markdown.document,
    "scanner, all readings": read_all,
    "output guard": outgoing.view,
    "input guard, a new note": write,
}


def main(count: int) -> None:
    """Print one table for ordinary notes and one for hostile texts."""
    with tempfile.TemporaryDirectory() as scratch:
        notes = some_notes(Path(scratch), count)
    size = sum(map(len, notes)) / 1e6
    print(f"{len(notes)} notes, {size:.1f} million characters\n{'':24}{'MB/s':>8}{'slowest note, ms':>18}")
    for name, work in WORK.items():
        times = [processor_s(work, note) for note in notes]
        print(f"{name:24}{size / sum(times):8.1f}{max(times) * 1000:18.1f}")
    print(f"\n{'hostile text, all readings':44}{'64 KB, ms':>10}{'1 MB, ms':>10}{'growth':>8}{'10 MB, s':>10}")
    worst = 0.0
    for name, text in sorted(hostile().items()):
        short, long = best(text(64 * KB), 3), best(text(MB), 2)
        worst = max(worst, long / short / 16)
        most = f"{best(text(10 * MB), 1):10.1f}" if name in AT_TEN_MB else ""
        print(f"{name[:44]:44}{short * 1000:10.1f}{long * 1000:10.1f}{long / short / 16:8.2f}{most}")
    print(f"\nworst growth of {len(hostile())}: {worst:.2f}")


def some_notes(scratch: Path, count: int) -> list[str]:
    """The same `count` notes every time."""
    if WDD.exists():
        with tarfile.open(WDD) as archive:
            archive.extractall(scratch, filter="data")
    else:
        print("skipped: wdd, the shared folder is not beside this checkout")
        generate(scratch, count)
    found = sorted(scratch.rglob("*.md"))
    chosen = random.Random(1).sample(found, min(count, len(found)))
    return [path.read_bytes().decode("utf-8", "replace") for path in chosen]


def best(text: str, rounds: int) -> float:
    """What all readings of `text` take, in seconds of processor time."""
    return min(processor_s(read_all, text) for _ in range(rounds))


def processor_s(work: Callable[[str], object], text: str) -> float:
    """What `work` takes, in seconds of processor time."""
    begun = time.process_time()
    work(text)
    return time.process_time() - begun


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3_000)
