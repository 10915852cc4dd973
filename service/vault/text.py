"""A note's bytes as text and back, without losing one of them: byte order mark, line ends, odd characters.

Only `\\n` and `\\r\\n` end a line, as in editors and in Obsidian; a lone `\\r`, U+2028 and U+0085 are characters of a line
(str.splitlines thinks otherwise, which is why nobody here uses it).
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass, replace
from typing import Final

from service.errors import BadArgument, NotText, TooLarge
from service.guards import limits

LF: Final = "\n"
CRLF: Final = "\r\n"


@dataclass(frozen=True, slots=True)
class NoteText:
    """A note's text as it stands in the file, without its byte order mark.

    `is_exact` is False when some bytes were no UTF-8 and stand as U+FFFD: such a note may be read, never written.
    """

    text: str
    has_bom: bool = False
    is_exact: bool = True

    @property
    def line_end(self) -> str:
        """The line end that most lines have; LF when none has one or both are equally many."""
        windows = self.text.count(CRLF)
        return CRLF if windows > self.text.count(LF) - windows else LF

    def with_text(self, text: str) -> NoteText:
        """The same note with other text."""
        return replace(self, text=text)


def decode(data: bytes) -> NoteText:
    """The text of a note's bytes; what is no UTF-8 is shown as U+FFFD."""
    has_bom = data.startswith(codecs.BOM_UTF8)
    body = data[len(codecs.BOM_UTF8) :] if has_bom else data
    try:
        return NoteText(body.decode("utf-8"), has_bom)
    except UnicodeDecodeError:
        return NoteText(body.decode("utf-8", errors="replace"), has_bom, is_exact=False)


def decode_exact(data: bytes, path: str) -> NoteText:
    """The text of a note that is going to be changed.

    Raises:
        NotText: the note is no UTF-8, so that writing it back would damage it.
    """
    note = decode(data)
    if not note.is_exact:
        raise NotText(path)
    return note


def encode(note: NoteText, path: str) -> bytes:
    """The bytes of a note.

    Raises:
        BadArgument: the text holds half a character, which no file can hold.
        TooLarge: the note would be larger than what can be read again.
    """
    try:
        data = (codecs.BOM_UTF8 if note.has_bom else b"") + note.text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise BadArgument(
            "the text holds half of a surrogate pair; send whole characters. Nothing was done."
        ) from error
    if len(data) > limits.MAX_NOTE_BYTES:
        raise TooLarge(f"{path!r} with this change", len(data), limits.MAX_NOTE_BYTES)
    return data


def check_size(text: str, what: str) -> None:
    """Refuse more text than one write may bring.

    Raises:
        TooLarge: over `limits.MAX_WRITE_CHARS` characters.
    """
    if len(text) > limits.MAX_WRITE_CHARS:
        raise TooLarge(what, len(text), limits.MAX_WRITE_CHARS, unit="characters")


def in_style(text: str, line_end: str) -> str:
    """`text` with every line end (LF or CRLF) written as `line_end`."""
    plain = text.replace(CRLF, LF)
    return plain if line_end == LF else plain.replace(LF, line_end)


def lines_with_ends(text: str) -> list[str]:
    """The lines of `text`, each with its line end; an empty text has none."""
    lines = [line + LF for line in text.split(LF)]
    last = lines.pop().removesuffix(LF)
    return [*lines, last] if last else lines
