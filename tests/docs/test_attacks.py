"""tests/attacks.tsv: the 96 attacks on signing in, tokens and the edge, and the tests that show what becomes of each.

The numbers are those of the list that this project was built against (auth.md 8).
"""

from __future__ import annotations

import pytest

from tests.support import indexes

LINES = {int(line.key): line for line in indexes.read("attacks.tsv")}
WANTED = range(1, 97)
NOT_APPLICABLE = {71}
"""decisions.md 21. A part of 76 is not either; its line says which."""


def test_every_attack_has_its_line_once() -> None:
    """Issue 5: every line is a test, or listed as not applicable with its reason."""
    assert [int(line.key) for line in indexes.read("attacks.tsv")] == list(WANTED)
    assert {number for number, line in LINES.items() if not line.tests} == NOT_APPLICABLE
    assert all(len(LINES[number].reason) > 40 for number in NOT_APPLICABLE)


@pytest.mark.parametrize("number", WANTED)
def test_the_tests_of_an_attack_exist_and_name_it(number: int) -> None:
    """So that nobody takes one away without knowing what it was for."""
    assert LINES[number].what
    for node in LINES[number].tests:
        assert number in indexes.cited(indexes.docstring(node), "attack"), f"{node} does not name attack {number}"


def test_a_docstring_names_attacks_in_these_ways() -> None:
    """The check above would pass anything if it did not read them."""
    assert indexes.cited("Attack lines 64-66: same answer", "attack") == {64, 65, 66}
    assert indexes.cited("RFC 6750 §3.1, attack 75.", "attack") == {75}
    assert indexes.cited("attacks 7 and 43; attack 12", "attack") == {7, 12, 43}
    assert indexes.cited("no attack", "attack") == set()
