"""Literal search: every line that holds the query, found by one pass over the block.

Of each note the first hit is found, and from there the pass goes on with the next note. How many lines of a note match is
counted while there are few in all; of very many only for those notes that can be on the page that was asked for: a note
has no more matching lines than it has lines, or places where the query stands, and once enough notes are known to have
more, the others cannot come before them. The lines of the page are read from the disk, and hits are told of those bytes.
"""

from __future__ import annotations

import heapq
import operator
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from service.guards import paths
from service.search import matching, scanning
from service.search.asked import NAME_BONUS, Found, Hit, Order, Part, Query
from service.search.reach import Reach, Verdict
from service.vault import frontmatter, snippets
from service.vault.model import Page, Vault
from service.vault.patience import Deadline
from service.vault.picture.block import Segment
from service.vault.picture.note import Note
from service.vault.picture.picture import Moment

MAX_COUNTED: Final = 10_000
"""Hits up to which they are counted to the end, so that the total is exact."""

_LF: Final = b"\n"
_FIRST_LOOK: Final = 32  # notes whose lines are counted before it is looked who can still be on the page
_BETWEEN_CHECKS: Final = 256  # notes

_Place: TypeAlias = tuple[Note, bytes, int, int, int, int]
"""A note that holds the query: the data of its segment, where in it the text holds it first (-1: only its name does), where
the part that is searched ends, at most which score it has, and how much of that is for its name. A bare tuple, since there
may be tens of thousands."""

_BOUND: Final = operator.itemgetter(4)


@dataclass(frozen=True, slots=True)
class _Match:
    note: Note
    hits: int
    score: int
    is_named: bool


def found(vault: Vault, query: Query, deadline: Deadline) -> Found:
    """Answer a literal question.

    Raises:
        NoteNotFound: there is no such folder; names the nearest.
        Unavailable: the deadline has passed.
    """
    start = vault.files.open_folder(query.folder)
    moment = vault.picture.now(deadline.check)
    reach = Reach(vault, query, moment, start)
    search = _Search(query, reach, deadline)
    places = search.places(moment)
    matches, total = search.counted(places)
    if matches is None:
        matches = search.first(places)
        is_exact, notes = False, len(places)
    else:
        is_exact, notes = True, len(matches)
    matches.sort(key=_in_order(query.order))
    page = Page(tuple(search.hits(matches)), total, query.offset)
    return Found(page, notes, reach.skipped(), reach.left_out(), is_exact)


class _Search:
    """One question while it is being answered."""

    def __init__(self, query: Query, reach: Reach, deadline: Deadline) -> None:
        self._query = query
        self._reach = reach
        self._deadline = deadline
        self._needle = matching.needle(query.words, is_case_sensitive=query.is_case_sensitive)
        self._folded = matching.needle(query.words)
        self._needed = query.offset + query.limit

    def places(self, moment: Moment) -> list[_Place]:
        """All notes that hold the query, letter case ignored."""
        found: list[_Place] = []
        if not self._needle.is_nowhere:
            for segment in moment.segments:
                self._deadline.check()
                found += self._places_in(segment)
        return found

    def _places_in(self, segment: Segment) -> list[_Place]:
        """The loop that a common word runs through ten thousand times: nothing in it that can be outside."""
        find, raw, data, size = scanning.find, self._folded.raw, segment.data, len(segment.data)
        at = find(data, raw, 0, size)
        if at == -1:
            return []
        holds, verdicts, all_of_them = self._reach.holds, self._reach.verdicts, Verdict.ALL
        texts, ends, notes, lines = segment.texts, segment.ends, segment.notes, segment.lines
        starts = segment.starts
        is_of_both = self._query.part is Part.BOTH
        is_plain = is_of_both and not self._folded.may_end_a_line
        found: list[_Place] = []
        index, last, behind = -1, len(starts) - 1, 0
        while at != -1:
            index += 1
            behind = starts[index + 1] if index < last else size
            if behind <= at:
                index = bisect_right(starts, at, index) - 1
                behind = starts[index + 1] if index < last else size
            note, end, here = notes[index], ends[index], at
            at = find(data, raw, behind, size)
            if note is None or here >= end:
                continue
            if verdicts[note.path.parts[:-1]] is not all_of_them and not holds(note):
                continue
            bonus = 0
            if here < texts[index]:
                bonus = NAME_BONUS
                here = find(data, raw, texts[index], end)
            if not is_plain:
                here, end = self._in_part(segment, index, note, here)
            if here != -1:
                found.append((note, data, here, end, lines[index] + 1 + bonus, bonus))
            elif bonus and is_of_both:
                found.append((note, data, here, end, bonus, bonus))
        return found

    def _in_part(self, segment: Segment, index: int, note: Note, at: int) -> tuple[int, int]:
        """Where the searched part of a note holds the query first (-1: nowhere), and where that part ends."""
        start, end = segment.texts[index], segment.ends[index]
        if at == -1:
            return at, end
        if self._query.part is not Part.BOTH:
            below = _below_front_matter(segment, index, note)
            start, end = (start, below) if self._query.part is Part.FRONTMATTER else (below, end)
            at = scanning.find(segment.data, self._folded.raw, start, end)
        if at != -1 and self._folded.may_end_a_line and not self._folded.count_lines(segment.data, start, end):
            at = -1
        return at, end

    def counted(self, places: Sequence[_Place]) -> tuple[list[_Match] | None, int]:
        """All matches and how many hits they are; None and how many at least, when they are too many to be counted."""
        enough = max(MAX_COUNTED, self._needed + 1)
        is_folded = not self._needle.is_case_sensitive
        if is_folded and len(places) > enough:
            return None, len(places)
        total, matches = 0, list[_Match]()
        for number, place in enumerate(places):
            if number % _BETWEEN_CHECKS == 0:
                self._deadline.check()
            match = self._match(place) if is_folded else self._verified(place)
            if match is not None:
                matches.append(match)
                total += match.hits
            if is_folded and total > enough:
                return None, total + len(places) - number - 1
        return matches, total

    def first(self, places: Sequence[_Place]) -> list[_Match]:
        """The matches that come first, enough of them for the page and what is before it."""
        if self._query.order is Order.RELEVANCE:
            return self._best(places)
        key = _in_order(self._query.order)
        unsorted = (_Match(place[0], 0, 0, is_named=False) for place in places)
        first = heapq.nsmallest(self._needed, zip(map(key, unsorted), range(len(places)), strict=True))
        return [match for _, number in first if (match := self._match(places[number]))]

    def _best(self, places: Sequence[_Place]) -> list[_Match]:
        """Every note that can be on the page by relevance, or before it: those of the highest bounds, until no other can."""
        likely = heapq.nlargest(_FIRST_LOOK, places, key=_BOUND)
        best = self._better([], likely, 0)
        least = self._least(best)
        looked_at = set(map(id, likely))
        rest = [place for place in places if place[4] >= least and id(place) not in looked_at]
        rest.sort(key=_BOUND, reverse=True)
        done, step = 0, _FIRST_LOOK
        while done < len(rest) and rest[done][4] >= least:
            best = self._better(best, rest[done : done + step], least)
            least = self._least(best)
            done, step = done + step, 2 * step
        return best

    def _better(self, best: list[_Match], places: Sequence[_Place], least: int) -> list[_Match]:
        """`best` with those of some places that can reach the score `least`; the highest first."""
        self._deadline.check()
        matches = [*best, *(match for place in places if (match := self._match(place, least)))]
        return sorted(matches, key=lambda match: -match.score)

    def _least(self, best: Sequence[_Match]) -> int:
        """The score that a note must have to be on the page or before it, when all that are better are in `best`."""
        hits = 0
        for match in best:
            hits += match.hits
            if hits >= self._needed:
                return match.score
        return 0

    def _match(self, place: _Place, least: int = 0) -> _Match | None:
        """What is found in a note; None when its score must be below `least`."""
        note, data, at, end, _, bonus = place
        if at == -1:
            return _Match(note, 1, bonus, bool(bonus))
        if least and scanning.count(data, self._folded.raw, at, end) + bonus < least:
            return None
        lines = self._folded.count_lines(data, at, end)
        return _Match(note, lines, lines + bonus, bool(bonus))

    def _verified(self, place: _Place) -> _Match | None:
        """What is found in the bytes of a note where letter case counts; None for nothing."""
        note = place[0]
        read = note.read()
        lines = 0 if read is None else len(self._lines(note, *read))
        is_named = self._needle.is_in(unicodedata.normalize("NFC", note.path.stem))
        hits = lines or int(is_named and self._query.part is Part.BOTH)
        return _Match(note, hits, lines + (NAME_BONUS if is_named else 0), is_named) if hits else None

    def _lines(self, note: Note, data: bytes, shown: bytes) -> list[int]:
        """The matching lines of `shown`; where the front matter ends is asked of the note's own bytes, as Obsidian does."""
        lines = self._needle.lines_of(self._needle.as_compared(shown))
        if self._query.part is Part.BOTH or not lines:
            return lines
        last = frontmatter.line_count(data) if note.path.has_suffix(paths.MARKDOWN_SUFFIXES) else 0
        return [line for line in lines if (line <= last) is (self._query.part is Part.FRONTMATTER)]

    def hits(self, matches: Sequence[_Match]) -> Iterator[Hit]:
        """The hits of the asked page. A note that has gone since it was found leaves its place empty."""
        to_skip, to_give = self._query.offset, self._query.limit
        for match in matches:
            if to_give <= 0:
                return
            if to_skip >= match.hits:
                to_skip -= match.hits
                continue
            hits = self._hits_of(match, to_skip, to_give)
            yield from hits
            to_give -= len(hits)
            to_skip = 0

    def _hits_of(self, match: _Match, to_skip: int, to_give: int) -> list[Hit]:
        """Some hits of a note, as its bytes are now: a hit that is no longer there is left out."""
        read = match.note.read()
        if read is None:
            return []
        data, shown = read
        numbers = self._lines(match.note, data, shown)
        score = len(numbers) + (NAME_BONUS if match.is_named else 0)
        if not numbers and match.is_named and self._query.part is Part.BOTH:
            numbers = [1]
        lines = shown.split(_LF)
        hits: list[Hit] = []
        for number in numbers[to_skip : to_skip + to_give]:
            line = lines[number - 1].decode("utf-8", "replace").removesuffix("\r")
            hits.append(Hit(match.note.path, number, snippets.around(line, self._needle.span_in(line)), score))
        return hits


def _in_order(order: Order) -> Callable[[_Match], tuple[int, str]]:
    match order:
        case Order.RELEVANCE:
            return lambda match: (-match.score, str(match.note.path))
        case Order.MODIFIED:
            return lambda match: (-match.note.mtime_ns, str(match.note.path))
        case Order.PATH:
            return lambda match: (0, str(match.note.path))


def _below_front_matter(segment: Segment, index: int, note: Note) -> int:
    """Where in a segment the text below a note's front matter begins."""
    text, end = segment.texts[index], segment.ends[index]
    if not note.path.has_suffix(paths.MARKDOWN_SUFFIXES):
        return text
    for _ in range(note.front_lines(segment.data[text:end])):
        text = segment.data.find(_LF, text, end) + 1
        if not text:
            return end
    return text
