"""Words that make a plugin or the maths renderer do something: names of properties, commands of TeX.

Sources: Excalidraw (`excalidraw-onload-script` is run when a drawing opens; images and frames of a drawing may lie
elsewhere), Tasks (`TQ_…` properties are added to every query of the note), MathJax 3 (its html extension, which Obsidian
loads, has `\\style` and `\\href`; `\\csname` spells any command).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from service.guards import destinations

Span = tuple[int, int]


def _spelled(name: str) -> str:
    """A pattern for a name as YAML may spell it: plain, or in double quotes with escapes and over lines."""
    letters = (
        rf"(?:{re.escape(char)}|\\x{ord(char):02x}|\\u{ord(char):04x}|\\U{ord(char):08x})(?:\\\r?\n[ \t]*)?"
        for char in name
    )
    return "".join(letters)


_RUN: Final = re.compile(f"(?<!text-)(?:{_spelled('excalidraw-onload-script')}|{_spelled('TQ_')})", re.IGNORECASE)
_DRAWING: Final = re.compile(f"(?<!text-){_spelled('excalidraw-plugin')}", re.IGNORECASE)
_DRAWN_FROM_ELSEWHERE: Final = re.compile(
    r"^[0-9a-f]{8,64}:[ \t]*(?!\[\[|\$\$)[a-z/\\]|\"type\"\s*:\s*\"(?:embeddable|iframe)\"|compressed-json", re.I | re.M
)
"""In the file of a drawing: an embedded file that is no note, a frame, or what nobody can read."""
_ANOTHER: Final = re.compile(r"\r?\n(?=[^\s#])")

_COMMAND: Final = re.compile(r"\\(?:style|csname|cssId|require|href(?P<address>\s*\{(?P<to>[^{}]*)\})?)(?![A-Za-z])")


def properties(text: str, start: int, end: int) -> Iterator[tuple[Span, str]]:
    """Where in front matter a name stands that makes a plugin run or load something, and what makes it active."""
    for found in _RUN.finditer(text, start, end):
        line_end = _ANOTHER.search(text, found.end(), end)
        yield found.span(), text[found.start() : line_end.start() if line_end else end]
    for found in _DRAWING.finditer(text, start, end):
        elsewhere = _DRAWN_FROM_ELSEWHERE.search(text, end)
        if elsewhere is not None:
            yield found.span(), found[0]


def commands(text: str) -> Iterator[Span]:
    """Where TeX stands that sets a style, leads to an address that may not be linked to, or spells a command."""
    for found in _COMMAND.finditer(text):
        if found["address"] is None or destinations.has_forbidden_scheme(found["to"]):
            yield found.span()
