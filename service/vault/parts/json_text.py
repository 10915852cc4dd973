"""JSON (RFC 8259) with the place of every string, so that one of them can be replaced and no other byte changes.

No recursion and bounded depth: a file in a vault may be anything.
"""

from __future__ import annotations

import enum
import json
import re
from dataclasses import dataclass, field
from typing import Final, TypeAlias

MAX_DEPTH: Final = 64
"""Lists and objects in each other; a canvas has three."""


@dataclass(frozen=True, slots=True)
class Text:
    """A string: what it says, and where it stands between its quotes."""

    value: str
    start: int
    end: int


Value: TypeAlias = "Text | float | bool | list[Value] | dict[str, Value] | None"
Object: TypeAlias = "dict[str, Value]"

_TOKEN: Final = re.compile(
    r'[ \t\r\n]*+(?:"((?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*+)"'
    r"|(-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][-+]?+[0-9]++)?+)|(true|false|null)|([\[\]{},:]))"
)
_END: Final = re.compile(r"[ \t\r\n]*+\Z")
_CHARACTER: Final = re.compile(
    r"\\u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\[\s\S]|[\s\S]"
)
_HALF: Final = re.compile(r"[\ud800-\udfff]")
_WORDS: Final = {"true": True, "false": False, "null": None}


class _Malformed(Exception):
    """It is no JSON, or nested too deep."""


class _Next(enum.Enum):
    """What may come next."""

    VALUE = "a value"
    VALUE_OR_END = "a value, or the end of a list that just began"
    NAME = "a name"
    NAME_OR_END = "a name, or the end of an object that just began"
    COLON = "a colon"
    MORE = "a comma, or the end of what is open"


def parse(text: str) -> Value | None:
    """What a text says; None if it is no JSON or nested more than MAX_DEPTH deep. Of two equal names the last counts."""
    try:
        return _Parser().read(text)
    except _Malformed:
        return None


def characters(text: str, written: Text) -> list[int]:
    """Where in `text` each character of a string's value begins, and where the last one ends."""
    return [*(found.start() for found in _CHARACTER.finditer(text, written.start, written.end)), written.end]


@dataclass(slots=True)
class _Parser:
    root: list[Value] = field(default_factory=list)
    opened: list[list[Value] | dict[str, Value]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    """Of each open object the name whose value comes next."""
    next: _Next = _Next.VALUE

    def read(self, text: str) -> Value:
        at = 0
        while not self.root:
            found = _TOKEN.match(text, at)
            if found is None:
                raise _Malformed
            at = found.end()
            self._take(found)
        if not _END.match(text, at):
            raise _Malformed
        return self.root[0]

    def _take(self, found: re.Match[str]) -> None:
        written, number, word, mark = found.groups()
        if mark is not None:
            self._mark(mark)
        elif written is not None and self.next in (_Next.NAME, _Next.NAME_OR_END):
            self.names.append(_decoded(written))
            self.next = _Next.COLON
        elif self.next not in (_Next.VALUE, _Next.VALUE_OR_END):
            raise _Malformed
        elif written is not None:
            self._put(Text(_decoded(written), *found.span(1)))
        else:
            self._put(float(number) if number is not None else _WORDS[word])

    def _mark(self, mark: str) -> None:
        is_value = self.next in (_Next.VALUE, _Next.VALUE_OR_END)
        inner = self.opened[-1] if self.opened else None
        match mark:
            case "{" if is_value:
                self._open({}, _Next.NAME_OR_END)
            case "[" if is_value:
                self._open([], _Next.VALUE_OR_END)
            case ":" if self.next is _Next.COLON:
                self.next = _Next.VALUE
            case "," if self.next is _Next.MORE and inner is not None:
                self.next = _Next.NAME if isinstance(inner, dict) else _Next.VALUE
            case "}" if isinstance(inner, dict) and self.next in (_Next.MORE, _Next.NAME_OR_END):
                self._put(self.opened.pop())
            case "]" if isinstance(inner, list) and self.next in (_Next.MORE, _Next.VALUE_OR_END):
                self._put(self.opened.pop())
            case _:
                raise _Malformed

    def _open(self, value: list[Value] | dict[str, Value], following: _Next) -> None:
        if len(self.opened) >= MAX_DEPTH:
            raise _Malformed
        self.opened.append(value)
        self.next = following

    def _put(self, value: Value) -> None:
        """Place a whole value where it belongs."""
        self.next = _Next.MORE
        if not self.opened:
            self.root.append(value)
            return
        inner = self.opened[-1]
        if isinstance(inner, dict):
            inner[self.names.pop()] = value
        else:
            inner.append(value)


def _decoded(written: str) -> str:
    if "\\" not in written:
        return written
    value: str = json.loads(f'"{written}"')
    return _HALF.sub("\N{REPLACEMENT CHARACTER}", value)
