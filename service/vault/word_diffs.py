"""A diff that marks words: lines that were replaced stand once, with `[-old-]` and `{+new+}` in them.

A paragraph is one long line in Obsidian, so a diff by lines shows it whole, twice. What stays the same between the marks of a
long line is left out but for some characters on either side.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from service.vault import diffs
from service.vault.diffs import Bounds
from service.vault.text import LF

MARKED: Final = "~"
"""What stands before a line with marks, in the place of `-` and `+`."""

MAX_WORDS: Final = 4000
"""Words of one replaced stretch that are compared; a longer one is shown by lines."""

_AROUND_CHARS: Final = 40
_WORD: Final = re.compile(r"\w+|\s+|[^\w\s]")


def unified(before: str, after: str, bounds: Bounds) -> str:
    """What changed from `before` to `after`, words marked; empty when nothing did."""
    return diffs.cut(list(_marked(diffs.hunks(before, after))), bounds)


def _marked(lines: Sequence[str]) -> Iterator[str]:
    runs = [(sign, list(run)) for sign, run in groupby(lines, key=lambda line: line[:1])]
    at = 0
    while at < len(runs):
        sign, run = runs[at]
        added = runs[at + 1][1] if sign == "-" and at + 1 < len(runs) and runs[at + 1][0] == "+" else None
        marked = None if added is None else _words(_text(run), _text(added))
        if marked is None:
            yield from run
            at += 1
        else:
            yield from (MARKED + line for line in marked.split(LF))
            at += 2


def _text(lines: Sequence[str]) -> str:
    return LF.join(line[1:] for line in lines)


def _words(old: str, new: str) -> str | None:
    """Both texts in one; None when there are too many words to compare, or nothing is in both."""
    before, after = _WORD.findall(old), _WORD.findall(new)
    if len(before) + len(after) > MAX_WORDS:
        return None
    steps = _steps(before, after)
    if not any(tag == "equal" and "".join(before[start:end]).strip() for tag, start, end, _, _ in steps):
        return None
    parts = []
    for number, (tag, start, end, new_start, new_end) in enumerate(steps):
        gone, came = "".join(before[start:end]), "".join(after[new_start:new_end])
        if tag == "equal":
            parts.append(_shortened(gone, is_first=number == 0, is_last=number == len(steps) - 1))
        else:
            parts.append(_sign(gone, "[-", "-]") + _sign(came, "{+", "+}"))
    return "".join(parts)


def _steps(before: list[str], after: list[str]) -> list[tuple[str, int, int, int, int]]:
    """What difflib makes of the middle, between what both begin and end with."""
    shorter = min(len(before), len(after))
    head = next((index for index in range(shorter) if before[index] != after[index]), shorter)
    left = shorter - head
    tail = next((index for index in range(left) if before[-1 - index] != after[-1 - index]), left)
    old_end, new_end = len(before) - tail, len(after) - tail
    middle = difflib.SequenceMatcher(None, before[head:old_end], after[head:new_end]).get_opcodes()
    steps: list[tuple[str, int, int, int, int]] = [("equal", 0, head, 0, head)] if head else []
    steps += [(tag, i + head, j + head, new_i + head, new_j + head) for tag, i, j, new_i, new_j in middle]
    return steps + ([("equal", old_end, len(before), new_end, len(after))] if tail else [])


def _sign(words: str, begin: str, end: str) -> str:
    """The words in marks; each line in marks of its own."""
    return LF.join(f"{begin}{line}{end}" if line else "" for line in words.split(LF)) if words else ""


def _shortened(same: str, *, is_first: bool, is_last: bool) -> str:
    """What is the same, without the middle of its long lines."""
    lines = same.split(LF)
    for place, line in enumerate(lines):
        keeps_start = not (is_first and place == 0)
        keeps_end = not (is_last and place == len(lines) - 1)
        if len(line) > 3 * _AROUND_CHARS:
            start = line[:_AROUND_CHARS] if keeps_start else ""
            end = line[-_AROUND_CHARS:] if keeps_end else ""
            lines[place] = f"{start}…{end}"
    return LF.join(lines)
