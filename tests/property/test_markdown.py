"""Our Markdown scanner against a CommonMark parser that is not ours, and what holds for it on any text at all.

`SCANNER_SEED=fresh` takes a seed of the day instead of the fixed one; a failure names it.
"""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.guards.markdown import Block, BlockKind, Code, document, readings
from tests.support.markdown_fragments import FRAGMENTS
from tests.support.markdown_oracle import Oracle, OracleFailed, blocks_by_line, inlines_in_order

MAX_PIECES: Final = 24
DOCUMENTS: Final = 4_000
MANY_DOCUMENTS: Final = 60_000
CODE: Final = frozenset({BlockKind.FENCED_CODE, BlockKind.INDENTED_CODE})
CONTAINER_MARKS: Final = re.compile(r"(?:[ \t\r\n>\ufeff]|[-+*]|[0-9]{1,9}[.)])*")

DEVIATIONS: Final = {
    "it ends a paragraph behind definitions, where CommonMark's own programs let it go on, and the specification is silent": (
        r"\]:[^\n]*\n"
    ),
    "in a quote within a quote it counts the columns of a tab from the wrong place": r"(?:>|[-+*]|[0-9][.)])[^\n]*\t",
    "it ends a lazy paragraph at what is indented by four columns, and takes a quote mark that is": (
        r"(?:>|[-+*]|[0-9][.)])(?s:.*)\n[ >]*(?:    | {0,3}\t)"
    ),
    "its comments hold no two dashes (CommonMark 0.30)": r"<!--(?s:.*)--",
    "it lets a backslash put a line end into a destination, and ends one before a backslash and a blank": r"\\\s",
}
"""Where markdown-it-py 4.3 is known to differ, and a pattern for the texts that may show it."""
MAX_DEVIATING: Final = 0.02


def seed() -> int:
    """The seed of this run."""
    return random.SystemRandom().randrange(2**32) if os.environ.get("SCANNER_SEED") == "fresh" else 20261130


def glued(source: random.Random, *, with_comments: bool = False) -> str:
    """A document of nasty pieces, and some comments to tell code from HTML by.

    Never with front matter, which CommonMark does not know: everything behind it would be another document.
    """
    pieces = source.choices(FRAGMENTS, k=source.randint(1, MAX_PIECES))
    if with_comments:
        for number in range(source.randint(1, 4)):
            comment = source.choice(["<!--s{}-->", "<!--s{}-->\n", " <!--s{}-->\n"]).format(number)
            pieces.insert(source.randint(0, len(pieces)), comment)
    text = "".join(pieces)
    return "\n" + text if text.startswith("---") else text


def compare(count: int, start: int) -> None:
    """Blocks and pieces are those of the oracle in `count` documents, save for the known deviations."""
    source, oracle, deviating = random.Random(start), Oracle(), Counter[str]()
    for _ in range(count):
        text = glued(source)
        try:
            expected = oracle.blocks(text), oracle.inlines(text)
        except OracleFailed:
            deviating["it fails"] += 1
            continue
        read = document(text)
        if (blocks_by_line(text, read), inlines_in_order(read)) != expected:
            reason = next((why for why, pattern in DEVIATIONS.items() if re.search(pattern, text, re.MULTILINE)), "")
            assert reason, f"seed {start}: {text!r}"
            deviating[reason] += 1
    assert deviating.total() <= MAX_DEVIATING * count, f"seed {start}: {deviating}"


def test_blocks_and_pieces_are_those_of_another_parser() -> None:
    """guards.md 4.6: markdown-it-py is the oracle, in tests alone."""
    compare(DOCUMENTS, 20261130)


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_blocks_and_pieces_are_those_of_another_parser_in_many_documents() -> None:
    """guards.md 6, 55: a fixed seed in CI, a fresh one by night."""
    compare(MANY_DOCUMENTS, seed())


def look_for_html_in_code(count: int, start: int) -> None:
    """No comment that the oracle finds lies in what every reading of ours calls code."""
    source, oracles = random.Random(start), (Oracle(), Oracle(with_tables=True))
    for _ in range(count):
        text = glued(source, with_comments=True)
        in_code = comments_in_code(text)
        for oracle in oracles if in_code else ():
            try:
                found = oracle.comments(text)
            except OracleFailed:
                continue
            assert not found & in_code, f"seed {start}: {text!r}"


def comments_in_code(text: str) -> set[str]:
    """The comments of a text that are code in each of its readings."""
    found: set[str] | None = None
    for reading in readings(text):
        spans = [
            (span.start, span.end)
            for block, pieces in document(reading)
            for span in ([block] if block.kind in CODE else [piece for piece in pieces if isinstance(piece, Code)])
        ]
        here = {comment for start, end in spans for comment in re.findall(r"<!--s\d-->", text[start:end])}
        found = here if found is None else found & here
    return found or set()


def test_what_another_parser_takes_for_html_is_no_code() -> None:
    """guards.md 4.1: when in doubt it is not code. Known deviations count here, too."""
    look_for_html_in_code(DOCUMENTS, 20261130)


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_what_another_parser_takes_for_html_is_no_code_in_many_documents() -> None:
    """guards.md 6, 55."""
    look_for_html_in_code(MANY_DOCUMENTS, seed())


ANY_TEXT = st.one_of(
    st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join),
    st.text(st.characters(), max_size=60),
    st.lists(
        st.one_of(st.sampled_from(FRAGMENTS), st.sampled_from(["\r", "\ufeff", "\u2028", "\x85", "\0", "\ud800"]))
    ).map("".join),
)


@given(ANY_TEXT)
def test_blocks_are_in_order_and_what_lies_in_none_is_a_mark_of_a_container(text: str) -> None:
    at = 0
    for block in document(text).blocks:
        assert at <= block.start < block.end <= len(text)
        assert CONTAINER_MARKS.fullmatch(text, at, block.start)
        at = block.end
    assert CONTAINER_MARKS.fullmatch(text, at)


@given(ANY_TEXT)
def test_the_text_of_a_block_is_as_long_as_its_part_of_the_file_and_differs_in_marks_alone(text: str) -> None:
    for block in document(text).blocks:
        raw = text[block.start : block.end]
        assert len(block.text) == len(raw)
        assert all(shown in (written, " ") for shown, written in zip(block.text, raw, strict=True))


@given(ANY_TEXT)
def test_pieces_lie_in_their_block_one_within_another_or_apart(text: str) -> None:
    """Wikilinks excepted: Obsidian's and CommonMark's brackets may cross."""
    for block, pieces in document(text):
        assert all(block.start <= piece.start < piece.end <= block.end for piece in pieces)
        assert [*pieces] == sorted(pieces, key=lambda piece: (piece.start, -piece.end))
        ends: list[int] = []
        for piece in pieces:
            if type(piece).__name__ == "Wikilink":
                continue
            while ends and ends[-1] <= piece.start:
                ends.pop()
            assert not ends or piece.end <= ends[-1]
            ends.append(piece.end)


@given(ANY_TEXT.map(lambda text: text.replace("\r", "")))
def test_windows_line_ends_change_nothing_but_offsets(text: str) -> None:
    unix, windows = document(text), document(text.replace("\n", "\r\n"))

    def seen(block: Block) -> tuple[object, ...]:
        return block.kind, block.text.replace("\r\n", "\n"), block.level, block.info

    assert [seen(block) for block in windows.blocks] == [seen(block) for block in unix.blocks]
    assert [[type(piece) for piece in pieces] for pieces in windows.inlines] == [
        [type(piece) for piece in pieces] for pieces in unix.inlines
    ]
    assert [(one.label, one.destination) for one in windows.definitions] == [
        (one.label, one.destination) for one in unix.definitions
    ]


@given(ANY_TEXT)
def test_every_reading_is_as_long_as_the_text(text: str) -> None:
    for reading in readings(text):
        assert len(reading) == len(text)
        document(reading)
