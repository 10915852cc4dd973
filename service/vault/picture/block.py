"""The folded text of all notes, in few pieces of contiguous memory: a scan of it is as quick as memory is.

Each note's text is that of its view, case-folded, in UTF-8; behind it stands a byte that no UTF-8 holds, so that nothing
is ever found across two notes. Segments never change: a note that changed leaves its old place dead and gets a new one at
the end, and whoever scans holds a tuple of segments that stays as it is.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import Final

from service.vault.picture.note import Note

BORDER: Final = b"\xff"
"""Stands behind each text."""

FULL_BYTES: Final = 1_000_000
"""Bytes from which a segment is not added to any more."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Some notes' folded texts. `starts` are their offsets in `data`, rising; `notes` None where one has gone."""

    data: bytes
    starts: array[int]
    notes: tuple[Note | None, ...]

    def at(self, offset: int) -> int:
        """The index of the note whose text holds that offset."""
        return bisect_right(self.starts, offset) - 1

    def end(self, index: int) -> int:
        """Where the text of a note ends, its border excluded."""
        following = index + 1
        return (self.starts[following] if following < len(self.starts) else len(self.data)) - len(BORDER)


def folded(shown: bytes) -> bytes:
    """The text of a view as it is compared: case-folded UTF-8; what is no UTF-8 is U+FFFD."""
    return shown.lower() if shown.isascii() else shown.decode("utf-8", "replace").casefold().encode("utf-8")


class Block:
    """The segments. Belongs to its picture, which sees to it that one thread at a time changes it."""

    def __init__(self) -> None:
        self._segments: dict[int, Segment] = {}
        self._where: dict[Note, tuple[int, int]] = {}
        self._fresh: list[tuple[Note, bytes]] = []
        self._made = 0

    def add(self, note: Note, text: bytes) -> None:
        """Put in a note's folded text."""
        self._fresh.append((note, text + BORDER))
        if sum(len(text) for _, text in self._fresh[-1:]) >= FULL_BYTES or len(self._fresh) >= 1000:
            self._flush()

    def remove(self, note: Note) -> None:
        """Take a note out, if it is in."""
        self._flush()
        place = self._where.pop(note, None)
        if place is None:
            return
        key, index = place
        segment = self._segments[key]
        notes = (*segment.notes[:index], None, *segment.notes[index + 1 :])
        if any(notes):
            self._segments[key] = replace(segment, notes=notes)
        else:
            del self._segments[key]

    def segments(self) -> tuple[Segment, ...]:
        """All of it, as it is now and will stay."""
        self._flush()
        return tuple(self._segments.values())

    def _flush(self) -> None:
        if not self._fresh:
            return
        last = max(self._segments, default=None)
        kept: list[tuple[Note, bytes]] = []
        if last is not None and len(self._segments[last].data) < FULL_BYTES:
            segment = self._segments.pop(last)
            kept = [
                (note, segment.data[segment.starts[index] : segment.end(index)] + BORDER)
                for index, note in enumerate(segment.notes)
                if note is not None
            ]
        self._put([*kept, *self._fresh])
        self._fresh = []

    def _put(self, texts: list[tuple[Note, bytes]]) -> None:
        starts = array("Q")
        offset = 0
        for index, (note, text) in enumerate(texts):
            starts.append(offset)
            offset += len(text)
            self._where[note] = (self._made, index)
        self._segments[self._made] = Segment(
            b"".join(text for _, text in texts), starts, tuple(note for note, _ in texts)
        )
        self._made += 1
