"""tests/complaints.tsv: what users of such servers complain about, and the tests that show it does not happen here.

The numbers are those of the list that this project was built against; its lines come from public issue trackers.
"""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "tests" / "complaints.tsv"
WANTED = [*range(1, 46), *range(55, 58)]
_CITED = re.compile(r"complaints?(?:\.md)?:?\s+((?:\d+(?:\s*(?:,|and|to)\s*)?)+)", re.IGNORECASE)


def rows() -> dict[int, tuple[str, list[str]]]:
    """By number: the line and the node ids of its tests."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {
            int(row["number"]): (row["what a test must see"], row["tests"].split())
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        }


@cache
def docstrings(name: str) -> dict[str, str]:
    """The tests of a file by their names, each with its docstring."""
    body = ast.parse((ROOT / name).read_text(encoding="utf-8")).body
    return {
        found.name: ast.get_docstring(found) or ""
        for found in body
        if isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef) and found.name.startswith("test_")
    }


def cited(docstring: str) -> set[int]:
    """The numbers of the complaints that a docstring names: `complaint 5`, `Complaints 7, 8 and 9`, `complaints.md 1 to 3`."""
    return {number for match in _CITED.finditer(docstring) for number in _numbers(match[1])}


def _numbers(words: str) -> Iterator[int]:
    for first, last in re.findall(r"(\d+)(?:\s*to\s*(\d+))?", words):
        yield from range(int(first), int(last or first) + 1)


def test_every_complaint_has_its_line_once() -> None:
    """Issue 4: numbers 1 to 45 are tests; 55 to 57 are about what tools take and answer."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()[1:]
    assert [int(line.split("\t")[0]) for line in lines] == WANTED


@pytest.mark.parametrize("number", WANTED)
def test_the_tests_of_a_complaint_exist_and_name_it(number: int) -> None:
    """So that nobody takes one away without knowing what it was for."""
    line, nodes = rows()[number]
    assert line
    assert nodes
    for node in nodes:
        name, _, test = node.partition("::")
        assert test in docstrings(name), f"{node} is not there"
        is_named = bool(re.search(rf"complaint_(\d+_and_)?{number}_", test)) or number in cited(docstrings(name)[test])
        assert is_named, f"{node} does not name complaint {number}"


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
    assert cited(docstring) == numbers
