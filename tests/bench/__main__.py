"""Measure Strongroom beside others: `python -m tests.bench`.

    --quick            a generated vault of 1,000 notes and few rounds: a minute or two
    --vault NAME       100, 1k, 10k, 100k (generated), wdd, or a folder of yours, which is only read but for rows `notes`
                       and `fresh`: they write in a folder of their own and take it away; may be given more than once
    --only ROW         only this row of the table, and nothing for the plot; may be given more than once
    --no-peers         neither MCPVault nor obsidian-mcp: npm is not needed
    --peers-on NAME    these only on such vaults: on 100,000 notes they take a minute a call; may be given more than once
    --rounds N         turns of each measurement
    --cache FOLDER     where vaults and peers are kept for the next run (default: .cache/bench)
    --json FILE        where to write what was found (default: .cache/bench/run.json)

`python -m tests.bench.report FILE` makes docs/explanation/performance.md of it.
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio

from service import logs
from tests.bench import about, engines
from tests.bench.engines import Peers
from tests.bench.model import ROWS, Results, Row
from tests.bench.rows import crowd, engine, facts, fresh, memory, notes, ranked, search, start
from tests.bench.run import Run
from tests.bench.vaults import Measured, prepare
from tests.support.service import ROOT

Measure = Callable[[Run, Measured], Awaitable[None]]

EACH_VAULT: dict[str, Measure] = {
    "engine": engine.measure,
    "search": search.measure,
    "ranked": ranked.measure,
    "facts": facts.measure,
    "notes": notes.measure,
    "fresh": fresh.measure,
    "start": start.measure,
    "memory": memory.measure,
    "crowd": crowd.measure,
}
"""By row; `peers` is measured with `search`, in the same turns."""

PLOTTED = ("100", "1k", "10k")
"""Vaults that are only in the plot."""


def main(words: list[str]) -> int:
    """Run the rows that were asked for; print and write what was found."""
    asked = _asked(words)
    logs.configure(io.StringIO(), level="warning", log_format="json")  # of the vaults that are opened in this process
    cache = Path(asked.cache).resolve()
    cache.mkdir(parents=True, exist_ok=True)
    names = asked.vault or (["1k"] if asked.quick else ["wdd", "100k"])
    rows = asked.only or [row.key for row in ROWS]
    peers = Peers(cache, "they were not asked for") if asked.no_peers else engines.installed(cache)
    target = Path(asked.json) if asked.json else cache / "run.json"
    results = Results(about.machine(peers))
    rounds = asked.rounds or (5 if asked.quick else 11)
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        run = Run(results, Path(scratch), peers, rounds, asked.quick, target, {})
        for key, value in results.about.items():
            print(f"{key}: {value}")
        for name in names:
            run.peers = (
                peers if name in (asked.peers_on or names) else Peers(cache, "left out: a call takes a minute here")
            )
            _measure(run, name, cache, rows)
        run.peers = peers
        if not asked.only:
            for name in PLOTTED[:2] if asked.quick else PLOTTED:
                _plot(run, name, cache)
    return _tell(results, run.target)


def _asked(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--vault", action="append")
    parser.add_argument("--only", action="append", choices=[row.key for row in ROWS])
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--peers-on", action="append")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--cache", default=str(ROOT / ".cache" / "bench"))
    parser.add_argument("--json")
    return parser.parse_args(words)


def _measure(run: Run, name: str, cache: Path, rows: list[str]) -> None:
    try:
        vault = prepare(name, cache)
    except FileNotFoundError as error:
        print(f"\n{name}: not measured: {error}")
        for row in rows:
            run.miss(row, name, str(error))
        return
    run.results.vaults[vault.name] = vault.title
    print(f"\n== {vault.title}")
    wanted = [*dict.fromkeys("search" if row == "peers" else row for row in rows)]
    for row in wanted:
        print(f"\n{_work(row)}", flush=True)
        _row(run, row, EACH_VAULT[row], vault)


def _row(run: Run, key: str, measure: Measure, vault: Measured) -> None:
    """Measure; where that fails, say so and go on with the others."""
    try:
        anyio.run(measure, run, vault)
    except (Exception, ExceptionGroup) as error:  # noqa: BLE001 (a server of whomever may end in any way)
        run.miss(key, vault.name, f"it failed: {_cause(error)}")
    run.write()


def _cause(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"[:300]


def _plot(run: Run, name: str, cache: Path) -> None:
    vault = prepare(name, cache)
    if vault.name in run.results.vaults:
        return
    run.results.vaults[vault.name] = vault.title
    print(f"\n== {vault.title}: only for the plot", flush=True)
    _row(run, "search", search.points, vault)


def _work(key: str) -> str:
    row: Row = next(row for row in ROWS if row.key == key)
    return f"{row.work}: {row.target}"


def _tell(results: Results, target: Path) -> int:
    aimed = [figure for figure in results.figures if figure.target]
    missed = [figure for figure in aimed if figure.verdict == "missed"]
    print(f"\n{len(aimed)} figures with a target: {len(aimed) - len(missed)} met, {len(missed)} missed")
    for figure in missed:
        print(f"  missed: {figure.row}, {figure.vault}, {figure.what}: {figure.value:.3g} ({figure.target})")
    for gap in results.missing:
        print(f"  not measured: {gap.row}, {gap.vault}: {gap.why}")
    print(f"written to {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
