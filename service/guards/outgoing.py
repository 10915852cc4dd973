"""What may go out: of a note's text, only what a person who opens the note could see.

A view only leaves out, and never a line break: its lines are the lines of the file, so that search hits, task lines and
sections need no second numbering. Nothing is ever written back from a view; `service.vault.through` does to the raw text
what was decided on the view. Source of the rules: docs/explanation/guards.md.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from service.guards import concealed
from service.guards.concealed import Hidden, OutOfTimeError
from service.guards.suspicion import may_hide, may_hide_by_markup

__all__ = ["Hidden", "View", "counted", "may_hide", "view"]

Span = tuple[int, int]

MAX_PASSES: Final = 8
"""Times that a text is looked through: leaving something out may put together something else."""
BUDGET_S: Final = 2.0
"""Seconds of the processor after which looking stops, at the least (guards.md 6, 60)."""
BUDGET_S_PER_CHAR: Final = 0.6e-6
"""How much more each character of a note is given: a note of ten million has eight seconds.

Parsing the Markdown is not interrupted: about 1 s per million characters more."""

_WORDS: Final[Mapping[Hidden, tuple[str, str]]] = {
    Hidden.COMMENT: ("comment", "comments"),
    Hidden.ELEMENT: ("element", "elements"),
    Hidden.DEFINITION: ("link definition", "link definitions"),
    Hidden.INVISIBLE: ("invisible character", "invisible characters"),
}

_LINE_BREAK: Final = re.compile(r"\r?\n")


@dataclass(frozen=True, slots=True)
class View:
    """A text as it may be shown.

    Args:
        raw: the text as it stands in the file.
        text: `raw` without `removed`; has the same line breaks. Empty when the text is withheld.
        removed: what is left out, as (start, end) in `raw`: sorted, disjoint, never touching, never with a line break.
        counts: how many things of each kind that is (a comment over three lines is one, each invisible letter is one).
        withheld: empty, or why nothing is shown at all: looking took too long, or came to no end.
    """

    raw: str
    text: str
    removed: tuple[Span, ...] = ()
    counts: Mapping[Hidden, int] = field(default_factory=dict)
    withheld: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether nothing was left out."""
        return not self.removed and not self.withheld


def view(raw: str, *, budget_s: float | None = None, clock: Callable[[], float] = time.thread_time) -> View:
    """What of `raw` may be shown. Takes time linear in its length; when that is too much, nothing is shown.

    Args:
        raw: a note's text, or a piece of one.
        budget_s: seconds; once they are over, the text is withheld. None for what a text of this length is given.
        clock: counts the seconds; those of the processor, so that no note is withheld because others are busy.
    """
    deadline = clock() + (BUDGET_S + BUDGET_S_PER_CHAR * len(raw) if budget_s is None else budget_s)
    text, removed = raw, list[Span]()
    counts: Counter[Hidden] = Counter()

    def check() -> None:
        if clock() > deadline:
            raise OutOfTimeError

    try:
        for _ in range(MAX_PASSES):
            found = _found(text, check)
            spans = _within_lines(text, found.spans)
            if not spans:
                return View(raw, text, tuple(removed), dict(counts))
            counts += found.counts
            removed = _composed(removed, spans)
            text = _without(text, spans)
    except OutOfTimeError:
        return _withheld(raw, "looking for what it hides took too long")
    return _withheld(raw, "what it hides lies in too many layers")


def counted(counts: Mapping[Hidden, int]) -> str:
    """Such as `2 comments, 1 element`."""
    return ", ".join(
        f"{counts[kind]} {one if counts[kind] == 1 else many}"
        for kind, (one, many) in _WORDS.items()
        if counts.get(kind)
    )


def _found(text: str, check: concealed.Check) -> concealed.Concealed:
    data = text.encode("utf-8", "surrogatepass")
    if not may_hide(data):
        return concealed.NOTHING
    return concealed.find(text, check, may_hold_markup=may_hide_by_markup(data))


def _withheld(raw: str, why: str) -> View:
    return View(raw, "", withheld=why)


def _within_lines(text: str, spans: Iterable[Span]) -> list[Span]:
    """The same parts without line breaks: sorted, disjoint, not touching."""
    merged: list[Span] = []
    covered = 0
    for start, end in sorted(spans):
        at = max(start, covered)
        while at < end:
            line_break = _LINE_BREAK.search(text, at, end)
            stop = line_break.start() if line_break else end
            stop -= text.startswith("\r\n", stop - 1)  # the pair belongs together, also where a span ends between
            if at < stop:
                if merged and merged[-1][1] == at:
                    merged[-1] = (merged[-1][0], stop)
                else:
                    merged.append((at, stop))
            at = line_break.end() if line_break else end
        covered = max(covered, end)
    return merged


def _without(text: str, spans: Iterable[Span]) -> str:
    kept: list[str] = []
    at = 0
    for start, end in spans:
        kept.append(text[at:start])
        at = end
    kept.append(text[at:])
    return "".join(kept)


def _composed(removed: list[Span], spans: list[Span]) -> list[Span]:
    """What is left out of the raw text when `spans` go from what `removed` has left: one walk along both."""
    composed: list[Span] = []
    shift = at = 0
    for start, end in spans:
        while at < len(removed) and removed[at][0] < start + shift:
            shift += removed[at][1] - removed[at][0]
            composed.append(removed[at])
            at += 1
        raw_start = start + shift
        while at < len(removed) and removed[at][0] <= end + shift:
            shift += removed[at][1] - removed[at][0]
            at += 1
        raw_end = end + shift
        if composed and composed[-1][1] == raw_start:
            raw_start = composed.pop()[0]
        composed.append((raw_start, raw_end))
    composed.extend(removed[at:])
    return composed
