"""How good a ranking is, and how sure that is: nDCG, and bootstrap intervals over queries.

nDCG@10 as in Järvelin and Kekäläinen (2002) with gains 2^grade - 1 and discounts log2(rank + 1); what is ideal are the best
judged notes of the query. A note that was never judged counts as grade 0. Intervals: the percentile bootstrap of the mean
over queries (Efron and Tibshirani, 1993), of differences paired by query, always from the same seed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tests.bench.quality.tables import DEPTH

RESAMPLES: Final = 10_000
SEED: Final = 20261201
CERTAINTY: Final = 0.95


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean and the interval it lies in with `CERTAINTY`."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:6.3f} [{self.low:6.3f}, {self.high:6.3f}]"


def ndcg(ranking: Sequence[str], grades: Mapping[str, int], depth: int = DEPTH) -> float:
    """Between 0 and 1; 0 where no judged note has a grade above 0."""
    ideal = dcg(sorted(grades.values(), reverse=True)[:depth])
    return dcg([grades.get(path, 0) for path in ranking[:depth]]) / ideal if ideal else 0.0


def dcg(grades: Sequence[int]) -> float:
    """The sum of 2^grade - 1, each divided by log2(rank + 1)."""
    return sum((math.pow(2, grade) - 1) / math.log2(rank + 1) for rank, grade in enumerate(grades, 1))


def estimate(values: Sequence[float], resamples: int = RESAMPLES, seed: int = SEED) -> Estimate:
    """The mean of `values`, one of each query, with its bootstrap interval.

    Raises:
        ValueError: there are no values.
    """
    if not values:
        raise ValueError("There is nothing to estimate: give it at least one query.")
    count = len(values)
    rand = random.Random(seed)
    means = sorted(sum(rand.choices(values, k=count)) / count for _ in range(resamples))
    return Estimate(sum(values) / count, percentile(means, (1 - CERTAINTY) / 2), percentile(means, (1 + CERTAINTY) / 2))


def difference(ours: Sequence[float], theirs: Sequence[float]) -> Estimate:
    """By how much ours are greater, paired: both have one value of each query, in the same order."""
    return estimate([mine - other for mine, other in zip(ours, theirs, strict=True)])


def percentile(ordered: Sequence[float], share: float) -> float:
    """The value below which `share` of the ordered values lie, between two of them in proportion."""
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
