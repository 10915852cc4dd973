"""A whole text at once: its blocks, the pieces within them, the definitions and who uses them."""

from __future__ import annotations

from typing import Final

from service.guards.markdown.blocks import scan
from service.guards.markdown.inlines import inlines
from service.guards.markdown.model import BlockKind, Definition, Document, Link

_TEXT: Final = frozenset({BlockKind.PARAGRAPH, BlockKind.HEADING})


def document(text: str) -> Document:
    """What `text` holds, in time linear in its length. Never raises."""
    scanned = scan(text)
    definitions: dict[str, Definition] = {}
    for definition in scanned.definitions:
        definitions.setdefault(definition.label, definition)
    pieces = tuple(
        inlines(block.text, block.start, definitions) if block.kind in _TEXT else () for block in scanned.blocks
    )
    used: set[str] = set()
    if definitions:
        used = {piece.reference for found in pieces for piece in found if isinstance(piece, Link) and piece.reference}
    return Document(tuple(scanned.blocks), pieces, tuple(scanned.definitions), frozenset(used))
