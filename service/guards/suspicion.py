"""A quick look at bytes: whether a view could leave out anything at all. Says yes when in doubt, no only when sure.

Most notes have nothing to hide, and a search reads tens of megabytes of them; so each test is one that C does, the
cheapest first, and those that need Python's regular expressions come only after the byte that they begin with was found.
"""

from __future__ import annotations

import re
from typing import Final

from service.guards import references

_NOT_CONTROLS: Final = b"\t\n\r" + bytes(range(0x20, 0x7F)) + bytes(range(0x80, 0x100))

_INVISIBLE: Final = tuple(
    (lead, re.compile(lead + rest))
    for lead, rest in (
        (b"\xc2", rb"[\x80-\x9f\xad]"),
        (b"\xcd", rb"\x8f"),
        (b"\xd8", rb"\x9c"),
        (b"\xe1", rb"(?:\x85[\x9f\xa0]|\x9e[\xb4\xb5]|\xa0[\x8b-\x8f])"),
        (b"\xe2", rb"\x80[\x8b-\x8f\xaa-\xae]"),
        (b"\xe2", rb"\x81[\xa0-\xaf]"),
        (b"\xe2", rb"\xa0\x80"),
        (b"\xe3", rb"\x85\xa4"),
        (b"\xef", rb"(?:\xb7[\x90-\xaf]|\xb8[\x80-\x8f]|\xbb\xbf|\xbe\xa0|\xbf[\xb0-\xbb])"),
        (b"\xf0", rb"(?:\x9b\xb2[\xa0-\xa3]|\x9d\x85[\xb3-\xba])"),
        (b"\xf3", rb"\xa0"),
        (b"\xbf", rb"[\xbe\xbf]"),
    )
)
"""UTF-8 of `unicode_tables.SUSPECTS` (a test compares), and a little more. Each pattern begins with a byte that is looked
for at the speed of memory; one pattern for all would be forty times slower."""

_DEFINITION: Final = re.compile(rb"\]:[ \t\r\n>]*(?:[#&\\]|<>|<[ \t]|(?:<[^>\n]*>|[^ \t\r\n]+)[ \t\r\n>]+[\"'(])")
"""A link definition with a title, or with a destination that says nothing."""

_OPENING: Final = re.compile(rb"<[A-Za-z/!?]")
"""What may open a tag, a comment, a declaration or their like."""

_WHOLE_TAG: Final = re.compile(
    rb"</[A-Za-z][A-Za-z0-9:._-]*+[ \t]*+>|<[A-Za-z][A-Za-z0-9:._-]*+"
    rb"(?:[ \t]++[A-Za-z0-9:_-]++(?:=(?:\"[^\"<>\r\n]*+\"|'[^'<>\r\n]*+'|[^ \t\r\n\"'=<>`]++))?+)*+"
    rb"[ \t]*+/?>"
    rb"|<[A-Za-z][A-Za-z0-9+.-]*+:[^\x00-\x20\x7f\"'`<>]*+>"
    rb"|<[A-Za-z][A-Za-z0-9.!#$%&*+/=?^_{|}~-]*+@[A-Za-z0-9.-]++>"
    rb"|<[A-Za-z][^<>\"'`=&\x00-\x1f\x7f]*+>"
)
"""What every parser ends at the same `>`: a tag; `<https://…>` and `<me@example.org>`, an address or else a tag; and
`<name | GUID>`, text or else a tag, as it holds nothing that could hold a `>`. Where there are others, one may swallow text.
None goes over the end of a line: behind it may come a blank line or a `>` of Markdown's own, and only HTML reads on."""
_HIDING: Final = re.compile(
    rb"<(?:script|style|template|noscript|title|head|noembed|noframes|datalist|dialog|rp|iframe|canvas|object|audio"
    rb"|video|progress|meter|svg|math|input|select|option|marquee|fencedframe)[ \t\r\n\f/>]"
)
"""Elements whose content is not shown."""
_WORDS: Final = (b"hidden", b"popover", b"style", b"bgcolor")
_HIDING_ATTRIBUTE: Final = re.compile(rb"<[a-z][^<>]*?(?:hidden|popover|style|bgcolor)")
"""Attributes that can hide an element."""


def may_hide(note: bytes) -> bool:
    """Whether a note's bytes hold anything that its view might leave out."""
    return may_hold_invisible(note) or _may_hide_by_markup(note)


def may_hide_by_markup(note: bytes) -> bool:
    """Whether Markdown or HTML might hide anything of it: no more than what `may_hold_invisible` finds, where they do not.

    Controls may be what ends a word or a tag for some reader, and so leave all in doubt; no other letter does.
    """
    return _has_control(note) or _may_hide_by_markup(note)


def _may_hide_by_markup(note: bytes) -> bool:
    if b"<" in note and _may_hide_by_html(note):
        return True
    if b"]:" in note and _DEFINITION.search(note):
        return True
    return b"&" in note and any(_is_suspect(match) for match in references.HINT.finditer(note))


def may_hold_invisible(note: bytes) -> bool:
    """Whether a note's bytes hold a letter that may be invisible, be it in its context or not."""
    return _has_control(note) or (
        not note.isascii() and any(lead in note and pattern.search(note) for lead, pattern in _INVISIBLE)
    )


def _has_control(note: bytes) -> bool:
    return bool(note.translate(None, _NOT_CONTROLS))


def _may_hide_by_html(note: bytes) -> bool:
    tags = _WHOLE_TAG.findall(note)
    if len(tags) != note.count(b"<") and len(tags) != len(_OPENING.findall(note)):
        return True
    different = b"".join(set(tags)).lower()  # all there are, and a long note has few kinds
    if _HIDING.search(different):
        return True
    return any(word in different for word in _WORDS) and _HIDING_ATTRIBUTE.search(different) is not None


def _is_suspect(match: re.Match[bytes]) -> bool:
    number = match[1]
    if number is None:
        return True
    digits = number.decode("ascii").lstrip("0") or "0"
    if len(digits) > 7:
        return False
    as_hex = references.is_suspect(int(digits, 16))
    return as_hex or (digits.isdecimal() and references.is_suspect(int(digits)))
