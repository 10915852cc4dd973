"""Reading the tables that say which tests stand for what: `tests/*.tsv`, whose lines others wrote before this was built.

A line names the node ids of its tests, or `n/a:` and why it has none. Each test names the line in its docstring, so that
nobody takes one away without knowing what it was for.
"""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
NOT_APPLICABLE: Final = "n/a:"


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its key, what a test must see, and the node ids of its tests, or why there are none."""

    key: str
    what: str
    tests: Sequence[str]
    reason: str


def read(name: str) -> Sequence[Line]:
    """The lines of `tests/NAME`, in order. Their columns: key, what, tests."""
    with (ROOT / "tests" / name).open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    return [_line(*row) for row in rows]


def _line(key: str, what: str, tests: str) -> Line:
    if tests.startswith(NOT_APPLICABLE):
        return Line(key, what, (), tests.removeprefix(NOT_APPLICABLE).strip())
    return Line(key, what, tests.split(), "")


def docstring(node: str) -> str:
    """What the test says of itself.

    Raises:
        AssertionError: there is no such test.
    """
    name, _, test = node.partition("::")
    found = _docstrings(name)
    assert test in found, f"{node} is not there"
    return found[test]


@cache
def _docstrings(name: str) -> dict[str, str]:
    body = ast.parse((ROOT / name).read_text(encoding="utf-8")).body
    return {
        found.name: ast.get_docstring(found) or ""
        for found in body
        if isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef) and found.name.startswith("test_")
    }


def cited(words: str, kind: str) -> set[int]:
    """The numbers that a docstring names: `attack 5`, `Attacks 7, 8 and 9`, `attack lines 1 to 3`, `complaints.md 33`."""
    pattern = rf"{kind}s?(?: lines?|\.md)?:?\s+((?:\d+(?:\s*(?:,|and|to|-)\s*)?)+)"
    return {number for match in re.finditer(pattern, words, re.IGNORECASE) for number in _numbers(match[1])}


def _numbers(words: str) -> Iterator[int]:
    for first, last in re.findall(r"(\d+)(?:\s*(?:to|-)\s*(\d+))?", words):
        yield from range(int(first), int(last or first) + 1)
