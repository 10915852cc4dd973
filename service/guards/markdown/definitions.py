"""Link reference definitions at the beginning of a paragraph (CommonMark 4.7). A footnote's text is none."""

from __future__ import annotations

import re
from typing import Final

from service.guards.markdown import entities, targets
from service.guards.markdown.model import Definition

_FOOTNOTE: Final = re.compile(r"\^\S+")
"""A footnote's label; with white space in it, it is an ordinary one."""
_TO_LINE_END: Final = re.compile(r"[ \t]*+(?:\r?\n|\Z)")


def leading(text: str, offset: int) -> tuple[list[Definition], int]:
    """The definitions that `text` begins with, placed `offset` further on, and where the rest begins in `text`."""
    found: list[Definition] = []
    at = targets.past_blanks(text, 0)
    while text.startswith("[", at):
        parsed = _definition(text, at, offset)
        if parsed is None:
            break
        definition, rest = parsed
        found.append(definition)
        at = targets.past_blanks(text, rest)
    return found, at


def _definition(text: str, start: int, offset: int) -> tuple[Definition, int] | None:
    """The definition that begins at `text[start]`, and where the line after it begins."""
    labelled = targets.label(text, start)
    if labelled is None or not text.startswith(":", labelled[1]):
        return None
    label = targets.normalised(labelled[0])
    at = targets.past_blanks(text, labelled[1] + 1)
    target = targets.destination(text, at, targets.Parentheses())
    if not label or _FOOTNOTE.fullmatch(label) or target is None or target[1] == at:
        return None
    (left, right), end = target
    ends = _TO_LINE_END.match(text, end)
    titled = _titled(text, end)
    if titled is None and ends is None:
        return None
    written, stop, rest = titled if titled else ("", end, ends.end() if ends else end)
    definition = Definition(
        start + offset,
        stop + offset,
        label,
        entities.markdown(text[left:right]),
        (left + offset, right + offset),
        entities.markdown(written),
        titled is not None,
    )
    return definition, rest


def _titled(text: str, at: int) -> tuple[str, int, int] | None:
    """The title behind a destination that ends at `at`: as written, where it ends, where the next line begins."""
    opening = targets.past_blanks(text, at)
    title = targets.title(text, opening) if opening > at else None
    ends = _TO_LINE_END.match(text, title[1]) if title else None
    return (title[0], title[1], ends.end()) if title and ends else None
