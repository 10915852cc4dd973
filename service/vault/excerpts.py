"""A part of a note that fits into one answer, and how to get the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from service.errors import BadArgument
from service.vault.text import lines_with_ends


@dataclass(frozen=True, slots=True)
class Span:
    """Lines that a caller wants: from 1, both included. `last` None is the end; `column` (from 1) is in the first line."""

    first: int = 1
    last: int | None = None
    column: int = 1

    @property
    def is_whole(self) -> bool:
        return self.first <= 1 and self.last is None and self.column <= 1


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines `first` to `last` of `lines`. When the answer's limit cut them short, `next_line` and `next_column` go on."""

    text: str
    first: int
    last: int
    lines: int
    next_line: int | None = None
    next_column: int = 1


def excerpt(text: str, span: Span, max_chars: int) -> Excerpt:
    """The asked lines of `text`, cut at a line where they are more than `max_chars`, inside a line where one alone is.

    A span that reaches beyond the text is clamped to it.

    Raises:
        BadArgument: the span ends before it begins.
    """
    if span.last is not None and span.last < max(span.first, 1):
        raise BadArgument("end_line is before start_line; give the same line or a later one, or leave it out.")
    if span.is_whole and len(text) <= max_chars:
        count = text.count("\n") + (not text.endswith("\n") and bool(text))
        return Excerpt(text, 1, count, count)
    lines = lines_with_ends(text)
    first = max(span.first, 1)
    last = min(span.last or len(lines), len(lines))
    wanted = lines[first - 1 : last]
    if not wanted:
        return Excerpt("", first, first - 1, len(lines))
    skipped = min(max(span.column, 1) - 1, len(wanted[0].removesuffix("\n")))
    wanted[0] = wanted[0][skipped:]
    if len(wanted[0]) > max_chars:
        return Excerpt(wanted[0][:max_chars], first, first, len(lines), first, skipped + max_chars + 1)
    kept = _how_many_fit(wanted, max_chars)
    shown = "".join(wanted[:kept])
    if kept < len(wanted):
        return Excerpt(shown, first, first + kept - 1, len(lines), first + kept)
    return Excerpt(shown, first, last, len(lines))


def fair_shares(sizes: Sequence[int], total: int) -> list[int]:
    """Divide `total` so that what needs less than an equal share leaves the rest to the others."""
    shares = [0] * len(sizes)
    left, waiting = total, len(sizes)
    for index in sorted(range(len(sizes)), key=lambda index: sizes[index]):
        shares[index] = min(sizes[index], left // waiting)
        left -= shares[index]
        waiting -= 1
    return shares


def _how_many_fit(lines: Sequence[str], max_chars: int) -> int:
    size = 0
    for index, line in enumerate(lines):
        size += len(line)
        if size > max_chars:
            return index
    return len(lines)
