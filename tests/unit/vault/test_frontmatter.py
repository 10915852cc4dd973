"""Where a note's properties end."""

from __future__ import annotations

import pytest

from service.vault import frontmatter
from tests.support.vaults import BOM


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"---\na: 1\n---\ntext", 3),
        (b"---\na: 1\n---", 3),
        (b"---\r\na: 1\r\n---\r\ntext", 3),
        (BOM + b"---\na: 1\n---\n", 3),
        (b"---\n---\n", 2),
        (b"--- \na: x --- y\n---\t\n---\n", 3),
        (b"---\na: 1\n", 0),
        (b"\n---\na: 1\n---\n", 0),
        (b"----\na: 1\n----\n", 0),
        (b"text\n---\n---\n", 0),
        (b"", 0),
    ],
)
def test_properties_stand_between_two_fences_at_the_very_top(data: bytes, lines: int) -> None:
    """Obsidian help, Properties; complaint 19: a byte order mark does not hide them."""
    assert frontmatter.line_count(data) == lines
