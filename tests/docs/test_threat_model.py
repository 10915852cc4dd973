"""The threat model stays true: whatever it names as a defence has a test that is there."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.support.reference import ROOT

PAGE = (ROOT / "docs" / "explanation" / "threat-model.md").read_text(encoding="utf-8")
DEFENCES = PAGE.partition("\n## Defences\n")[2].partition("\n## ")[0]
_TEST = re.compile(r"`(tests/[a-z0-9_/.]+\.py)(?:::([a-z0-9_]+))?`")


def rows() -> Iterator[tuple[str, str, str]]:
    """The rows of every table of defences: against what, by what, and which tests show it."""
    for line in DEFENCES.splitlines():
        if line.startswith("| ") and not line.startswith(("| Against |", "| --- |")):
            against, defence, shown = line.strip("| ").split(" | ")
            yield against, defence, shown


ROWS = list(rows())


@pytest.mark.parametrize(("against", "defence", "shown"), ROWS, ids=[row[0] for row in ROWS])
def test_a_defence_is_shown_by_tests_that_are_there(against: str, defence: str, shown: str) -> None:
    """Issue 5: every later issue keeps the threat model true."""
    assert against
    assert defence
    tests = _TEST.findall(shown)
    assert tests, f"{shown!r} names no test"
    assert not _TEST.sub("", shown).strip(", "), "nothing but tests stands in the last column"
    for path, name in tests:
        text = (ROOT / path).read_text(encoding="utf-8")
        has_tests = "def test_" in text or ".TestCase" in text or path.startswith("tests/bench/")
        assert f"def {name}" in text if name else has_tests, f"{path} has no {name or 'tests'}"


def test_all_parts_of_a_threat_model_are_there() -> None:
    """Issue 5: assets, adversaries, defences, what is left."""
    parts = re.findall(r"^## (.+)$", PAGE, re.MULTILINE)
    assert {"What is worth guarding", "Against whom", "Defences", "What each can still do", "What is not guarded"} <= {
        *parts
    }
    assert len(ROWS) > 30


@pytest.mark.parametrize(
    "who",
    [
        "A stranger on the net",
        "A thief of a token",
        "A thief of a refresh token",
        "A thief of a phone",
        "A thief of the state folder",
        "A malicious client",
        "A site in the middle",
        "Whoever wrote text that the assistant reads",
        "The operator of a tunnel",
        "Whoever takes over the public host of a split edge",
        "Another program in the vault",
    ],
)
def test_every_adversary_has_a_row(who: str) -> None:
    """Decision 19 adds the split edge; the others are those of issue 5."""
    assert PAGE.count(f"\n| **{who}") == 1
