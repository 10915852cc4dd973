"""What a link leads to: labels, destinations and titles (CommonMark 4.7 and 6.3), for links and for definitions alike."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from service.guards.markdown.model import Span

MAX_LABEL_CHARS: Final = 999
_LABEL: Final = re.compile(r"\[((?:[^\\\[\]]++|\\[\s\S])*+)\]")
_BLANKS: Final = re.compile(r"[ \t\r\n]+")
_POINTED: Final = re.compile(r"<((?:[^<>\\\n]++|\\[^\n])*+)>")
_PLAIN: Final = re.compile(r"(?:[^\x00-\x20\x7f()\\]++|\\[()\\]?+)*+")
_TITLE: Final = re.compile(
    r'"((?:[^"\\]++|\\[\s\S])*+)"' r"|'((?:[^'\\]++|\\[\s\S])*+)'" r"|\(((?:[^()\\]++|\\[\s\S])*+)\)"
)


@dataclass(slots=True)
class Parentheses:
    """Where the destination right behind each `(` ends, for those that were looked at: -1 where it has no end.

    Remembered while one text is read, since links that fail may lie in one another: `[a](` a thousand times.
    """

    ends: dict[int, int] = field(default_factory=dict)


def label(text: str, at: int) -> tuple[str, int] | None:
    """What stands between the brackets that open at `text[at]`, and where they end."""
    found = _LABEL.match(text, at)
    return (found[1], found.end()) if found and found.end() - found.start() <= MAX_LABEL_CHARS + 2 else None


def normalised(written: str) -> str:
    """A label as it is compared: without white space at its ends, other white space one blank, case folded."""
    return _BLANKS.sub(" ", written).strip(" ").casefold()


def past_blanks(text: str, at: int) -> int:
    """Where white space that begins at `at` ends. No paragraph holds a blank line, so any is allowed."""
    found = _BLANKS.match(text, at)
    return found.end() if found else at


def destination(text: str, at: int, known: Parentheses) -> tuple[Span, int] | None:
    """The span of the destination at `text[at]`, which may be empty, and where what belongs to it ends."""
    if text.startswith("<", at):
        found = _POINTED.match(text, at)
        return (found.span(1), found.end()) if found else None
    if at - 1 not in known.ends:
        _find_ends(text, at, known.ends)
    end = known.ends[at - 1]
    return ((at, end), end) if end >= 0 else None


def title(text: str, at: int) -> tuple[str, int] | None:
    """The title that opens at `text[at]`, as written, and where it ends."""
    found = _TITLE.match(text, at)
    return (found[found.lastindex or 1], found.end()) if found else None


def _find_ends(text: str, start: int, ends: dict[int, int]) -> None:
    """Note where the destination from `start` ends, and each one that begins behind a `(` on the way.

    A destination ends before white space, a control character, or a `)` that closes none of its own.
    """
    opened, at = [start - 1], start
    while opened:
        found = _PLAIN.match(text, at)
        at = found.end() if found else at
        mark = text[at : at + 1]
        if mark == "(":
            opened.append(at)
        elif mark == ")":
            ends[opened.pop()] = at
        else:
            break
        at += 1
    for position in opened:
        ends[position] = -1
    if opened:
        ends[opened[-1]] = at
