"""What the YAML of a note's front matter says, read within bounds.

Meaning is YAML 1.2's core schema (yaml.org/spec/1.2.2, 10.3), as Obsidian reads it: `on`, `22:30` and `2026-03-01` are
text. A library turns characters into events; values are made of them here, because every loader there is recurses as
deep as the text says and follows aliases as often as it says. Nothing in a note can make an object, call a function or
cost more than `limits` allow; the note stays readable as text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from ruamel.yaml.scanner import Scanner

from service.errors import InvalidFrontmatter
from service.guards import limits

Value: TypeAlias = "str | int | float | bool | list[Value] | dict[str, Value] | None"

_TOO_DEEP: Final = f"it is nested more than {limits.MAX_PROPERTY_DEPTH} deep"
_CORE: Final = "tag:yaml.org,2002:"
_NULLS: Final = frozenset(("", "~", "null", "Null", "NULL"))
_TRUTHS: Final = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_WHOLE: Final = re.compile(r"[-+]?[0-9]{1,15}|0o[0-7]{1,17}|0x[0-9a-fA-F]{1,13}")
"""Integers below 2^53, which every JSON reader keeps exact; a longer one (a phone number, an id) stays text."""
_BROKEN: Final = re.compile(r"[-+]?(\.[0-9]{1,20}|[0-9]{1,20}\.[0-9]{0,20}|[0-9]{1,20}(?=[eE]))([eE][-+]?[0-9]{1,2})?")


@dataclass(slots=True)
class _Open:
    """A list or mapping that is being filled; `key` is the mapping's key whose value comes next, `depth` how many lists
    and mappings lie in each other in it."""

    value: list[Value] | dict[str, Value]
    anchor: str | None
    size_before: int
    key: str | None = None
    depth: int = 1


@dataclass(frozen=True, slots=True)
class _Done:
    """A whole value, its size and its depth."""

    value: Value
    size: int = 1
    depth: int = 0


@dataclass(slots=True)
class _Building:
    """Values as far as the events have come, to `line`. `size` counts their characters and each value, what is behind an alias anew
    each time that it is named: a few hundred bytes can name billions."""

    line: int
    size: int = 0
    opened: list[_Open] = field(default_factory=list)
    anchored: dict[str, _Done] = field(default_factory=dict)
    root: Value = None
    documents: int = 0
    may_repeat: bool = False


def parse(yaml: str, first_line: int = 1) -> Mapping[str, Value]:
    """The properties that front matter holds, in its order; without any, none.

    Args:
        yaml: what stands between the two fences.
        first_line: the line of the note where that begins, for errors.

    Raises:
        InvalidFrontmatter: it is no YAML, no mapping, names a property twice, or is larger, deeper or more repetitive
            than `limits.MAX_FRONTMATTER_CHARS`, `MAX_PROPERTY_DEPTH` and `MAX_RESULT_CHARS` allow. Names the line.
    """
    return built(events(yaml, first_line), first_line)


def built(row: Iterable[Event], first_line: int = 1, *, may_repeat: bool = False) -> Mapping[str, Value]:
    """The properties that a row of events comes to.

    Args:
        may_repeat: of a property that is there twice the last counts, as for most readers of YAML 1.1.

    Raises:
        InvalidFrontmatter: as `parse`.
    """
    building = _Building(first_line, may_repeat=may_repeat)
    for event in row:
        building.line = first_line + event.start_mark.line
        _take(building, event)
    if building.root is None:
        return {}
    if not isinstance(building.root, dict):
        raise InvalidFrontmatter("it is no list of properties", first_line)
    return building.root


def events(yaml: str, first_line: int = 1) -> Iterator[Event]:
    """What a library makes of YAML, step by step; each event knows its place in the text.

    Raises:
        InvalidFrontmatter: it is too long, nested too deep, or no YAML. Names the line.
    """
    if len(yaml) > limits.MAX_FRONTMATTER_CHARS:
        raise InvalidFrontmatter(
            f"it has {len(yaml)} characters; the limit is {limits.MAX_FRONTMATTER_CHARS}", first_line
        )
    try:
        reader = YAML(typ="safe", pure=True)
        reader.Scanner = _Scanner
        yield from _shallow(reader.parse(yaml), first_line)
    except MarkedYAMLError as error:  # its words may quote the note
        mark = error.problem_mark or error.context_mark
        raise InvalidFrontmatter("it is no valid YAML", first_line + (mark.line if mark else 0)) from error
    except (YAMLError, ValueError) as error:  # ValueError: an escape beyond Unicode
        raise InvalidFrontmatter("it is no valid YAML", first_line) from error


def _shallow(row: Iterable[Event], first_line: int) -> Iterator[Event]:
    """The same events, up to where they nest too deep: the library takes minutes for what nests ten thousand deep."""
    depth = 0
    for event in row:
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if depth > limits.MAX_PROPERTY_DEPTH:
            raise InvalidFrontmatter(_TOO_DEEP, first_line + event.start_mark.line)
        yield event


class _Scanner(Scanner):
    """Takes a tab for a blank where YAML does (1.2.2, 6.1 and 7.3.3): between the parts of a line, before a remark or a line
    end, and between the words of plain text. The library takes it nowhere."""

    def scan_to_next_token(self) -> None:
        peek = self.reader.peek
        while True:
            super().scan_to_next_token()
            blanks = 0
            while peek(blanks) in ("\t", " "):
                blanks += 1
            is_between = not self.allow_simple_key or peek(blanks) in ("#", "\r", "\n", "\0")
            if blanks == 0 or not is_between:
                return
            self.reader.forward(blanks)

    def scan_plain_spaces(self, indent: int, start_mark: object) -> Sequence[str] | None:
        peek, blanks = self.reader.peek, 0
        while peek(blanks) in ("\t", " "):
            blanks += 1
        run: str = self.reader.prefix(blanks)
        if "\t" in run:
            self.reader.forward(blanks)
            if peek() not in ("\r", "\n"):
                return [run]
        folded: Sequence[str] | None = super().scan_plain_spaces(indent, start_mark)
        return folded


def _take(building: _Building, event: Event) -> None:
    match event:
        case DocumentStartEvent():
            building.documents += 1
            if building.documents > 1:
                raise InvalidFrontmatter("it holds more than one YAML document", building.line)
        case ScalarEvent():
            if _is_at_key(building):
                _name(building, event.value)
            else:
                _grow(building, 1 + len(event.value))
                _put(building, _Done(_scalar(event), 1 + len(event.value)), event.anchor)
        case AliasEvent():
            if event.anchor not in building.anchored:
                raise InvalidFrontmatter("an alias names nothing that is complete above it", building.line)
            named = building.anchored[event.anchor]
            _grow(building, named.size)
            _put(building, named, None)
        case SequenceStartEvent():
            _open(building, [], event)
        case MappingStartEvent():
            _open(building, {}, event)
        case SequenceEndEvent() | MappingEndEvent():
            full = building.opened.pop()
            _grow(building, 1)
            _put(building, _Done(full.value, building.size - full.size_before, full.depth), full.anchor)
        case _:
            pass  # the stream's and the document's ends


def _is_at_key(building: _Building) -> bool:
    here = building.opened[-1] if building.opened else None
    return here is not None and isinstance(here.value, dict) and here.key is None


def _open(building: _Building, value: list[Value] | dict[str, Value], event: NodeEvent) -> None:
    if _is_at_key(building):
        raise InvalidFrontmatter("the name of a property is a list or a mapping", building.line)
    _check_depth(building, 1)
    building.opened.append(_Open(value, event.anchor, building.size))


def _name(building: _Building, key: str) -> None:
    here = building.opened[-1]
    if key in here.value and not building.may_repeat:
        raise InvalidFrontmatter("a property is there twice", building.line)
    here.key = key
    _grow(building, 1 + len(key))


def _grow(building: _Building, size: int) -> None:
    building.size += size
    if building.size > limits.MAX_RESULT_CHARS:
        raise InvalidFrontmatter("it comes to more than one answer holds, aliases counted each time", building.line)


def _check_depth(building: _Building, more: int) -> None:
    if len(building.opened) + more > limits.MAX_PROPERTY_DEPTH:
        raise InvalidFrontmatter(_TOO_DEEP, building.line)


def _put(building: _Building, done: _Done, anchor: str | None) -> None:
    _check_depth(building, done.depth)
    if anchor is not None:
        building.anchored[anchor] = done
    if not building.opened:
        building.root = done.value
        return
    here = building.opened[-1]
    here.depth = max(here.depth, done.depth + 1)
    if isinstance(here.value, list):
        here.value.append(done.value)
    elif here.key is None:
        raise InvalidFrontmatter("the name of a property is an alias, a list or a mapping", building.line)
    else:
        here.value[here.key] = done.value
        here.key = None


def _scalar(event: ScalarEvent) -> Value:
    text: str = event.value
    tag = str(event.tag or "")
    if tag.startswith(_CORE) and (as_tagged := _TAGGED.get(tag.removeprefix(_CORE))):
        return as_tagged(text)
    return text if event.style or tag else plain(text)


def plain(text: str) -> Value:
    """What a scalar without quotes or tag means (core schema)."""
    if text in _NULLS:
        return None
    if text in _TRUTHS:
        return _TRUTHS[text]
    return _number(text)


def _number(text: str) -> Value:
    """A number where the core schema sees one that JSON can hold exactly; otherwise the text as it stands."""
    if _WHOLE.fullmatch(text):
        return int(text, 0 if text[1:2] in ("o", "x") else 10)
    return float(text) if _BROKEN.fullmatch(text) else text


def _truth(text: str) -> Value:
    return _TRUTHS.get(text, text)


def _null(text: str) -> Value:
    return None if text in _NULLS else text


_TAGGED: Final[Mapping[str, Callable[[str], Value]]] = {
    "null": _null,
    "bool": _truth,
    "int": _number,
    "float": _number,
}
"""What a tag of the core schema makes of a scalar. Any other tag is passed over: its scalar is text."""
