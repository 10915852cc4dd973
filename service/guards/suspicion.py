"""A quick look at bytes: whether a view could leave out anything at all. Says yes when in doubt, no only when sure.

Most notes have nothing to hide, and a search reads tens of megabytes of them; so each test is one that C does, the
cheapest first, and those that need Python's regular expressions come only after the byte that they begin with was found.
"""

from __future__ import annotations

import re
from typing import Final

from service.guards import references

_PLAIN_CONTROLS: Final = b"\t\n\r"
_CONTROLS: Final = tuple(bytes([code]) for code in (*range(32), 127) if bytes([code]) not in _PLAIN_CONTROLS)
_FEW_BYTES: Final = 1 << 16
"""Up to this length, one look for each control costs less than a table."""
_NOT_CONTROLS: Final = bytes(code for code in range(256) if bytes([code]) not in _CONTROLS)

_INVISIBLE: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rb"\xc2[\x80-\x9f\xad]",
        rb"\xcd\x8f",
        rb"\xd8\x9c",
        rb"\xe1(?:\x85[\x9f\xa0]|\x9e[\xb4\xb5]|\xa0[\x8b-\x8f])",
        rb"\xe2\x80[\x8b-\x8f\xaa-\xae]",
        rb"\xe2\x81[\xa0-\xaf]",
        rb"\xe2\xa0\x80",
        rb"\xe3\x85\xa4",
        rb"\xef(?:\xb7[\x90-\xaf]|\xb8[\x80-\x8f]|\xbb\xbf|\xbe\xa0|\xbf[\xb0-\xbb])",
        rb"\xf0(?:\x9b\xb2[\xa0-\xa3]|\x9d\x85[\xb3-\xba])",
        rb"\xf3\xa0",
        rb"\xbf[\xbe\xbf]",
    )
)
"""UTF-8 of `unicode_tables.SUSPECTS` (a test compares), and a little more. Each pattern begins with a byte that is looked
for at the speed of memory; one pattern for all would be forty times slower."""

_DEFINITION: Final = re.compile(rb"\]:[ \t\r\n>]*(?:[#&\\]|<>|<[ \t]|(?:<[^>\n]*>|[^ \t\r\n]+)[ \t\r\n>]+[\"'(])")
"""A link definition with a title, or with a destination that says nothing."""

_OPENING: Final = re.compile(rb"<[A-Za-z/]")
_WHOLE_TAG: Final = re.compile(
    rb"</?[A-Za-z][A-Za-z0-9:-]*(?:[ \t\r\n]+[A-Za-z0-9:_-]+(?:=(?:\"[^\"<>\n]*\"|'[^'<>\n]*'|[^ \t\r\n\"'=<>`]+))?)*[ \t\r\n]*/?>"
)
"""A tag that every parser sees alike. Where there are others, one may swallow text."""
_HIDING: Final = re.compile(
    rb"<(?:[!?]|(?:script|style|template|noscript|title|head|noembed|noframes|datalist|dialog|rp|iframe|canvas|object|audio"
    rb"|video|progress|meter|svg|math|input)[ \t\r\n\f/>]|[^<>]*(?:hidden|popover|style|bgcolor))",
    re.IGNORECASE,
)
"""Comments, elements that are never shown, and attributes that can hide one."""


def may_hide(note: bytes) -> bool:
    """Whether a note's bytes hold anything that its view might leave out."""
    if may_hold_invisible(note):
        return True
    if b"<" in note and _may_hide_by_html(note):
        return True
    if b"]:" in note and _DEFINITION.search(note):
        return True
    return b"&" in note and any(_is_suspect(match) for match in references.HINT.finditer(note))


def may_hold_invisible(note: bytes) -> bool:
    """Whether a note's bytes hold a letter that may be invisible, be it in its context or not."""
    return _has_control(note) or (not note.isascii() and any(pattern.search(note) for pattern in _INVISIBLE))


def _has_control(note: bytes) -> bool:
    if len(note) > _FEW_BYTES:
        return bool(note.translate(None, _NOT_CONTROLS))
    return any(control in note for control in _CONTROLS)


def _may_hide_by_html(note: bytes) -> bool:
    if _HIDING.search(note):
        return True
    openings = len(_OPENING.findall(note))
    return openings > 0 and openings != len(_WHOLE_TAG.findall(note))


def _is_suspect(match: re.Match[bytes]) -> bool:
    number = match[1]
    if number is None:
        return True
    digits = number.decode("ascii").lstrip("0") or "0"
    if len(digits) > 7:
        return False
    as_hex = references.is_suspect(int(digits, 16))
    return as_hex or (digits.isdecimal() and references.is_suspect(int(digits)))
