"""What the edge and its tunnel add to a call: `python -m tests.bench.bench_edge [ROUNDS]`.

Three processes on the loopback interface: one Strongroom that stands alone, and the two halves of a split one with a plain
hop between them for a tunnel (two sockets and a thread each way, so it costs more than a kernel's). The same call goes to
both, in turns, over connections that are kept; whose turn is first changes each time. `added` is the median of the
differences of each turn. Target: under 3 ms more. Nothing here is asserted in a test.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import httpx2

from tests.support.service import ERAS, Service
from tests.support.split import split
from tests.support.streams import request

ROUNDS: Final = 300
WARM_UP: Final = 30
TARGET_MS: Final = 3.0
CALLS: Final = (
    ("read_note", {"path": "a.md"}),
    ("list_notes", {}),
    ("append_to_note", {"path": "a.md", "content": "x"}),
)


def main(rounds: int) -> None:
    """Print one line an era and call."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "alone").mkdir()
        with Service.start(folder / "alone", WRITE_BUDGET="off") as alone, split(folder) as both:
            for vault in (alone.vault, both.home.vault):
                (vault / "a.md").write_text("# A note\n\nof some lines\n")
            ways = {"alone": (alone, alone.token("bench")), "split": (both.edge, both.edge.token("bench"))}
            print(f"{'':34}{'alone ms':>9}{'split':>9}{'added':>9}{'ratio':>7}{'p95 added':>11}")
            for era in ERAS:
                for tool, arguments in CALLS:
                    show(f"{era}, {tool}", measured(ways, era, tool, arguments, rounds))
    print(f"target: under {TARGET_MS:g} ms added")


def measured(
    ways: dict[str, tuple[Service, str]], era: str, tool: str, arguments: dict[str, str], rounds: int
) -> dict[str, list[float]]:
    """Seconds of each call, by way, turn by turn."""
    message, headers = request("tools/call", era, name=tool, arguments=arguments)
    took: dict[str, list[float]] = {name: [] for name in ways}
    with httpx2.Client(timeout=30) as http:
        for number in range(rounds + WARM_UP):
            for name in list(ways)[:: 1 if number % 2 else -1]:
                service, token = ways[name]
                began = time.perf_counter()
                answer = http.post(
                    f"{service.url}/mcp", json=message, headers={**headers, "Authorization": f"Bearer {token}"}
                )
                if number >= WARM_UP:
                    took[name].append(time.perf_counter() - began)
                assert answer.status_code == 200
    return took


def show(what: str, took: dict[str, list[float]]) -> None:
    """One line: medians, and the differences turn by turn."""
    added = sorted((split - alone) * 1000 for alone, split in zip(took["alone"], took["split"], strict=True))
    alone, divided = (statistics.median(took[name]) * 1000 for name in ("alone", "split"))
    p95 = added[int(len(added) * 0.95)]
    print(f"{what:34}{alone:>9.2f}{divided:>9.2f}{statistics.median(added):>9.2f}{divided / alone:>7.2f}{p95:>11.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
