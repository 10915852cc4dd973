"""nDCG and bootstrap intervals, against values worked out by hand."""

from __future__ import annotations

import math

import pytest

from tests.bench.quality import measures


def test_dcg_weighs_two_to_the_grade_by_the_logarithm_of_the_rank() -> None:
    """Järvelin and Kekäläinen 2002: 7/1 + 3/log2(3) + 0 + 1/log2(5)."""
    assert measures.dcg([3, 2, 0, 1]) == pytest.approx(7 + 3 / 1.584962500721156 + 1 / 2.321928094887362)


def test_the_ideal_order_scores_one() -> None:
    """nDCG is normed by the best order there is."""
    assert measures.ndcg(["a", "b", "c"], {"a": 3, "b": 2, "c": 1, "d": 0}) == pytest.approx(1.0)


def test_a_good_note_in_second_place_scores_less_by_the_discount() -> None:
    """(0 + 7/log2(3)) / 7 = 0.6309."""
    assert measures.ndcg(["x", "a"], {"a": 3, "x": 0}) == pytest.approx(0.6309297535714575)


def test_two_notes_in_the_wrong_order_score_as_by_hand() -> None:
    """(1 + 7/log2(3)) / (7 + 1/log2(3)) = 5.41650... / 7.63092..."""
    by_hand = (1 + 7 / math.log2(3)) / (7 + 1 / math.log2(3))
    assert by_hand == pytest.approx(0.70981, abs=1e-4)
    assert measures.ndcg(["b", "a"], {"a": 3, "b": 1}) == pytest.approx(by_hand)


def test_what_comes_after_the_tenth_does_not_count() -> None:
    """The depth is ten: of the answer and of the ideal."""
    ranking = [f"no{number}" for number in range(10)] + ["a"]
    assert measures.ndcg(ranking, {"a": 3}) == 0
    grades = {f"a{number}": 1 for number in range(20)}
    assert measures.ndcg([f"a{number}" for number in range(10)], grades) == pytest.approx(1.0)


def test_nothing_to_find_scores_nothing() -> None:
    """No judged note above 0: there is no ideal to divide by."""
    assert measures.ndcg(["a"], {"a": 0}) == 0
    assert measures.ndcg([], {"a": 3}) == 0


def test_a_percentile_lies_between_two_values_in_proportion() -> None:
    """Of 0, 10, 20, 30, 40: a quarter is 10, and 0.9 of four steps is 36."""
    ordered = [0.0, 10.0, 20.0, 30.0, 40.0]
    assert measures.percentile(ordered, 0.25) == 10
    assert measures.percentile(ordered, 0.9) == pytest.approx(36)
    assert measures.percentile(ordered, 1.0) == 40


def test_the_interval_of_equal_values_has_no_width() -> None:
    """Whichever queries are drawn, the mean is the same."""
    assert measures.estimate([0.5] * 7) == measures.Estimate(0.5, 0.5, 0.5)


def test_the_interval_of_coin_tosses_is_that_of_the_binomial() -> None:
    """100 queries, half of them 1: the 2.5th and 97.5th percentile of Binomial(100, 1/2) are 40 and 60."""
    found = measures.estimate([0.0, 1.0] * 50)
    assert found.mean == 0.5
    assert found.low == pytest.approx(0.40, abs=0.011)
    assert found.high == pytest.approx(0.60, abs=0.011)


def test_the_same_values_give_the_same_interval() -> None:
    """The resamples come from a seed."""
    values = [number * number % 17 / 17 for number in range(40)]
    assert measures.estimate(values) == measures.estimate(values)
    assert measures.estimate(values) != measures.estimate(values, seed=measures.SEED + 1)


def test_a_difference_is_paired_by_query() -> None:
    """Ours is 0.1 better at each query: certain, however much the queries differ."""
    ours = [0.2, 0.9, 0.5, 1.0]
    found = measures.difference(ours, [value - 0.1 for value in ours])
    assert (found.mean, found.low, found.high) == pytest.approx((0.1, 0.1, 0.1))


def test_an_answer_missing_on_one_side_is_refused() -> None:
    """Both sides must have a value of each query."""
    with pytest.raises(ValueError, match="shorter"):
        measures.difference([0.1, 0.2], [0.1])
    with pytest.raises(ValueError, match="at least one query"):
        measures.estimate([])
