"""tests/complaints.tsv: what users of such servers complain about, and the tests that show it does not happen here.

The numbers are those of the list that this project was built against; its lines come from public issue trackers.
"""

from __future__ import annotations

import re

import pytest

from tests.support import indexes

LINES = {int(line.key): line for line in indexes.read("complaints.tsv")}
WANTED = range(1, 59)


def test_every_complaint_has_its_line_once() -> None:
    """Issues 4 and 5: numbers 1 to 58 are tests."""
    assert [int(line.key) for line in indexes.read("complaints.tsv")] == list(WANTED)


@pytest.mark.parametrize("number", WANTED)
def test_the_tests_of_a_complaint_exist_and_name_it(number: int) -> None:
    """So that nobody takes one away without knowing what it was for."""
    line = LINES[number]
    assert line.what
    assert line.tests
    for node in line.tests:
        is_named = re.search(rf"complaint_(\d+_and_)?{number}_", node) is not None
        assert is_named or number in indexes.cited(indexes.docstring(node), "complaint"), f"{node}: complaint {number}"


@pytest.mark.parametrize(
    ("docstring", "numbers"),
    [
        ("Complaint 5: x 7.", {5}),
        ("see complaints.md 33 and 37", {33, 37}),
        ("Complaints 1, 2 and 21; 4", {1, 2, 21}),
        ("complaints 13 to 15", {13, 14, 15}),
        ("no complaint at all", set()),
    ],
)
def test_a_docstring_names_complaints_in_these_ways(docstring: str, numbers: set[int]) -> None:
    """The check above would pass anything if it did not read them."""
    assert indexes.cited(docstring, "complaint") == numbers
