"""What a view costs: `python -m tests.bench.bench_views [LARGEST]`.

The look at bytes per 100 KB; views of ordinary notes full of HTML; and on hostile texts how the time grows from 64 KB to
1 MB and 10 MB (LARGEST, default 10,000,000 characters; the note size limit). 1.0 is growth in step with the length;
"withheld" is the other allowed end. Times are of the processor, the best of some rounds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from typing import Final

from service.guards.outgoing import view
from service.guards.suspicion import may_hide

KB: Final = 1_000
MB: Final = 1_000_000

PLAIN: Final[Mapping[str, str]] = {
    "ASCII": "Notes on the plan, with **bold**, [[links]] and a [url](https://e.com/a_b).\n- [ ] one task\n\n> quote\n",
    "English": "Notes on the plan – “quoted”, a < b, 📅 2026-01-31, [[links]].\n\n```py\nx = a < b\n```\n",
    "Japanese": "これは計画についてのメモです。リンクと引用。\n",
    "Persian, with joiners": "این یک یادداشت درباره‌ی برنامه‌هاست.\n",
    "visible HTML": "H<sub>2</sub>O, <u>under</u> and <kbd>Ctrl</kbd>.\n\n<details><summary>More</summary>\n\ntext\n\n</details>\n\n",
}
HIDING: Final = (
    'Text with <u>u</u>, <span style="color:red">red</span> and a <b style="display:none">b</b>.\n\n'
    '<div class="x">\n<b>bold</b></div>\n\n- item <!-- note --> one\n\nmore text in a line or two, as notes have it.\n\n'
)
HOSTILE: Final[tuple[str, ...]] = (
    '<!--', '<!-- x -->', '<!-- x\n', '<div ', '<div hidden>', '<div hidden>\n\n', '<b hidden>x', '- <b hidden>x\n',
    '> <div hidden>x\n', "<a b='", '<a b="\n', '<script>', '<style>x', '</div>', '<div></span>', '<p>',
    '<table><tr><td hidden>', '<video>', '<b style="display:none">x</b>', '<b style="color:red">', '<b style="((((',
    '<svg><desc>', '[a]: # (x)\n', '[a]: #\n\n[a]\n\n', '&#8203;', '\\&#8203;', 'a\u200b',
    '\u0645\u06cc\u200c\u062e', '\U0001f469\u200d', '\u2067\u05d0\u2069', '\u202a', '\u2800', '\U000e0041',
    '<textarea>', '<![CDATA[', '<?', '| `a | <b> |\n|---|\n', '    | x\n|-|\n', '\r', '<dialog><table>\n',
    '<iframe>x', '<!\u200b-- x -->',
)  # fmt: skip


def main(largest: int) -> None:
    """Print three tables."""
    print(f"{'100 KB of':32}{'look at bytes, ms':>18}{'view, ms':>10}")
    for name, line in PLAIN.items():
        text = repeated(line, 100 * KB, is_bytes=True)
        data = text.encode()
        print(f"{name:32}{best(may_hide, data, 9) * 1000:18.2f}{best(view, text, 5) * 1000:10.2f}")
    for size in (100 * KB, MB):
        text = repeated(HIDING, size)
        print(f"notes full of HTML, {size // KB} KB: {size / MB / best(view, text, 2):.2f} MB/s")
    print(f"\n{'hostile text':36}{'64 KB, ms':>10}{'1 MB, ms':>10}{'growth':>8}{'largest, s':>12}")
    for piece in HOSTILE:
        short, long = repeated(piece, 64 * KB), repeated(piece, MB)
        first, second = best(view, short, 2), best(view, long, 1)
        most = repeated(piece, largest)
        begun = time.process_time()
        end = "withheld" if view(most).withheld else ""
        took = time.process_time() - begun
        print(f"{ascii(piece)[:34]:36}{first * 1000:10.1f}{second * 1000:10.1f}", end="")
        print(f"{second / first / (len(long) / len(short)):8.2f}{took:12.1f} {end}", flush=True)


def repeated(piece: str, size: int, *, is_bytes: bool = False) -> str:
    """`piece` again and again, up to `size` characters or bytes."""
    return piece * (size // (len(piece.encode()) if is_bytes else len(piece)))


def best(work: Callable[[str], object] | Callable[[bytes], object], given: str | bytes, rounds: int) -> float:
    """What `work` takes, in seconds of processor time."""
    times: list[float] = []
    for _ in range(rounds):
        begun = time.process_time()
        work(given)  # type: ignore[arg-type]
        times.append(time.process_time() - begun)
    return min(times)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10 * MB)
