"""Changing the value of one property: which characters and lines of the front matter are put in the place of which.

What is worked out here is only a proposal, which `property_edits` tries. Comments stay where they can: behind a value in its line,
and between the items of a list that stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final, TypeAlias

from ruamel.yaml.events import SequenceStartEvent

from service.vault import text
from service.vault.parts import yaml_entries, yaml_writing
from service.vault.parts.yaml import Value
from service.vault.parts.yaml_entries import Entries, Entry, Node
from service.vault.through import Piece

_DASH: Final = re.compile(r"[ ]*(?=-[ \t]+$|-$)")
_MAX_COMPARED: Final = 100
"""Items that are compared each with each, when a list changes in the middle."""

Way: TypeAlias = "Callable[[Entries, Entry, Value, str], Sequence[Piece]]"


def carefully(here: Entries, entry: Entry, value: Value, line_end: str) -> Sequence[Piece]:
    """As little as can be: of a list only the items that come and go."""
    was = here.values[entry.name]
    if isinstance(was, list) and isinstance(value, list) and was and value:
        items = yaml_entries.items(here.text, entry.value)
        is_list = isinstance(entry.value.events[0], SequenceStartEvent) and len(items) == len(was)
        if is_list and entry.value.is_block:
            pieces = _items_over_lines(here.text, items, was, value, line_end)
        elif is_list:
            pieces = _items_in_brackets(here.text, entry.value, items, was, value)
        else:
            pieces = None
        if pieces is not None:
            return pieces
    return anew(here, entry, value, line_end)


def anew(here: Entries, entry: Entry, value: Value, line_end: str) -> Sequence[Piece]:
    """The whole value, with what stands behind it in its line left where it is."""
    old = entry.value
    first = old.events[0]
    keeps_brackets = isinstance(value, list) and isinstance(first, SequenceStartEvent) and bool(first.flow_style)
    inline, lines = (
        (yaml_writing.flow(value), ()) if keeps_brackets else yaml_writing.block(value, _indent(here, entry, value))
    )
    start, end, below = _extent(here.text, entry)
    if not inline:
        start = entry.colon
    elif start == entry.colon:
        inline = " " + inline
    pieces = [] if start == end and not inline else [Piece(start, end, inline)]
    added = "".join(line + line_end for line in lines)
    if added or below[0] != below[1]:
        pieces.append(Piece(*below, added))
    return pieces


def _extent(yaml: str, entry: Entry) -> tuple[int, int, tuple[int, int]]:
    """What of a value stands behind the colon (an empty place if nothing does), and the lines below that belong to it."""
    old = entry.value
    is_beside = "\n" not in yaml[entry.colon : old.start] and old.start < old.end
    if not is_beside and not (old.is_block or old.is_block_scalar or old.start < old.end):
        after = yaml_entries.line_end(yaml, entry.colon)
        return entry.colon, entry.colon, (after, after)
    start, end = (entry.colon, entry.colon) if not is_beside else (old.start, old.end)
    if is_beside and not (old.is_block or old.is_block_scalar):
        after = yaml_entries.line_end(yaml, old.end)
        return start, end, (after, after)
    if is_beside:
        start, end = yaml_entries.first_line_of(yaml, old)
        first_below = yaml_entries.line_end(yaml, end)
    else:
        first_below = yaml_entries.line_start(yaml, old.start)
    return start, end, (first_below, max(first_below, yaml_entries.line_end(yaml, old.end)))


def _indent(here: Entries, entry: Entry, value: Value) -> int:
    """How far in the lines of a new value stand: a list where the old one stood."""
    old = entry.value
    if isinstance(value, list) and old.is_block and isinstance(old.events[0], SequenceStartEvent):
        first = yaml_entries.items(here.text, old)[0].start
        start = yaml_entries.line_start(here.text, first)
        dash = _DASH.match(here.text[start:first])
        if dash:
            return dash.end()
    return here.indent + yaml_writing.INDENT


def _items_over_lines(
    yaml: str, items: Sequence[Node], was: list[Value], value: list[Value], line_end: str
) -> Sequence[Piece] | None:
    """The lines of items that come and go; None where an item does not begin a line of its own."""
    margins = [_DASH.match(yaml[yaml_entries.line_start(yaml, one.start) : one.start]) for one in items]
    if not all(margins) or not margins[0]:
        return None
    starts = [yaml_entries.line_start(yaml, one.start) for one in items]
    ends = [yaml_entries.line_end(yaml, one.end) for one in items]
    pieces: list[Piece] = []
    for _, old_from, old_to, new_from, new_to in _opcodes(was, value):
        added = [line for one in value[new_from:new_to] for line in yaml_writing.item(one, margins[0][0])]
        new = "".join(line + line_end for line in added)
        if old_from == old_to:
            at = ends[old_from - 1] if old_from else starts[0]
            pieces.append(Piece(at, at, new))
        for number in range(old_from, old_to):
            pieces.append(Piece(starts[number], ends[number], new if number == old_from else ""))
    return pieces


def _items_in_brackets(
    yaml: str, node: Node, items: Sequence[Node], was: list[Value], value: list[Value]
) -> Sequence[Piece] | None:
    """The items of `[…]` that come and go; None where that is over several lines and more than an addition at its end."""
    opcodes = list(_opcodes(was, value))
    raw = yaml[node.start : node.end]
    if [code[:3] for code in opcodes] == [("insert", len(was), len(was))]:
        at = items[-1].end
        added = "".join(", " + yaml_writing.flow(one) for one in value[len(was) :])
        return [Piece(at, at, added)]
    if text.LF in raw:
        return None
    kept = [yaml[one.start : one.end] for one in items]
    parts: list[str] = []
    done = 0
    for _, old_from, old_to, new_from, new_to in opcodes:
        parts += [*kept[done:old_from], *map(yaml_writing.flow, value[new_from:new_to])]
        done = old_to
    parts += kept[done:]
    between = yaml[items[0].end : items[1].start] if len(items) > 1 else ", "
    return [Piece(items[0].start, items[-1].end, between.join(parts))]


def _opcodes(was: list[Value], value: list[Value]) -> Iterator[tuple[str, int, int, int, int]]:
    """What of a list goes, comes or is replaced. Long differences are replaced whole: comparing them would take too long."""
    old, new = [repr(one) for one in was], [repr(one) for one in value]
    shorter = min(len(old), len(new))
    head = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    left = shorter - head
    tail = next((at for at in range(left) if old[-1 - at] != new[-1 - at]), left)
    old, new = old[head : len(old) - tail], new[head : len(new) - tail]
    if max(len(old), len(new)) > _MAX_COMPARED:
        yield "replace", head, head + len(old), head, head + len(new)
        return
    for tag, *places in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            old_from, old_to, new_from, new_to = (head + place for place in places)
            yield tag, old_from, old_to, new_from, new_to
