"""What the input guard costs: `python -m tests.bench.bench_incoming`.

CPU time of one thread, the best of three, in ms: new notes, an append and an edit in notes of several sizes, and the pieces
that are worst for it, a million characters each. What was refused for taking too long says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from service.errors import UnsafeContent
from service.guards import incoming
from service.vault import changes
from tests.unit.guards.test_incoming import LONG_CHARS, PATHOLOGICAL

PLAIN = "Plain words, a [link](https://ok.example), a [[note]] and code `x`.\n"
MARKED = (
    "text with [link](https://x.y/z) and `code` and **bold** [[wiki]] <b>x</b>\n\n- item ![p](a.png)\n  - sub\n\n"
    "```js\ncode\n```\n\n"
)
ADDED = "- a line ![x](https://x.example/y)\n"


def main() -> None:
    """Print two tables."""
    print(f"{'':34}{'new note':>10}{'append':>10}{'edit':>10}")
    for name, piece in (("plain words", PLAIN), ("marked up densely", MARKED)):
        for chars in (4_000, 100_000, 1_000_000):
            text = piece * (chars // len(piece) + 1)
            print(f"{f'{name}, {chars:,} characters':34}", *(f"{took:>9}" for took in _writes(text)))
    print(f"\n{LONG_CHARS:,} characters of")
    for piece in PATHOLOGICAL:
        text = (piece * (LONG_CHARS // len(piece) + 1))[:LONG_CHARS]
        print(f"{piece!r:46}{_ms(lambda text=text: _new(text)):>10}")  # type: ignore[misc]


def _writes(text: str) -> list[str]:
    middle = text.index("\n", len(text) // 2) + 1
    appended, edited = text + ADDED, text[:middle] + ADDED + text[middle:]
    return [
        _ms(lambda: _new(text)),
        _ms(lambda: incoming.guard(text, appended, [(len(text), len(appended))])),
        _ms(lambda: incoming.guard(text, edited, changes.between(text, edited))),
    ]


def _new(text: str) -> None:
    incoming.guard("", text, [(0, len(text))])


def _ms(work: Callable[[], object]) -> str:
    """The best of three, or of one where that takes long; with a mark when it ended in a refusal."""
    best, mark = float("inf"), ""
    for _ in range(3):
        begun = time.thread_time()
        try:
            work()
        except UnsafeContent:
            mark = " refused"
        best = min(best, time.thread_time() - begun)
        if best > 0.5:
            break
    return f"{best * 1000:.1f}{mark}"


if __name__ == "__main__":
    main()
