"""What is written as it stands and may yet surprise: the answer says so, in fixed sentences with counts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from service.guards import destinations, markdown
from service.guards.markdown import BlockKind, Markup, Unseen

_FRONT_MATTER: Final = re.compile(r"---[ \t]*\r?\n(?P<body>[\s\S]*?)^---[ \t]*\r?$", re.MULTILINE)
_VALUE: Final = re.compile(r"^[ \t]*(?:-[ \t]+|(?P<key>[\w -]{1,60}):[ \t]*)(?P<value>[^\n]+)$", re.MULTILINE)
_ADDRESS: Final = re.compile(r"[\"'\[(!]*(?P<address>[a-z][a-z0-9+.-]*:[^\s\"')\]]+|//[^\s\"')\]]+)", re.IGNORECASE)
_PICTURE_KEY: Final = re.compile(r"cover|banner|image|img|picture|photo|poster|thumb|icon|avatar|logo|background", re.I)
_PICTURE: Final = re.compile(r"\.(?:png|jpe?g|gif|webp|svg|avif|bmp|ico)\b", re.IGNORECASE)


def about(before: str, after: str) -> tuple[str, ...]:
    """Sentences about what `after` has more of than `before`."""
    return tuple(_sentences(before, after))


def _sentences(before: str, after: str) -> Iterator[str]:
    if after.count("<!--") > before.count("<!--") and (count := _comments(after) - _comments(before)) > 0:
        what = "HTML comment was" if count == 1 else "HTML comments were"
        yield f"{count} {what} written; reading the note does not show comments again."
    if count := (Counter(_pictures(after)) - Counter(_pictures(before))).total():
        what = "property names" if count == 1 else "properties name"
        yield f"{count} {what} a picture from elsewhere, which some views of Obsidian load."


def _comments(text: str) -> int:
    count = 0
    for block, pieces in markdown.document(text):
        if block.kind is BlockKind.HTML:
            count += block.text.count("<!--")
        count += sum(isinstance(piece, Unseen) and piece.kind is Markup.COMMENT for piece in pieces)
    return count


def _pictures(text: str) -> Iterator[str]:
    """Values of front matter that look like the address of a picture outside the vault."""
    front = _FRONT_MATTER.match(text) if text.startswith("---") else None
    if front is None:
        return
    key = ""
    for line in _VALUE.finditer(front["body"]):
        key = line["key"] or key
        address = _ADDRESS.match(line["value"].strip())
        if address is None or not destinations.is_loaded_from_elsewhere(address["address"]):
            continue
        if _PICTURE_KEY.search(key) or _PICTURE.search(address["address"]):
            yield address["address"]
