"""Measure the order of ranked search: `python -m tests.bench.quality`.

Lays out the vaults, asks ours every query, and compares with the committed rankings of the peers. Options ask installed
peers anew, keep the laid-out vaults, write the rankings and a JSON, and print what is still to be judged.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.bench.quality import engines, judging, report, tables, vaults
from tests.bench.quality.report import OURS
from tests.bench.quality.tables import Asked, Rankings


def main() -> None:
    """Run one comparison as the options say."""
    options = _options()
    with tempfile.TemporaryDirectory() as scratch:
        root = options.vaults or Path(scratch)
        skipped: list[str] = []
        folders = _laid_out(root, skipped)
        asked = [one for one in tables.queries() if one.vault in folders]
        judged = tables.judgements()
        ran = _asked_now((OURS, *options.run), asked, folders, skipped)
        rankings = {OURS: ran.pop(OURS), **report.committed(), **ran}
        for line in report.lines(asked, rankings, tables.grades(judged)):
            print(line)
        for line in report.losses(asked, rankings, tables.grades(judged), options.losses):
            print(line)
        if options.json:
            whole = report.document(asked, rankings, tables.grades(judged))
            options.json.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
        if options.write:
            for name in (OURS, *ran):
                tables.write_rankings(name, rankings[name])
        missing = judging.unjudged(asked, judged, rankings.values())
        print(f"to be judged: {sum(map(len, missing.values()))}")
        if options.sheet:
            options.sheet.write_text("\n".join(judging.sheet(asked, missing, folders)) + "\n", encoding="utf-8")
        print(f"skipped: {len(skipped)}", *skipped, sep="\n  ")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.quality", description=__doc__)
    parser.add_argument("--run", nargs="*", default=[], choices=list(engines.PEERS), help="ask these peers anew")
    parser.add_argument("--vaults", type=Path, help="where the vaults are, or are laid out and kept")
    parser.add_argument("--losses", type=int, default=0, help="name the queries at which another is the most ahead")
    parser.add_argument("--json", type=Path, help="write rankings and scores here")
    parser.add_argument("--sheet", type=Path, help="write what was never judged here, ready for judging")
    parser.add_argument("--write", action="store_true", help="write the rankings of all that was asked to rankings/")
    return parser.parse_args()


def _laid_out(root: Path, skipped: list[str]) -> dict[str, Path]:
    """The vaults that are to be had, by name; the others are named in `skipped`."""
    folders = {}
    for name in dict.fromkeys(one.vault for one in tables.queries()):
        try:
            folders[name] = root / name if (root / name).is_dir() else vaults.make(name, root / name)
        except vaults.Missing as missing:
            skipped.append(str(missing))
    return folders


def _asked_now(
    names: Sequence[str], asked: Sequence[Asked], folders: Mapping[str, Path], skipped: list[str]
) -> dict[str, Rankings]:
    answers: dict[str, Rankings] = {}
    for name in names:
        engine = engines.ours if name == OURS else engines.PEERS[name]
        try:
            by_vault = [engine(folder, [one for one in asked if one.vault == of]) for of, folder in folders.items()]
        except engines.NotHere as missing:
            skipped.append(str(missing))
        else:
            answers[name] = {id_: found for part in by_vault for id_, found in part.items()}
    return answers


if __name__ == "__main__":
    main()
