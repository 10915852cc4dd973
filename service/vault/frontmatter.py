"""Where a note's properties (YAML front matter) stand. Source: Obsidian help, Properties."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Final

_OPENING: Final = re.compile(rb"---[ \t]*\r?\n")
_CLOSING: Final = re.compile(rb"^---[ \t]*\r?$", re.MULTILINE)
_INNER: Final = re.compile(r"---[ \t]*\r?\n(?P<yaml>.*?)^---[ \t]*\r?$\n?", re.MULTILINE | re.DOTALL)
_FENCE: Final = re.compile(r"---[ \t]*\r?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """Front matter at the top of a text.

    Args:
        start: where its YAML begins, behind the first fence; that is line 2.
        end: where the closing fence begins.
        below: where what is below the closing fence begins.
    """

    start: int
    end: int
    below: int


def line_count(data: bytes) -> int:
    """How many lines the front matter takes at the top of a note, both fences included; 0 when there is none."""
    start = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
    opening = _OPENING.match(data, start)
    closing = opening and _CLOSING.search(data, opening.end())
    return data.count(b"\n", 0, closing.start()) + 1 if closing else 0


def block(text: str) -> Block | None:
    """The front matter at the top of a note's text (without a byte order mark)."""
    found = _INNER.match(text)
    return Block(found.start("yaml"), found.end("yaml"), found.end()) if found else None


def inner(text: str) -> str:
    """What stands between the two fences at the top of a note's text (without a byte order mark); begins at its line 2."""
    found = block(text)
    return text[found.start : found.end] if found else ""


def is_begun(text: str) -> bool:
    """Whether a text's first line is a fence, closed or not."""
    return _FENCE.match(text) is not None
