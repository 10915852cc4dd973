"""Where a note's properties (YAML front matter) end. Source: Obsidian help, Properties."""

from __future__ import annotations

import codecs
import re
from typing import Final

_OPENING: Final = re.compile(rb"---[ \t]*\r?\n")
_CLOSING: Final = re.compile(rb"^---[ \t]*\r?$", re.MULTILINE)
_INNER: Final = re.compile(r"---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.MULTILINE | re.DOTALL)


def line_count(data: bytes) -> int:
    """How many lines the front matter takes at the top of a note, both fences included; 0 when there is none."""
    start = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
    opening = _OPENING.match(data, start)
    closing = opening and _CLOSING.search(data, opening.end())
    return data.count(b"\n", 0, closing.start()) + 1 if closing else 0


def inner(text: str) -> str:
    """What stands between the two fences at the top of a note's text (without a byte order mark); begins at its line 2."""
    found = _INNER.match(text)
    return found[1] if found else ""
