"""A short unified diff for an answer: enough to see what was done, bounded in lines and characters."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from service.vault.text import CRLF, LF

MAX_COMPARED_LINES: Final = 4000
"""Lines between the first and the last change that are compared one by one; beyond that the comparing gets slow."""

_CONTEXT: Final = 2


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much of a diff is shown: lines, and characters of one of them; the rest is counted, or cut with an ellipsis."""

    lines: int
    line_chars: int


SHORT: Final = Bounds(60, 200)
"""Beside a write, to see what was done."""

FULL: Final = Bounds(1000, 1000)
"""As an answer of its own."""


def unified(before: str, after: str, bounds: Bounds = SHORT) -> str:
    """What changed from `before` to `after`, without file names; empty when nothing did."""
    return cut(hunks(before, after), bounds)


def cut(lines: Sequence[str], bounds: Bounds) -> str:
    """The lines of a diff, within bounds."""
    shown = [_cut_line(line, bounds.line_chars) for line in lines[: bounds.lines]]
    if len(lines) > bounds.lines:
        shown.append(f"... {len(lines) - bounds.lines} more lines of diff are not shown")
    return LF.join(shown)


def hunks(before: str, after: str) -> list[str]:
    """The lines of a unified diff: headers with the line numbers of the whole texts, and ` `, `-` or `+` before each other."""
    if before == after:
        return []
    old, new = _lines(before), _lines(after)
    if not old[-1] and not new[-1]:  # both end in a line end, which is no line of its own
        old.pop()
        new.pop()
    head, tail = _common_lines(old, new)
    old_part, new_part = old[head : len(old) - tail], new[head : len(new) - tail]
    if len(old_part) + len(new_part) > MAX_COMPARED_LINES:
        return [f"@@ lines {head + 1}-{len(old) - tail} became lines {head + 1}-{len(new) - tail}: too many to show @@"]
    first = max(0, head - _CONTEXT)
    last = max(0, tail - _CONTEXT)
    lines = difflib.unified_diff(old[first : len(old) - last], new[first : len(new) - last], n=_CONTEXT, lineterm="")
    return [_placed(line, first) if line.startswith("@@") else line for line in list(lines)[2:]]


def _lines(text: str) -> list[str]:
    return text.replace(CRLF, LF).split(LF)


def _common_lines(old: list[str], new: list[str]) -> tuple[int, int]:
    shorter = min(len(old), len(new))
    head = next((index for index in range(shorter) if old[index] != new[index]), shorter)
    left = shorter - head
    tail = next((index for index in range(left) if old[-1 - index] != new[-1 - index]), left)
    return head, tail


def _placed(header: str, first: int) -> str:
    """A hunk's header with the line numbers of the whole note."""
    _, old, new, _ = header.split(" ", 3)
    return f"@@ -{_shifted(old[1:], first)} +{_shifted(new[1:], first)} @@"


def _cut_line(line: str, chars: int) -> str:
    return line if len(line) <= chars else line[: chars - 1] + "…"


def _shifted(part: str, first: int) -> str:
    start, comma, count = part.partition(",")
    return f"{int(start) + first}{comma}{count}"
