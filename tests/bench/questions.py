"""Queries that are never the same twice, drawn from what a vault holds: rare, middling and common words, phrases, nothing.

How common a word is, is estimated from a sample of the notes. A seed and a vault give the same queries.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from tests.bench.vaults import Measured, visible

SAMPLE: Final = 1_500
KINDS: Final = ("rare", "middling", "common", "phrase", "nothing")

_WORD: Final = re.compile(r"[^\W\d_]{4,24}")


class Questions:
    """The queries for one vault. Each is given once."""

    def __init__(self, vault: Measured, seed: int = 1) -> None:
        self._chance = random.Random(seed)
        paths = visible(vault.folder)
        self.paths = [str(path.relative_to(vault.folder)) for path in paths]
        sample = self._chance.sample(paths, min(SAMPLE, len(paths)))
        self._texts = [path.read_bytes()[:200_000].decode("utf-8", "replace") for path in sample]
        held: Counter[str] = Counter()
        for text in self._texts:
            held.update({word.lower() for word in _WORD.findall(text)})
        self._words = {
            "rare": self._between(held, 1, max(1, len(sample) // 500)),
            "middling": self._between(held, max(2, len(sample) // 400), max(3, len(sample) // 50)),
            "common": self._between(held, max(4, len(sample) // 12), len(sample)),
        }
        self._given: set[str] = set()

    def _between(self, held: Counter[str], least: int, most: int) -> Iterator[str]:
        words = sorted(word for word, count in held.items() if least <= count <= most)
        self._chance.shuffle(words)
        return iter(words)

    def next(self, kind: str) -> str:
        """Another query of that kind."""
        while True:
            query = self._draw(kind)
            if query not in self._given:
                self._given.add(query)
                return query

    def some(self, kind: str, many: int) -> Sequence[str]:
        return [self.next(kind) for _ in range(many)]

    def mixed(self, many: int) -> Sequence[str]:
        """As people search: half of them rare, the others of every kind."""
        kinds = ("rare", "middling", "rare", "phrase", "rare", "common", "rare", "nothing")
        return [self.next(kinds[number % len(kinds)]) for number in range(many)]

    def three_words(self) -> str:
        """For ranked search: one of each kind."""
        return " ".join(self.next(kind) for kind in ("middling", "common", "rare"))

    def path(self) -> str:
        """A note that is in no low-trust folder."""
        while (path := self._chance.choice(self.paths)).startswith("Clippings/"):
            pass
        return path

    def _draw(self, kind: str) -> str:
        if kind == "nothing":
            return f"zq{''.join(self._chance.choices('bcdfghjkvwxz', k=7))}"
        if kind == "phrase":
            return self._phrase()
        word = next(self._words[kind], None)
        if word is not None:
            return word
        # Of a small vault or in a long run: words run out, but parts of them are found as often or oftener.
        return self._phrase() if kind != "rare" else f"{self._phrase()[:12]}{self._chance.choice('abcdefg ')}"

    def _phrase(self) -> str:
        """Some characters across a space in a line of a note."""
        while True:
            line = self._chance.choice(self._chance.choice(self._texts).splitlines() or [""])
            words = line.split(" ")
            if len(words) < 3:
                continue
            start = self._chance.randrange(len(words) - 1)
            phrase = " ".join(words[start : start + 2])
            if 6 <= len(phrase) <= 60 and phrase.isprintable() and phrase == phrase.strip():
                return phrase
