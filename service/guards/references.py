"""Character references (`&#8203;`, `&zwnj;`) that stand for an invisible letter, judged as the letter itself would be."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from typing import Final

from service.guards import invisible

Span = tuple[int, int]

NAMED: Final = {
    "shy": "\u00ad", "zwnj": "\u200c", "zwj": "\u200d", "lrm": "\u200e", "rlm": "\u200f", "ZeroWidthSpace": "\u200b",
    "NegativeVeryThinSpace": "\u200b", "NegativeThinSpace": "\u200b", "NegativeMediumSpace": "\u200b",
    "NegativeThickSpace": "\u200b", "NoBreak": "\u2060", "ApplyFunction": "\u2061", "af": "\u2061",
    "InvisibleTimes": "\u2062", "it": "\u2062", "InvisibleComma": "\u2063", "ic": "\u2063",
}  # fmt: skip
"""Every name in HTML's table that stands for a suspect; a test compares."""
_WITHOUT_SEMICOLON: Final = "shy"
"""The only one of them that HTML also reads without its semicolon."""
_REFERENCE: Final = re.compile(
    rf"&(?:#[xX](?P<hex>[0-9a-fA-F]+)|#(?P<decimal>[0-9]+)|(?P<name>{'|'.join(NAMED)}))(?P<end>;?)"
)
HINT: Final = re.compile(rf"&(?:#[xX]?0*([0-9a-fA-F]+)|(?:{'|'.join(NAMED)}))".encode())
"""In a note's bytes: what may be such a reference, with its number."""
_UNASSIGNED: Final = frozenset({0x81, 0x8D, 0x8F, 0x90, 0x9D})
"""Numbers that Windows-1252 has no letter for."""
_MAX_DIGITS: Final = 9
"""Digits, leading zeros aside, beyond which a number is no code point."""


def spans(text: str, parts: Iterable[tuple[int, int, bool]]) -> list[Span]:
    """Where references stand for letters that nobody sees.

    Args:
        text: the note's.
        parts: where references are decoded at all, in order: (start, end, whether as in HTML, without need of `;`).
    """
    if "&" not in text:
        return []
    places: list[Span] = []
    letters: list[str] = []
    for start, end, is_html in parts:
        for match in _REFERENCE.finditer(text, start, end):
            letter = _letter(match, text, is_html=is_html)
            if letter:
                places.append(match.span())
                letters.append(letter)
    if not any(map(invisible.SUSPECT.match, letters)):
        return []
    decoded, at_decoded = _decoded(text, places, letters)
    found: list[Span] = []
    for start, _ in invisible.spans(decoded):
        at = bisect_left(at_decoded, start)
        if at < len(at_decoded) and at_decoded[at] == start:
            found.append(places[at])
    return found


def is_suspect(number: int) -> bool:
    """Whether a reference to this code point stands for a letter that may be invisible."""
    return number <= 0x10FFFF and invisible.SUSPECT.match(_character(number)) is not None


def _decoded(text: str, places: list[Span], letters: list[str]) -> tuple[str, list[int]]:
    """The text with references replaced, and where each of them then stands."""
    parts: list[str] = []
    at_decoded: list[int] = []
    at = length = 0
    for (start, end), letter in zip(places, letters, strict=True):
        parts += text[at:start], letter
        at_decoded.append(length + start - at)
        length += start - at + 1
        at = end
    parts.append(text[at:])
    return "".join(parts), at_decoded


def _letter(match: re.Match[str], text: str, *, is_html: bool) -> str:
    """What a reference stands for; empty when it is plain text here (CommonMark 2.5; HTML, 13.2.5.72)."""
    digits = match["hex"] or match["decimal"] or ""
    if not is_html:
        before = match.start() - 1
        while before >= 0 and text[before] == "\\":
            before -= 1
        is_escaped = (match.start() - 1 - before) % 2 == 1
        most = 6 if match["hex"] else 7
        if is_escaped or not match["end"] or len(digits) > most:
            return ""
    elif not digits and not match["end"] and match["name"] != _WITHOUT_SEMICOLON:
        return ""
    if not digits:
        return NAMED[match["name"]]
    if len(digits.lstrip("0")) > _MAX_DIGITS:
        return ""
    number = int(digits, 16 if match["hex"] else 10)
    return _character(number) if number <= 0x10FFFF else ""


def _character(number: int) -> str:
    """HTML, 13.2.5.80: zero and surrogates become U+FFFD; most of 0x80 to 0x9F are letters of Windows-1252."""
    if number == 0 or 0xD800 <= number <= 0xDFFF or number > 0x10FFFF:
        return "\ufffd"
    if 0x80 <= number <= 0x9F and number not in _UNASSIGNED:
        return bytes([number]).decode("cp1252")
    return chr(number)
