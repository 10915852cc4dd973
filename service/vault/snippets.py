"""A short piece of a line around what was found."""

from __future__ import annotations

import unicodedata
from typing import Final

from service.guards import limits

_CUT: Final = "…"
_JOINERS: Final = "\u200d\ufe0e\ufe0f"


def around(line: str, span: tuple[int, int]) -> str:
    """`line` without its outer blanks or, where that is too long, the part around `span`, with an ellipsis at each cut.

    At most `limits.MAX_SNIPPET_CHARS` characters; never begins in the middle of a letter with its marks.
    """
    words = line.strip()
    if len(words) <= limits.MAX_SNIPPET_CHARS:
        return words
    width = limits.MAX_SNIPPET_CHARS - 2 * len(_CUT)
    indent = len(line) - len(line.lstrip())
    start, end = max(0, span[0] - indent), max(0, span[1] - indent)
    left = max(0, min((start + end - width) // 2, start, len(words) - width))
    piece = words[left : left + width]
    if left:
        piece = _CUT + _from_whole_letter(piece)
    return piece + _CUT if left + width < len(words) else piece


def _from_whole_letter(piece: str) -> str:
    for index, char in enumerate(piece):
        if char not in _JOINERS and not unicodedata.category(char).startswith("M"):
            return piece[index:]
    return piece
