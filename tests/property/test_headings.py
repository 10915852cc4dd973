"""Headings of any text are those of a CommonMark parser that is not ours, outside of quotes and items."""

from __future__ import annotations

import itertools
import random
import re
from typing import Final

import pytest

from service.guards.markdown import document
from service.vault.parts import headings
from tests.property.test_markdown import DEVIATIONS, glued, seed
from tests.support.markdown_oracle import Oracle, OracleFailed, blocks_by_line, inlines_in_order

DOCUMENTS: Final = 1_000
MANY_DOCUMENTS: Final = 30_000
MAX_SKIPPED: Final = 0.05


def by_oracle(oracle: Oracle, text: str) -> list[tuple[int, str, int]]:
    """Level, text in one line and line of the headings at the top of the document."""
    tokens = oracle.tokens(text)
    return [
        (int(opening.tag[1]), " ".join(inline.content.split()), opening.map[0] + 1)
        for opening, inline in itertools.pairwise(tokens)
        if opening.type == "heading_open" and opening.level == 0 and opening.map is not None
    ]


def compare(count: int, start: int) -> None:
    source, oracle, skipped = random.Random(start), Oracle(), 0
    for _ in range(count):
        text = glued(source).replace("%%", "-")
        try:
            expected = by_oracle(oracle, text)
            same = (blocks_by_line(text, document(text)), inlines_in_order(document(text)))
            is_known = same == (oracle.blocks(text), oracle.inlines(text))
        except OracleFailed:
            skipped += 1
            continue
        if not is_known:
            assert any(re.search(pattern, text, re.MULTILINE) for pattern in DEVIATIONS.values()), (
                f"seed {start}: {text!r}"
            )
            skipped += 1
            continue
        found = headings.of(text)
        assert [(one.level, one.text, one.line) for one in found] == expected, f"seed {start}: {text!r}"
        _check(text, found)
    assert skipped <= MAX_SKIPPED * count


def _check(text: str, found: tuple[headings.Heading, ...]) -> None:
    """A section begins with its heading and holds each heading behind it that is deeper, up to the first that is not."""
    for at, one in enumerate(found):
        assert text[one.start - 1 : one.start] in ("", "\n")
        following = next((other.start for other in found[at + 1 :] if other.level <= one.level), len(text))
        assert one.section_end == following
        if one.text:
            assert one in headings.matching(found, one.text)


def test_headings_are_those_of_another_parser() -> None:
    """issue 4: sections, outline and tags checked against a CommonMark parser."""
    compare(DOCUMENTS, 20261130)


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_headings_are_those_of_another_parser_in_many_documents() -> None:
    compare(MANY_DOCUMENTS, seed())
