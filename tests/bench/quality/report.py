"""The figures of one comparison: nDCG@10 of each engine, by vault and by kind, and by how much ours is better."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from tests.bench.quality import measures, tables
from tests.bench.quality.tables import DEPTH, Asked, Rankings

OURS: Final = "ours"
Grades = Mapping[str, Mapping[str, int]]


def scores(asked: Sequence[Asked], ranking: Rankings, grades: Grades) -> list[float]:
    """nDCG@10 of each query, in their order; 0 for a query that has no answer."""
    return [measures.ndcg(ranking.get(one.id, ()), grades.get(one.id, {})) for one in asked]


def never_judged(asked: Sequence[Asked], ranking: Rankings, grades: Grades) -> int:
    """How many of the first `DEPTH` notes, over all queries, have no judgement."""
    return sum(path not in grades.get(one.id, {}) for one in asked for path in ranking.get(one.id, ())[:DEPTH])


def lines(asked: Sequence[Asked], rankings: Mapping[str, Rankings], grades: Grades) -> Iterator[str]:
    """The tables to print. `rankings` has `OURS`, which the others are compared with."""
    for vault in (*dict.fromkeys(one.vault for one in asked), ""):
        some = [one for one in asked if vault in ("", one.vault)]
        yield f"\n{vault or 'all vaults'}: {len(some)} queries"
        yield f"{'':14}{'nDCG@10':>8} {'95% interval':^16}  {'ours is better by':^24} {'never judged':>13}"
        mine = scores(some, rankings[OURS], grades)
        for name, ranking in rankings.items():
            theirs = scores(some, ranking, grades)
            better = "" if name == OURS else str(measures.difference(mine, theirs))
            yield (
                f"{name:14}  {measures.estimate(theirs)}  {better:24} {never_judged(some, ranking, grades):13}".rstrip()
            )
    yield f"\nnDCG@10 by kind, over all vaults\n{'':22}" + "".join(f"{name:>14}" for name in rankings)
    for kind in dict.fromkeys(one.kind for one in asked):
        some = [one for one in asked if one.kind == kind]
        means = [sum(scores(some, ranking, grades)) / len(some) for ranking in rankings.values()]
        yield f"{kind + f' ({len(some)})':22}" + "".join(f"{mean:14.3f}" for mean in means)
    yield "\nA note that was never judged counts as grade 0."


def losses(asked: Sequence[Asked], rankings: Mapping[str, Rankings], grades: Grades, count: int) -> Iterator[str]:
    """The `count` queries at which another engine is the most ahead of ours."""
    by_engine = {name: scores(asked, ranking, grades) for name, ranking in rankings.items()}
    mine = by_engine.pop(OURS)
    best = [max((found[place], name) for name, found in by_engine.items()) for place in range(len(asked))]
    for place in sorted(range(len(asked)), key=lambda place: mine[place] - best[place][0])[:count]:
        theirs, name = best[place]
        yield f"{asked[place].id} {mine[place]:.2f}, {name} {theirs:.2f}: {asked[place].words}"


def document(asked: Sequence[Asked], rankings: Mapping[str, Rankings], grades: Grades) -> dict[str, object]:
    """The same for a program: of each engine the rankings, the score of each query, and how many notes were not judged."""
    return {
        name: {
            "rankings": {one.id: list(ranking.get(one.id, ())[:DEPTH]) for one in asked},
            "ndcg": dict(zip([one.id for one in asked], scores(asked, ranking, grades), strict=True)),
            "never_judged": never_judged(asked, ranking, grades),
        }
        for name, ranking in rankings.items()
    }


def committed() -> dict[str, Rankings]:
    """The rankings that are committed, by engine, without our own, which is measured anew."""
    return {name: tables.rankings(name) for name in tables.engines() if name != OURS}
