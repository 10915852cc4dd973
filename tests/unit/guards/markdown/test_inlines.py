"""Pieces of a paragraph as CommonMark 0.31 and Obsidian have them."""

from __future__ import annotations

import pytest

from service.guards.markdown import Autolink, Code, Inline, Link, Markup, Tag, Unseen, Wikilink, document


def pieces(text: str) -> tuple[Inline, ...]:
    """The pieces of the last block."""
    return document(text).inlines[-1]


def shown(text: str) -> list[str]:
    """What kind of piece each is, and where it stands."""
    return [f"{type(piece).__name__} {text[piece.start : piece.end]}" for piece in pieces(text)]


CASES: dict[str, tuple[str, list[str]]] = {
    "code": ("a ``b ` c`` `", ["Code ``b ` c``"]),
    "an escaped backtick opens nothing": ("\\`a` b`", ["Code ` b`"]),
    "a backslash in code is itself": ("`a\\` b`", ["Code `a\\`"]),
    "code binds tighter than a link": ("[a`](u)`", ["Code `](u)`"]),
    "code binds as tight as a tag": ('<a b="`">`', ['Tag <a b="`">']),
    "an escaped comment": ("\\<!-- a -->", []),
    "the shortest comments": ("a <!--> <!---> b", ["Unseen <!-->", "Unseen <!--->"]),
    "a comment with dashes": ("a <!-- b -- c --> d", ["Unseen <!-- b -- c -->"]),
    "a comment without end": ("a <!-- b", []),
    "no declaration without a letter": ("a <!1>", []),
    "what is no tag": ("a <1> < b> <a b=> <a/ > </a b>", []),
    "an address": ("a <https://x.y/?a=b> <n@x.y>", ["Autolink <https://x.y/?a=b>", "Autolink <n@x.y>"]),
    "no address with a blank": ("a <https://x y>", []),
    "a link with a title": ("[a](u 't')", ["Link [a](u 't')"]),
    "no link in a link": ("[a [b](u)](v)", ["Link [b](u)"]),
    "an image in a link": ("[![b](u)](v)", ["Link [![b](u)](v)", "Link ![b](u)"]),
    "a link in an image": ("![[b](u)](v)", ["Link ![[b](u)](v)", "Link [b](u)"]),
    "brackets in a label": ("[a [b] c](u)", ["Link [a [b] c](u)"]),
    "parentheses in a destination": ("[a](b(c)d)", ["Link [a](b(c)d)"]),
    "parentheses nested deeper than others allow": (
        "[a](" + "(" * 40 + ")" * 40 + ")",
        ["Link [a](" + "(" * 40 + ")" * 40 + ")"],
    ),
    "a destination with a blank": ("[a](b c)", []),
    "a destination over two lines": ("[a](\nb\n't')", ["Link [a](\nb\n't')"]),
    "an escaped exclamation mark": ("\\![a](u)", ["Link [a](u)"]),
    "references of three kinds": (
        "[r]: u\n\n[a][R] [r][] [r]",
        ["Link [a][R]", "Link [r][]", "Link [r]"],
    ),
    "a reference to nothing": ("[r]: u\n\n[r][x]", []),
    "a label over two lines": ("[a\n b]: u\n\n[A b]", ["Link [A b]"]),
    "wikilinks": ("[[a|b]] ![[c#d]] [[e\nf]] [[]]", ["Wikilink [[a|b]]", "Wikilink ![[c#d]]"]),
    "what CommonMark sees over an embed": ("![[a]](u)", ["Link ![[a]](u)", "Wikilink ![[a]]"]),
    "no wikilink in code": ("`[[a]]`", ["Code `[[a]]`"]),
}


@pytest.mark.parametrize("name", CASES)
def test_pieces_are_what_commonmark_and_obsidian_make_of_them(name: str) -> None:
    """CommonMark 0.31, chapter 6; Obsidian help, Internal links."""
    text, expected = CASES[name]
    assert shown(text) == expected


def test_code_shows_line_ends_as_blanks_and_loses_one_blank_on_each_side() -> None:
    """CommonMark 6.1."""
    assert [piece.text for piece in pieces("` a\r\nb ` `  ` ` c`") if isinstance(piece, Code)] == ["a b", "  ", " c"]


def test_the_attributes_of_a_tag_are_decoded_and_the_first_of_a_name_counts() -> None:
    """WHATWG HTML 13.2.5.33 and 13.2.5.72: names fold case, values are decoded even without a semicolon."""
    (tag,) = pieces("a <IMG\n SRC='&#x6a;a&Tab;b&#000000058c' src=x hidden data-a=\"<>\"/>")
    assert tag == Tag(2, tag.end, "img", False, (("src", "ja\tb:c"), ("hidden", ""), ("data-a", "<>")))


def test_destinations_and_titles_are_decoded_and_placed() -> None:
    """CommonMark 2.4, 2.5, 6.3."""
    text = '![a](<java\\script&colon;b> "&quot;\\"")'
    (image,) = pieces(text)
    assert image == Link(0, len(text), True, (2, 3), "java\\script:b", (6, 25), '""')


def test_a_reference_tells_the_definition_it_stands_for() -> None:
    """CommonMark 6.3: labels fold case and white space; the first definition counts."""
    text = "> [ẞ \n> x]: u 't'\n> [ss x]: v\n\n![a][SS\tX]"
    read = document(text)
    (image,) = read.inlines[-1]
    assert isinstance(image, Link)
    assert (image.destination, image.title, image.reference) == ("u", "t", "ss x")
    assert text[slice(*image.destination_span)] == "u"
    assert [definition.label for definition in read.definitions] == ["ss x", "ss x"]
    assert read.used == {"ss x"}


def test_what_nobody_refers_to_is_not_used() -> None:
    """guards.md 4.2: an unused definition may hide a title."""
    read = document("[a]: u\n[b]: v\n\n[a] `[b]` \\[b]")
    assert read.used == {"a"}


def test_each_kind_of_what_a_browser_does_not_show_is_told_apart() -> None:
    """CommonMark 6.6."""
    found = pieces("a <!-- b --><?c?><!d><![CDATA[>]]>")
    assert [piece.kind for piece in found if isinstance(piece, Unseen)] == [
        Markup.COMMENT,
        Markup.PROCESSING,
        Markup.DECLARATION,
        Markup.CDATA,
    ]


def test_positions_are_those_of_the_raw_text() -> None:
    """Quote marks within a piece are spaces, so that it is as long as what stands in the file."""
    text = "- > a <b\n  > c>\n"
    (tag,) = pieces(text)
    assert text[tag.start : tag.end] == "<b\n  > c>"
    assert isinstance(tag, Tag)
    assert tag.attributes == (("c", ""),)


def test_an_address_of_a_mailbox_is_a_destination() -> None:
    """CommonMark 6.5."""
    assert pieces("<n@x.y>") == (Autolink(0, 7, "mailto:n@x.y"),)


def test_a_wikilink_may_hold_a_bracket() -> None:
    """Whatever a plugin or an older Obsidian takes for an embed is one for the guards."""
    assert pieces("![[https://x/[a]]") == (Wikilink(0, 17, True, "https://x/[a"),)
