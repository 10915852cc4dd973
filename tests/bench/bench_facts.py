"""How long questions about what notes hold take: `python -m tests.bench.bench_facts [NOTES]`.

On a generated vault of NOTES notes (default 10,000) and, where the shared folder lies beside the checkout, on the public
collection `wdd`. In the same run a plain scan (a search for a word that is nowhere) is timed, and each figure is given as
its ratio to that: for notes of which the tags are not known yet, and then for known ones. The disk cache is warm, and
what is hidden in the notes is known (`bench_views` has that).
"""

from __future__ import annotations

import statistics
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from service.errors import Unavailable
from service.guards import paths
from service.search.query import Query, search
from service.vault import outline, tags
from service.vault.facts import Facts
from service.vault.model import Vault
from tests.support.rooms import room_for, settings_for
from tests.support.vaults import generate

WDD: Final = Path(__file__).resolve().parents[2].parent / "shared" / "vaults" / "wdd.tar.xz"
ROUNDS: Final = 3


def main(count: int) -> None:
    """Print one table for each vault."""
    with tempfile.TemporaryDirectory() as scratch:
        settings = settings_for(Path(scratch))
        made = generate(settings.vault, count)
        measure(f"generated, {made.notes} notes, {made.size_bytes / 1e6:.0f} MB", room_for(settings).vault)
    if WDD.exists():
        with tempfile.TemporaryDirectory() as scratch:
            settings = settings_for(Path(scratch))
            with tarfile.open(WDD) as archive:
                archive.extractall(settings.vault, filter="data")
            measure("wdd, 14,388 notes, 56 MB", room_for(settings).vault)
    else:
        print("\nskipped: 1\n  wdd: the shared folder is not beside this checkout")


def measure(title: str, vault: Vault) -> None:
    """Print what each question takes: the median of ROUNDS in ms, and as a multiple of a plain scan."""
    warm_up(vault)
    scan = median(lambda round_: search(vault, Query(f"zzqx{round_}")))
    print(f"\n{title}\n{'':28}{'ms':>9}{'ratio':>8}\n{'a plain scan':28}{scan:9.0f}{1:8.1f}")
    show("list_tags, first", median(lambda _: tags.count(replace(vault, facts=Facts()), limit=100)), scan)
    tags.count(vault, limit=100)
    show("list_tags, known", median(lambda _: tags.count(vault, limit=100)), scan)
    show("search with a tag, known", median(lambda round_: search(vault, Query(f"e{round_}", tag="project"))), scan)
    longest = max(vault.files.walk(), key=lambda entry: entry.size_bytes if entry.path.has_suffix((".md",)) else 0).path
    size = len(vault.files.read(longest).data)
    took = median(lambda _: outline.of_note(vault, paths.markdown(str(longest))))
    print(f"{'outline of the longest':28}{took:9.1f}{'':8}   {size} bytes")


def warm_up(vault: Vault) -> None:
    """Look once at all that is hidden in the notes; on a busy machine that takes more than one question may."""
    for _ in range(20):
        with suppress(Unavailable):
            search(vault, Query("warm up"))
            return


def median(ask: Callable[[int], object]) -> float:
    """The median of ROUNDS, in ms."""
    times = []
    for round_ in range(ROUNDS):
        began = time.perf_counter()
        ask(round_)
        times.append(1000 * (time.perf_counter() - began))
    return statistics.median(times)


def show(what: str, took_ms: float, scan_ms: float) -> None:
    print(f"{what:28}{took_ms:9.0f}{took_ms / scan_ms:8.1f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
