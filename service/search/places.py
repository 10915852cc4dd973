"""Which notes hold a text, by one pass over the block: of each note the first place, and from there on with the next note.

A common word stands in ten thousand notes, so the pass touches nothing but the block and arrays beside it; the notes
themselves lie all over the memory, and to look at each would take longer than the pass.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from service.guards import paths
from service.search import scanning
from service.search.asked import NAME_BONUS, Part
from service.search.matching import Needle
from service.search.reach import Reach
from service.vault.picture.block import Segment
from service.vault.picture.kept import Check
from service.vault.picture.note import Note

_LF: Final = b"\n"
_MAX_MASKS: Final = 8  # of a segment

NOWHERE: Final = -1


@dataclass(frozen=True, slots=True)
class Place:
    """A note that holds a text: from the first place where its text does (NOWHERE: only its name does) to the end of what is
    searched of it, as offsets of `data`."""

    note: Note
    data: bytes
    start: int
    end: int
    is_named: bool


@dataclass(frozen=True, slots=True)
class _Found:
    """What one segment holds: the indexes of its notes, where each holds the text first, and those whose names do."""

    segment: Segment
    indexes: list[int]
    starts: list[int]
    named: set[int]


class Places:
    """All notes that hold a text, numbered from 0 in no promised order.

    Args:
        needle: what is looked for, letter case ignored.
        part: of the notes that is searched; of a part names are no hits by themselves.
    """

    def __init__(self, needle: Needle, part: Part) -> None:
        self._needle = needle
        self._part = part
        self._found: list[_Found] = []
        self._firsts: list[int] = []

    def __len__(self) -> int:
        return sum(len(found.indexes) for found in self._found)

    def bounds(self) -> list[int]:
        """At most which score each has: as many as its text has lines, and what its name is worth."""
        bounds: list[int] = []
        for found in self._found:
            lines = found.segment.lines
            here = [count + 1 for count in map(lines.__getitem__, found.indexes)]
            if found.named:
                for at, index in enumerate(found.indexes):
                    if index in found.named:
                        here[at] = NAME_BONUS + (0 if found.starts[at] == NOWHERE else here[at])
            bounds += here
        return bounds

    def score_bounds(self, numbers: Sequence[int]) -> list[int]:
        """At most which score each of some places has: how often its text holds what is looked for, and its name."""
        count, raw, is_whole = scanning.count, self._needle.raw, self._part is not Part.FRONTMATTER
        bounds: list[int] = []
        for number in numbers:
            found, at = self._at(number)
            segment, index, start = found.segment, found.indexes[at], found.starts[at]
            end = segment.ends[index] if is_whole else _end(segment, index, self._part)
            bound = 0 if start == NOWHERE else count(segment.data, raw, start, end)
            bounds.append(bound + NAME_BONUS if index in found.named else bound)
        return bounds

    def lines(self) -> Iterator[int]:
        """How many lines of each match; 0 where only the name does."""
        count_lines = self._needle.count_lines
        for found in self._found:
            segment = found.segment
            for index, start in zip(found.indexes, found.starts, strict=True):
                if start == NOWHERE:
                    yield 0
                else:
                    yield count_lines(segment.data, start, _end(segment, index, self._part))

    def scores(self, lines: Sequence[int]) -> list[int]:
        """The score of each, given how many of its lines match."""
        scores = list(lines)
        for first, found in zip(self._starts(), self._found, strict=False):
            if found.named:
                for at, index in enumerate(found.indexes, start=first):
                    scores[at] += NAME_BONUS if index in found.named else 0
        return scores

    def note(self, number: int) -> Note:
        """The note of that number."""
        found, at = self._at(number)
        note = found.segment.notes[found.indexes[at]]
        if note is None:
            raise IndexError(number)  # none such is among the indexes
        return note

    def __getitem__(self, number: int) -> Place:
        found, at = self._at(number)
        index, start = found.indexes[at], found.starts[at]
        end = _end(found.segment, index, self._part)
        return Place(self.note(number), found.segment.data, start, end, index in found.named)

    def _at(self, number: int) -> tuple[_Found, int]:
        firsts = self._starts()
        which = bisect_right(firsts, number) - 1
        return self._found[which], number - firsts[which]

    def _starts(self) -> list[int]:
        """The number of the first place in each segment that has some, and how many there are in all."""
        if not self._firsts:
            self._firsts = list(accumulate((len(found.indexes) for found in self._found), initial=0))
        return self._firsts

    def look(self, segment: Segment, reach: Reach, check: Check) -> None:
        """Pass over one segment."""
        find, raw, data, size = scanning.find, self._needle.raw, segment.data, len(segment.data)
        at = find(data, raw, 0, size)
        if at == -1:
            return
        is_asked = _asked(segment, reach, check)
        starts, texts, ends = segment.starts, segment.texts, segment.ends
        is_plain = self._part is Part.BOTH and not self._needle.may_end_a_line
        found = _Found(segment, [], [], set())
        index, last = -1, len(starts) - 1
        while at != -1:
            index += 1
            behind = starts[index + 1] if index < last else size
            if behind <= at:
                index = bisect_right(starts, at, index) - 1
                behind = starts[index + 1] if index < last else size
            here = at
            at = find(data, raw, behind, size)
            if here >= ends[index] or not is_asked(index):
                continue
            is_named = here < texts[index]
            if is_named:
                here = find(data, raw, texts[index], ends[index])
            if not is_plain and here != NOWHERE:
                here = self._in_part(segment, index)
            if here == NOWHERE and not (is_named and self._part is Part.BOTH):
                continue
            found.indexes.append(index)
            found.starts.append(here)
            if is_named:
                found.named.add(index)
        if found.indexes:
            self._found.append(found)

    def _in_part(self, segment: Segment, index: int) -> int:
        """Where the searched part of a note's text holds it first."""
        note = segment.notes[index]
        if note is None:
            return NOWHERE
        start, end = _searched(segment, index, note, self._part)
        if self._needle.may_end_a_line and not self._needle.count_lines(segment.data, start, end):
            return NOWHERE
        return scanning.find(segment.data, self._needle.raw, start, end)


def _end(segment: Segment, index: int, part: Part) -> int:
    """Where the searched part of a note's text ends."""
    note = segment.notes[index]
    return (
        segment.ends[index]
        if part is not Part.FRONTMATTER or note is None
        else _searched(segment, index, note, part)[1]
    )


def _searched(segment: Segment, index: int, note: Note, part: Part) -> tuple[int, int]:
    """From where to where a note's text is searched."""
    start, end = segment.texts[index], segment.ends[index]
    if part is Part.BOTH:
        return start, end
    below = start
    if note.path.has_suffix(paths.MARKDOWN_SUFFIXES):
        for _ in range(note.front_lines(lambda: segment.data[start:end])):
            below = segment.data.find(_LF, below, end) + 1
            if not below:
                below = end
                break
    return (start, below) if part is Part.FRONTMATTER else (below, end)


def _asked(segment: Segment, reach: Reach, check: Check) -> Callable[[int], int]:
    """Tells for the index of a note in a segment whether a question is about it; of all at once where that is remembered."""
    if reach.key is not None:
        mask = segment.masks.get(reach.key)
        if mask is None:
            if len(segment.masks) >= _MAX_MASKS:
                segment.masks.clear()
            mask = bytes(note is not None and reach.holds(note) for note in segment.notes)
            segment.masks[reach.key] = mask
        return mask.__getitem__

    def holds(index: int) -> bool:
        check()
        note = segment.notes[index]
        return note is not None and reach.holds(note)

    return holds
