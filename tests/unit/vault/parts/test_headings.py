"""A text's headings, their sections, and what names them; block ids."""

from __future__ import annotations

import time

import pytest

from service.vault.parts import blockids, headings
from service.vault.parts.blockids import BlockId


def outline(text: str) -> list[tuple[int, str, int]]:
    return [(one.level, one.text, one.line) for one in headings.of(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# A\n## C#\n### People ###\n", [(1, "A", 1), (2, "C#", 2), (3, "People", 3)]),
        ("## 📥 Inbox\n## Детали\n", [(2, "📥 Inbox", 1), (2, "Детали", 2)]),
        ("---\n# a remark\nk: v\n---\n# A\n", [(1, "A", 5)]),
        ("```\n# no\n```\n~~~~\n~~~\n# no\n~~~~\n# A", [(1, "A", 8)]),
        ("    # no\n\n\t# no\n   # A", [(1, "A", 4)]),
        ("Big\n===\n\nSmall\n---\n\n---\n", [(1, "Big", 1), (2, "Small", 4)]),
        ("two\nlines\n---\n", [(2, "two lines", 1)]),
        ("<div>\n# no\n</div>\n\n# A", [(1, "A", 5)]),
        ("<!-- x\n# no\n-->\n# A", [(1, "A", 4)]),
        ("%%\n# no\n%%\n# A\n\n%% ## no %%\n", [(1, "A", 4)]),
        ("> # no\n\n> [!note]\n> ## no\n\n- # no\n\n  ## no\n\n# A", [(1, "A", 10)]),
        ("#no\n####### no\n\\# no\n# \n", [(1, "", 4)]),
        ("# A\r\ntext\r\n## B\r\n", [(1, "A", 1), (2, "B", 3)]),
        ("| # no | b |\n|---|---|\n| `# no` | # no |\n# A", [(1, "A", 4)]),
        ("", []),
    ],
)  # fmt: skip
def test_headings_are_those_of_obsidians_outline(text: str, expected: list[tuple[int, str, int]]) -> None:
    """CommonMark 4.2 and 4.3; complaints.md 25 and 27; ancestors.md 1.2.8, 5. In quotes, callouts and items Obsidian has
    none (Vinzent03/obsidian-advanced-uri#124, darlal/obsidian-switcher-plus#195)."""
    assert outline(text) == expected


def test_a_section_ends_at_the_next_heading_that_is_no_deeper() -> None:
    """contract.md, append_to_section."""
    text = "# A\n## B\n### C\n## D\n# E\n"
    assert [text[one.start : one.section_end] for one in headings.of(text)] == [
        "# A\n## B\n### C\n## D\n", "## B\n### C\n", "### C\n", "## D\n", "# E\n",
    ]  # fmt: skip


def test_a_heading_ends_with_its_underline() -> None:
    text = "A\n===\nb"
    [found] = headings.of(text)
    assert text[found.start : found.end] == "A\n==="


@pytest.mark.parametrize(
    ("heading", "shown"),
    [
        ("# The [plan](u) for **May**", "The plan for May"),
        ("# [[Note|there]] and [[Other#x]]", "there and Other#x"),
        ("# `code_x` snake_case _it_ ~~no~~ ==yes==", "code_x snake_case it no yes"),
        ("# ![alt](i.png) <b>x</b> a \\* b & &amp; 2 * 3", "alt x a * b & & 2 * 3"),
        ("# <https://x.y> <!-- c -->z", "https://x.y z"),
    ],
)
def test_a_heading_is_known_as_it_is_shown_too(heading: str, shown: str) -> None:
    [found] = headings.of(heading)
    assert found.shown == shown


NAMED = "# A\n## People\n## C#\n### People\n# Set [l](u) **b**\n## C#\n## Café ❤️ ^id\n# tag\n## #tag\n"


@pytest.mark.parametrize(
    ("asked", "lines"),
    [
        ("A", [1]),
        ("# A", [1]),
        ("### A", [1]),
        ("People", [2, 4]),
        ("### People", [4]),
        ("## people ##", [2]),
        ("C#", [3, 6]),
        ("## C#", [3, 6]),
        ("#A", [1]),
        ("A#People", [2, 4]),
        ("C##People", []),
        ("Set [l](u) **b**", [5]),
        ("set l b", [5]),
        ("Set *l* b", [5]),
        ("CAFE\u0301 ❤", [7]),
        ("#tag", [9]),
        ("tag", [8]),
        ("# tag", [8]),
        ("  A ", [1]),
        ("A\nPeople", []),
        ("nope", []),
        ("#", []),
        ("", []),
        ("A#nope", []),
        ("nope#People", []),
        ("#".join("abcdefgh"), []),
    ],
)
def test_a_heading_is_found_by_what_a_person_would_call_it(asked: str, lines: list[int]) -> None:
    """complaints.md 26: bare text and `### ` prefix both work; contract.md: `## C#` is "C#"."""
    assert [one.line for one in headings.matching(headings.of(NAMED), asked)] == lines


def test_what_fits_exactly_hides_what_fits_nearly() -> None:
    found = headings.of("# plan\n# Plan\n# **Plan**\n")
    assert [one.line for one in headings.matching(found, "Plan")] == [2, 3]
    assert [one.line for one in headings.matching(found, "PLAN")] == [1, 2, 3]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a ^one\n\n- b ^t-2\n- c\n  d ^3\n", [BlockId("one", 1, 1), BlockId("t-2", 3, 3), BlockId("3", 5, 4)]),
        ("| a |\n|---|\n| b |\n\n^table\n", [BlockId("table", 5, 1)]),
        ("> [!note] x\n> y\n\n^call", [BlockId("call", 4, 1)]),
        ("# H ^h\n", [BlockId("h", 1, 1)]),
        ("a^no\na ^no b\n\n`a ^no`\n\na ^no_x\n\n```\n^no\n```\n\n[^1]\n", []),
        ("%% a ^no %%\n\n---\n", []),
        ("two\nlines ^x  \r\n\r\nz", [BlockId("x", 2, 1)]),
        ("^first", [BlockId("first", 1, 1)]),
    ],
)
def test_a_block_id_ends_its_block_or_stands_below_it(text: str, expected: list[BlockId]) -> None:
    """Obsidian help, Link to a block."""
    assert list(blockids.of(text)) == expected


def test_lines_that_may_be_headings_are_counted_at_a_glance() -> None:
    """Never fewer than there are headings."""
    text = "# a\n#b\n   ## c\r\nd\n===\ne\r\n--\r\n- item\n#"
    assert headings.lines_at_most(text) == 5
    assert len(headings.of(text)) == 5


@pytest.mark.parametrize("piece", ["# a\n", "a\n=\n", "a ^b\n\n", "# *a", "# _a [[b|\n", "# a#b\n", "&amp;\\*\n---\n"])
def test_no_text_makes_looking_for_headings_slow(piece: str) -> None:
    """guards.md 6, 60; processor time, so that other work does not count."""
    text = piece * (200_000 // len(piece))
    began = time.process_time()
    headings.matching(headings.of(text), "A#B#C#D#E#F")
    blockids.of(text)
    assert time.process_time() - began < 8
