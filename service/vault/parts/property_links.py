"""Links in a note's properties: values that are a wikilink and nothing else, alone or in a list.

Obsidian shows and follows these since 1.4 (help, "Properties": links must be in quotes). A wikilink amid other text, without
quotes (YAML: a list in a list), in a name of a property, or a Markdown link is none. What is no YAML has no properties.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ruamel.yaml.events import (
    AliasEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from service.errors import InvalidFrontmatter
from service.guards.markdown import Block
from service.vault.parts import yaml as read
from service.vault.parts.linkuse import LinkKind, LinkUse, Notation, is_address, split_wikilink

_LINK: Final = re.compile(r"\[\[((?:(?!\[\[|\]\])[^\r\n])+)\]\]")
_FIRST_LINE: Final = re.compile(r"---[ \t]*\r?\n")
_NODE_PROPERTIES: Final = re.compile(r"(?:[&!]\S*\s+)*")
"""Anchor and tag before a value (YAML 1.2.2, 6.9)."""
_FOLD: Final = r"[ \t]*\r?\n[ \t]*"
_CHARACTERS: Final = {
    '"': re.compile(rf"\\(?:x[0-9A-Fa-f]{{2}}|u[0-9A-Fa-f]{{4}}|U[0-9A-Fa-f]{{8}}|[^\r\n])|{_FOLD}|[\s\S]"),
    "'": re.compile(rf"''|{_FOLD}|[\s\S]"),
}
"""What stands for one character of a value, by quote."""
_IN_BLOCK: Final = re.compile(rf"{_FOLD}|[\s\S]")
_YAML_STARTS_ON_LINE: Final = 2
_NOTATIONS: Final = {'"': Notation.DOUBLE_QUOTED, "'": Notation.SINGLE_QUOTED}


def of(block: Block) -> Iterator[LinkUse]:
    """The links in the front matter `block`, as the scanner gives it; none if it cannot be read or is too long."""
    opening = _FIRST_LINE.match(block.text)
    if opening is None or "[[" not in block.text:
        return
    yaml = block.text[opening.end() : block.text.rfind("---")]
    offset = block.start + opening.end()
    try:
        events = tuple(read.events(yaml))
    except InvalidFrontmatter:
        return
    for event in _values(events):
        match = _LINK.fullmatch(event.value) if event.style else None
        use = match and _use(yaml, offset, event, match[1])
        if use:
            yield use


def _values(events: tuple[Event, ...]) -> Iterator[ScalarEvent]:
    """The scalars that are no names of properties."""
    open_mappings: list[bool | None] = []
    """For each open mapping whether a name comes next; None for a list."""

    def value_ends() -> None:
        if open_mappings and open_mappings[-1] is not None:
            open_mappings[-1] = not open_mappings[-1]

    for event in events:
        match event:
            case ScalarEvent():
                if not open_mappings or not open_mappings[-1]:
                    yield event
                value_ends()
            case AliasEvent():
                value_ends()
            case MappingStartEvent():
                open_mappings.append(True)
            case SequenceStartEvent():
                open_mappings.append(None)
            case MappingEndEvent() | SequenceEndEvent():
                open_mappings.pop()
                value_ends()
            case _:
                pass


def _use(yaml: str, offset: int, event: ScalarEvent, inner: str) -> LinkUse | None:
    """The link that a scalar is; None if the characters of its value cannot be told apart in what is written."""
    places = _places(yaml, event)
    if len(places) != len(event.value) + 1:
        return None  # something that no link is written with: a line joined by a backslash, half of a surrogate pair
    (left, right), subpath, alias = split_wikilink(inner)
    target = inner[left:right]
    if not (target or subpath) or is_address(target):
        return None
    return LinkUse(
        LinkKind.PROPERTY,
        offset + places[0],
        offset + places[-1],
        _YAML_STARTS_ON_LINE + yaml.count("\n", 0, places[0]),
        target,
        subpath,
        alias,
        (offset + places[2 + left], offset + places[2 + right]),
        False,
        _NOTATIONS.get(event.style, Notation.WIKI),
    )


def _places(yaml: str, event: ScalarEvent) -> list[int]:
    """Where each character of a scalar's value stands, and where the last one ends."""
    start, end = event.start_mark.index, event.end_mark.index
    properties = _NODE_PROPERTIES.match(yaml, start, end)
    start = properties.end() if properties else start
    if event.style in _NOTATIONS:
        start, end = start + 1, end - 1
    else:  # a block: its first line says how it is meant
        start, end = yaml.find("\n", start, end) + 1, start + len(yaml[start:end].rstrip())
        start += len(yaml[start:end]) - len(yaml[start:end].lstrip())
    characters = _CHARACTERS.get(event.style, _IN_BLOCK)
    return [*(found.start() for found in characters.finditer(yaml, start, end)), end]
