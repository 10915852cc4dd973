"""The guards' Unicode tables, made from the `regex` package: `python -m tests.support.unicode_tables [--write]`.

Never from the running interpreter's `unicodedata`: Python 3.11 and 3.13 know different versions of Unicode, and a guard
must not depend on which of them runs it. Without `--write` it ends with 1 when the committed module is stale;
`tests/unit/guards/test_unicode_tables.py` does the same.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Final

import regex

UNICODE: Final = "18.0.0"
"""What `regex` 2026.11.19 carries, by its changelog. A newer `regex` may need another number here."""
MODULE: Final = Path(__file__).resolve().parents[2] / "service" / "guards" / "unicode_tables.py"

_JOINING_SCRIPTS: Final = (
    "Arab Syrc Mand Nkoo Mong Phag Mani Phlp Adlm Rohg Sogd Ougr Chrs"  # cursive: Joining_Type D, R or L
    " Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Tibt Mymr Khmr Bali Java Sund Mtei Cham Lana Batk Rjng Bugi"
    " Brah Kthi Cakm Shrd Sind Gran Tirh Sidd Modi Takr Newa Bhks Maka Gonm Gong Nand Diak Khoj Mult Tglg Hano Tagb Sylo Saur"
)  # with conjuncts: a virama or an invisible stacker
_SETS: Final = {
    "JOINING": (
        r"[[\p{L}\p{M}\p{Nd}]&&[" + "".join(rf"\p{{scx={script}}}" for script in _JOINING_SCRIPTS.split()) + "]"
        r"--[\p{scx=Latn}\p{scx=Grek}\p{scx=Cyrl}\p{DI}]]",
        "Letters, marks and digits of scripts that join or stack (Script_Extensions), where ZWNJ and ZWJ have work.",
    ),
    "SPACELESS": (
        r"[[\p{L}\p{M}]&&[\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]--\p{DI}]",
        "Letters and marks of Thai, Lao, Khmer and Myanmar, which mark a break between words with U+200B.",
    ),
    "HAN": (r"[\p{L}&&\p{sc=Han}]", "Ideographs, which one ideographic variation selector may follow."),
    "MONGOLIAN": (r"[\p{L}&&\p{sc=Mong}--\p{DI}]", "Letters which one free variation selector may follow."),
    "RIGHT_TO_LEFT": (
        r"[[\p{bc=R}\p{bc=AL}]&&\p{L}--\p{DI}]",
        "Letters that are written from right to left (Bidi_Class R and AL).",
    ),
    "PICTOGRAPHS": (r"\p{Extended_Pictographic}", "Extended_Pictographic: what ZWJ joins (UTS #51, ED-16)."),
    "EMOJI": (
        r"[[\p{Emoji}\p{Extended_Pictographic}]--\p{ASCII}]",
        "Emoji and pictographs beyond ASCII, which one of U+FE0E and U+FE0F may follow.",
    ),
    "EMOJI_MODIFIERS": (r"\p{Emoji_Modifier}", "Skin tones."),
    "LEADING_JAMO": (r"[\p{hst=L}--\p{DI}]", "Hangul leading consonants."),
    "VOWEL_JAMO": (r"[\p{hst=V}--\p{DI}]", "Hangul vowels."),
    "TRAILING_JAMO": (r"[\p{hst=T}--\p{DI}]", "Hangul trailing consonants."),
}
_SUSPECTS: Final = r"[\p{DI}[\p{Cc}--[\t\n\r]]\p{Noncharacter_Code_Point}\uFFF9-\uFFFB\u2800]"

_HEAD: Final = '''"""What the guards know of Unicode {unicode}. Made by `python -m tests.support.unicode_tables --write`: change it there.

A table is a flat, sorted tuple of bounds: (first, past, first, past, …); a code point is in it when an odd number of
bounds is at or below it. So a look-up is one bisection, and nothing is built at import.
Source: the Unicode Character Database as `regex` {package} carries it.
"""

from __future__ import annotations

from typing import Final

UNICODE_VERSION: Final = "{unicode}"

# fmt: off
'''


def module() -> str:
    """The text of service/guards/unicode_tables.py."""
    parts = [_HEAD.format(unicode=UNICODE, package=version("regex"))]
    for name, (pattern, doc) in _SETS.items():
        bounds = ", ".join(f"0x{bound:04X}" for bound in _bounds(_members(pattern)))
        parts.append(f'\n{name}: Final = (\n{_wrapped(bounds)},\n)\n"""{doc}"""\n')
    ranges = [(start, past - 1) for start, past in _pairs(_bounds(_members(_SUSPECTS)))]
    rows = _wrapped(" ".join(f'"{_escape(first)}-{_escape(last)}"' for first, last in ranges))
    parts.append(
        f'\nSUSPECTS: Final = (\n{rows}\n)\n"""The inside of a character class: Default_Ignorable_Code_Point, controls save tab '
        'and line ends, noncharacters,\nU+FFF9 to U+FFFB and the blank Braille cell. All that may be invisible is here."""\n'
    )
    return "".join([*parts, "# fmt: on\n"])


def _members(pattern: str) -> list[int]:
    everything = "".join(map(chr, range(0x110000)))
    return [match.start() for match in regex.finditer(pattern, everything, regex.V1)]


def _bounds(points: Iterable[int]) -> list[int]:
    bounds: list[int] = []
    for point in points:
        if bounds and bounds[-1] == point:
            bounds[-1] = point + 1
        else:
            bounds += [point, point + 1]
    return bounds


def _pairs(bounds: list[int]) -> list[tuple[int, int]]:
    return list(pairwise(bounds))[::2]


def _escape(point: int) -> str:
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 119, initial_indent="    ", subsequent_indent="    ", break_long_words=False)


def main() -> int:
    """Compare, or write."""
    text = module()
    if "--write" in sys.argv:
        MODULE.write_text(text, encoding="utf-8")
        return 0
    return int(MODULE.read_text(encoding="utf-8") != text)


if __name__ == "__main__":
    sys.exit(main())
