"""A canvas: its cards and edges, the links in it, and an outline that can be read (jsoncanvas.org, version 1.0).

Read by a parser of our own, because a mover must know where in the file each name of a file stands, to the character.
Bounded and without recursion; what is no canvas is None, and the file can still be read as text.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from service.guards import outgoing
from service.guards.markdown import Span
from service.vault.parts import links
from service.vault.parts.json_text import Object, Text, Value, characters, parse
from service.vault.parts.linkuse import LinkKind, LinkUse, Notation

SUFFIX: Final = ".canvas"

MAX_NESTED: Final = 1_000_000
"""Groups times cards up to which it is told what lies in a group."""


class CardKind(enum.Enum):
    """What a card shows. OTHER is a kind that version 1.0 does not know."""

    TEXT = "text"
    FILE = "file"
    LINK = "link"
    GROUP = "group"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Card:
    """A card, or a group of them.

    Args:
        content: of a text its Markdown, of a file its path with subpath, of a link its address, of a group its label.
        box: left, top, right and bottom edge, in pixels; y grows downwards.
    """

    id: str
    kind: CardKind
    content: str
    box: tuple[float, float, float, float] = (0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Edge:
    """A line from one card to another, by their ids. `arrow` is `->`, `<-`, `<->` or `--`."""

    source: str
    target: str
    arrow: str
    label: str


@dataclass(frozen=True, slots=True)
class Canvas:
    """A canvas as it was read, in the order of the file.

    Args:
        links: to files that cards show, to pictures behind groups, and those in the text of cards. Offsets are in the raw
            JSON; lines are those of the outline, which is what a reader sees.
    """

    cards: tuple[Card, ...]
    edges: tuple[Edge, ...]
    links: tuple[LinkUse, ...]


EMPTY: Final = Canvas((), (), ())


def of(text: str) -> Canvas | None:
    """Read a canvas; None for what is none. An empty file is an empty canvas, as in Obsidian. Linear; never raises."""
    if not text.strip():
        return EMPTY
    root = parse(text)
    if not isinstance(root, dict):
        return None
    nodes, edges = root.get("nodes", []), root.get("edges", [])
    if not isinstance(nodes, list) or not isinstance(edges, list):
        return None
    cards: list[Card] = []
    found: list[LinkUse] = []
    line = _FIRST_CARD_LINE
    for node in nodes:
        if isinstance(node, dict):
            card = _card(node)
            found += _links(text, node, card, line + 1)
            cards.append(card)
            line += 1 + len(_lines(card.content))
    return Canvas(tuple(cards), tuple(_edge(edge) for edge in edges if isinstance(edge, dict)), tuple(found))


def shown_links(canvas: Canvas, shown: Callable[[str], str] | None = None) -> tuple[LinkUse, ...]:
    """The links that a reader of the outline sees, by line. Of those in the text of cards the offsets are in that text."""
    guard = shown or shown_text
    found = [
        replace(use, target=guard(use.target), subpath=guard(use.subpath))
        for use in canvas.links
        if use.kind is LinkKind.CANVAS
    ]
    line = _FIRST_CARD_LINE
    for card in canvas.cards:
        if card.kind is CardKind.TEXT:
            found += [
                replace(use, line=line + use.line)
                for use in links.of(guard(card.content))
                if use.kind is not LinkKind.PROPERTY
            ]
        line += 1 + len(_lines(card.content))
    return tuple(sorted(found, key=lambda use: (use.line, use.start)))


def may_hold(data: bytes) -> bool:
    """Whether the bytes of a canvas may hold a link, at the price of a glance."""
    return b'"nodes"' in data or b"\\u" in data


def links_in(text: str) -> tuple[LinkUse, ...]:
    """The links that a reader of a canvas's outline sees; none of what is no canvas."""
    return shown_links(of(text) or EMPTY)


def every_link(text: str) -> tuple[LinkUse, ...]:
    """All links of a canvas, those that are hidden in its cards among them; none of what is no canvas."""
    return (of(text) or EMPTY).links


def shown_text(text: str) -> str:
    """What may be shown of the text of a card: each is a note of its own."""
    return outgoing.view(text).text


def outline(canvas: Canvas, shown: Callable[[str], str] = shown_text) -> str:
    """A canvas as lines of text: a count, each card with what it shows indented below, groups with what lies in them, edges.

    Args:
        shown: the guard that every piece of text goes through. It may leave out, and keeps line breaks.
    """
    out = [f"canvas: {_counted(len(canvas.cards), 'card')}, {_counted(len(canvas.edges), 'edge')}"]
    held = _held(canvas)
    for card in canvas.cards:
        name = _in_line(card.id, shown)
        inner = ", ".join(_in_line(one, shown) for one in held.get(card, ()))
        inside = f", holds {inner}" if inner else ""
        out.append(f"card {name} ({card.kind.value}{inside})")
        wanted = len(_lines(card.content))
        kept = _lines(shown(card.content))
        out += [f"  {line}".rstrip() for line in (*kept, *[""] * (wanted - len(kept)))]  # withheld: its lines are empty
    for edge in canvas.edges:
        label = f": {_in_line(edge.label, shown)}" if edge.label else ""
        out.append(f"edge {_in_line(edge.source, shown)} {edge.arrow} {_in_line(edge.target, shown)}{label}")
    return "\n".join(out) + "\n"


_FIRST_CARD_LINE: Final = 2
_LINE_END: Final = re.compile(r"\r?\n")


def _card(node: Object) -> Card:
    written = _string(node, "type")
    kind = CardKind(written) if written in _FIELDS else CardKind.OTHER
    content = _string(node, _FIELDS[written]) if written in _FIELDS else ""
    if kind is CardKind.FILE:
        content += _string(node, "subpath")
    left, top = _number(node, "x"), _number(node, "y")
    box = (left, top, left + _number(node, "width"), top + _number(node, "height"))
    return Card(_string(node, "id"), kind, content, box)


_FIELDS: Final = {"text": "text", "file": "file", "link": "url", "group": "label"}


def _edge(edge: Object) -> Edge:
    begins = "<" if _string(edge, "fromEnd") == "arrow" else ""
    ends = "" if _string(edge, "toEnd") == "none" else ">"
    arrow = f"{begins}-{ends}" if begins or ends else "--"
    return Edge(_string(edge, "fromNode"), _string(edge, "toNode"), arrow, _string(edge, "label"))


def _links(text: str, node: Object, card: Card, line: int) -> Iterator[LinkUse]:
    """The links of one card, whose content begins at `line` of the outline."""
    match card.kind:
        case CardKind.FILE:
            yield from _file(node, "file", _string(node, "subpath"), line)
        case CardKind.GROUP:
            yield from _file(node, "background", "", line - 1)
        case CardKind.TEXT:
            written = node.get("text")
            if isinstance(written, Text):
                yield from _in_text(text, written, line)
        case _:
            pass


def _file(node: Object, field: str, subpath: str, line: int) -> Iterator[LinkUse]:
    name = node.get(field)
    if isinstance(name, Text) and name.value:
        span = (name.start, name.end)
        yield LinkUse(LinkKind.CANVAS, *span, line, name.value, subpath, "", span, True, Notation.JSON)


def _in_text(text: str, written: Text, line: int) -> Iterator[LinkUse]:
    uses = [use for use in links.of(written.value) if use.kind is not LinkKind.PROPERTY]
    if not uses:
        return
    places = characters(text, written)

    def span(start: int, end: int) -> Span:
        return places[start], places[end]

    for use in uses:
        start, end = span(use.start, use.end)
        target_span = span(*use.target_span)
        yield replace(use, start=start, end=end, line=line + use.line - 1, target_span=target_span, in_json=True)


def _held(canvas: Canvas) -> dict[Card, list[str]]:
    """Of each group the ids of the cards that lie wholly in it; of none, when that would be too much to look at."""
    groups = [card for card in canvas.cards if card.kind is CardKind.GROUP]
    if len(groups) * len(canvas.cards) > MAX_NESTED:
        return {}
    return {
        group: [card.id for card in canvas.cards if card is not group and _lies_in(card, group)] for group in groups
    }


def _lies_in(card: Card, group: Card) -> bool:
    left, top, right, bottom = card.box
    return left >= group.box[0] and top >= group.box[1] and right <= group.box[2] and bottom <= group.box[3]


def _string(values: Object, field: str) -> str:
    value = values.get(field)
    return value.value if isinstance(value, Text) else ""


def _number(values: Object, field: str) -> float:
    value: Value = values.get(field)
    return value if isinstance(value, float) else 0.0


def _lines(content: str) -> Sequence[str]:
    return _LINE_END.split(content) if content else ()


def _in_line(text: str, shown: Callable[[str], str]) -> str:
    return " ".join(shown(text).split()) or "?"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
