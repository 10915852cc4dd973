"""How long a write takes beside the plain way: `python -m tests.bench.bench_writes [FOLDER]`.

The store's `replace` (two looks, unnamed file, fsync, exchange, judged under a lease, fsync of the folder) against write,
fsync, rename and fsync of the folder, which loses what other programs save in between. Both take turns on one file
system in the same run, so a busy disk hits both, and whose turn is first changes each time. `median ratio` is the median of
the ratios of each turn; `of medians` and `of p95s` compare the two distributions. Target: at most 1.5 times the plain way for
4 KB. `create` is shown for scale. Nothing here is asserted in a test.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from service.store.files import VaultFiles
from service.store.root import Root
from tests.support.disk import allow, at

ROUNDS: Final = 300
WARM_UP: Final = 20
SIZES: Final = {"4 KB": 4096, "1 MB": 1 << 20}


def main(folder: Path | None) -> None:
    """Print one line a size and way, for a folder on the disk to measure and for memory where there is some."""
    for place in (folder or Path.cwd(), Path("/dev/shm")):
        if not place.is_dir():
            continue
        with tempfile.TemporaryDirectory(dir=place) as scratch:
            measure("memory" if place == Path("/dev/shm") else "disk", Path(scratch))


def measure(name: str, scratch: Path) -> None:
    """Measure both ways in turns."""
    root = Root(scratch)
    files = VaultFiles(root)
    print(f"{name:8}{'':10}{'median ms':>10}{'p95 ms':>10}{'median ratio':>14}{'of medians':>12}{'of p95s':>10}")
    for label, size in SIZES.items():
        times = rounds(files, scratch, [os.urandom(size) for _ in range(8)])
        base = summary(times["plain"])
        for way, taken in times.items():
            median, late = summary(taken)
            ratio = statistics.median(one / plain for one, plain in zip(taken, times["plain"], strict=True))
            print(
                f"{label:8}{way:10}{median:10.2f}{late:10.2f}{ratio:14.2f}{median / base[0]:12.2f}{late / base[1]:10.2f}"
            )
    root.close()


def rounds(files: VaultFiles, scratch: Path, bodies: Sequence[bytes]) -> Mapping[str, Sequence[float]]:
    """Seconds of each turn of each way, without the first turns."""
    times: dict[str, list[float]] = {"plain": [], "replace": [], "create": []}
    plainly(scratch / "plain.md", bodies[0])
    note = files.create(at("store.md"), bodies[0], allow)
    for turn in range(ROUNDS + WARM_UP):
        body = bodies[turn % len(bodies)]

        def replaced(body: bytes = body) -> None:
            nonlocal note
            note = files.replace(note, body, allow)

        acts: dict[str, Callable[[], object]] = {
            "plain": lambda body=body: plainly(scratch / "plain.md", body),
            "replace": replaced,
            "create": lambda body=body, turn=turn: files.create(at(f"new-{turn}.md"), body, allow),
        }
        for way in list(acts) if turn % 2 else reversed(list(acts)):
            times[way].append(timed(acts[way]))
        (scratch / f"new-{turn}.md").unlink()
    files.remove(note, allow)
    return {way: taken[WARM_UP:] for way, taken in times.items()}


def plainly(path: Path, body: bytes) -> None:
    """Write beside, fsync, rename, fsync the folder."""
    beside = path.with_name(".beside.tmp")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.write(descriptor, body)
    os.fsync(descriptor)
    os.close(descriptor)
    os.rename(beside, path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    os.fsync(folder)
    os.close(folder)


def timed(act: Callable[[], object]) -> float:
    """Seconds that `act` takes."""
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def summary(times: Sequence[float]) -> tuple[float, float]:
    """Median and 95th percentile in milliseconds."""
    counted = sorted(times)
    return statistics.median(counted) * 1000, counted[int(len(counted) * 0.95)] * 1000


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
