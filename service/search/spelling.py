"""What a question may have meant whose words are nowhere: the words of the notes that it may see, spelled nearly so.

Names, titles and headings are looked through first, since what a note is about stands there, and the texts only when that
gives nothing; of those only words that begin with the same letter. Nearly so is: one letter more, less, other, or two
swapped; two such slips in a word of six letters or more.
Source: Damerau, A technique for computer detection and correction of spelling errors, 1964 (most misspelt words have one
such slip, and seldom in their first letter).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from typing import Final

from service.search.counting import IN, Check, Counted
from service.vault.words import UNSPACED, folded

_MIN_CHARS: Final = 4
_MIN_CHARS_TWO_SLIPS: Final = 6
_MAX_CHARS: Final = 40
_MAX_NEAR: Final = 12


def near(word: str, counted: Sequence[Counted], masks: Sequence[bytes], check: Check) -> list[str]:
    """The words of notes that are in the masks that are spelled most nearly as `word`, which is folded; at most a few."""
    if not _MIN_CHARS <= len(word) <= _MAX_CHARS or UNSPACED.search(word) or any(char.isdigit() for char in word):
        return []
    both = tuple(zip(counted, masks, strict=True))
    found = _nearest(word, (known for one, mask in both for known in _titles(one, mask)))
    if not found:
        found = _nearest(word, _texts(word, both, check))
    return found


def slips(one: str, other: str, most: int) -> int:
    """How many letters are more, less, other, or swapped with the next; `most` + 1 when there are more than that."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, char in enumerate(one, 1):
        oldest, before, row = before, row, [at]
        for to, letter in enumerate(other, 1):
            least = min(before[to] + 1, row[to - 1] + 1, before[to - 1] + (char != letter))
            if oldest and to > 1 and char == other[to - 2] and one[at - 2] == letter:
                least = min(least, oldest[to - 2] + 1)
            row.append(least)
        if min(row) > most:
            return most + 1
    return min(row[-1], most + 1)


def _nearest(word: str, known: Iterable[frozenset[bytes]]) -> list[str]:
    most = 2 if len(word) >= _MIN_CHARS_TWO_SLIPS else 1
    asked = word.encode("utf-8")
    reach = most if word.isascii() else 4 * most
    shortest, longest = len(asked) - reach, len(asked) + reach
    found: dict[str, int] = {}
    for words in known:
        for one in words:
            text = one.decode("utf-8", "replace") if shortest <= len(one) <= longest else ""
            if text and text not in found and _begins_alike(word, text) and folded(text) == text:
                count = slips(word, text, most)
                if count <= most:
                    found[text] = count
    least = min(found.values(), default=0)
    return sorted(text for text, count in found.items() if count == least)[:_MAX_NEAR]


def _begins_alike(word: str, text: str) -> bool:
    return (
        word[0] == text[:1]
        or word[1:] in (text[1:], text)
        or word == text[1:]
        or (word[:2] == text[1::-1] and word[2:] == text[2:])
    )


def _titles(counted: Counted, mask: bytes) -> Iterator[frozenset[bytes]]:
    titles = counted.titles
    for words, starts, ends in (
        (titles.names, titles.name_starts, titles.name_ends),
        (titles.headings, titles.heading_starts, titles.heading_ends),
    ):
        if mask.count(IN) == len(mask):
            yield frozenset(words.split())
        else:
            for start, end in compress(zip(starts, ends, strict=True), mask):
                yield frozenset(words[start:end].split())


def _texts(word: str, both: Iterable[tuple[Counted, bytes]], check: Check) -> Iterator[frozenset[bytes]]:
    """Words in the texts that begin with the same letter and are about as long."""
    first = word[0].encode("utf-8")
    rest = len(word.encode("utf-8")) - len(first)
    alike = re.compile(b" (" + re.escape(first) + b"[^ ]{%d,%d})(?= )" % (max(rest - 2, 1), rest + 2))
    for counted, mask in both:
        for words in counted.words(mask):
            check()
            yield frozenset(alike.findall(words))
