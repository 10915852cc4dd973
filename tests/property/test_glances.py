"""A glance never says that a text holds none of what reading it would find.

Headings, tags, tasks, links, aliases and block ids are looked for only where a glance at the text lets some be there.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Final
from unittest import mock

import pytest

from service.vault.parts import aliases, blockids, canvas, headings, links, prose, tags, tasks
from tests.property.test_markdown import seed
from tests.support.markdown_fragments import FRAGMENTS

DOCUMENTS, MANY_DOCUMENTS = 800, 15_000
MAX_PIECES: Final = 12
HEADS: Final = (
    "", "", "\ufeff", "---\ntags: a\n---\n", "---\n\"ta\\u0067s\": [a]\n---\n", "---\naliases: b\n---\n",
    '---\n"\\x61lias": b\n---\n', '---\nup: "[[o]]"\n---\n', '---\nup: "\\u005b[o]]"\n---\n', "---\nAlias:\n- c\n---\r\n",
    '---\n? "ta\\u0067s"\n: [p]\n---\n', '---\n"ta\\\n  gs": p\n---\n', "---\nk: &k tags\n*k : [p]\n---\n", "---\n{TAGS: [p]}\n---\n",
    '---\nk: &k "\\x74ag"\n*k : p\n---\n',
)  # fmt: skip
PIECES: Final = (
    *FRAGMENTS, "\n-", "\n   -", "\n  = ", "\n =\r\n", "\n ---\t\n", "\n# ", "\n   ###", "#tag", " #é ", "\\#x", " ^id\n", "- [ ] t\n",
    "1) [x] d\n", "> * [/] e\n", "[[a]]", "$$", "`", "![b](c.md)", "[r]", "\n\n[r]: s.md\n\n", "[k][r]", "%%",
)  # fmt: skip


def seen_past(text: str) -> list[str]:
    """The kinds that reading finds where the glance says that there are none."""
    data, read = text.encode("utf-8", "surrogatepass"), prose.read(text)
    outline = headings.within(read)
    kinds: Sequence[Callable[[str], object]] = (tags.of, tasks.of, links.of)
    quickly = [of(text) for of in kinds]
    with mock.patch.object(prose, "read", return_value=read):
        whole = [of(text) for of in kinds]
    return [
        kind
        for kind, is_missed in {
            "headings": headings.of(text) != outline,
            "lines of headings": headings.lines_at_most(text) < len(outline),
            "block ids": blockids.of(text) != blockids.within(read),
            "tags": bool(tags.of(text)) and not tags.may_hold(data),
            "tasks": any(tasks.in_prose(read)) and not tasks.may_hold(data),
            "what stands in some blocks": quickly != whole,
            "links": bool(links.of(text)) and not links.may_hold(data),
            "aliases": bool(aliases.of(text)) and not aliases.may_hold(data),
        }.items()
        if is_missed
    ]


def compare(count: int, start: int) -> None:
    source = random.Random(start)
    for _ in range(count):
        text = source.choice(HEADS) + "".join(source.choices(PIECES, k=source.randint(1, MAX_PIECES)))
        assert seen_past(text) == [], f"seed {start}: {text!r}"


def test_no_glance_misses_what_is_there() -> None:
    compare(DOCUMENTS, seed())


@pytest.mark.long
@pytest.mark.timeout(600)
def test_no_glance_misses_what_is_there_in_many_documents() -> None:
    compare(MANY_DOCUMENTS, seed())


@pytest.mark.parametrize("underline", ["-", "=", "   -", " = ", "  -\t", "   =\r\n", " -\n"])
def test_one_mark_underlines_a_heading_however_far_it_is_indented(underline: str) -> None:
    """CommonMark 4.3: any number of marks, up to three blanks before them."""
    assert [(one.text, one.level) for one in headings.of(f"a\n{underline}")] == [("a", 1 if "=" in underline else 2)]


@pytest.mark.parametrize("text", ["# a", "a\n-", "   ## b"])
def test_a_byte_order_mark_hides_no_line_of_a_heading(text: str) -> None:
    assert headings.lines_at_most("\ufeff" + text) == len(headings.of("\ufeff" + text)) == 1


def test_a_glance_at_aliases_goes_as_far_as_front_matter_may_in_any_script() -> None:
    note = "---\nabove: " + "系" * 30_000 + "\naliases: b\n---\n"
    assert (aliases.of(note), aliases.may_hold(note.encode())) == (("b",), True)


def test_names_may_be_escaped_in_properties_and_canvases() -> None:
    """YAML 1.2, 5.7; RFC 8259, 7."""
    note = '---\n"\\x61liases": [b]\n---\n'
    assert (aliases.of(note), aliases.may_hold(note.encode())) == (("b",), True)
    card = '{"\\u006eodes": [{"id": "1", "type": "text", "text": "[[a]]", "x": 0, "y": 0, "width": 1, "height": 1}]}'
    assert [use.target for use in canvas.links_in(card)] == ["a"]
    assert canvas.may_hold(card.encode())
