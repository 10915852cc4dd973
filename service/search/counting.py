"""How often words stand in each note, counted by passes over the block and remembered for the words that are asked often.

A piece of a segment at a time is made bare (`words.BARE`) and scanned for each word while it is in the processor's cache.
What is remembered belongs to a segment's bytes, which never change: notes that come, change or go make new bytes, so
nothing here can be out of date. All notes are counted, those that an asker may not see as well: what a question may see is
applied to the counts, before anything is made of them (`scoring`).
"""

from __future__ import annotations

import re
import threading
from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Final
from weakref import WeakKeyDictionary

import stringzilla

from service.search import titles
from service.search.titles import Titles
from service.vault.picture.block import Segment
from service.vault.picture.kept import Kept
from service.vault.words import BARE

MAX_COUNT: Final = 255
"""Of one word in one note; more are not counted."""

MAX_REMEMBERED_BYTES: Final = 8_000_000
"""Of counts, for all words and segments together; those asked longest ago go first."""

_PIECE_BYTES: Final = 256_000  # a piece and its bare copy fit into the cache of one core
_COMMON_PART: Final = 8  # a word that stands in so small a part of a piece's beginning is counted note by note

Check = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Counts:
    """How often a word stands in each note of a segment: in its text, in its name and title, and in its headings.

    Each has a byte a note, at most MAX_COUNT; empty where no note has it.
    """

    text: bytes
    title: bytes
    headings: bytes

    @property
    def size_bytes(self) -> int:
        return len(self.text) + len(self.title) + len(self.headings)


class Counted:
    """What was counted in one segment's bytes."""

    def __init__(self, segment: Segment) -> None:
        self.data = segment.data
        self.sizes = array("I", (end - start for start, end in zip(segment.texts, segment.ends, strict=True)))
        self.titles: Titles = titles.of(segment)
        self.known: OrderedDict[bytes, Counts] = OrderedDict()
        self._starts = segment.starts
        self._texts = segment.texts

    def pieces(self) -> Iterator[tuple[int, int]]:
        """Runs of notes that fill a piece each: the first and the one behind the last."""
        first, count = 0, len(self._texts)
        while first < count:
            last = max(first + 1, bisect_right(self._starts, self._starts[first] + _PIECE_BYTES) - 1)
            last = count if last >= count - 1 else last
            yield first, last
            first = last

    def count(self, terms: Sequence[bytes], check: Check) -> None:
        """Count words that are not known yet."""
        found: list[list[bytes]] = [[] for _ in terms]
        for first, last in self.pieces():
            check()
            start = self._texts[first] - 1  # what stands before the text becomes a blank
            end = self._starts[last] if last < len(self._starts) else len(self.data)
            bare = stringzilla.Str(stringzilla.translate(self.data, BARE, start=start, end=end))
            starts = [text - 1 - start for text in self._texts[first:last]]
            ends = [following - start for following in (*self._starts[first + 1 : last], end)]
            for counts, term in zip(found, terms, strict=True):
                counts.append(_counts(bare, term, starts, ends))
        for counts, term in zip(found, terms, strict=True):
            whole = b"".join(counts)
            self.known[term] = Counts(
                whole if any(counts) and whole.count(0) < len(whole) else b"",
                _counts_in(self.titles.names, term, self.titles.name_starts),
                _counts_in(self.titles.headings, term, self.titles.heading_starts),
            )


class Memory:
    """What was counted in a picture's segments. Thread-safe: two threads may count the same."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counted: dict[int, Counted] = {}

    def of(
        self, segments: Sequence[Segment], terms: Sequence[bytes], check: Check
    ) -> list[tuple[Counted, list[Counts]]]:
        """What each segment holds of some words, in the order of both.

        Args:
            check: called between pieces of the block; raises to give up.
        """
        with self._lock:
            known = [self._counted.get(id(segment.data)) for segment in segments]
        counted = [
            Counted(segment) if one is None or one.data is not segment.data else one
            for one, segment in zip(known, segments, strict=True)
        ]
        answers = []
        for one in counted:
            unknown = [term for term in terms if term not in one.known]
            if unknown:
                one.count(unknown, check)
            answers.append((one, [one.known[term] for term in terms]))
        with self._lock:
            self._counted = {id(one.data): one for one in counted}
            self._forget(counted, terms)
        return answers

    def _forget(self, counted: Sequence[Counted], terms: Sequence[bytes]) -> None:
        """Keep the words asked last, as many as have room."""
        for one in counted:
            for term in terms:
                if term in one.known:
                    one.known.move_to_end(term)
        size = sum(counts.size_bytes for one in counted for counts in one.known.values())
        for one in counted:
            while size > MAX_REMEMBERED_BYTES and len(one.known) > len(terms):
                size -= one.known.popitem(last=False)[1].size_bytes


_MEMORIES: WeakKeyDictionary[Kept, Memory] = WeakKeyDictionary()


def memory(kept: Kept) -> Memory:
    """What was counted in the picture that `kept` belongs to."""
    return _MEMORIES.setdefault(kept, Memory())


def _counts(bare: stringzilla.Str, term: bytes, starts: Sequence[int], ends: Sequence[int]) -> bytes:
    """How often a word stands between each start and end."""
    at = bare.find(term)
    if at < 0:
        return bytes(len(starts))
    if at * _COMMON_PART < ends[-1]:
        found = list(map(bare.count, repeat(term), starts, ends))
        try:
            return bytes(found)
        except ValueError:
            return bytes(min(count, MAX_COUNT) for count in found)
    counts = bytearray(len(starts))
    while at >= 0:
        note = bisect_right(starts, at) - 1
        if at + len(term) <= ends[note]:  # else it is in the name of the note that follows
            counts[note] = min(bare.count(term, starts[note], ends[note]), MAX_COUNT)
        at = bare.find(term, starts[note + 1]) if note + 1 < len(starts) else -1
    return bytes(counts)


def _counts_in(words: bytes, term: bytes, starts: Sequence[int]) -> bytes:
    at = words.find(term)
    if at < 0:
        return b""
    counts = bytearray(len(starts))
    for match in re.finditer(re.escape(term), words):
        note = bisect_right(starts, match.start()) - 1
        counts[note] = min(counts[note] + 1, MAX_COUNT)
    return bytes(counts)
