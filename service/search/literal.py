"""Literal search: every line that holds the query, found by one pass over the block.

Of each note the first hit is found, and from there the pass goes on with the next note. How many lines of a note match is
counted while there are few in all; of very many only for those notes that can be on the page that was asked for: a note
has no more matching lines than it has lines, or places where the query stands, and once enough notes are known to have
more, the others cannot come before them. The lines of the page are read from the disk, and hits are told of those bytes.
"""

from __future__ import annotations

import heapq
import unicodedata
from bisect import insort
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from service.guards import paths
from service.search import matching
from service.search.asked import NAME_BONUS, Found, Hit, Order, Part, Query
from service.search.places import NOWHERE, Place, Places
from service.search.reach import Reach
from service.vault import frontmatter, snippets
from service.vault.model import Page, Vault
from service.vault.patience import Deadline
from service.vault.picture.note import Note
from service.vault.picture.picture import Moment

MAX_COUNTED: Final = 2_000
"""Hits up to which they are counted to the end, so that the total is exact."""

_LF: Final = b"\n"
_FIRST_LOOK: Final = 4  # notes whose lines are counted before it is looked who can still be on the page
_BETWEEN_CHECKS: Final = 256  # notes


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
    if query.is_case_sensitive:
        matches = search.verified(places)
        counted, is_exact, notes = sum(match.hits for match in matches), True, len(matches)
    else:
        lines, counted = search.counted(places)
        matches = search.first(places, lines)
        is_exact, notes = lines is not None, len(places)
    page = Page(tuple(search.hits(matches)), counted, query.offset)
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

    def places(self, moment: Moment) -> Places:
        """All notes that hold the query, letter case ignored."""
        places = Places(self._folded, self._query.part)
        if not self._needle.is_nowhere:
            for segment in moment.segments:
                self._deadline.check()
                places.look(segment, self._reach, self._deadline.check)
        return places

    def counted(self, places: Places) -> tuple[list[int] | None, int]:
        """How many lines of each place match, and how many hits there are.

        None, and how many hits there are at least, when they are too many to be counted.
        """
        enough = max(MAX_COUNTED, self._needed + 1)
        if len(places) > enough:
            return None, len(places)
        total, lines = 0, list[int]()
        for count in places.lines():
            if len(lines) % _BETWEEN_CHECKS == 0:
                self._deadline.check()
            lines.append(count)
            total += count or 1
            if total > enough:
                return None, total + len(places) - len(lines)
        return lines, total

    def first(self, places: Places, lines: list[int] | None) -> list[_Match]:
        """The matches that come first, in order, enough of them for the page and what is before it.

        Args:
            lines: how many match of each place, where that is known.
        """
        order = self._query.order
        if order is Order.RELEVANCE and lines is None:
            return sorted(self._best(places), key=_in_order(order))
        scores = [0] * len(places) if lines is None else places.scores(lines)
        numbers: Sequence[int] = range(len(places))
        if order is Order.RELEVANCE and len(scores) > self._needed:
            least = heapq.nlargest(self._needed, scores)[-1]  # each has a hit at least
            numbers = [number for number in numbers if scores[number] >= least]
        key = _in_order(order)
        keys = ((key(_Match(places.note(number), 0, scores[number], is_named=False)), number) for number in numbers)
        return [self._match(places[number]) for _, number in heapq.nsmallest(self._needed, keys)]

    def _best(self, places: Places) -> list[_Match]:
        """Every note that can be on the page by relevance, or before it: those of the highest bounds, until no other can."""
        bounds = places.bounds()
        enough = heapq.nlargest(_FIRST_LOOK, bounds)[-1] if bounds else 0
        likely = [number for number, bound in enumerate(bounds) if bound >= enough]
        likely = sorted(likely, key=bounds.__getitem__, reverse=True)[:_FIRST_LOOK]
        best = self._better([], places, likely, 0)
        least = self._least(best)
        known = set(likely)
        rest = [number for number, bound in enumerate(bounds) if bound >= least and number not in known]
        rest.sort(key=bounds.__getitem__, reverse=True)
        done, step = 0, _FIRST_LOOK
        while done < len(rest) and bounds[rest[done]] >= least:
            best = self._better(best, places, rest[done : done + step], least)
            least = self._least(best)
            done, step = done + step, 2 * step
        return best

    def _better(self, best: list[_Match], places: Places, numbers: Sequence[int], least: int) -> list[_Match]:
        """`best` with those of some places that can reach the score `least`; the highest first."""
        self._deadline.check()
        best = list(best)
        bounds = zip(places.score_bounds(numbers), numbers, strict=True)
        for bound, number in sorted(bounds, reverse=True):
            if bound < least:
                break
            insort(best, self._match(places[number]), key=lambda match: -match.score)
            least = self._least(best)
        return best

    def _least(self, best: Sequence[_Match]) -> int:
        """The score that a note must have to be on the page or before it, when all that are better are in `best`."""
        hits = 0
        for match in best:
            hits += match.hits
            if hits >= self._needed:
                return match.score
        return 0

    def _match(self, place: Place) -> _Match:
        """What is found in a note."""
        bonus = NAME_BONUS if place.is_named else 0
        if place.start == NOWHERE:
            return _Match(place.note, 1, bonus, place.is_named)
        lines = self._folded.count_lines(place.data, place.start, place.end)
        return _Match(place.note, lines, lines + bonus, place.is_named)

    def verified(self, places: Places) -> list[_Match]:
        """All matches in order where letter case counts."""
        matches = []
        for number in range(len(places)):
            self._deadline.check()
            if match := self._verified(places[number]):
                matches.append(match)
        return sorted(matches, key=_in_order(self._query.order))

    def _verified(self, place: Place) -> _Match | None:
        """What is found in the bytes of a note where letter case counts; None for nothing."""
        note = place.note
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
