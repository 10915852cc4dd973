"""How well each note answers a question, worked out of the counts of its words (BM25) without looking at most notes.

A word adds, by how rare it is, what its count in the text is worth in a text of that length, and something for standing in
the name or title, and in a heading. For all notes at once a bound is worked out first, rounded up to one of 255 steps: a
byte a note, added up as one large number. Then notes are scored exactly from the highest bound down, until no note left can
reach the page that is asked for; so the page is the same as if all had been scored.
Source: Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009; the bounds: Turtle and Flood,
Query Evaluation: Strategies and Optimizations, 1995 (MaxScore).
"""

from __future__ import annotations

import heapq
import math
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Final

from service.search.counting import IN, MAX_COUNT, SIZE_BOUNDS, Counted, Counts

K1: Final = 1.6  # how soon more of the same word stops counting
B: Final = 0.75  # how much a long note's words count for less
TITLE_BONUS: Final = 1.0
"""How much a word in the note's name or title adds, as a part of what a rare word is worth."""
HEADING_BONUS: Final = 0.2

_STEPS: Final = 255
_COUNT_CLASSES: Final = 16
_NONE: Final = b"\xff" + bytes(0xFF)


@dataclass(frozen=True, slots=True)
class Table:
    """The counts of each word of a question in all notes of all segments, one after the other.

    Args:
        mask: IN for each note that the question is about, else 0.
        texts, titles, headings: a byte a note for each word. What is in a note's name only counts as once in its text.
        weights: what each word is worth: the more, the fewer of the notes hold it.
    """

    mask: bytes
    sizes: array[int]
    classes: bytes
    texts: tuple[bytes, ...]
    titles: tuple[bytes, ...]
    headings: tuple[bytes, ...]
    weights: tuple[float, ...]
    mean_size: float

    def score(self, note: int) -> float:
        """How well a note answers, by all its words."""
        norm = K1 * (1 - B + B * self.sizes[note] / self.mean_size)
        score = 0.0
        for weight, text, title, headings in zip(self.weights, self.texts, self.titles, self.headings, strict=True):
            count = text[note]
            worth = count * (K1 + 1) / (count + norm) if count else 0.0
            if title[note]:
                worth += TITLE_BONUS
            if headings[note]:
                worth += HEADING_BONUS
            score += weight * worth
        return score

    def held(self) -> bytes:
        """Something else than 0 for each note that is asked about and holds a word."""
        found = 0
        for text in self.texts:
            found |= _number(text)
        return _bytes(found & _number(self.mask), len(self.mask))

    def count_held(self) -> int:
        """How many notes those are."""
        return len(self.mask) - self.held().count(0)

    def best(self, count: int) -> list[tuple[float, int]]:
        """The `count` notes that answer best, each with its score, the best first; and all that are as good as the last."""
        bounds, step = self._bounds()
        best: list[float] = []
        scored: list[tuple[float, int]] = []
        for level in range(_STEPS, 0, -1):
            if len(best) == count and best[0] > level * step:
                break
            for note in _places(bounds, level):
                score = self.score(note)
                scored.append((score, note))
                if len(best) < count:
                    heapq.heappush(best, score)
                elif score > best[0]:
                    heapq.heapreplace(best, score)
        least = best[0] if best else 0.0
        return sorted(((score, note) for score, note in scored if score >= least), key=lambda one: (-one[0], one[1]))

    def _bounds(self) -> tuple[bytes, float]:
        """For each note the step that its score does not go above, 0 for none, and what a step is worth."""
        most = sum(weight * (K1 + 1 + TITLE_BONUS + HEADING_BONUS) for weight in self.weights)
        if not most:
            return bytes(len(self.mask)), 1.0
        step = most / (_STEPS - 3 * len(self.weights))  # each of the three may be rounded up
        classes = _number(self.classes)
        size = len(self.mask)
        whole = 0
        for weight, text, title, headings in zip(self.weights, self.texts, self.titles, self.headings, strict=True):
            if text:
                places = _bytes(_number(text.translate(_CLASSES)) | classes, size)
                whole += _number(places.translate(self._steps(weight, step)))
            for bonus, where in ((TITLE_BONUS, title), (HEADING_BONUS, headings)):
                if where:
                    whole += _number(where.translate(_flat(math.ceil(weight * bonus / step))))
        return _bytes(whole & _number(self.mask), size), step

    def _steps(self, weight: float, step: float) -> bytes:
        """For each class of size and count, the most steps that a word can be worth."""
        table = bytearray()
        for smallest in SIZE_BOUNDS:
            norm = K1 * (1 - B + B * smallest / self.mean_size)
            for count in range(_COUNT_CLASSES):
                most = MAX_COUNT if count == _COUNT_CLASSES - 1 else count
                table.append(math.ceil(weight * most * (K1 + 1) / (most + norm) / step) if most else 0)
        return bytes(table)


_CLASSES: Final = bytes(min(count, _COUNT_CLASSES - 1) for count in range(0x100))


def table(counted: Sequence[tuple[Counted, Sequence[Counts]]], mask: bytes) -> Table:
    """Put together what was counted in all segments, and weigh the words by the notes that `mask` has in."""
    sizes = array("I")
    for one, _ in counted:
        sizes.extend(one.sizes)
    words = len(counted[0][1]) if counted else 0
    texts, titles, headings = (
        tuple(
            b"".join(getattr(counts[word], part) or bytes(len(one.sizes)) for one, counts in counted)
            for word in range(words)
        )
        for part in ("text", "title", "headings")
    )
    texts = tuple(map(_with_names, texts, titles))
    total = mask.count(IN)
    whole = sum(sizes) if total == len(mask) else sum(compress(sizes, mask))
    asked = _number(mask)
    holding = [len(mask) - _bytes(_number(text) & asked, len(mask)).count(0) for text in texts]
    weights = tuple(math.log(1 + (total - notes + 0.5) / (notes + 0.5)) for notes in holding)
    return Table(
        mask,
        sizes,
        b"".join(one.classes for one, _ in counted),
        texts,
        titles,
        headings,
        weights,
        max(whole, 1) / max(total, 1),
    )


def _with_names(text: bytes, title: bytes) -> bytes:
    """The counts of a word with 1 for each note of which only the name holds it."""
    return _bytes(_number(text) | _number(text.translate(_NONE)) & _number(title.translate(_flat(1))), len(text))


def _places(data: bytes, value: int) -> Iterator[int]:
    at = data.find(value)
    while at >= 0:
        yield at
        at = data.find(value, at + 1)


def _flat(value: int) -> bytes:
    """A table that makes anything but 0 the same."""
    return bytes(1) + bytes([value]) * 0xFF


def _number(data: bytes) -> int:
    return int.from_bytes(data, "little")


def _bytes(number: int, size: int) -> bytes:
    return number.to_bytes(size, "little")
