"""Which lines of a note hold a text: literal, upper and lower case alike by Unicode case folding unless asked otherwise.

The answer is that of `query.casefold() in line.casefold()` for every line. Case folding maps each character by itself and
makes no line ends, so a folded note has the lines of the note, and the folded query stands in it as bytes in UTF-8.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import Final

from service.search import scanning
from service.vault.picture.block import folded
from service.vault.text import LF

_MAPPED_CHARS: Final = 4096
_LF: Final = b"\n"
_CR: Final = b"\r"
_CRLF: Final = b"\r\n"


@dataclass(frozen=True, slots=True)
class Needle:
    """What is looked for. `wanted` is folded unless `is_case_sensitive`; `raw` is the same in UTF-8.

    `is_nowhere`: it cannot lie within a line.
    """

    wanted: str
    is_case_sensitive: bool
    raw: bytes

    @property
    def is_nowhere(self) -> bool:
        return not self.wanted or LF in self.wanted

    @property
    def may_end_a_line(self) -> bool:
        """Whether it may be found in a line end CR LF, where it is none of the line."""
        return "\r" in self.wanted

    def lines_in(self, data: bytes) -> list[int]:
        """The numbers (from 1) of the lines of a text that hold it, in order.

        Args:
            data: as it stands in the file or is shown of it; a byte order mark is no part of it.
        """
        return self.lines_of(self.as_compared(data.removeprefix(codecs.BOM_UTF8)))

    def as_compared(self, data: bytes) -> bytes:
        """A text as it is compared; what is no UTF-8 is U+FFFD."""
        if self.is_case_sensitive:
            return data if data.isascii() else data.decode("utf-8", "replace").encode("utf-8")
        return folded(data)

    def lines_of(self, compared: bytes) -> list[int]:
        """As `lines_in`, of a text as it is compared."""
        if self.is_nowhere:
            return []
        if self.may_end_a_line:
            compared = compared.replace(_CRLF, _LF)
        lines: list[int] = []
        line, counted, size = 1, 0, len(compared)
        at = scanning.find(compared, self.raw, 0, size)
        while at != -1:
            line += compared.count(_LF, counted, at)
            lines.append(line)
            counted = compared.find(_LF, at)
            at = scanning.find(compared, self.raw, counted + 1, size) if counted != -1 else -1
        return lines

    def count_lines(self, compared: bytes, start: int, end: int) -> int:
        """How many lines between two offsets of a text as it is compared hold it."""
        if self.may_end_a_line:
            compared = compared[start:end].replace(_CRLF, _LF)
            start, end = 0, len(compared)
        lines = 0
        while (at := scanning.find(compared, self.raw, start, end)) != -1:
            lines += 1
            start = compared.find(_LF, at, end) + 1
            if not start:
                break
        return lines

    def is_in(self, words: str) -> bool:
        """Whether `words` hold the text."""
        return self.wanted in (words if self.is_case_sensitive else words.casefold())

    def span_in(self, line: str) -> tuple[int, int]:
        """Where the text first stands in `line`, as offsets of the line's own characters; (0, 0) when it does not."""
        words = line if self.is_case_sensitive else line.casefold()
        at = words.find(self.wanted)
        if at == -1:
            return 0, 0
        end = at + len(self.wanted)
        if len(words) == len(line):  # no character folds to less than one, so each stands for itself
            return at, end
        return _unfolded(line, at), _unfolded(line, end - 1) + 1


def needle(query: str, *, is_case_sensitive: bool = False) -> Needle:
    """Make ready to look for `query`."""
    wanted = query if is_case_sensitive else query.casefold()
    return Needle(wanted, is_case_sensitive, wanted.encode("utf-8", "surrogatepass"))


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
