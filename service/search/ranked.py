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
from itertools import accumulate, chain, compress
from typing import Final

from service.search import counting, ranking, scanning, scoring, spelling
from service.search.asked import Found, Hit, Mode, Order, Part, Query
from service.search.counting import Check, Counted, Memory
from service.search.ranking import Question
from service.search.reach import Reach
from service.search.scoring import Table
from service.vault import snippets, text
from service.vault.model import Page, Vault
from service.vault.picture.block import Segment
from service.vault.picture.note import Note
from service.vault.words import BARE, BLANK, spread

_LOOKED_INTO: Final = 100
"""Of the best notes by their words alone, those that are looked into for words that stand side by side."""

_PAIR_BONUS: Final = 0.6
"""What two words side by side add, as a part of what the more common of them is worth."""

_WRITTEN_BONUS: Final = 0.3
"""What the question just as it is written adds, as a part of what all its words are worth."""

_MAX_FORMS: Final = 5


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
    moment = vault.picture.now(check)
    reach = Reach(vault, query, moment, vault.files.open_folder(query.folder))
    asked = _Asked(counting.memory(vault.picture.kept), moment.segments, reach, check)
    question = ranking.question(query.words)
    table = asked.table(question)
    instead = ""
    if not table.count_held() and (instead := asked.respelled(question)):
        question = ranking.question(instead)
        table = asked.table(question)
    ends = query.offset + query.limit
    matches = asked.best(question, table, ends) if query.order is Order.RELEVANCE else asked.all(table, query.order)
    lines = [line for match in matches[query.offset : ends] if (line := _best_line(question, table.weights, match))]
    total = table.count_held()
    forms = dict.fromkeys(form for line in lines for form in line.forms)
    page = Page(tuple(line.hit for line in lines), total, query.offset)
    return Found(page, total, reach.skipped(), reach.left_out(), instead=instead, forms=tuple(forms)[:_MAX_FORMS])


@dataclass(frozen=True, slots=True)
class _Asked:
    """The notes that a question may see."""

    memory: Memory
    segments: tuple[Segment, ...]
    reach: Reach
    check: Check

    def table(self, question: Question) -> Table:
        """The counts of the words of a question."""
        counted = self.memory.of(self.segments, question.scanned, self.check)
        return scoring.table(counted, b"".join(self._masks([one for one, _ in counted])))

    def respelled(self, question: Question) -> str:
        """The question with words that are spelled nearly so, of which there are notes; empty when there are none."""
        counted = [one for one, _ in self.memory.of(self.segments, (), self.check)]
        masks = self._masks(counted)
        words = spread(question.words.encode("utf-8", "surrogatepass")).decode("utf-8", "replace").split()
        better = [
            max(self._known(spelling.near(word, counted, masks, self.check)), default=(0, word))[1] for word in words
        ]
        return "" if better == words else " ".join(better)

    def best(self, question: Question, table: Table, count: int) -> list[_Match]:
        """At least `count` of the best notes, in order; all when there are fewer."""
        firsts = list(accumulate((len(segment.notes) for segment in self.segments), initial=0))
        found: list[tuple[_Match, Segment, int, int]] = []
        for score, at in table.best(max(count, _LOOKED_INTO)):
            where = bisect_right(firsts, at) - 1
            segment, index = self.segments[where], at - firsts[where]
            note = segment.notes[index]
            if note is not None:
                found.append((_Match(note, score), segment, index, at))
        by_relevance = _key(Order.RELEVANCE)
        found.sort(key=lambda one: by_relevance(one[0]))  # ties by path: where a note lies in the block must not count
        closeness = _Closeness(question, table)
        looked_into = [
            _Match(match.note, match.score + closeness.of(segment, index, at))
            for match, segment, index, at in found[:_LOOKED_INTO]
        ]
        others = [match for match, _, _, _ in found[_LOOKED_INTO:]]
        by_relevance = _key(Order.RELEVANCE)
        return [*sorted(looked_into, key=by_relevance), *others]

    def all(self, table: Table, order: Order) -> list[_Match]:
        """Every note that holds a word, in order."""
        notes = chain.from_iterable(segment.notes for segment in self.segments)
        held = compress(enumerate(notes), table.held())
        return sorted((_Match(note, table.score(at)) for at, note in held if note is not None), key=_key(order))

    def _masks(self, counted: Sequence[Counted]) -> list[bytes]:
        return [one.mask(segment.notes, self.reach) for one, segment in zip(counted, self.segments, strict=True)]

    def _known(self, words: Sequence[str]) -> list[tuple[float, str]]:
        """The words with how many notes hold each; less by as much as a word counts for less."""
        if not words:
            return []
        terms = [f" {word} ".encode() for word in words]
        counted = self.memory.of(self.segments, terms, self.check)
        table = scoring.table(counted, b"".join(self._masks([one for one, _ in counted])))
        return sorted(zip((-weight for weight in table.weights), words, strict=True), reverse=True)


def _key(order: Order) -> Callable[[_Match], tuple[float, str]]:
    if order is Order.MODIFIED:
        return lambda match: (-match.note.mtime_ns, str(match.note.path))
    if order is Order.PATH:
        return lambda match: (0, str(match.note.path))
    return lambda match: (-match.score, str(match.note.path))


class _Closeness:
    """What words side by side add to a note's score."""

    def __init__(self, question: Question, table: Table) -> None:
        self._written = question.words.strip().casefold().encode("utf-8", "surrogatepass")
        self._bonus = _WRITTEN_BONUS * sum(table.weights)
        worth = dict(zip(question.terms, table.weights, strict=False))
        counts = dict(zip(question.terms, table.texts, strict=False))
        self._pairs = [
            (
                tuple(counts[word] for word in (first, second) if not word.endswith(BLANK)),
                re.compile(pattern),
                _PAIR_BONUS * min(worth[first], worth[second]),
            )
            for first, second, pattern in question.pairs()
            if first in worth and second in worth
        ]

    def of(self, segment: Segment, index: int, at: int) -> float:
        """What it adds to a note.

        Args:
            index: of the note in its segment.
            at: of the note in the table.
        """
        start, end = segment.texts[index] - 1, segment.following(index)
        # A pair is only where both words are; short ones may be the beginnings of others in it.
        likely = [pair for pair in self._pairs if all(counts[at] for counts in pair[0])]
        bare = segment.data[start:end].translate(BARE) if likely else b""
        score = sum(bonus for _, pattern, bonus in likely if pattern.search(bare))
        return score + (self._bonus if scanning.find(segment.data, self._written, start, end) >= 0 else 0)


@dataclass(frozen=True, slots=True)
class _Line:
    hit: Hit
    forms: tuple[tuple[str, str], ...]


def _best_line(question: Question, weights: Sequence[float], match: _Match) -> _Line | None:
    """The line of a note that says most of what was asked; None when the note has gone since it was counted."""
    read = match.note.read()
    if read is None:
        return None
    shown = read[1]
    best = question.best_line(shown, weights)
    line = text.decode(shown).text.split(text.LF)[best].removesuffix("\r")
    snippet = snippets.around(line, question.span_in(line, weights))
    return _Line(Hit(match.note.path, best + 1, snippet, round(100 * match.score)), tuple(question.forms_in(line)))
