"""What was found in a text is remembered by the text."""

from __future__ import annotations

import pytest

from service.vault import remembered
from service.vault.remembered import Remembered


class Words:
    """Finds words, and counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, text: str) -> list[str]:
        self.asked += 1
        return text.split()


def test_the_same_text_is_looked_at_once_and_another_anew() -> None:
    """Our decision: by content, so that it is never stale."""
    words = Words()
    memory = Remembered(words, lambda _: True)
    assert [memory.of(b"a b"), memory.of(b"a b"), memory.of(b"a c")] == [["a", "b"], ["a", "b"], ["a", "c"]]
    assert words.asked == 2


def test_what_a_glance_rules_out_is_not_looked_at() -> None:
    """Our decision: most notes hold no task."""
    words = Words()
    assert Remembered(words, lambda data: b"x" in data).of(b"a b") == ()
    assert words.asked == 0


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our decision: when it is full all is forgotten."""
    monkeypatch.setattr(remembered, "MAX_ITEMS", 3)
    words = Words()
    memory = Remembered(words, lambda _: True)
    for text in (b"a b", b"c d", b"a b"):
        memory.of(text)
    assert words.asked == 3
