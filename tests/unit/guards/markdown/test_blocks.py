"""Blocks as CommonMark 0.31 and Obsidian have them."""

from __future__ import annotations

import pytest

from service.guards.markdown import BlockKind, document

Shown = list[tuple[str, str]]


def shown(text: str) -> Shown:
    """Kind and text of each block."""
    return [(block.kind.value, block.text) for block in document(text).blocks]


CASES: dict[str, tuple[str, Shown]] = {
    "front matter at the top": ("---\na: b\n---\ntext", [("front matter", "---\na: b\n---"), ("paragraph", "text")]),
    "front matter behind a byte order mark": ("\ufeff---\na\n--- \n", [("front matter", "---\na\n--- ")]),
    "a rule when nothing closes it": ("---\na: b\n", [("rule", "---"), ("paragraph", "a: b")]),
    "a rule further down": ("\n---\na\n\n---\n", [("rule", "---"), ("paragraph", "a"), ("rule", "---")]),
    "a fence ends with its quote": ("> ```\n> <b>\n<i>", [("fenced code", "```\n  <b>"), ("html", "<i>")]),
    "a fence ends with its item": ("- ```\n  a\nb", [("fenced code", "```\n  a"), ("paragraph", "b")]),
    "a shorter fence closes nothing": (
        "````\n```\n`````\nx",
        [("fenced code", "````\n```\n`````"), ("paragraph", "x")],
    ),
    "tildes do not close backticks": ("```\n~~~\n```", [("fenced code", "```\n~~~\n```")]),
    "a backtick in the info opens no fence": ("``` a`b\nx", [("paragraph", "``` a`b\nx")]),
    "indented code in an item": ("- a\n\n      b", [("paragraph", "a"), ("indented code", "b")]),
    "an item's mark before indented code": ("-     a", [("indented code", "a")]),
    "no indented code in a paragraph": ("a\n    b", [("paragraph", "a\n    b")]),
    "a tab behind a quote mark": (">\t\ta", [("indented code", "a")]),
    "a callout": ("> [!note] T\n> b", [("paragraph", "[!note] T\n  b")]),
    "a lazy line": ("> a\nb", [("paragraph", "a\nb")]),
    "no lazy line behind a blank": ("> a\n>\nb", [("paragraph", "a"), ("paragraph", "b")]),
    "an item other than 1 interrupts nothing": ("a\n2. b", [("paragraph", "a\n2. b")]),
    "a heading loses its marks": ("## C# ##", [("heading", "   C#   ")]),
    "a setext heading loses its line": ("a\n---", [("heading", "a\n   ")]),
    "a table is a paragraph": ("|a|\n|-|\n|b|", [("paragraph", "|a|\n|-|\n|b|")]),
    "definitions in a row": (
        "[a]: u\n[b]:\n v\n 't\n u'\nx",
        [("definition", "[a]: u"), ("definition", "[b]:\n v\n 't\n u'"), ("paragraph", "x")],
    ),
    "a definition in a quote": ("> [a]: u\n> x", [("definition", "[a]: u"), ("paragraph", "x")]),
    "a footnote is text": ("[^1]: u", [("paragraph", "[^1]: u")]),
    "an underline behind definitions alone": ("[a]: u\n===", [("definition", "[a]: u"), ("paragraph", "===")]),
    "a separator ends no line": ("a\u2028# b\u0085# c", [("paragraph", "a\u2028# b\u0085# c")]),
    "a carriage return alone ends no line": ("a\r# b", [("paragraph", "a\r# b")]),
    "Windows line ends": (
        "# a\r\nb\r\n```\r\nc\r\n```\r\n",
        [("heading", "  a"), ("paragraph", "b"), ("fenced code", "```\r\nc\r\n```")],
    ),
    "a comment over blank lines": ("<!-- a\n\nb --> c\nd", [("html", "<!-- a\n\nb --> c"), ("paragraph", "d")]),
    "any tag alone ends at a blank line": ("<x-y>\na\n\nb", [("html", "<x-y>\na"), ("paragraph", "b")]),
    "any tag alone interrupts no paragraph": ("a\n<x-y>", [("paragraph", "a\n<x-y>")]),
    "a comment of Obsidian's hides no HTML": ("%%\n<div>\n%%", [("paragraph", "%%"), ("html", "<div>\n%%")]),
}


@pytest.mark.parametrize("name", CASES)
def test_blocks_are_what_commonmark_and_obsidian_make_of_them(name: str) -> None:
    """CommonMark 0.31; Obsidian help: Properties, Callouts, Basic formatting syntax (footnotes, comments)."""
    text, expected = CASES[name]
    assert shown(text) == expected


def test_an_info_string_is_decoded_and_placed() -> None:
    """CommonMark 4.5: escapes and entities count in an info string, so a guard that reads languages must decode it."""
    (block,) = document("> ```  &#100;ata\\view  \n").blocks
    assert (block.kind, block.info, block.info_span) == (BlockKind.FENCED_CODE, "data\\view", (7, 21))
