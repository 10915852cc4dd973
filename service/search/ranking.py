"""Which notes answer a question best: any of its words counts, rare words count for more (BM25), whole phrases most.

What is compared is folded: letter case, accents (`naive` finds `naïve`), width and ligatures do not count, unless the
question is case-sensitive. A word is a run of letters and digits; in scripts that are written without blanks between
words, or whose words take endings that change (Chinese, Japanese, Korean, Thai, …), each pair of characters is one. The
whole question is one more word. To count quickly, a text is `spread` first: its words with blanks around them, in UTF-8.
Source: Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009.
"""

from __future__ import annotations

import itertools
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from service.vault import text
from service.vault.words import BLANK, LINE_END, MIN_BEGINNING, UNSPACED, folded, spread

_K1: Final = 1.2  # how soon more of the same word stops counting
_B: Final = 0.75  # how much a long note's words count for less
_TITLE_BONUS: Final = 1.5
"""How much a word in the note's name or title adds, as a part of what a rare word is worth."""

_MAX_TERMS: Final = 40  # of a question; what comes after them is heard as part of the phrase only
_MAX_FORM_CHARS: Final = 40
_WORD: Final = re.compile(r"[^\W_]+")
_TITLE_CHARS: Final = 2000  # of a note, in which its title is looked for
_TITLE: Final = re.compile(r"^(?:title:|#[ \t])[^\n]*", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Counted:
    """What a note holds of a question: how often each word stands in its text, and which are in its name or title."""

    counts: tuple[int, ...]
    titled: tuple[bool, ...]
    size: int


@dataclass(frozen=True, slots=True)
class Question:
    """A question made ready. `terms` are its distinct words as they are looked for in a spread text."""

    words: str
    terms: tuple[bytes, ...]
    phrase: bytes
    is_case_sensitive: bool

    @property
    def size(self) -> int:
        """How many words it has, the whole phrase of several among them."""
        return len(self.terms) + bool(self.phrase)

    @property
    def scanned(self) -> tuple[bytes, ...]:
        """What is looked for in a text made bare: its words, and all of them one after the other."""
        return (*self.terms, self.phrase) if self.phrase else self.terms

    def spread(self, data: bytes) -> bytes:
        """A text as this question compares it."""
        return spread(data, is_case_sensitive=self.is_case_sensitive) if self.terms else self._plain(data)

    def counted(self, name: str, data: bytes, words: bytes) -> Counted | None:
        """What a note of that name holds; None for nothing.

        Args:
            name: its name without the suffix.
            data: its text.
            words: the same, spread.
        """
        counts = self._count(words)
        may_have_title = any(counts)  # it is part of the text
        heading = _TITLE.search(data[:_TITLE_CHARS].decode("utf-8", "replace")) if may_have_title else None
        titles = self._count(self.spread(f"{name}\n{heading[0] if heading else ''}".encode("utf-8", "surrogatepass")))
        if not any(counts) and not any(titles):
            return None
        return Counted(tuple(counts), tuple(map(bool, titles)), len(words))

    def best_line(self, data: bytes, weights: Sequence[float]) -> int:
        """The index of the line of a text that holds most of the question; the first of several, 0 if none does."""
        lines = self.spread(data).split(LINE_END)

        terms = tuple(zip(self.terms or (self.phrase,), weights, strict=False))
        worth = [0.0] * len(lines)
        for term, weight in terms:
            for index in [index for index, line in enumerate(lines) if term in line]:
                worth[index] += weight
        if self.terms and self.phrase:
            most = sum(weight for _, weight in terms)
            for index, line in enumerate(lines):
                if worth[index] >= most and self._count(line)[-1]:
                    worth[index] += weights[-1]
        return max(range(len(lines)), key=worth.__getitem__, default=0)

    def span_in(self, line: str, weights: Sequence[float]) -> tuple[int, int]:
        """Where in `line` its worthiest word stands, as offsets of the line's own characters; (0, 0) for nowhere."""
        words = line if self.is_case_sensitive else folded(line)
        found = [
            (weight, -match.start(), match.end())
            for weight, pattern in zip(weights, self._patterns(), strict=True)
            if (match := pattern.search(words))
        ]
        if not found:
            return 0, 0
        _, start, end = max(found)
        return _unfolded(line, -start, end) if len(words) != len(line) else (-start, end)

    def forms_in(self, line: str) -> Iterator[tuple[str, str]]:
        """Words of the question that stand in `line` with other accents or letters: as asked, and as there."""
        if line.isascii() and self.words.isascii():
            return
        typed = {folded(word): word for word in _WORD.findall(unicodedata.normalize("NFC", self.words))}
        words = folded(line)
        for term, pattern in zip(self.terms, self._patterns(), strict=False):
            asked = typed.get(term.decode("utf-8", "surrogatepass").strip())
            match = pattern.search(words) if asked else None
            if asked is None or match is None:
                continue
            start, end = _unfolded(line, *match.span()) if len(words) != len(line) else match.span()
            whole = _WORD.match(line, start)
            written = unicodedata.normalize("NFC", line[start : max(end, whole.end() if whole else 0)])
            if asked.casefold() not in written.casefold() and len(written) <= _MAX_FORM_CHARS:
                yield asked, written

    def pairs(self) -> Iterator[tuple[bytes, bytes, bytes]]:
        """Two of its words that follow each other, and a pattern that matches the same in a text made bare."""
        whole = self.phrase.split()
        for word in whole:
            inner = tuple(_terms(word.decode("utf-8", "surrogatepass")))
            if len(inner) > 1:
                yield inner[0], inner[-1], re.escape(word)
        for first, second in itertools.pairwise(whole):
            before = tuple(_terms(first.decode("utf-8", "surrogatepass")))[-1]
            after = next(_terms(second.decode("utf-8", "surrogatepass")))
            yield before, after, re.escape(before.rstrip()) + rb"[^ ]* +" + re.escape(after.strip())

    def _count(self, words: bytes) -> list[int]:
        if not self.terms:
            return [words.count(self.phrase)]
        counts = [words.count(term) for term in self.terms]
        if self.phrase:
            is_possible = all(counts)
            joined = BLANK + BLANK.join(words.split()) + BLANK if is_possible else b""
            counts.append(joined.count(self.phrase))
        return counts

    def _plain(self, data: bytes) -> bytes:
        """A text in which a question that is no word (`[[`, an emoji) is looked for."""
        if self.is_case_sensitive or data.isascii():
            return data
        return folded(text.decode(data).text).encode("utf-8", "surrogatepass")

    def _patterns(self) -> Iterator[re.Pattern[str]]:
        for term in (*self.terms, *((self.phrase,) if self.phrase else ())):
            words = term.decode("utf-8", "surrogatepass")
            before = r"(?<![^\W_])" if words.startswith(" ") else ""
            after = r"(?![^\W_])" if words.endswith(" ") else ""
            yield re.compile(before + r"[\W_]+".join(map(re.escape, words.split())) + after)


def question(words: str, *, is_case_sensitive: bool = False) -> Question:
    """Make ready to look for the words of a question."""
    asked = words.encode("utf-8", "surrogatepass")
    whole = spread(asked, is_case_sensitive=is_case_sensitive).split()
    found = dict.fromkeys(term for word in whole for term in _terms(word.decode("utf-8", "surrogatepass")))
    terms = tuple(found)[:_MAX_TERMS]
    if not terms:
        plain = words if is_case_sensitive else folded(words) or words
        return Question(words, (), (plain.strip() or plain).encode("utf-8", "surrogatepass"), is_case_sensitive)
    phrase = BLANK.join(whole)
    if len(whole) > 1:
        phrase = BLANK + phrase + BLANK
    return Question(words, terms, phrase if len(terms) > 1 else b"", is_case_sensitive)


def weights(notes: Iterable[Counted], words: int, total: int) -> list[float]:
    """What each word of the question is worth: the more, the fewer of `total` notes hold it."""
    holding: Counter[int] = Counter()
    for note in notes:
        holding.update(index for index in range(words) if note.counts[index] or note.titled[index])
    return [math.log(1 + (total - holding[index] + 0.5) / (holding[index] + 0.5)) for index in range(words)]


def score(note: Counted, weights: Sequence[float], mean_size: float) -> float:
    """How well a note answers the question."""
    norm = _K1 * (1 - _B + _B * note.size / (mean_size or 1))
    return sum(
        weight * (count * (_K1 + 1) / (count + norm) + (_TITLE_BONUS if is_titled else 0))
        for weight, count, is_titled in zip(weights, note.counts, note.titled, strict=True)
    )


def _terms(word: str) -> Iterator[bytes]:
    """The words that one word of a question is, as they stand in a spread text."""
    if not UNSPACED.fullmatch(word):
        yield f" {word}{'' if len(word) >= MIN_BEGINNING else ' '}".encode("utf-8", "surrogatepass")
    elif len(word) == 1:
        yield word.encode("utf-8")
    else:
        yield from (word[at : at + 2].encode("utf-8") for at in range(len(word) - 1))


def _unfolded(line: str, start: int, end: int) -> tuple[int, int]:
    """Offsets in a folded line as those of the line itself."""
    done, first = 0, len(line)
    for index, char in enumerate(line):
        done += len(folded(char))
        if done > start:
            first = min(first, index)
        if done >= end:
            return first, index + 1
    return min(first, len(line)), len(line)
