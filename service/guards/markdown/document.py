"""A whole text at once: its blocks, the pieces within them, the definitions and who uses them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from service.guards.markdown.blocks import scan
from service.guards.markdown.inlines import inlines
from service.guards.markdown.model import Block, BlockKind, Definition, Document, Link

_TEXT: Final = frozenset({BlockKind.PARAGRAPH, BlockKind.HEADING})


def document(text: str, is_asked_for: Callable[[Block], bool] | None = None) -> Document:
    """What `text` holds, in time linear in its length. Never raises.

    Args:
        is_asked_for: of which paragraphs and headings the pieces are wanted, which take half of the time; None for all.
            Others have none, and what they refer to is not counted as used.
    """
    scanned = scan(text)
    definitions: dict[str, Definition] = {}
    for definition in scanned.definitions:
        definitions.setdefault(definition.label, definition)
    pieces = tuple(
        inlines(block.text, block.start, definitions)
        if block.kind in _TEXT and (is_asked_for is None or is_asked_for(block))
        else ()
        for block in scanned.blocks
    )
    used: set[str] = set()
    if definitions:
        used = {piece.reference for found in pieces for piece in found if isinstance(piece, Link) and piece.reference}
    return Document(tuple(scanned.blocks), pieces, tuple(scanned.definitions), frozenset(used))
