"""Where a table ends and a paragraph would go on (GitHub Flavored Markdown, 4.10).

For the scanner a table is a paragraph, whose cells it keeps apart. An indented line ends the one and not the other.
"""

from __future__ import annotations

import re
from typing import Final

from service.guards.markdown import BlockKind, Document

_DELIMITERS: Final = re.compile(r"^[ \t]*+\|?+(?:[ \t]*+:?+-++:?+[ \t]*+(?:\||(?=\r?$)))++\r?$", re.MULTILINE)
"""The row of dashes that makes a table."""
_INDENTED: Final = re.compile(r"^(?: {4}|[ ]{0,3}\t)[ \t]*+[^ \t\r\n][^\r\n]*", re.MULTILINE)
_TEXT: Final = frozenset({BlockKind.PARAGRAPH, BlockKind.HEADING})
"""A table is a paragraph, and with a row of = below a heading."""


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
