"""The page of results: made of the committed run, whole, and with a plot that can be read."""

from __future__ import annotations

import itertools
from xml.etree import ElementTree

import pytest

from tests.bench import plot, report
from tests.bench.model import ROWS

SVG = "{http://www.w3.org/2000/svg}"

ISSUE = (
    "search_notes literal, engine alone, rare and no match",
    "whole call, stdio and HTTP, against warm `rg -i -F -l` on the same vault",
    "whole call against MCPVault 0.16.0 (npm `@bitbonsai/mcpvault`, both over stdio with the official client)",
    "ranked, three words, in process",
    "list_tags, list_tasks, get_links, find_broken_links, get_vault_tree, get_vault_stats, resolve_link, list_recent, warm",
    "read_note, write_note, edit_note",
    "change from outside → seen by the next call",
    "start → first tools/list",
    "memory at rest",
    "HTTP, 32 clients, distinct searches on wdd",
)
"""The left column of issue 6's table of figures."""


def test_the_page_and_the_plot_are_what_the_report_makes_of_the_committed_run() -> None:
    """Issue 6: a results page generated from one run."""
    results = report.kept()
    assert report.PAGE.read_text(encoding="utf-8") == report.page(results)
    assert report.PLOT.read_text(encoding="utf-8") == plot.draw(results.points)


@pytest.mark.parametrize("work", ISSUE)
def test_every_row_of_the_issue_stands_on_the_page_with_its_verdict(work: str) -> None:
    """Issue 6: the table of figures; what was missed or not measured is said."""
    [line] = [line for line in report.PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {work} |")]
    found = line.rstrip("| ").rsplit("| ", 1)[1]
    assert found.startswith(("met, all", "**missed** in", "not measured on")), found


def test_the_rows_of_the_bench_are_those_of_the_issue() -> None:
    """Issue 6: no row is left out."""
    assert tuple(row.work for row in ROWS) == ISSUE


def test_the_page_names_machine_versions_and_date() -> None:
    """Issue 6: with machine, versions and date."""
    about = report.kept().about
    page = report.PAGE.read_text(encoding="utf-8")
    for name in (
        "date",
        "processor",
        "memory",
        "kernel",
        "Python",
        "mcp",
        "ripgrep",
        "Node",
        "@bitbonsai/mcpvault",
        "obsidian-mcp",
    ):
        assert about[name], name
        assert f"| {name} | {about[name]} |" in page


def test_the_plot_is_well_formed_and_says_what_its_axes_and_lines_are() -> None:
    """Issue 6: a plot of latency against vault size for us, ripgrep and the peers."""
    root = ElementTree.parse(report.PLOT).getroot()
    words = {text.text for text in root.iter(f"{SVG}text")}
    assert {"notes in the vault", "time of one call, in ms or s"} <= words
    assert set(plot.NAMES.values()) <= words
    assert len(list(root.iter(f"{SVG}polyline"))) == len(plot.NAMES)
    heights = sorted(float(str(text.get("y"))) for text in root.iter(f"{SVG}text") if text.text in plot.NAMES.values())
    assert all(later - earlier >= plot.LINE_PX - 0.2 for earlier, later in itertools.pairwise(heights))
    description = root.find(f"{SVG}desc")
    assert description is not None
    assert all(name in str(description.text) for name in plot.NAMES.values())
