"""The committed tables by which the order of ranked search is judged."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.bench.quality import judging, report, tables, vaults
from tests.bench.quality.tables import DEPTH, GRADES, Asked

QUERIES = tables.queries()
JUDGEMENTS = tables.judgements()
BY_QUERY = tables.grades(JUDGEMENTS)


def test_there_are_a_hundred_queries_over_two_vaults_of_others() -> None:
    """Issue 6: at least 100 queries on wdd and a second vault of at least 1,000 notes."""
    assert len(QUERIES) >= 100
    count = Counter(one.vault for one in QUERIES)
    assert count["wdd"] >= 60
    assert count["jsdocs"] >= 40
    assert set(count) == {"wdd", "jsdocs", "scripts"}


def test_no_query_is_asked_twice_and_each_says_what_is_wanted() -> None:
    """Decision 26: the asker's eye is what is judged with."""
    assert len({one.id for one in QUERIES}) == len(QUERIES)
    assert len({(one.vault, one.words) for one in QUERIES}) == len(QUERIES)
    assert all(one.kind and one.words and one.want for one in QUERIES)


def test_every_query_has_a_good_answer_and_nothing_else_is_judged() -> None:
    """Without a note of grade 2 or 3, nDCG would measure nothing."""
    assert BY_QUERY.keys() == {one.id for one in QUERIES}
    assert [id_ for id_, graded in BY_QUERY.items() if max(graded.values()) < 2] == []


def test_a_note_is_judged_once_for_a_query_with_a_grade_and_a_reason() -> None:
    """Decision 26: one line and one reason a row."""
    assert len({(one.id, one.path) for one in JUDGEMENTS}) == len(JUDGEMENTS)
    assert {one.grade for one in JUDGEMENTS} == set(GRADES)
    assert all(len(one.reason.split()) >= 2 for one in JUDGEMENTS)


def test_the_first_ten_of_every_committed_ranking_are_judged() -> None:
    """Decision 26: pool the top ten of all engines."""
    pools = [tables.rankings(name) for name in tables.engines()]
    assert len(pools) >= 6
    assert judging.unjudged(QUERIES, JUDGEMENTS, pools) == {}


@pytest.mark.parametrize("engine", tables.engines())
def test_a_committed_ranking_names_each_note_once(engine: str) -> None:
    """A note named twice would be counted twice."""
    for found in tables.rankings(engine).values():
        assert 0 < len(found) <= DEPTH
        assert len(set(found)) == len(found)


def test_no_table_tells_of_the_machine_it_was_made_on() -> None:
    """Paths are those of notes, below their vault."""
    for one in JUDGEMENTS:
        assert re.fullmatch(r"[^/\\].*\.md", one.path)


def test_a_line_with_a_field_too_few_is_refused_by_number(tmp_path: Path) -> None:
    """A judge who forgets a tab learns where."""
    table = tmp_path / "judgements.tsv"
    table.write_text("id\tpath\tgrade\treason\nw01\ta.md\t3\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"judgements\.tsv, line 2: 3 fields, not 4"):
        tables.judgements(table)


def test_the_notes_of_our_own_are_laid_out_as_they_are_judged(tmp_path: Path) -> None:
    """What is judged of `scripts` must be in it."""
    folder = vaults.make("scripts", tmp_path / "scripts")
    own = {one.id for one in QUERIES if one.vault == "scripts"}
    judged = {one.path for one in JUDGEMENTS if one.id in own}
    assert [path for path in judged if not (folder / path).is_file()] == []


def test_what_was_never_judged_is_listed_by_path_without_the_engine(tmp_path: Path) -> None:
    """A judgement must not depend on who found the note."""
    for name in ("b.md", "a.md"):
        (tmp_path / name).write_text(f"# About {name}\n\nThe oak is old.\n", encoding="utf-8")
    asked = [Asked("q1", "v", "rare", "oak", "the tree")]
    missing = judging.unjudged(asked, [], [{"q1": ["b.md"]}, {"q1": ["a.md", "b.md"]}])
    lines = list(judging.sheet(asked, missing, {"v": tmp_path}))
    assert lines[1:] == ["1 a.md | # About a.md ~  ~ The oak is old.", "2 b.md | # About b.md ~  ~ The oak is old."]


def test_a_note_that_was_never_judged_counts_nothing_and_is_counted() -> None:
    """A tuned ranking that finds new notes must not look better, or worse, in silence."""
    asked = [Asked("q1", "v", "rare", "oak", "the tree")]
    grades = {"q1": {"a.md": 3}}
    ranking = {"q1": ["new.md", "a.md"]}
    assert report.never_judged(asked, ranking, grades) == 1
    assert report.scores(asked, ranking, grades) == report.scores(asked, {"q1": ["zero.md", "a.md"]}, grades)


def test_the_query_at_which_another_is_the_most_ahead_is_named_first() -> None:
    """Whoever tunes the ranking looks there first."""
    asked = [Asked(f"q{number}", "v", "rare", f"word {number}", "the tree") for number in (1, 2)]
    grades = {"q1": {"a.md": 3}, "q2": {"a.md": 3}}
    theirs = {"q1": ["a.md"], "q2": ["a.md"]}
    found = report.losses(asked, {"ours": {"q1": ["a.md"], "q2": []}, "peer": theirs}, grades, count=1)
    assert list(found) == ["q2 0.00, peer 1.00: word 2"]
