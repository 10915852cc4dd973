"""The names that links give to blocks: `^id` at the end of a paragraph or item, or below it in a line of its own.

Obsidian help, "Link to a block": letters, digits and dashes. In a line of its own it names the block above it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from service.guards.markdown import Code
from service.vault.parts import prose
from service.vault.parts.prose import Prose

_ID: Final = re.compile(r"(?:\A|(?<=[ \t\n]))\^([A-Za-z0-9-]+)[ \t]*\Z")


@dataclass(frozen=True, slots=True)
class BlockId:
    """A name of a block and the line it stands in, from 1."""

    name: str
    line: int


def of(text: str) -> tuple[BlockId, ...]:
    """The block ids of a text, in order. Linear; never raises."""
    return within(prose.read(text)) if "^" in text else ()


def within(read: Prose) -> tuple[BlockId, ...]:
    """The block ids of a text that was read."""
    return tuple(_found(read))


def _found(read: Prose) -> Iterator[BlockId]:
    for block, pieces in read.spoken():
        at = block.text.rfind("^")
        found = _ID.search(block.text, at) if at >= 0 else None
        place = block.start + at
        if found is None or read.is_comment(place):
            continue
        if not any(isinstance(piece, Code) and piece.start <= place < piece.end for piece in pieces):
            yield BlockId(found[1], read.line_of(place))
