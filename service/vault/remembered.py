"""What was found in a text, remembered by the text itself, so that it can never be older than the note.

Reading what a note holds (its tags, its tasks, its links) costs many times what reading its bytes does; SHA-256 runs at a
gigabyte a second on today's machines.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

from service.vault import text

MAX_REMEMBERED: Final = 200_000
"""Texts of which something is kept. When it is full all is forgotten, which costs time and nothing else."""

MAX_ITEMS: Final = 2_000_000
"""Things found that are kept in all, a few hundred bytes each."""

T = TypeVar("T")


class Remembered(Generic[T]):
    """Finds things of one kind in texts, and remembers what it found. Thread-safe; two threads may do the same work.

    Args:
        find: what a text holds.
        may_hold: whether bytes may hold any, at the price of a glance; where it says no, `find` is not asked.
    """

    def __init__(self, find: Callable[[str], Sequence[T]], may_hold: Callable[[bytes], bool]) -> None:
        self._find = find
        self._may_hold = may_hold
        self._known: dict[bytes, Sequence[T]] = {}
        self._items = 0
        self._lock = threading.Lock()

    def of(self, shown: bytes) -> Sequence[T]:
        """What the text of a note's view holds, in order. `shown` is UTF-8 without a byte order mark."""
        if not self._may_hold(shown):
            return ()
        key = hashlib.sha256(shown).digest()
        known = self._known.get(key)
        return self._remember(key, shown) if known is None else known

    def _remember(self, key: bytes, shown: bytes) -> Sequence[T]:
        found = self._find(text.decode(shown).text)
        with self._lock:
            if len(self._known) >= MAX_REMEMBERED or self._items + len(found) > MAX_ITEMS:
                self._known, self._items = {}, 0
            self._known[key] = found
            self._items += len(found)
        return found
