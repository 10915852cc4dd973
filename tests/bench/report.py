"""Make docs/explanation/performance.md and its plot of a run: `python -m tests.bench.report [FILE]`.

FILE is what `python -m tests.bench --json FILE` wrote; it is kept beside the page, so that anyone can see of what the page
was made, and a test makes it again. Without FILE the kept one is taken.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tests.bench import plot
from tests.bench.model import NAMED, ROWS, Figure, Results, Row, Times
from tests.support.service import ROOT

FOLDER: Final = ROOT / "docs" / "explanation"
KEPT: Final = FOLDER / "performance.json"
PAGE: Final = FOLDER / "performance.md"
PLOT: Final = FOLDER / "performance.svg"

INTRO: Final = """\
# Performance

<!-- Made of performance.json by `python -m tests.bench.report`: measure again rather than edit. -->

What a search, a list or a write costs, beside others that do the same, and how much memory it takes.
All figures are of one run of `python -m tests.bench`, on one machine; on yours the times are others, the ratios about these.
Where the load at its beginning (below) is above the number of cores, other work ran beside: times are then long, and ratios less sure.
[Contributing](../contributing.md#measure-it) tells how to make them yourself, [search](search.md) why they are as they are."""

HOW: Final = """\
- Ours and the others take turns within one run, over the same queries, so that what else the machine does hits all alike.
- No query is asked twice, so that nothing remembered counts.
- Servers are asked by the official client of the `mcp` package, over stdio or over HTTP on this machine; "in process" is without both.
- Strongroom runs as it comes, with all guards, but without commits in between; memory is taken with them.
- "Ours" and "the other" are the median and the 95th percentile; "×" is the ratio of the medians.
- The plot is of rare words and of words that are nowhere, for which everybody has to read everything; obsidian-mcp stops early at others.
- MCPVault has no list of tasks, no links and no tree; it is then asked what reads as much, without making as much of it.
- `wdd` is a public collection of technical notes; the others are generated, with words as often as language has them."""


def main(words: Sequence[str]) -> int:
    """Write page and plot."""
    if words and Path(words[0]).resolve() != KEPT:
        shutil.copyfile(words[0], KEPT)
    results = kept()
    PAGE.write_text(page(results), encoding="utf-8")
    PLOT.write_text(plot.draw(results.points), encoding="utf-8")
    print(f"written: {PAGE.relative_to(ROOT)}, {PLOT.relative_to(ROOT)}")
    return 0


def kept() -> Results:
    """The run of which the page is made."""
    return Results.of(json.loads(KEPT.read_text(encoding="utf-8")))


def page(results: Results) -> str:
    """The page."""
    parts = [
        INTRO,
        "## What was aimed at, and what was found",
        "\n".join(_targets(results)),
        "\n".join(_shortfalls(results)),
        "## A search, against the size of the vault",
        "![Time of one search against the number of notes, for Strongroom, ripgrep and the peers](performance.svg)",
        "\n".join(_points(results)),
        "## How it was measured",
        HOW,
        "\n".join(_about(results)),
    ]
    for name in _vaults(results):
        parts += [f"## {results.vaults.get(name, name)}", "\n".join(_figures(results, name))]
    return "\n\n".join(part for part in parts if part) + "\n"


def _vaults(results: Results) -> list[str]:
    return list(dict.fromkeys(figure.vault for figure in results.figures))


def _targets(results: Results) -> Iterator[str]:
    yield "| Work | Target | Found |"
    yield "| --- | --- | --- |"
    for row in ROWS:
        yield f"| {row.work} | {row.target} | {_found(results, row)} |"


def _found(results: Results, row: Row) -> str:
    verdicts = [figure.verdict for figure in results.figures if figure.row == row.key and figure.target]
    gaps = sorted({gap.vault for gap in results.missing if gap.row == row.key})
    told = [f"not measured on {', '.join(gaps)}"] if gaps else []
    if not verdicts:
        return told[0] if told else "not measured"
    missed = verdicts.count("missed")
    met = f"**missed** in {missed} of {len(verdicts)}" if missed else f"met, all {len(verdicts)}"
    return "; ".join([met, *told])


def _shortfalls(results: Results) -> Iterator[str]:
    """What was not reached or not measured, each in a sentence."""
    for figure in results.figures:
        if figure.verdict == "missed":
            yield f"- Missed: {figure.what}, {figure.vault}{_against(figure)}: {_value(figure)}, not {figure.target}."
    measured = _vaults(results)
    yield from (
        f"- Not measured: any row on {name}; this run was without it." for name in NAMED if name not in measured
    )
    for gap in results.missing:
        yield f"- Not measured: `{gap.row}` on {gap.vault}: {gap.why}."


def _against(figure: Figure) -> str:
    return f", against {figure.against}" if figure.against else ""


def _points(results: Results) -> Iterator[str]:
    """The plot as a table."""
    vaults = list(dict.fromkeys(point.vault for point in sorted(results.points, key=lambda point: point.notes)))
    yield "| Median, ms | " + " | ".join(vaults) + " |"
    yield "| --- |" + " ---: |" * len(vaults)
    for engine in dict.fromkeys(point.engine for point in results.points):
        own = {point.vault: f"{_number(point.ms)}" for point in results.points if point.engine == engine}
        yield f"| {engine} | " + " | ".join(own.get(vault, "") for vault in vaults) + " |"


def _about(results: Results) -> Iterator[str]:
    yield "| | |"
    yield "| --- | --- |"
    for name, said in results.about.items():
        yield f"| {name} | {said} |"


def _figures(results: Results, vault: str) -> Iterator[str]:
    yield "| What | Ours | The other | Against | Result | Target | |"
    yield "| --- | ---: | ---: | --- | ---: | ---: | --- |"
    keys = [row.key for row in ROWS]
    own = sorted((figure for figure in results.figures if figure.vault == vault), key=lambda one: keys.index(one.row))
    for figure in own:
        cells = (
            figure.what, _times(figure.ours, figure.unit), _times(figure.other, figure.unit), figure.against,
            _value(figure), str(figure.target or ""), figure.verdict,
        )  # fmt: skip
        yield "| " + " | ".join(cells) + " |"


def _times(times: Times | None, unit: str) -> str:
    return f"{_number(times.p50)}, {_number(times.p95)} {unit}" if times else ""


def _value(figure: Figure) -> str:
    return f"{_number(figure.value)} {figure.measure}"


def _number(value: float) -> str:
    """Three digits that count."""
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
