"""Canvases: cards, edges and links, with the place of each file's name; and the outline that is read."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.vault.parts import canvas, json_text, links
from service.vault.parts.canvas import Canvas, CardKind
from service.vault.parts.json_text import Text, Value
from service.vault.parts.links import LinkKind

BOARD = r"""{
	"nodes":[
		{"id":"g1","type":"group","x":-20,"y":-20,"width":500,"height":300,"label":"The \"plan\"","background":"img/b\u00e9.png"},
		{"id":"a1","type":"text","text":"Hello [[Note|x]]\nand ![](my%20img.png)\n`[[no]]`","x":0,"y":0,"width":100,"height":60},
		{"id":"b2","type":"file","file":"Notes\/Two \u00e9.md","subpath":"#Head","x":200,"y":0,"width":100,"height":60},
		{"id":"c3","type":"link","url":"https://example.org/x","x":900,"y":0,"width":100,"height":60,"color":"4"}
	],
	"edges":[
		{"id":"e1","fromNode":"a1","fromSide":"right","toNode":"b2","toSide":"left","label":"leads to"},
		{"id":"e2","fromNode":"b2","toNode":"c3","toEnd":"none"},
		{"id":"e3","fromNode":"b2","toNode":"c3","fromEnd":"arrow"}
	]
}"""

OUTLINE = """\
canvas: 4 cards, 3 edges
card g1 (group, holds a1, b2)
  The "plan"
card a1 (text)
  Hello [[Note|x]]
  and ![](my%20img.png)
  `[[no]]`
card b2 (file)
  Notes/Two é.md#Head
card c3 (link)
  https://example.org/x
edge a1 -> b2: leads to
edge b2 -- c3
edge b2 <-> c3
"""


def read(text: str) -> Canvas:
    found = canvas.of(text)
    assert found is not None
    return found


def test_a_canvas_reads_as_an_outline_of_cards_and_edges() -> None:
    """jsoncanvas.org 1.0; issue 4: `.canvas` reads as an outline of cards and edges."""
    assert canvas.outline(read(BOARD)) == OUTLINE


def test_links_of_a_canvas_are_its_files_and_those_in_the_text_of_cards() -> None:
    """Issue 4: links in canvas files; code in a card's text holds none. Lines are those of the outline."""
    found = [(use.kind, use.target, use.subpath, use.line, use.is_embed) for use in read(BOARD).links]
    assert found == [
        (LinkKind.CANVAS, "img/bé.png", "", 2, True),
        (LinkKind.WIKILINK, "Note", "", 5, False),
        (LinkKind.MARKDOWN, "my img.png", "", 6, True),
        (LinkKind.CANVAS, "Notes/Two é.md", "#Head", 9, True),
    ]


def test_a_target_is_replaced_in_the_file_and_no_other_byte_changes() -> None:
    """Issue 4: moving rewrites the links in canvas files; JSON escapes stay as they are."""
    new = 'a "b"/\\ü (1).md'
    for use in read(BOARD).links:
        if use.kind is LinkKind.WIKILINK:
            continue
        start, end = use.target_span
        written = links.written(use, new)
        assert written is not None
        after = BOARD[:start] + written + BOARD[end:]
        assert [one.target for one in read(after).links if one.start == use.start] == [new]
        targets = [one.target for one in read(after).links if one.start != use.start]
        assert targets == [one.target for one in read(BOARD).links if one.start != use.start]


def test_the_written_span_is_the_name_as_it_stands_in_the_file() -> None:
    """A mover replaces exactly this."""
    spans = [BOARD[slice(*use.target_span)] for use in read(BOARD).links]
    assert spans == [r"img/b\u00e9.png", "Note", "my%20img.png", r"Notes\/Two \u00e9.md"]


@pytest.mark.parametrize("text", ["", "  \n", "{}", '{"nodes":[],"edges":[]}', '{"x":{"y":[1,2.5e3,-0,true,null]}}'])
def test_a_canvas_may_be_empty(text: str) -> None:
    """Obsidian makes a new canvas as an empty object."""
    assert canvas.of(text) == canvas.EMPTY
    assert canvas.outline(canvas.EMPTY) == "canvas: 0 cards, 0 edges\n"


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        '"a"',
        "1",
        "null",
        "{",
        '{"nodes":{}}',
        '{"edges":1}',
        "{'nodes':[]}",
        '{"nodes":[],}',
        '{"nodes":[} ]',
        "x",
    ],
)
def test_what_is_no_canvas_is_none(text: str) -> None:
    """It can still be read as text."""
    assert canvas.of(text) is None


@pytest.mark.parametrize("depth", [json_text.MAX_DEPTH + 1, 100_000])
def test_depth_is_bounded(depth: int) -> None:
    """A hostile file must not exhaust the stack."""
    assert canvas.of('{"nodes":' + "[" * depth + "]" * depth + "}") is None


def test_odd_cards_are_shown_as_far_as_they_go() -> None:
    """jsoncanvas.org: readers may meet what later versions bring."""
    text = '{"nodes":[1,{"id":"a","type":"future","text":"x"},{"type":"file","file":7},{"id":"a\\nb","type":"text"}]}'
    found = read(text)
    assert [card.kind for card in found.cards] == [CardKind.OTHER, CardKind.FILE, CardKind.TEXT]
    assert canvas.outline(found) == "canvas: 3 cards, 0 edges\ncard a (other)\ncard ? (file)\ncard a b (text)\n"


def test_what_a_card_hides_is_not_in_the_outline() -> None:
    """Guards: each card is guarded as a note of its own, after its JSON escapes are decoded."""
    hidden = "seen <!-- secret -->\n\n<div hidden>\nsecret\n</div>\n\nseen a\u200bb"
    text = json.dumps({"nodes": [{"id": "sec\u200bret", "type": "text", "text": hidden}]})
    shown = canvas.outline(read(text))
    assert shown == "canvas: 1 card, 0 edges\ncard secret (text)\n  seen\n\n\n\n\n\n  seen ab\n"


def test_the_lines_of_a_withheld_card_stay_empty() -> None:
    """So that lines of links below it are right."""
    text = json.dumps(
        {"nodes": [{"id": "a", "type": "text", "text": "1\n2"}, {"id": "b", "type": "text", "text": "[[n]]"}]}
    )
    shown = canvas.outline(read(text), lambda piece: "" if piece == "1\n2" else piece)
    assert shown.split("\n")[read(text).links[0].line - 1] == "  [[n]]"


def _plain(value: Value) -> object:
    match value:
        case Text():
            return value.value
        case list():
            return [_plain(one) for one in value]
        case dict():
            return {name: _plain(one) for name, one in value.items()}
        case _:
            return value


_LEAVES = st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
_JSON = st.recursive(_LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4))


@given(_JSON, st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_json_is_read_as_the_standard_library_reads_it(
    value: object, ascii_only: bool, indent: int | str | None
) -> None:
    """RFC 8259; every string stands where it is said to."""
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    read_back = json_text.parse(text)
    assert _plain(read_back) == value

    def check(one: Value) -> None:
        match one:
            case Text(said, start, end):
                assert text[start - 1] == text[end] == '"'
                assert json.loads(f'"{text[start:end]}"') == said
                places = json_text.characters(text, one)
                assert len(places) == len(said) + 1
                for index, character in enumerate(said):
                    assert json.loads(f'"{text[places[index] : places[index + 1]]}"') == character
            case list():
                for inner in one:
                    check(inner)
            case dict():
                for inner in one.values():
                    check(inner)
            case _:
                pass

    check(read_back)


@given(st.text(alphabet='{}[]:,"\\/u0123456789abtrfnlse-+.E \n\t\r', max_size=40))
def test_what_the_standard_library_refuses_is_refused(text: str) -> None:
    """RFC 8259, and nothing more lenient."""
    try:
        expected = json.loads(text, parse_constant=lambda _: 1 / 0, parse_int=float)
    except (ValueError, ZeroDivisionError):
        assert json_text.parse(text) is None
    else:
        whole = json.dumps(expected, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        assert json.dumps(_plain(json_text.parse(text)), ensure_ascii=False) == whole
