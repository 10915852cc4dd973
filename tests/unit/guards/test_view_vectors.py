"""What a view leaves out, case by case.

`tests/vectors/guard_cases.json` came with the specification of the guards; `view_cases.json` has as many again of the
same kinds. Both are language-neutral: id, direction, kind, input, expected, why.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from service.guards.outgoing import view

VECTORS = Path(__file__).resolve().parents[2] / "vectors"
CASES = [
    case
    for name in ("guard_cases.json", "view_cases.json")
    for case in json.loads((VECTORS / name).read_text(encoding="utf-8"))
    if case["direction"] == "out"
]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_view_is_what_the_vector_says(case: dict[str, str]) -> None:
    """guards.md 4.2 and 4.3; the reason stands in the vector."""
    seen = view(case["input"])
    assert seen.text == case["expected"], case["why"]
    assert seen.withheld == ""
    assert seen.is_whole == (case["kind"] == "benign")
    assert view(seen.text).is_whole


def test_there_are_at_least_two_hundred_vectors() -> None:
    """The specification's own, and as many again."""
    assert len(CASES) >= 208
    assert len({case["id"] for case in CASES}) == len(CASES)
