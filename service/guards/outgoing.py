"""What may go out: of a note's text, only what a person who opens the note could see.

A view only leaves out, and never a line break: its lines are the lines of the file, so that search hits, task lines and
sections need no second numbering. Nothing is ever written back from a view; `View.raw_span` says which part of the raw
text an edit of the view concerns. Source of the rules: docs/explanation/guards.md.
"""

from __future__ import annotations

import enum
import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from service.guards import invisible

_CONTROL: Final = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class Hidden(enum.Enum):
    """Why a piece of a note is left out of its view. The value is the word of an answer's header."""

    INVISIBLE = "invisible"
    COMMENT = "comment"
    ELEMENT = "element"
    DEFINITION = "definition"


@dataclass(frozen=True, slots=True)
class View:
    """A text as it may be shown.

    Args:
        raw: the text as it stands in the file.
        text: `raw` without `removed`; has the same line breaks. Empty when the text is withheld.
        removed: what is left out, as (start, end) in `raw`: sorted, disjoint, never touching, never with a line break.
        counts: how many things of each kind that is (a comment over three lines is one).
        withheld: empty, or why nothing is shown at all: looking took too long, or came to no end.
    """

    raw: str
    text: str
    removed: tuple[tuple[int, int], ...] = ()
    counts: Mapping[Hidden, int] = field(default_factory=dict)
    withheld: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether nothing was left out."""
        return not self.removed and not self.withheld

    def raw_span(self, start: int, end: int) -> tuple[int, int]:
        """The part of `raw` that `text[start:end]` stands for, without what is hidden at its two edges.

        An empty span lies before what is hidden at that place.
        """
        return self._raw_offset(start, after=end > start), self._raw_offset(end, after=False)

    def hides_in(self, start: int, end: int) -> bool:
        """Whether something hidden lies in `raw[start:end]`."""
        at = bisect_right(self.removed, start, key=lambda span: span[1])
        return at < len(self.removed) and self.removed[at][0] < end

    def _raw_offset(self, offset: int, *, after: bool) -> int:
        """Where `text[offset]` stands in `raw`; `after` goes past what is hidden right there."""
        shifts = _shifts(self)
        look = bisect_right if after else bisect_left
        at = look(shifts, offset, key=lambda shift: shift[0])
        return offset + (shifts[at - 1][1] if at else 0)


def view(raw: str) -> View:
    """What of `raw` may be shown. Takes time linear in its length."""
    return _without(raw, invisible.spans(raw))


def _without(raw: str, spans: list[tuple[int, int]]) -> View:
    kept, at = [], 0
    for start, end in spans:
        kept.append(raw[at:start])
        at = end
    kept.append(raw[at:])
    return View(raw, "".join(kept), tuple(spans), {Hidden.INVISIBLE: len(spans)} if spans else {})


def _shifts(view: View) -> list[tuple[int, int]]:
    """For each removed span: its place in the view, and how much has been removed up to its end."""
    shifts, removed = [], 0
    for start, end in view.removed:
        shifts.append((start - removed, removed + end - start))
        removed += end - start
    return shifts


def may_hide(data: bytes) -> bool:
    """Whether a note of these bytes can have anything to hide; False is certain."""
    return not data.isascii() or _CONTROL.search(data) is not None
