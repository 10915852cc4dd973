"""Words as ranked search compares them: letter case, accents, width and ligatures do not count.

A word is a run of letters and digits. In scripts that are written without blanks between words, or whose words take endings
that change (Chinese, Japanese, Korean, Thai, …), runs stay whole, and whoever looks for a word in them looks for pairs of
characters.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import Final

from service.vault import text

UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3031-\u3035\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
    "\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003fffd]+"
)
"""Runs in Thai, Lao, Burmese, Khmer, kana, Han and Hangul."""

MIN_BEGINNING: Final = 4
"""Letters from which a word of a question also finds longer words that begin with it (`recipe`: `recipes`)."""

_UNSPACED_OR_LIKE: Final = re.compile(
    UNSPACED.pattern.removesuffix("]+")
    + "\u0300-\u036f\u1dc0-\u1dff\u200c\u200d\u20d0-\u20ff\u1100-\u11ff\u2e80-\u2fdf"
    "\u3099\u309a\u3130-\u318f\u3200-\u33ff\ua960-\ua97f\ud7b0-\ud7ff\uff65-\uffdc"
    "\U0001f200-\U0001f2ff]+"
)
"""The same with what folding makes such characters of, or joins to them: halves of syllables, narrow and enclosed letters, marks."""

BLANK: Final = b" "
LINE_END: Final = b"\n"

BARE: Final = bytes(
    code if 0x80 <= code < 0xFE or (code < 0x80 and chr(code).isalnum()) else 0x20 for code in range(0x100)
)
"""What makes a chunk of the block (`picture.block`) the words in it: every other byte, and what stands between texts, is a blank."""

_ACCENTS: Final = {
    **dict.fromkeys([*range(0x300, 0x370), *range(0x1DC0, 0x1E00), *range(0x20D0, 0x2100), 0x200C, 0x200D]),
    **{ord(letter): plain for letter, plain in zip("øłđħıðþ", ("o", "l", "d", "h", "i", "d", "th"), strict=True)},
    ord("æ"): "ae",
    ord("œ"): "oe",
}
"""Marks that go once letters are taken apart, joiners, and letters that cannot be taken apart."""

_NOT_ASCII: Final = re.compile("[^\x00-\x7f]+")
_KEPT: Final = bytes(code if code >= 0x80 or chr(code).isalnum() or code == 0x0A else 0x20 for code in range(0x100))
_LOWERED: Final = _KEPT.lower()
_CACHED_CHARS: Final = 16
_CACHED_BYTES: Final = 32


def folded(words: str) -> str:
    """`words` as they are compared. Keeps line breaks and makes none."""
    if words.isascii():
        return words.lower()
    letters = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", words).casefold())
    return unicodedata.normalize("NFC", letters.translate(_ACCENTS))


def spread(data: bytes, *, is_case_sensitive: bool = False) -> bytes:
    """The words of a text, folded, with blanks around each; runs in scripts without blanks stay whole. Lines stay lines."""
    if not data.isascii():
        words = _NOT_ASCII.sub(_kept_run if is_case_sensitive else _folded_run, text.decode(data).text)
        data = words.encode("utf-8", "surrogatepass")
    spaced = data.translate(_KEPT if is_case_sensitive else _LOWERED)
    return BLANK + spaced.replace(LINE_END, b" \n ") + BLANK


def others(text: bytes) -> bytes:
    """The words of a text that are not found in it by its bytes alone, as they are compared, with blanks between them.

    By its bytes a word is found that stands between ASCII which is no letter or digit, if it is written as it is compared; so
    is what is written in scripts without blanks. The others are here, so that each word of a text stands either in it or
    here; only of a word that begins as it is compared, and goes on otherwise (`exposé`), the beginning stands in both.
    `text` is in UTF-8; nothing is here when it is ASCII.
    """
    if text.isascii():
        return b""
    odd = BLANK.join(line for line in text.split(LINE_END) if not line.isascii())
    return BLANK.join(filter(None, [_other(run) for run in odd.translate(BARE).split() if not run.isascii()]))


def _other(run: bytes) -> bytes:
    return _other_short(run) if len(run) <= _CACHED_BYTES else _other_words(run)


def _other_words(run: bytes) -> bytes:
    whole = _UNSPACED_OR_LIKE.sub(_unless_same, run.decode("utf-8", "replace"))
    words = spread(whole.encode("utf-8", "surrogatepass")).split()
    if words and run.startswith(words[0]):
        is_found = words[0] == run or len(words[0].decode("utf-8", "replace")) >= MIN_BEGINNING
        return BLANK.join(words[is_found:])
    return BLANK.join(words)


@functools.lru_cache(maxsize=20_000)
def _other_short(run: bytes) -> bytes:
    return _other_words(run)


def _unless_same(match: re.Match[str]) -> str:
    return " " if folded(match[0]) == match[0] else match[0]


def _folded_run(match: re.Match[str]) -> str:
    run = match[0]
    return _folded_short(run) if len(run) <= _CACHED_CHARS else _apart(folded(run))


def _kept_run(match: re.Match[str]) -> str:
    return _apart(match[0])


@functools.lru_cache(maxsize=20_000)
def _folded_short(run: str) -> str:
    return _apart(folded(run))


def _apart(run: str) -> str:
    """A run without ASCII (save what folding made): what is no letter, digit or mark becomes a blank."""
    return UNSPACED.sub(r" \g<0> ", _no_letters().sub(" ", run))


@functools.cache
def _no_letters() -> re.Pattern[str]:
    """What is no letter, digit or mark. Marks are part of words (vowel signs of Indic scripts), which `\\w` does not know."""
    codes = (*range(0x0300, 0x3100), *range(0xA000, 0xB000), *range(0x10000, 0x12000))
    marks = "".join(chr(code) for code in codes if unicodedata.category(chr(code)) in ("Mn", "Mc"))
    return re.compile(f"[^\\w{marks}]+")
