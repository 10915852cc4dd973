"""The tags that a note's front matter names: under `tags` or `tag`, as a list or as words between commas or blanks.

Obsidian help, "Tags" and "Properties". The list is read as YAML says. Front matter of plain lines, as most is, is taken
apart here, since the library needs a millisecond for it and a vault has ten thousand; anything else goes to the library.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from service.errors import InvalidFrontmatter
from service.guards import limits
from service.vault.parts import yaml
from service.vault.parts.yaml import Value

NAMES: Final = frozenset({"tags", "tag"})
"""The properties, in lower case, that hold tags; Obsidian reads them in any case."""

_BREAKS: Final = re.compile(r"[,\s]+")
_BLANK: Final = re.compile(r"\s")
_BAD: Final = r"\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff"
_FIRST: Final = rf"(?:[^\W_]|[^\x00-\x7f\s{_BAD}])"
_FLOW_WORD: Final = rf"{_FIRST}[^\s:#,\[\]{{}}&*!|>%@`\"'\\?{_BAD}]*"
"""A word that YAML takes as it stands, also within `[…]`."""
_FLOW: Final = rf"{_FLOW_WORD}(?: +{_FLOW_WORD})*"
_WORD_REST: Final = rf"(?:[^\s:{_BAD}]|:(?=\S))"
_WORDS: Final = rf"{_FIRST}{_WORD_REST}*(?: +(?!#){_WORD_REST}+)*"
"""A line of words that YAML takes as they stand."""
_QUOTED: Final = rf"\"[^\"\\{_BAD}]*\"|'[^'{_BAD}]*'"
_FLOW_ITEMS: Final = rf"(?:{_FLOW}|{_QUOTED})(?: *, *(?:{_FLOW}|{_QUOTED}))*"
_LINE: Final = re.compile(
    rf"(?P<key>[A-Za-z_][\w-]*):(?: +(?:(?P<value>{_WORDS}|{_QUOTED})|(?P<list>\[ *(?P<flow>{_FLOW_ITEMS})? *\])))? *\r?"
    rf"|(?P<indent> *)- +(?P<item>{_WORDS}|{_QUOTED}) *\r?"
    rf"|(?: *#[^{_BAD}]*)? *\r?",
    re.ASCII,
)
"""A property with what it holds, an item of a list, a remark, or nothing."""
_FLOW_ITEM: Final = re.compile(rf"{_FLOW}|{_QUOTED}", re.ASCII)
_KEY: Final = re.compile(r"[\"']?tags?[\"']?[ \t]*:", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Named:
    """A tag as it is written there, without `#`, and its line in the front matter, from 1."""

    name: str
    line: int


def of(inner: str) -> Iterator[Named]:
    """The tags named between the fences of a note's front matter; none when that is no YAML."""
    found = plainly(inner)
    yield from wholly(inner) if found is None else found


def words(value: str) -> list[str]:
    """The words of a value that is no list, as tags are told apart in it."""
    return _BREAKS.split(value)


@dataclass(slots=True)
class _Reading:
    """Plain lines, as far as they were read."""

    keys: set[str] = field(default_factory=set)
    open_key: str | None = None
    """The property whose list may begin or go on."""
    indent: int = -1
    """How far the items of that list are indented; -1 before the first."""
    found: list[Named] = field(default_factory=list)


def plainly(inner: str) -> list[Named] | None:
    """The tags of front matter in which each line says all about itself; None when some line does not."""
    if len(inner) > limits.MAX_FRONTMATTER_CHARS:
        return None
    reading = _Reading()
    for number, line in enumerate(inner.removesuffix("\n").split("\n"), start=1):
        match = _LINE.fullmatch(line)
        if match is None or not _takes(reading, match, number):
            return None
    return reading.found


def _takes(reading: _Reading, line: re.Match[str], number: int) -> bool:
    """Take one line; False when it does not fit those before."""
    key = line["key"]
    if key is not None:
        if key in reading.keys:
            return False
        reading.keys.add(key)
        is_filled = line["value"] is not None or line["list"] is not None
        reading.open_key, reading.indent = (None if is_filled else key), -1
        if key.lower() in NAMES:
            if line["value"] is not None:
                reading.found += _split(_string(line["value"]), number)
            elif line["flow"] is not None:
                for item in _FLOW_ITEM.finditer(line["flow"]):
                    reading.found += _single(_string(item[0]), number)
        return True
    if line["item"] is None:
        return True
    if reading.open_key is None or reading.indent not in (-1, len(line["indent"])):
        return False
    reading.indent = len(line["indent"])
    if reading.open_key.lower() in NAMES:
        reading.found += _single(_string(line["item"]), number)
    return True


def _string(written: str) -> Value:
    if written[0] in "\"'":
        return written[1:-1]
    return yaml.plain(written)


def wholly(inner: str) -> Iterator[Named]:
    """The tags of any front matter, by the library."""
    try:
        values = yaml.parse(inner)
    except InvalidFrontmatter:
        return
    lines = inner.split("\n")
    for key, value in values.items():
        if key.lower() not in NAMES:
            continue
        first = next((at for at, line in enumerate(lines) if _KEY.match(line) and key in line), 0)
        if isinstance(value, list):
            for item in value:
                yield from _placed(_single(item, first + 1), lines, first)
        else:
            yield from _placed(_split(value, first + 1), lines, first)


def _placed(named: Iterator[Named], lines: list[str], first: int) -> Iterator[Named]:
    """The same tags with the line, from that of the property on, in which each is written; else that of the property."""
    for one in named:
        at = next((at for at in range(first, len(lines)) if one.name in lines[at]), first)
        yield Named(one.name, at + 1)


def _split(value: Value, line: int) -> Iterator[Named]:
    """The tags in one value: words between commas or blanks."""
    for word in _BREAKS.split(value) if isinstance(value, str) else ():
        yield from _single(word, line)


def _single(value: Value, line: int) -> Iterator[Named]:
    """The tag that an item of a list is, if it is one: no number, and without blanks in it."""
    if not isinstance(value, str):
        return
    name = value.strip().removeprefix("#")
    if name and not name.isdecimal() and not _BLANK.search(name):
        yield Named(name, line)
