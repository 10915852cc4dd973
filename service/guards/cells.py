"""Tables once more, cell by cell: a code span cannot run from one cell into the next (GitHub Flavored Markdown, 4.10).

For the scanner a table is a paragraph, so that backticks in two cells make code of all between. Renderers that know tables
see HTML there; a guard believes both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from service.guards import markdown
from service.guards.markdown import Block, BlockKind, Document, Inline

_DELIMITERS: Final = re.compile(r"^[ \t]*+\|?+(?:[ \t]*+:?+-++:?+[ \t]*+(?:\||(?=\r?$)))++\r?$", re.MULTILINE)
"""The row of dashes that makes a table."""
_INDENTED: Final = re.compile(r"^(?: {4}|[ ]{0,3}\t)[ \t]*+[^ \t\r\n][^\r\n]*", re.MULTILINE)
_TEXT: Final = frozenset({BlockKind.PARAGRAPH, BlockKind.HEADING})
"""A table is a paragraph, and with a row of = below a heading."""
_CELL: Final = re.compile(r"(?:[^|\\\r\n]|\\[^\r\n]?)+")


def ended(text: str, document: Document) -> str | None:
    """The text with blanks for the indented line that ends a table, but no paragraph; None when there is no such line.

    What follows is a new paragraph then, which may begin with link definitions.
    """
    blanked: list[str] = []
    at = 0
    for block in document.blocks:
        delimiters = _DELIMITERS.search(block.text) if block.kind in _TEXT and "|" in block.text else None
        for line in _INDENTED.finditer(block.text, delimiters.end()) if delimiters else ():
            start, end = block.start + line.start(), block.start + line.end()
            blanked += text[at:start], " " * (end - start)
            at = end
    return "".join([*blanked, text[at:]]) if blanked else None


def apart(document: Document) -> Document | None:
    """The document with each cell of its tables read by itself; None when that can make no difference."""
    is_any = False
    pieces: list[tuple[Inline, ...]] = []
    for block, found in document:
        is_table = (
            block.kind in _TEXT
            and any(isinstance(piece, markdown.Code) for piece in found)
            and _DELIMITERS.search(block.text) is not None
        )
        is_any = is_any or is_table
        pieces.append(tuple(_by_cells(block)) if is_table else found)
    return replace(document, inlines=tuple(pieces)) if is_any else None


def _by_cells(block: Block) -> Iterator[Inline]:
    for cell in _CELL.finditer(block.text):
        yield from markdown.inlines(cell[0], block.start + cell.start(), {})
