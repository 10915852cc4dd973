"""Ranked search on the judged notes in many scripts, in process: quick enough for every run."""

from __future__ import annotations

from pathlib import Path

from tests.bench.quality import engines, report, tables, vaults
from tests.bench.quality.report import OURS

ASKED = [one for one in tables.queries() if one.vault == "scripts"]
GRADES = tables.grades(tables.judgements())


def test_ours_is_the_best_on_notes_in_many_scripts(tmp_path: Path) -> None:
    """Issue 6: CJK, Thai and short words without a tokenizer's blind spots; ours must be the best."""
    ours = report.scores(ASKED, engines.ours(vaults.make("scripts", tmp_path / "scripts"), ASKED), GRADES)
    assert sum(ours) / len(ours) >= 0.95
    for name, ranking in report.committed().items():
        if not name.startswith(OURS):
            assert sum(ours) > sum(report.scores(ASKED, ranking, GRADES)), name


def test_what_a_kind_of_query_wants_comes_first(tmp_path: Path) -> None:
    """Issue 6: accents folded, the full case folding, CJK and Thai."""
    found = engines.ours(vaults.make("scripts", tmp_path / "scripts"), ASKED)
    firsts = {one.words: found[one.id][0] for one in ASKED if one.kind in ("accent", "cjk", "thai")}
    wrong = {
        words: path
        for words, path in firsts.items()
        if GRADES[next(one.id for one in ASKED if one.words == words)].get(path, 0) < 3
    }
    assert wrong == {}
