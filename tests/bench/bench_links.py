"""How long questions about links take: `python -m tests.bench.bench_links [NOTES]`.

On a generated vault of NOTES notes (default 10,000) and, where the shared folder lies beside the checkout, on the public
collection `wdd`. Each question first after a start (views and all), then again (the median of ROUNDS), in seconds of the
processor; names of 100,000 files by themselves.
"""

from __future__ import annotations

import statistics
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from service.errors import LinkBroken
from service.guards.paths import VaultPath
from service.vault import destinations, links, listing
from service.vault.model import Vault
from service.vault.resolving import Names
from tests.support.rooms import close, room_for, settings_for
from tests.support.vaults import generate

WDD: Final = Path(__file__).resolve().parents[2].parent / "shared" / "vaults" / "wdd.tar.xz"
ROUNDS: Final = 5


def main(count: int) -> None:
    """Print one table for each vault."""
    many = [VaultPath((f"folder {number % 1000}", f"note {number}.md")) for number in range(100_000)]
    print(f"names of 100,000 files: {timed(lambda: Names.of(many)):.2f} s")
    with tempfile.TemporaryDirectory() as scratch:
        settings = settings_for(Path(scratch))
        made = generate(settings.vault, count)
        print(f"\ngenerated: {made.notes} notes, {made.size_bytes / 1e6:.0f} MB")
        table(Path(scratch))
    if not WDD.is_file():
        print("\nnot measured: wdd, which is not beside this checkout")
        return
    with tempfile.TemporaryDirectory() as scratch:
        settings = settings_for(Path(scratch))
        with tarfile.open(WDD) as archive:
            archive.extractall(settings.vault, filter="data")
        print("\nwdd")
        table(Path(scratch))


def table(folder: Path) -> None:
    """First and further times of each question, each first one on a vault that was just opened."""
    opened = room_for(settings_for(folder))
    path = listing.by_path(opened.vault)[0].path
    close(opened)
    questions: dict[str, Callable[[Vault], object]] = {
        "resolve_link": lambda vault: destinations.find(vault, str(path)),
        "resolve_link, no such file": nowhere,
        "get_links": lambda vault: links.of(vault, path, limit=50),
        "find_broken_links": lambda vault: links.loose(vault, limit=50),
    }
    print(f"{'':28}{'first':>9}{'again':>9}")
    for name, ask in questions.items():
        room = room_for(settings_for(folder))
        first = timed(lambda ask=ask, room=room: ask(room.vault))  # type: ignore[misc]
        again = statistics.median(timed(lambda ask=ask, room=room: ask(room.vault)) for _ in range(ROUNDS))  # type: ignore[misc]
        print(f"{name:28}{first:8.2f}s{again:8.2f}s")
        close(room)


def nowhere(vault: Vault) -> None:
    """A link that leads nowhere: all aliases are looked through."""
    try:
        destinations.find(vault, "[[no such note at all]]")
    except LinkBroken:
        return
    raise AssertionError("there is such a note")


def timed(work: Callable[[], object]) -> float:
    """Seconds of the processor that some work takes, in whatever threads."""
    began = time.process_time()
    work()
    return time.process_time() - began


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
