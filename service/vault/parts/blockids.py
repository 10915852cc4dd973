"""The names that links give to blocks: `^id` at the end of a paragraph or item, or below it in a line of its own.

Obsidian help, "Link to a block": letters, digits and dashes. In a line of its own it names the block above it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from service.guards.markdown import Block, BlockKind, Code
from service.vault.parts import prose
from service.vault.parts.prose import Prose

_NAMED: Final = frozenset({BlockKind.PARAGRAPH, BlockKind.HEADING})
_ID: Final = re.compile(r"(?:\A|(?<=[ \t\n]))\^([A-Za-z0-9-]+)[ \t]*\Z")


@dataclass(frozen=True, slots=True)
class BlockId:
    """A name of a block, the line that it stands in, and the one where the block begins; from 1."""

    name: str
    line: int
    block_line: int


def of(text: str) -> tuple[BlockId, ...]:
    """The block ids of a text, in order. Linear; never raises."""
    return within(prose.read(text)) if "^" in text else ()


def within(read: Prose) -> tuple[BlockId, ...]:
    """The block ids of a text that was read."""
    return tuple(_found(read))


def _found(read: Prose) -> Iterator[BlockId]:
    blocks = read.document.blocks
    for index, (block, pieces) in enumerate(read.document):
        at = block.text.rfind("^") if block.kind in _NAMED else -1
        found = _ID.search(block.text, at) if at >= 0 else None
        place = block.start + at
        if found is None or read.is_comment(place):
            continue
        if not any(isinstance(piece, Code) and piece.start <= place < piece.end for piece in pieces):
            named = block if block.text[:at].strip() else _before(blocks, index)
            yield BlockId(found[1], read.line_of(place), read.line_of(named.start))


def _before(blocks: tuple[Block, ...], index: int) -> Block:
    """The block that a name in a paragraph of its own stands for: the one before it, of a list or quote its beginning."""
    before = max(index - 1, 0)
    while before > 0 and (blocks[before].kept or (blocks[before].in_item and blocks[before - 1].in_item)):
        before -= 1
    return blocks[before]
