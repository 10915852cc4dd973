"""Tags of any text: never out of what another parser takes for code or HTML, and all others found."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it.token import Token

from service.guards.markdown import document
from service.vault.parts import tag_list, tags
from tests.property.test_markdown import DEVIATIONS, glued, seed
from tests.support.markdown_oracle import Oracle, OracleFailed, blocks_by_line, inlines_in_order

DOCUMENTS: Final = 1_000
MANY_DOCUMENTS: Final = 30_000
MAX_SKIPPED: Final = 0.05
PLANTED: Final = re.compile(r"(?:\A|(?<=\s))#(t\d+z)(?=\s|\Z)")

YAML: Final = st.sampled_from(
    [
        *[
            "tags: ",
            "tag:",
            "Tags: ",
            "k: ",
            "  - ",
            "- ",
            "a",
            "b c",
            "#x",
            "'q'",
            '"#r"',
            "[a, b]",
            "[",
            "]",
            ", ",
            "\n",
            "\n",
            "\n",
        ],
        *[
            "12",
            "true",
            "null",
            "~",
            "a: b",
            "https://x#y",
            "# rem",
            "é",
            "日本",
            "|",
            "&a",
            "*a",
            "\r\n",
            "\t",
            "x:",
            "'",
            "-",
            "? ",
        ],
        *[
            "{",
            "}",
            "!t",
            "%",
            "@",
            "`",
            "\\",
            "🎉",
            "...\n",
            "2024-01-01T10:30",
            "_a",
            ">",
            " ",
            "\u2028",
            "\x85",
            "\u00a0",
            "\ufeff",
        ],
    ]
)


def shown(tokens: list[Token]) -> Iterator[str]:
    """The text between other pieces, labels of links included; of pictures nothing."""
    for token in tokens:
        if token.type == "text":
            yield token.content
        elif token.type in {"softbreak", "hardbreak"}:
            yield "\n"
        elif token.type == "inline":
            yield from shown(token.children or [])
            yield "\n"
        else:
            yield "\n" if token.block else "\0"


def compare(count: int, start: int) -> None:
    source, oracle, skipped = random.Random(start), Oracle(), 0
    for _ in range(count):
        text = with_tags(source)
        try:
            expected = oracle.blocks(text), oracle.inlines(text)
            tokens = oracle.tokens(text)
        except OracleFailed:
            skipped += 1
            continue
        read = document(text)
        if (blocks_by_line(text, read), inlines_in_order(read)) != expected:
            assert any(re.search(pattern, text, re.MULTILINE) for pattern in DEVIATIONS.values()), (
                f"seed {start}: {text!r}"
            )
            skipped += 1
            continue
        wanted = PLANTED.findall("".join(shown(tokens)))
        assert [use.name for use in tags.of(text) if use.name.startswith("t")] == wanted, f"seed {start}: {text!r}"
    assert skipped <= MAX_SKIPPED * count


def with_tags(source: random.Random) -> str:
    """A document of nasty pieces with tags `t0z`, `t1z` and so on among them, each between blanks; no comments or formulas."""
    pieces = re.split(r"(?<=\n)", glued(source))
    for number in range(source.randint(1, 4)):
        pieces.insert(source.randint(0, len(pieces)), source.choice([" #t{}z ", " #t{}z\n"]).format(number))
    return re.sub(r"%%|\$", "-", "".join(pieces))


def test_tags_are_in_what_another_parser_takes_for_text_and_nowhere_else() -> None:
    """issue 4: sections, outline and tags checked against a CommonMark parser; complaints.md 6."""
    compare(DOCUMENTS, 20261130)


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_tags_are_in_what_another_parser_takes_for_text_in_many_documents() -> None:
    compare(MANY_DOCUMENTS, seed())


@settings(max_examples=300)
@given(st.lists(YAML, max_size=9).map("".join))
def test_plain_front_matter_is_read_as_the_library_reads_it(front: str) -> None:
    """The quick way must agree with the slow one wherever it answers."""
    front = front if front.endswith("\n") or not front else front + "\n"
    quick = tag_list.plainly(front)
    if quick is not None:
        assert [named.name for named in quick] == [named.name for named in tag_list.wholly(front)]


@settings(max_examples=300)
@given(st.text(alphabet=st.sampled_from("#a_*/~=$%|[](){}<>`\\ \n\t1é日\u00a0-:"), max_size=60))
def test_what_a_glance_rules_out_holds_no_tag(text: str) -> None:
    if tags.of(text):
        assert tags.may_hold(text.encode())
