"""How often words stand in each note, counted by passes over the block and remembered for the words that are asked often.

A piece of a segment at a time is made bare (`words.BARE`) and scanned for each word while it is in the processor's cache.
What is remembered belongs to a segment's bytes, which never change: notes that come, change or go make new bytes, so
nothing here can be out of date. All notes are counted, those that an asker may not see as well: what a question may see is
applied to the counts, before anything is made of them (`scoring`).
"""

from __future__ import annotations

import threading
from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress, repeat
from typing import Final
from weakref import WeakKeyDictionary

import stringzilla

from service.search import titles
from service.search.reach import Reach
from service.search.titles import Titles
from service.vault.picture.block import Segment
from service.vault.picture.kept import Kept
from service.vault.picture.note import Note
from service.vault.words import BARE

MAX_COUNT: Final = 255
"""Of one word in one note; more are not counted."""

IN: Final = 0xFF
"""In a mask: the question is about the note."""

SIZE_BOUNDS: Final = (0, *(round(200 * 1.5**step) for step in range(15)))
"""The smallest sizes in bytes of the classes that texts fall into (`scoring`)."""

MAX_REMEMBERED_BYTES: Final = 8_000_000
"""Of counts, for all words and segments together; those asked longest ago go first."""

_PIECE_BYTES: Final = 256_000  # a piece and its bare copy fit into the cache of one core
_MAX_MASKS: Final = 8
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


@dataclass(frozen=True, slots=True)
class _Piece:
    """Some notes of a segment: from where to where, and within that where each one's words begin and end."""

    start: int
    end: int
    starts: array[int]
    ends: array[int]


class Counted:
    """What was counted in one segment's bytes."""

    def __init__(self, segment: Segment) -> None:
        self.data = segment.data
        self.sizes = array("I", (end - start for start, end in zip(segment.texts, segment.ends, strict=True)))
        self.classes = bytes(bisect_right(SIZE_BOUNDS, size) - 1 << 4 for size in self.sizes)
        """The class of each size (`SIZE_BOUNDS`), in the upper half of a byte."""
        self.titles: Titles = titles.of(segment)
        self.known: OrderedDict[bytes, Counts] = OrderedDict()
        self.known_bytes = 0
        self.masks: OrderedDict[Hashable, tuple[tuple[Note | None, ...], bytes]] = OrderedDict()
        self._pieces = tuple(_pieces(segment))

    def mask(self, notes: tuple[Note | None, ...], reach: Reach) -> bytes:
        """IN for each of the segment's notes that a question is about, else 0."""
        known = self.masks.get(reach.key)
        if known is not None and known[0] is notes:
            return known[1]
        holds = reach.holds
        made = bytes(IN if note is not None and holds(note) else 0 for note in notes)
        if reach.key is not None:
            self.masks[reach.key] = notes, made
            if len(self.masks) > _MAX_MASKS:
                self.masks.popitem(last=False)
        return made

    def remember(self, term: bytes, counts: Counts) -> None:
        """Keep what was counted of a word, as the one asked last."""
        before = self.known.get(term)
        self.known[term] = counts
        self.known.move_to_end(term)
        self.known_bytes += counts.size_bytes - (before.size_bytes if before else 0)

    def forget_one(self) -> int:
        """Let go of the word asked longest ago; gives the bytes that it took."""
        size = self.known.popitem(last=False)[1].size_bytes
        self.known_bytes -= size
        return size

    def words(self, mask: bytes) -> Iterator[bytes]:
        """The words of the notes that are in the mask, names and texts made bare, some notes at a time."""
        done = 0
        for piece in self._pieces:
            bare = stringzilla.translate(self.data, BARE, start=piece.start, end=piece.end)
            here = mask[done : done + len(piece.starts)]
            done += len(piece.starts)
            if here.count(IN) == len(here):
                yield bare
                continue
            for start, end in compress(zip(piece.starts, piece.ends, strict=True), here):
                yield bare[start:end]

    def count(self, terms: Sequence[bytes], check: Check) -> dict[bytes, Counts]:
        """Count words."""
        found: list[list[bytes]] = [[] for _ in terms]
        for piece in self._pieces:
            check()
            bare = stringzilla.Str(stringzilla.translate(self.data, BARE, start=piece.start, end=piece.end))
            absent: list[bytes] = []
            for counts, term in zip(found, terms, strict=True):
                if any(word in term for word in absent) or bare.find(term) < 0:  # no phrase without its words
                    absent.append(term)
                    counts.append(bytes(len(piece.starts)))
                else:
                    counts.append(_counts(bare, term, piece.starts, piece.ends))
        names, headings = stringzilla.Str(self.titles.names), stringzilla.Str(self.titles.headings)
        return {
            term: Counts(
                _unless_none(b"".join(counts)),
                _unless_none(_counts(names, term, self.titles.name_starts, self.titles.name_ends)),
                _unless_none(_counts(headings, term, self.titles.heading_starts, self.titles.heading_ends)),
            )
            for counts, term in zip(found, terms, strict=True)
        }


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
            before = [self._counted.get(id(segment.data)) for segment in segments]
        counted = [
            Counted(segment) if one is None or one.data is not segment.data else one
            for one, segment in zip(before, segments, strict=True)
        ]
        answers = []
        for one in counted:
            found = {term: known for term in terms if (known := one.known.get(term))}
            unknown = [term for term in terms if term not in found]
            if unknown:
                found |= one.count(unknown, check)
            answers.append((one, [found[term] for term in terms]))
        with self._lock:
            self._counted = {id(one.data): one for one in counted}
            for one, counts in answers:
                for term, made in zip(terms, counts, strict=True):
                    one.remember(term, made)
            self._forget(counted, terms)
        return answers

    def _forget(self, counted: Sequence[Counted], terms: Sequence[bytes]) -> None:
        """Keep the words asked last, as many as have room."""
        size = sum(one.known_bytes for one in counted)
        for one in counted:
            while size > MAX_REMEMBERED_BYTES and len(one.known) > len(terms):
                size -= one.forget_one()


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


def _unless_none(counts: bytes) -> bytes:
    return counts if counts.count(0) < len(counts) else b""


def _pieces(segment: Segment) -> Iterator[_Piece]:
    first, count = 0, len(segment.starts)
    while first < count:
        last = min(count, max(first + 1, bisect_right(segment.starts, segment.starts[first] + _PIECE_BYTES)))
        start = segment.texts[first] - 1  # what stands before a text becomes a blank
        end = segment.following(last - 1)
        starts = array("I", (text - 1 - start for text in segment.texts[first:last]))
        ends = array("I", (segment.following(index) - start for index in range(first, last)))
        yield _Piece(start, end, starts, ends)
        first = last
