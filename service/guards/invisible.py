"""Characters that nobody sees: what of them goes, and what a script or an emoji needs and so stays.

One rule for the text of notes and for names. It looks at a character's neighbours, never at the interpreter's own tables
(3.11 and 3.13 know different versions of Unicode). Source: docs/explanation/guards.md, "Invisible characters".
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache
from typing import Final

from service.guards import unicode_tables as tables

Span = tuple[int, int]
"""(start, end) of a part of a text."""

SUSPECT: Final = re.compile(f"[{tables.SUSPECTS}]")
"""One character that may be invisible; most stay only in their context."""

_LINE: Final = re.compile(r"[^\r\n]+")
_ZWJ: Final = "\u200d"
_JOINERS: Final = frozenset("\u200c\u200d")
_EMOJI_STYLES: Final = frozenset("\ufe0e\ufe0f")
_KEYCAP_BASES: Final = frozenset("0123456789*#")
_KEYCAP: Final = "\u20e3"
_BLACK_FLAG: Final = "\U0001f3f4"
_FLAG_TAGS: Final = tuple(
    "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f" for region in ("gbeng", "gbsct", "gbwls")
)
"""The only uses of tag characters that Unicode recommends (UTS #51, RGI_Emoji_Tag_Sequence): England, Scotland, Wales."""

_BIDI: Final = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_BIDI_MARKS: Final = frozenset("\u061c\u200e\u200f")
_BIDI_OVERRIDES: Final = frozenset("\u202d\u202e")
_BIDI_ISOLATES: Final = frozenset("\u2066\u2067\u2068")
_POP_EMBEDDING: Final = "\u202c"
_POP_ISOLATE: Final = "\u2069"
_MAX_BIDI_RUN: Final = 2
"""Bidi controls that may stand side by side; typography needs no more."""

_NEVER_IN_NAMES: Final = re.compile("[\t\n\r\u2028\u2029\ud800-\udfff]")
"""Visible or harmless in a text, not in one line that names a file: line ends of all kinds, and half characters."""


def spans(text: str) -> list[Span]:
    """Where characters stand in `text` that nobody sees, as (start, end): one character each, sorted.

    Takes time linear in the length. Leaving them out may put others side by side, so ask again about what is left.
    """
    bidi: frozenset[int] | None = None
    found: list[Span] = []
    for match in SUSPECT.finditer(text):
        at, char = match.start(), match[0]
        if _BIDI.match(char):
            if bidi is None:
                bidi = _bidi_with_work(text)
            has_work = at in bidi
        else:
            has_work = _has_work(text, at, char)
        if not has_work:
            found.append((at, at + 1))
    return found


def has_invisible(name: str) -> bool:
    """Whether a name holds what nobody sees, half characters or line ends (joiners and emoji styles do not count here)."""
    if name.isascii():  # nearly all names: a look at each letter costs more than the rest of a walk
        return not name.isprintable()
    if _NEVER_IN_NAMES.search(name):
        return True
    return any(name[at] not in _JOINERS and name[at] not in _EMOJI_STYLES for at, _ in spans(name))


def has_stray_joiner(part: str) -> bool:
    """Whether a joiner or an emoji style stands in a name where no script and no emoji has work for it."""
    return any(part[at] in _JOINERS or part[at] in _EMOJI_STYLES for at, _ in spans(part))


def without_suspects(name: str) -> str:
    """The name as a file system may see it that ignores what is invisible (HFS+ does)."""
    return name if name.isascii() and name.isprintable() else SUSPECT.sub("", name)


def _has_work(text: str, at: int, char: str) -> bool:
    """Whether the suspect at `text[at]`, no bidi control, does something that is seen."""
    before = text[at - 1] if at else ""
    after = text[at + 1 : at + 2]
    match ord(char):
        case 0xFE0E | 0xFE0F:
            works = _is_in(before, tables.EMOJI) or (before in _KEYCAP_BASES and after == _KEYCAP)
        case 0x200C | 0x200D:
            is_single = before not in _JOINERS and after not in _JOINERS
            is_between = char == _ZWJ and _is_between_pictographs(text, at)
            works = is_single and (is_between or _joins(before) or _joins(after))
        case 0x200B:
            works = _is_in(before, tables.SPACELESS) and _is_in(after, tables.SPACELESS)
        case 0x2800:
            works = char not in (before, after)
        case 0x115F | 0x1160:
            works = _fills_a_syllable(text, at, char)
        case 0x180E:
            works = _is_in(before, tables.MONGOLIAN) and _is_in(after, tables.MONGOLIAN)
        case point if 0x180B <= point <= 0x180F:
            works = _is_in(before, tables.MONGOLIAN)
        case point if 0xE0100 <= point <= 0xE01EF:
            works = _is_in(before, tables.HAN)
        case point:
            works = 0xE0000 <= point <= 0xE007F and _is_in_flag(text, at)
    return works


def _is_in(char: str, table: tuple[int, ...]) -> bool:
    return bool(char) and bisect_right(table, ord(char)) % 2 == 1


def _joins(char: str) -> bool:
    return _is_in(char, tables.JOINING)


def _is_between_pictographs(text: str, at: int) -> bool:
    """UTS #51, ED-16: a pictograph with at most one skin tone or style, ZWJ, a pictograph."""
    left = at - 1
    if left > 0 and (text[left] == "\ufe0f" or _is_in(text[left], tables.EMOJI_MODIFIERS)):
        left -= 1
    return left >= 0 and _is_in(text[left], tables.PICTOGRAPHS) and _is_in(text[at + 1 : at + 2], tables.PICTOGRAPHS)


def _fills_a_syllable(text: str, at: int, char: str) -> bool:
    """Unicode, 3.12: a filler stands for the missing consonant before a vowel, or for the missing vowel."""
    before, after = text[at - 1] if at else "", text[at + 1 : at + 2]
    if char == "\u1160":
        has_tail = _is_in(after, tables.TRAILING_JAMO)
        return _is_in(before, tables.LEADING_JAMO) or (before == "\u115f" and has_tail)
    has_tail = after == "\u1160" and _is_in(text[at + 2 : at + 3], tables.TRAILING_JAMO)
    return _is_in(after, tables.VOWEL_JAMO) or has_tail


def _is_in_flag(text: str, at: int) -> bool:
    start = text.rfind(_BLACK_FLAG, max(0, at - 6), at)
    return start >= 0 and any(text.startswith(tags, start + 1) and at <= start + len(tags) for tags in _FLAG_TAGS)


def _bidi_with_work(text: str) -> frozenset[int]:
    """Where bidi controls do something: marks and balanced pairs on a line with right-to-left letters, never overrides."""
    working: set[int] = set()
    right_to_left = _right_to_left()
    for line in _LINE.finditer(text):
        start, end = line.span()
        if _BIDI.search(text, start, end) and right_to_left.search(text, start, end):
            positions = [match.start() for match in _BIDI.finditer(text, start, end)]
            working |= _balanced(text, positions) - _in_long_runs(positions)
    return frozenset(working)


@cache
def _right_to_left() -> re.Pattern[str]:
    bounds = iter(tables.RIGHT_TO_LEFT)
    ranges = (f"{chr(first)}-{chr(past - 1)}" for first, past in zip(bounds, bounds, strict=True))
    return re.compile(f"[{''.join(ranges)}]")


def _balanced(text: str, positions: list[int]) -> set[int]:
    """Marks, and openers with their own end (UAX #9, BD9 to BD13); an override keeps neither itself nor its end."""
    working: set[int] = set()
    open_at: list[int] = []
    isolates = 0
    for at in positions:
        char = text[at]
        if char in _BIDI_MARKS:
            working.add(at)
        elif char == _POP_EMBEDDING:
            if open_at and text[open_at[-1]] not in _BIDI_ISOLATES:
                opener = open_at.pop()
                if text[opener] not in _BIDI_OVERRIDES:
                    working |= {opener, at}
        elif char == _POP_ISOLATE:
            while isolates and text[open_at[-1]] not in _BIDI_ISOLATES:
                open_at.pop()
            if isolates:
                isolates -= 1
                working |= {open_at.pop(), at}
        else:
            isolates += char in _BIDI_ISOLATES
            open_at.append(at)
    return working


def _in_long_runs(positions: list[int]) -> set[int]:
    long: set[int] = set()
    run: list[int] = []
    for at in [*positions, -1]:
        if run and at != run[-1] + 1:
            if len(run) > _MAX_BIDI_RUN:
                long.update(run)
            run = []
        run.append(at)
    return long
