"""What the input guard says of a note: which constructs are active, where, and what to write instead."""

from __future__ import annotations

import enum
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

MAX_KEY_CHARS: Final = 2000
"""Characters of a construct that tell it from another."""

LINK_LABEL: Final = "image"
"""For a picture without a name: a link needs something to be seen by."""


class Kind(enum.Enum):
    """What a construct is. The value is the word of an answer."""

    IMAGE = "remote image"
    ELEMENT = "HTML element that loads or runs something"
    LINK = "link to an address that may do something"
    BLOCK = "code block that would run"
    SCRIPT = "script in a line"
    TEMPLATE = "template command"
    MATHS = "command in maths"
    PROPERTY = "property that runs"


@dataclass(frozen=True, slots=True)
class Patch:
    """Write `text` in the place of what stands from `start` to `end`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Active:
    """One construct. `key` is what makes it active, whatever else it says; `patches` make it harmless.

    `is_by_reference`: a link that leads where a definition says; harmless once that definition is.
    """

    kind: Kind
    key: str
    start: int
    end: int
    patches: tuple[Patch, ...]
    is_by_reference: bool = False


class Spans:
    """Whether a place lies in one of some spans."""

    def __init__(self, spans: Sequence[tuple[int, int]]) -> None:
        self._spans = sorted(spans)

    def holds(self, at: int) -> bool:
        index = bisect_right(self._spans, (at, len(self._spans) and self._spans[-1][1] + 1)) - 1
        return index >= 0 and self._spans[index][0] <= at < self._spans[index][1]


def key_of(text: str) -> str:
    """What makes a construct active, in a form in which white space does not matter."""
    return " ".join(text[:MAX_KEY_CHARS].split())
