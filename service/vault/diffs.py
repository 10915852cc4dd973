"""A short unified diff for an answer: enough to see what was done, bounded in lines and characters."""

from __future__ import annotations

import difflib
from typing import Final

from service.vault.text import CRLF, LF

MAX_LINES: Final = 60
"""Lines of a diff in an answer; the rest is counted."""

MAX_LINE_CHARS: Final = 200
"""Characters of one line of a diff; the rest is cut with an ellipsis."""

MAX_COMPARED_LINES: Final = 4000
"""Lines between the first and the last change that are compared one by one; beyond that the comparing gets slow."""

_CONTEXT: Final = 2


def unified(before: str, after: str) -> str:
    """What changed from `before` to `after`, without file names; empty when nothing did."""
    if before == after:
        return ""
    old, new = _lines(before), _lines(after)
    if not old[-1] and not new[-1]:  # both end in a line end, which is no line of its own
        old.pop()
        new.pop()
    head, tail = _common_lines(old, new)
    old_part, new_part = old[head : len(old) - tail], new[head : len(new) - tail]
    if len(old_part) + len(new_part) > MAX_COMPARED_LINES:
        return f"@@ lines {head + 1}-{len(old) - tail} became lines {head + 1}-{len(new) - tail}: too many to show @@"
    first = max(0, head - _CONTEXT)
    last = max(0, tail - _CONTEXT)
    lines = list(
        difflib.unified_diff(old[first : len(old) - last], new[first : len(new) - last], n=_CONTEXT, lineterm="")
    )[2:]
    shown = [_placed(line, first) for line in lines[:MAX_LINES]]
    if len(lines) > MAX_LINES:
        shown.append(f"... {len(lines) - MAX_LINES} more lines of diff are not shown")
    return LF.join(shown)


def _lines(text: str) -> list[str]:
    return text.replace(CRLF, LF).split(LF)


def _common_lines(old: list[str], new: list[str]) -> tuple[int, int]:
    shorter = min(len(old), len(new))
    head = next((index for index in range(shorter) if old[index] != new[index]), shorter)
    left = shorter - head
    tail = next((index for index in range(left) if old[-1 - index] != new[-1 - index]), left)
    return head, tail


def _placed(line: str, first: int) -> str:
    """A line of the diff, cut to size; a hunk's header gets the line numbers of the whole note."""
    if line.startswith("@@"):
        _, old, new, _ = line.split(" ", 3)
        return f"@@ -{_shifted(old[1:], first)} +{_shifted(new[1:], first)} @@"
    return line if len(line) <= MAX_LINE_CHARS else line[: MAX_LINE_CHARS - 1] + "…"


def _shifted(part: str, first: int) -> str:
    start, comma, count = part.partition(",")
    return f"{int(start) + first}{comma}{count}"
