"""Where each property of a front matter stands: which characters are its name, its value and its lines.

Places come from the parser that also says what the values mean, so the two cannot disagree. They are offsets in the YAML
between the two fences. A comment or a blank line behind a value belongs to nobody; within a value it is part of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Final, TypeAlias

from ruamel.yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    Event,
    NodeEvent,
    ScalarEvent,
)

from service.vault.parts import yaml
from service.vault.parts.yaml import Value

Saying: TypeAlias = "tuple[type[Event], str | None, str | None, str | None, str | None]"
"""An event without its place: kind, value, style, anchor, tag."""

_COLON: Final = re.compile(r"[ \t]*:")
_PROPERTIES: Final = re.compile(r"(?:[&!][^\s]*[ \t]*)*")
_HEADER: Final = re.compile(r"(?:[&!][^\s]*\s+)*[|>][-+0-9]*")


@dataclass(frozen=True, slots=True)
class Node:
    """A value, or an item of a list.

    Args:
        start: its first character, an anchor or tag included.
        end: behind its last character; of a block scalar, within its last line.
        events: what it is made of.
    """

    start: int
    end: int
    events: tuple[Event, ...]

    @property
    def is_block_scalar(self) -> bool:
        first = self.events[0]
        return isinstance(first, ScalarEvent) and first.style in ("|", ">")

    @property
    def is_block(self) -> bool:
        """Whether it is a list or mapping over lines of its own."""
        first = self.events[0]
        return isinstance(first, CollectionStartEvent) and not first.flow_style

    @property
    def sayings(self) -> tuple[Saying, ...]:
        """What it says, wherever it stands."""
        return tuple(_saying(event) for event in self.events)


@dataclass(frozen=True, slots=True)
class Entry:
    """One property.

    Args:
        name: what it is called.
        start: where its name stands.
        colon: behind the colon.
        line: the number of its first line, from 0.
        is_simple: its line begins with its name, whose colon stands in the same line; everything else is left alone.
    """

    name: str
    start: int
    colon: int
    value: Node
    line: int
    is_simple: bool

    @property
    def anchors(self) -> frozenset[str]:
        """Names that are given in its value, for others to refer to."""
        nodes = (event for event in self.value.events if isinstance(event, ScalarEvent | CollectionStartEvent))
        return frozenset(event.anchor for event in nodes if event.anchor)

    @property
    def aliases(self) -> frozenset[str]:
        """Names that its value refers to."""
        return frozenset(event.anchor for event in self.value.events if isinstance(event, AliasEvent))

    @property
    def says(self) -> tuple[str, tuple[Saying, ...]]:
        """Name and value, wherever they stand."""
        return self.name, self.value.sayings


@dataclass(frozen=True, slots=True)
class Entries:
    """All properties in their order, and what they mean; of one that is there twice the last counts.

    Args:
        text: the YAML.
        in_braces: it is written as `{…}`.
    """

    text: str
    entries: tuple[Entry, ...]
    values: Mapping[str, Value]
    in_braces: bool = False

    def repeated(self) -> Set[str]:
        """Names that are there more than once."""
        return {name for name, count in Counter(entry.name for entry in self.entries).items() if count > 1}

    @property
    def indent(self) -> int:
        """How many blanks its properties stand from the left margin."""
        return self.entries[0].start - line_start(self.text, self.entries[0].start) if self.entries else 0


def of(text: str, first_line: int = 1) -> Entries:
    """The properties of a front matter.

    Raises:
        InvalidFrontmatter: as `yaml.parse`, but that a name may come twice.
    """
    row = list(yaml.events(text, first_line))
    values = yaml.built(row, first_line, may_repeat=True)
    inside = row[2:-2]
    first = inside[0] if inside else None
    in_braces = isinstance(first, CollectionStartEvent) and bool(first.flow_style)
    if not values:
        return Entries(text, (), values, in_braces)
    found: list[Entry] = []
    at = 1
    while at < len(inside) - 1:
        until = _end_of_node(inside, at + 1)
        found.append(_entry(text, inside[at], inside[at + 1 : until]))
        at = until
    return Entries(text, tuple(found), values, in_braces)


def items(text: str, value: Node) -> Sequence[Node]:
    """The items of a value that is a list."""
    found: list[Node] = []
    at = 1
    while at < len(value.events) - 1:
        until = _end_of_node(value.events, at)
        first = value.events[at].start_mark.index
        found.append(_node(text, value.events[at:until], first))
        at = until
    return found


def line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def line_end(text: str, at: int) -> int:
    """Behind the line end of the line that holds `at`."""
    found = text.find("\n", at)
    return len(text) if found < 0 else found + 1


def first_line_of(text: str, value: Node) -> tuple[int, int]:
    """What of a value that goes on over further lines stands before them: anchor, tag, header of a block scalar."""
    found = (_HEADER if value.is_block_scalar else _PROPERTIES).match(text, value.start)
    end = found.end() if found else value.start
    return value.start, value.start + len(text[value.start : end].rstrip(" \t"))


def _entry(text: str, name: Event, events: Sequence[Event]) -> Entry:
    start, end = name.start_mark.index, name.end_mark.index
    colon = _COLON.match(text, end)
    is_alone = not text[line_start(text, start) : start].strip(" ")
    is_bare = isinstance(name, ScalarEvent) and not name.anchor
    return Entry(
        name.value if isinstance(name, ScalarEvent) else "",
        start,
        colon.end() if colon else end,
        _node(text, events, colon.end() if colon else end),
        name.start_mark.line,
        is_simple=is_alone and is_bare and colon is not None and "\n" not in text[start:end],
    )


def _node(text: str, events: Sequence[Event], after: int) -> Node:
    """What some events are made from. `after`: the end of what stands before, a colon mostly."""
    end = after
    for event, is_flow in _with_flow(events):
        if isinstance(event, ScalarEvent) and event.start_mark.index == event.end_mark.index:
            end = max(end, _end_of_nothing(text, event.start_mark.index, end))
        else:
            end = max(end, _end(text, event, is_flow))
    return Node(min(events[0].start_mark.index, end), end, tuple(events))


def _end_of_nothing(text: str, place: int, before: int) -> int:
    """Where a value that is not there ends. The parser's place for it is behind a dash, but otherwise where the next thing begins."""
    if text[place - 1 : place] == "-":
        return place
    colon = _COLON.match(text, before)
    return colon.end() if colon else before


def _end(text: str, event: Event, is_flow: bool) -> int:
    """Behind an event's last character, as far as it has any: a block's end has none, and says where the next thing begins."""
    if isinstance(event, CollectionStartEvent) or (isinstance(event, CollectionEndEvent) and not is_flow):
        return 0
    start, end = event.start_mark.index, event.end_mark.index
    if not (isinstance(event, ScalarEvent) and event.style in ("|", ">")):
        return int(end)
    header = _HEADER.match(text, start)
    if header and "+" in header[0].rsplit(event.style, 1)[1]:  # blank lines below are part of it
        return int(end) - 1
    return int(start) + len(text[start:end].rstrip(" \t\r\n"))


def _with_flow(events: Iterable[Event]) -> Iterable[tuple[Event, bool]]:
    """Each event, and whether it begins or ends something in brackets."""
    opened: list[bool] = []
    for event in events:
        if isinstance(event, CollectionStartEvent):
            opened.append(bool(event.flow_style))
            yield event, opened[-1]
        elif isinstance(event, CollectionEndEvent):
            yield event, opened.pop()
        else:
            yield event, False


def _end_of_node(events: Sequence[Event], at: int) -> int:
    """Behind the last event of the value that begins at `at`."""
    depth = 0
    while True:
        depth += isinstance(events[at], CollectionStartEvent) - isinstance(events[at], CollectionEndEvent)
        at += 1
        if depth == 0:
            return at


def _saying(event: Event) -> Saying:
    style = event.style if isinstance(event, ScalarEvent) else None
    value = event.value if isinstance(event, ScalarEvent) else None
    anchor = event.anchor if isinstance(event, NodeEvent) else None
    tag = str(event.tag) if isinstance(event, ScalarEvent | CollectionStartEvent) and event.tag else None
    return type(event), value, style, anchor, tag
