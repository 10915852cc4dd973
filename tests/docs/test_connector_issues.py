"""tests/connector_issues.tsv: what made real connectors fail elsewhere, by the issue that tells of it (auth.md 4.4), and the
tests that show it does not happen here."""

from __future__ import annotations

import re

import pytest

from tests.support import indexes
from tests.support.indexes import Line

LINES = indexes.read("connector_issues.tsv")


def is_named(source: str, docstring: str) -> bool:
    """Whether both the project and the number stand there: `claude-ai-mcp#724 #798` names both, `fastmcp PR 2056` one."""
    project, number = re.fullmatch(r"(\S+?)(?: mcp)?(#\d+| PR \d+)?", source).groups()  # type: ignore[union-attr]
    return project in docstring and re.search(rf"{re.escape((number or '').strip())}(?!\d)", docstring) is not None


def test_every_source_has_its_line_once() -> None:
    """Issue 5: every connector row of auth.md 4.4 is a test."""
    sources = [source for line in LINES for source in line.key.split(", ")]
    assert len(LINES) == 38
    assert len(sources) == len(set(sources))


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.key.split(", ")[0])
def test_the_tests_of_an_issue_exist_and_name_it(line: Line) -> None:
    """So that nobody takes one away without knowing what it was for."""
    assert line.what
    assert line.tests
    for node in line.tests:
        words = " ".join(indexes.docstring(node).split())
        assert any(is_named(source, words) for source in line.key.split(", ")), f"{node} names none of {line.key}"


def test_a_docstring_names_issues_in_these_ways() -> None:
    """The check above would pass anything if it did not read them."""
    assert is_named("claude-ai-mcp#798", "Complaint 50; claude-ai-mcp#724 #798, attack 7")
    assert is_named("fastmcp PR 2056", "fastmcp PR 2056: consent")
    assert is_named("GHSA-wx5f-576r-gpcx", "GHSA-wx5f-576r-gpcx")
    assert not is_named("claude-ai-mcp#79", "claude-ai-mcp#798")
    assert not is_named("fastmcp#1", "claude-ai-mcp#1")
