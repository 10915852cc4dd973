"""Diffs that mark words."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.vault import diffs, word_diffs

TEXT = st.lists(st.sampled_from(["one", "two", "three four", "", "fünf, six", "two one"]), max_size=8).map("\n".join)


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ("a b c\n", "a x c\n", "~a [-b-]{+x+} c"),
        ("a b\n", "a b c\n", "~a b{+ c+}"),
        ("f(x)\n", "f(y)\n", "~f([-x-]{+y+})"),
        (
            f"{'w ' * 100}old{' w' * 100}\n",
            f"{'w ' * 100}new{' w' * 100}\n",
            f"~…{'w ' * 20}[-old-]{{+new+}}{' w' * 20}…",
        ),
        ("all\n", "other\n", "-all"),
    ],
)
def test_words_are_marked_in_the_line_they_stand_in(before: str, after: str, line: str) -> None:
    """contract.md, diff_note: words marked on request."""
    assert line in word_diffs.unified(before, after, diffs.FULL).split("\n")


@given(TEXT, TEXT)
def test_both_texts_can_be_read_out_of_the_marks(before: str, after: str) -> None:
    """Nothing is lost or made up: taking the marks one way gives the old lines of the diff, the other way the new."""
    lines = diffs.hunks(before, after)
    marked = word_diffs.unified(before, after, diffs.Bounds(10_000, 10_000)).split("\n")
    old = [
        re.sub(r"\{\+.*?\+\}", "", line[1:]).replace("[-", "").replace("-]", "") for line in marked if line[:1] in " -~"
    ]
    new = [
        re.sub(r"\[-.*?-\]", "", line[1:]).replace("{+", "").replace("+}", "") for line in marked if line[:1] in " +~"
    ]
    assert squeezed(old) == squeezed([line[1:] for line in lines if line[0] in " -"])
    assert squeezed(new) == squeezed([line[1:] for line in lines if line[0] in " +"])


def squeezed(lines: list[str]) -> str:
    """Line breaks that came or went have no mark."""
    return "".join(lines)


def test_a_stretch_of_too_many_words_is_shown_by_lines() -> None:
    """Comparing them would take too long."""
    before = "\n".join("a b c d" for _ in range(2000))
    after = "\n".join("a b c e" for _ in range(1900))
    assert not [line for line in word_diffs.unified(before, after, diffs.FULL).split("\n") if line.startswith("~")]
