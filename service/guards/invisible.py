"""Characters in a name that nobody sees: never in a path we take, save where a script or an emoji needs them.

What notes hold is another matter; this is about names alone.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

FILLERS: Final = frozenset(
    "\u115f\u1160\u3164\uffa0\u034f\u17b4\u17b5\u180b\u180c\u180d\u180f\u2028\u2029\u2065"
    + "".join(map(chr, range(0xFFF0, 0xFFF9)))
)
_VISIBLE_FORMAT: Final = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)
"""Format characters that are drawn: Unicode 15, Prepended_Concatenation_Mark."""
_ZWJ: Final = "\u200d"
_JOINERS: Final = frozenset("\u200c" + _ZWJ)
_JOINING_SCRIPT: Final = re.compile(
    r"(ARABIC|SYRIAC|MANDAIC|NKO|MONGOLIAN|PHAGS-PA|DEVANAGARI|BENGALI|GURMUKHI|GUJARATI|ORIYA|TAMIL|TELUGU|KANNADA"
    r"|MALAYALAM|SINHALA|TIBETAN|MYANMAR|KHMER|BALINESE|JAVANESE|MEETEI) "
)
_KEYCAP_BASES: Final = frozenset("0123456789*#")
_EMOJI_STYLE: Final = frozenset("\ufe0e\ufe0f")
_REGIONAL_FLAGS: Final = tuple(
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"
    for region in ("gbeng", "gbsct", "gbwls")
)
"""The only uses of tag characters that Unicode recommends (UTS #51, RGI_Emoji_Tag_Sequence): England, Scotland, Wales."""


def has_invisible(text: str) -> bool:
    """Whether `text` holds a control, surrogate, bidi, filler or tag character (joiners and emoji style are no such).

    Source: Unicode 15 Default_Ignorable_Code_Point and categories Cc, Cf, Cs, Zl, Zp. Tags are allowed only where they
    spell one of the three regional flags.
    """
    if text.isascii():  # nearly all names: a look at each letter costs more than the rest of a walk
        return not text.isprintable()
    for flag in _REGIONAL_FLAGS:
        text = text.replace(flag, "")
    for char in text:
        if char in _JOINERS or char in _EMOJI_STYLE or char in _VISIBLE_FORMAT:
            continue
        if char in FILLERS or unicodedata.category(char) in ("Cc", "Cf", "Cs"):
            return True
        if "\ufe00" <= char <= "\ufe0d" or "\U000e0000" <= char <= "\U000e0fff":
            return True
    return False


def has_stray_joiner(part: str) -> bool:
    """Whether a joiner or an emoji style stands where no script and no emoji has one.

    ZWNJ and ZWJ: singly, beside a letter or mark of a script that joins. ZWJ: between two pictographs. Emoji style: once,
    after a symbol or the base of a keycap. Sources: Unicode 15, 23.2 (joiners); UTS #51, ED-16 and ED-20.
    """
    for before, char, after in zip("\0" + part, part, part[1:] + "\0", strict=False):
        if char in _EMOJI_STYLE and not _is_pictograph(before) and before not in _KEYCAP_BASES:
            return True
        is_between_pictographs = char == _ZWJ and _is_pictograph(before, _EMOJI_STYLE) and _is_pictograph(after)
        if char in _JOINERS and not is_between_pictographs and not (_joins(before) or _joins(after)):
            return True
    return False


def _is_pictograph(char: str, also: frozenset[str] = frozenset()) -> bool:
    return unicodedata.category(char) in ("So", "Sk") or char in also


def _joins(char: str) -> bool:
    return unicodedata.category(char)[0] in "LM" and _JOINING_SCRIPT.match(unicodedata.name(char, "")) is not None


def spans(text: str) -> list[tuple[int, int]]:
    """Where invisible characters stand in a note's text, as (start, end), sorted and not touching."""
    found: list[tuple[int, int]] = []
    for at, char in enumerate(text):
        if char not in "\t\n\r" and (char in FILLERS or unicodedata.category(char) in ("Cc", "Cf")):
            if found and found[-1][1] == at:
                found[-1] = (found[-1][0], at + 1)
            else:
                found.append((at, at + 1))
    return found
