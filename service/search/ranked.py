"""Ranked search: the notes that answer a question best, each with the line that says most of what was asked.

The words are counted in the block (`counting`), the notes scored by them (`scoring`); of the best, those come before others
in which words of the question stand side by side as they do in it. Which notes there are, how rare a word is and how long
notes are on average is worked out over just the notes that the question may see.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Final

from service.search import counting, ranking, scoring
from service.search.asked import Found, Hit, Mode, Order, Part, Query
from service.search.counting import Check
from service.search.ranking import Question
from service.search.reach import Reach
from service.search.scoring import Table
from service.vault import snippets, text
from service.vault.model import Page, Vault
from service.vault.picture.block import Segment
from service.vault.picture.note import Note
from service.vault.words import BARE

_LOOKED_INTO: Final = 100
"""Of the best notes by their words alone, those that are looked into for words that stand side by side."""

_PAIR_BONUS: Final = 0.6
"""What two words side by side add, as a part of what the more common of them is worth."""

_WRITTEN_BONUS: Final = 0.3
"""What the question just as it is written adds, as a part of what all its words are worth."""


@dataclass(frozen=True, slots=True)
class _Match:
    note: Note
    score: float


def is_for(query: Query) -> bool:
    """Whether a question can be answered by counts in the block: it has words, and letter case and parts do not count."""
    return (
        query.mode is Mode.RANKED
        and query.part is Part.BOTH
        and not query.is_case_sensitive
        and bool(ranking.question(query.words).terms)
    )


def found(vault: Vault, query: Query, check: Check) -> Found:
    """The asked page of the notes that hold a word of the question.

    Raises:
        NoteNotFound, PathAmbiguous: there is no such folder, or more than one.
        Unavailable: from `check`.
    """
    question = ranking.question(query.words)
    moment = vault.picture.now(check)
    reach = Reach(vault, query, moment, vault.files.open_folder(query.folder))
    segments = moment.segments
    counted = counting.memory(vault.picture.kept).of(segments, question.terms, check)
    masks = (one.mask(segment.notes, reach) for (one, _), segment in zip(counted, segments, strict=True))
    table = scoring.table(counted, b"".join(masks))
    held = table.held()
    total = len(held) - held.count(0)
    ends = query.offset + query.limit
    if query.order is Order.RELEVANCE:
        matches = _best(segments, question, table, ends)
    else:
        notes = list(chain.from_iterable(segment.notes for segment in segments))
        matches = [
            _Match(note, table.score(index)) for index, note in enumerate(notes) if held[index] and note is not None
        ]
        matches.sort(key=_key(query.order))
    weights = [*table.weights, *([sum(table.weights)] if question.phrase and question.terms else [])]
    hits = tuple(hit for match in matches[query.offset : ends] if (hit := _best_hit(question, weights, match)))
    return Found(Page(hits, total, query.offset), total, reach.skipped(), reach.left_out())


def _key(order: Order) -> Callable[[_Match], tuple[float, str]]:
    if order is Order.MODIFIED:
        return lambda match: (-match.note.mtime_ns, str(match.note.path))
    if order is Order.PATH:
        return lambda match: (0, str(match.note.path))
    return lambda match: (-match.score, str(match.note.path))


def _best(segments: Sequence[Segment], question: Question, table: Table, count: int) -> list[_Match]:
    """At least `count` of the best notes, in order."""
    firsts = list(accumulate((len(segment.notes) for segment in segments), initial=0))
    looked_into: list[_Match] = []
    others: list[_Match] = []
    closeness = _Closeness(question, table.weights)
    for rank, (score, at) in enumerate(table.best(max(count, _LOOKED_INTO))):
        where = bisect_right(firsts, at) - 1
        segment, index = segments[where], at - firsts[where]
        note = segment.notes[index]
        if note is None:
            continue
        if rank < _LOOKED_INTO:
            looked_into.append(_Match(note, score + closeness.of(segment, index)))
        else:
            others.append(_Match(note, score))
    by_relevance = _key(Order.RELEVANCE)
    return [*sorted(looked_into, key=by_relevance), *sorted(others, key=by_relevance)]


class _Closeness:
    """What words side by side add to a note's score."""

    def __init__(self, question: Question, weights: Sequence[float]) -> None:
        self._written = question.words.strip().casefold().encode("utf-8", "surrogatepass")
        self._bonus = _WRITTEN_BONUS * sum(weights)
        worth = dict(zip(question.terms, weights, strict=False))
        self._pairs = [
            (re.compile(pattern), _PAIR_BONUS * min(worth.get(first, 0), worth.get(second, 0)))
            for first, second, pattern in question.pairs()
        ]

    def of(self, segment: Segment, index: int) -> float:
        whole = segment.data[segment.texts[index] - 1 : segment.following(index)]
        bare = whole.translate(BARE)
        score = sum(bonus for pattern, bonus in self._pairs if pattern.search(bare))
        return score + (self._bonus if self._written in whole else 0)


def _best_hit(question: Question, weights: Sequence[float], match: _Match) -> Hit | None:
    """The line of a note that says most of what was asked; None when the note has gone since it was counted."""
    read = match.note.read()
    if read is None:
        return None
    shown = read[1]
    best = question.best_line(shown, weights)
    line = text.decode(shown).text.split(text.LF)[best].removesuffix("\r")
    snippet = snippets.around(line, question.span_in(line, weights))
    return Hit(match.note.path, best + 1, snippet, round(100 * match.score))
