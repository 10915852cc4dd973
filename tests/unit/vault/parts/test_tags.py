"""A text's tags."""

from __future__ import annotations

import time

import pytest

from service.vault.parts import tags
from service.vault.parts.tags import TagUse

FENCES = "```markdown\n```typescript\nx #tu\n```\nprose #tv\n```\ncode #tw\n```"


def names(text: str) -> list[str]:
    found = [use.name for use in tags.of(text)]
    assert not found or tags.may_hold(text.encode()), "a glance misses it"
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('(#pa) $#pb$ "#pc" .#pd x—#pe', []),
        ("a\t#pf", ["pf"]),
        ("a\u00a0#qi", ["qi"]),
        ("a\u3000#qj", ["qj"]),
        ("[x #ph]", ["ph"]),
        ("[x](u#y)", []),
        ("`#a` and `b #c`", []),
        ("```\n#a\n```\n", []),
        ("    #a\n", []),
        ("<!-- #a -->", []),
        ("<!-- a --> #rd", []),
        ("z #qe <!-- #qf -->\nafter #qh", ["qe", "qh"]),
        ("m $a #ra b$ n", []),
        ("x $$ #rb $$ y", []),
        ("$$\n#qd\n$$", []),
        ("[Discord #tf](https://x.y)", ["tf"]),
        ("[a #tg][ref]", ["tg"]),
        (FENCES, ["tv"]),
        ("<div>\nhello #tp\n</div>", []),
        ("<p>x #tr</p>", []),
        ("#tl#tm", ["tl", "tm"]),
        ("#tn/#to", ["tn/", "to"]),
        ("x _#uc_ y", ["uc"]),
        ("snake_case_#wc", ["wc"]),
        ("|a|b|\n|-|-|\n|#uo|x|", ["uo"]),
        ("#日本 #a/b #123 #1990s #🎉", ["日本", "a/b", "1990s", "🎉"]),
    ],
)
def test_a_tag_is_where_obsidian_has_one(text: str, expected: list[str]) -> None:
    """complaints.md 6: cyanheads/obsidian-mcp-server#138 and #140, read back from Obsidian 1.13.7."""
    assert names(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**#a** ~~#b~~ ==#c== *#d* __#e__", ["a", "b", "c", "d", "e"]),
        ("a_#b a*#c a=#d", []),
        ("_#a_b_", ["a_b"]),
        ("#snake_case and more_ #x", ["snake_case", "x"]),
        ("[#a](y) [x](y)#b `c`#d <b>#e</b>", ["a", "b", "d", "e"]),
        ("![a #b](u) [[N#H|see #c]] ![[#d]] <https://x/#e>", []),
        ("https://x/#a https://x/_y_#b foo#c", []),
        (r"\#a \|#b \\#c", ["b", "c"]),
        ("# Head #a ##\nSet #b\n===\n", ["a", "b"]),
        ("#no-heading", ["no-heading"]),
        ("> [!note] #a\n> #b\n\n- [ ] #c\n1. #d", ["a", "b", "c", "d"]),
        ("%% #a %% #b\n\n%%\n\n#c\n\n%%\n#d", ["b", "d"]),
        ("$$\n\n#a\n\n$$\n#b", ["b"]),
        ("it cost $5 #a and 6$ #b; or $5 #c and $6", ["b", "c"]),
        ("costs $$ #a\n\nand #b", ["a", "b"]),
        ("#a.b #c, #d! #e\u2019s #f\u200dg", ["a", "c", "d", "e", "f"]),
        ("#\ufe0f\u20e3 is a key", []),
        ("# #", []),
        ("a\r\n#b\r\n", ["b"]),
        ("[ref]: https://x#y '#z'\n", []),
        ("", []),
    ],
)
def test_a_tag_begins_where_a_piece_of_the_text_begins(text: str, expected: list[str]) -> None:
    """Obsidian help, Tags; its parser tries a tag at each place where it begins a new piece."""
    assert names(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#00B7DA #ffffff #1a2b3c4d #fff", []),
        ("color: #c64; background-color: #e2e\n--accent-colour: #abc", []),
        ("border: 1px solid #add", []),
        ("#add #b2b #c64 #facade #2fa", ["add", "b2b", "c64", "facade", "2fa"]),
        ("Status: #bad, tags: #c64", ["bad", "c64"]),
    ],
)
def test_a_hex_colour_is_no_tag_but_a_word_of_those_letters_is(text: str, expected: list[str]) -> None:
    """contract.md, list_tags; ancestors.md 1.3, `#color-fff`; docs/explanation/decisions.md."""
    assert names(text) == expected


@pytest.mark.parametrize(
    ("front", "expected"),
    [
        ("tags: [a, 'b', \"#c\"]", ["a", "b", "c"]),
        ("tags:\n  - a\n  - x/y\n  - '#z'", ["a", "x/y", "z"]),
        ("tags:\n- a\n- b c\n- 12\n- true\n-", ["a"]),
        ("Tags: a, b c", ["a", "b", "c"]),
        ("tag: a", ["a"]),
        ("tags: 2024", []),
        ("tags: a # said so", ["a"]),
        ("tags: [a,\n  b]", ["a", "b"]),
        ('"tags": {a: b}', []),
        ("other: [a]\ntagset: [b]", []),
        ("a: [\ntags: b", []),
        ("k: https://x/y#z\nd: 2026-03-01T10:30\ntags: [日本, 0🌲, 🎉]", ["日本", "0🌲", "🎉"]),
    ],
)
def test_front_matter_names_tags_as_a_list_or_in_words(front: str, expected: list[str]) -> None:
    """Obsidian help, Tags and Properties."""
    assert names(f"---\n{front}\n---\ntext\n") == expected
    assert names(f"---\r\n{front.replace(chr(10), chr(13) + chr(10))}\r\n---\r\ntext\r\n") == expected


def test_a_tag_has_the_line_it_stands_in() -> None:
    text = "---\ntitle: x\ntags:\n  - a\n  - b\n---\n\ntext\nmore #c\n"
    assert tags.of(text) == (TagUse("a", 4, is_property=True), TagUse("b", 5, is_property=True), TagUse("c", 9))


def test_a_tag_in_yaml_that_is_not_plain_has_the_line_it_stands_in() -> None:
    text = "---\nx: |\n  b\ntags: [a,\n  b]\n---\n"
    assert tags.of(text) == (TagUse("a", 4, is_property=True), TagUse("b", 5, is_property=True))


def test_a_nested_tag_lies_in_those_above_it_and_in_no_other() -> None:
    """Obsidian help, Tags: nested tags; complaints of ancestors.md 1.2.8, 11."""
    assert list(tags.above(tags.key("A/b/C"))) == ["a", "a/b"]
    assert tags.is_within("Work/Sub", tags.key("work"))
    assert tags.is_within("WORK", tags.key("work/"))
    assert not tags.is_within("workshop", tags.key("work"))
    assert not tags.is_within("work", tags.key("work/sub"))


def test_no_more_tags_are_looked_for_than_a_note_for_people_has() -> None:
    assert len(tags.of("#a " * (tags.MAX_USES + 1))) == tags.MAX_USES


@pytest.mark.parametrize(
    "piece",
    [
        "#a ",
        "#a",
        "_#a ",
        "$a ",
        "$a\n",
        "*#a_",
        "**a *b ",
        "\\#",
        "|#a|\n|-|\n",
        "[#a](",
        "%%#a%% $$",
        "`#`",
        "$$\n#a\n\n%% ",
        "://a#",
    ],
)
def test_no_text_makes_looking_for_tags_slow(piece: str) -> None:
    """Processor time, so that other work does not count; guards.md 6, 60."""
    text = piece * (200_000 // len(piece))
    began = time.process_time()
    tags.of(text)
    assert time.process_time() - began < 8
