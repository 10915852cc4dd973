"""Which lines of a note hold a text: literal, upper and lower case alike by Unicode case folding unless asked otherwise.

The answer is that of `query.casefold() in line.casefold()` for every line; the work is done on bytes wherever that gives
the same answer, and a note is decoded and folded only when its bytes say that it may match. Case folding maps each
character by itself and makes no line ends, so a folded note has the lines of the note.
"""

from __future__ import annotations

import codecs
import enum
import functools
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import AnyStr, Final

from service.vault import text
from service.vault.text import LF

_ASCII: Final = bytes(range(0x80))
_CHUNK: Final = 256
_MAX_TESTED: Final = 4  # distinct letters of the query that are looked for before a note is folded
_MAPPED_CHARS: Final = 4096


class _Look(enum.Enum):
    """How a note is looked at: not at all, as bytes, or decoded and folded."""

    NOT = enum.auto()
    BYTES = enum.auto()
    TEXT = enum.auto()


@dataclass(frozen=True, slots=True)
class Needle:
    """What is looked for. `wanted` is folded unless `is_case_sensitive`.

    `tells` are sets of byte strings: a note that holds none of one set cannot match without one of its `odd` letters.
    """

    wanted: str
    is_case_sensitive: bool
    raw: bytes
    tells: tuple[tuple[bytes, ...], ...]
    odd: tuple[bytes, ...]

    def lines_in(self, data: bytes) -> list[int]:
        """The numbers (from 1) of the lines that hold the text, in order."""
        if LF in self.wanted:
            return []
        data = data.removeprefix(codecs.BOM_UTF8)
        match self._how_to_look(data):
            case _Look.NOT:
                return []
            case _Look.BYTES:
                return _lines(data if self.is_case_sensitive else data.lower(), self.raw, b"\r", b"\n")
            case _Look.TEXT:
                words = text.decode(data).text
                return _lines(words if self.is_case_sensitive else words.casefold(), self.wanted, "\r", LF)

    def is_in(self, words: str) -> bool:
        """Whether `words` hold the text."""
        return self.wanted in (words if self.is_case_sensitive else words.casefold())

    def span_in(self, line: str) -> tuple[int, int]:
        """Where the text first stands in `line`, as offsets of the line's own characters; (0, 0) when it does not."""
        folded = line if self.is_case_sensitive else line.casefold()
        at = folded.find(self.wanted)
        if at == -1:
            return 0, 0
        end = at + len(self.wanted)
        if len(folded) == len(line):  # no character folds to less than one, so each stands for itself
            return at, end
        return _unfolded(line, at), _unfolded(line, end - 1) + 1

    def _how_to_look(self, data: bytes) -> _Look:
        """The cheapest way that finds exactly what looking at the folded text would find."""
        if "\ufffd" in self.wanted:  # stands for bytes that are no UTF-8 as well
            return _Look.TEXT
        if self.is_case_sensitive:
            return _Look.BYTES
        if self.wanted.isascii():
            return _Look.TEXT if self._has_odd(data) else _Look.BYTES
        may_match = not data.isascii() and all(any(tell in data for tell in tells) for tells in self.tells)
        return _Look.TEXT if may_match else _Look.NOT

    def _has_odd(self, data: bytes) -> bool:
        if not self.odd or data.isascii():
            return False
        rest = data.translate(None, delete=_ASCII)
        return any(letter in rest for letter in self.odd)


def needle(query: str, *, is_case_sensitive: bool = False) -> Needle:
    """Make ready to look for `query`."""
    wanted = query if is_case_sensitive else query.casefold()
    tells: list[tuple[bytes, ...]] = []
    odd: tuple[bytes, ...] = ()
    if not is_case_sensitive:
        origins = _origins()
        letters = [letter for letter in dict.fromkeys(wanted) if not letter.isascii()]
        tells = [_encoded(letter + origins.get(letter, "")) for letter in letters[:_MAX_TESTED]]
        odd = _encoded("".join(origins.get(letter, "") for letter in dict.fromkeys(wanted) if letter.isascii()))
    return Needle(wanted, is_case_sensitive, wanted.encode("utf-8", "surrogatepass"), tuple(tells), odd)


def _lines(words: AnyStr, wanted: AnyStr, cr: AnyStr, lf: AnyStr) -> list[int]:
    if cr in wanted:  # so that the CR of a line end is never taken for part of the line
        words = words.replace(cr + lf, lf)
    lines: list[int] = []
    line, counted = 1, 0
    at = words.find(wanted)
    while at != -1:
        line += words.count(lf, counted, at)
        lines.append(line)
        counted = words.find(lf, at)
        at = words.find(wanted, counted + 1) if counted != -1 else -1
    return lines


def _unfolded(line: str, at: int) -> int:
    """The offset of the character whose folded form covers offset `at` of the folded line."""
    done = 0
    for start in range(0, len(line), _MAPPED_CHARS):
        part = line[start : start + _MAPPED_CHARS]
        size = len(part.casefold())
        if done + size > at:
            for index, char in enumerate(part):
                done += len(char.casefold())
                if done > at:
                    return start + index
        done += size
    return len(line) - 1


def _encoded(letters: str) -> tuple[bytes, ...]:
    return tuple(letter.encode("utf-8", "surrogatepass") for letter in dict.fromkeys(letters))


@functools.cache
def _origins() -> Mapping[str, str]:
    """For each character, the non-ASCII ones that fold to something with it in it: s has ſ, ß, ẞ, ﬅ and ﬆ."""
    found: dict[str, str] = {}
    for start in range(0, sys.maxunicode, _CHUNK):
        chunk = "".join(map(chr, range(start, start + _CHUNK)))
        if chunk.casefold() == chunk:
            continue
        for char in chunk[0 if start else 0x80 :]:
            folded = char.casefold()
            for letter in dict.fromkeys(folded) if folded != char else ():
                found[letter] = found.get(letter, "") + char
    return found
