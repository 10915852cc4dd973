"""The folded words of all notes, in few pieces of contiguous memory: a scan of it is as quick as memory is.

A note's chunk is its folded name, `BEHIND_NAME`, its folded text (what is shown of it), `BEHIND_TEXT`, what else is looked
for in it, and `BORDER`. Those are bytes that no UTF-8 holds, so nothing is ever found across two notes, or across a name
and a text. Segments never change: a note that changed leaves its old chunk dead and gets a new one at the end, and whoever
scans holds a tuple of segments that stays as it is.

New chunks wait until a question comes, or until they fill a segment. A new segment swallows those before it as long as
they are not larger, so that a byte is copied a few times at most however the changes come; one that is dead to a tenth is
written anew.
"""

from __future__ import annotations

import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from service.vault.picture.note import Note

BEHIND_NAME: Final = b"\xfe"
BEHIND_TEXT: Final = b"\xfe"
BORDER: Final = b"\xff"

FULL_BYTES: Final = 4_000_000
"""Bytes from which a segment is not added to any more. At most so much is held twice while it is being written."""

_DEAD_PART: Final = 10  # a segment of which one part in so many is dead is written anew


@dataclass(frozen=True, slots=True)
class Segment:
    """Some notes' chunks.

    Args:
        data: the chunks, one behind the other.
        starts: where each begins, rising; so does its name.
        texts: where the text in each begins.
        ends: where that text ends, and BEHIND_TEXT stands.
        lines: the line ends (LF) in that text.
        notes: whose it is; None for one that has gone.
        dead_bytes: of chunks of notes that have gone.
        masks: which of the notes some questions are about, a byte each; remembered by those who ask.
    """

    data: bytes
    starts: array[int]
    texts: array[int]
    ends: array[int]
    lines: array[int]
    notes: tuple[Note | None, ...]
    dead_bytes: int = 0
    masks: dict[Hashable, bytes] = field(default_factory=dict, compare=False)

    def at(self, offset: int) -> int:
        """The index of the note whose chunk holds that offset."""
        return bisect_right(self.starts, offset) - 1

    def following(self, index: int) -> int:
        """Where the chunk behind that of a note begins; the end of `data` for the last."""
        return self.starts[index + 1] if index + 1 < len(self.starts) else len(self.data)


@dataclass(frozen=True, slots=True)
class _Chunk:
    data: bytes
    text: int
    end: int
    lines: int


def folded(shown: bytes) -> bytes:
    """The text of a view as it is compared: case-folded UTF-8; what is no UTF-8 is U+FFFD."""
    return shown.lower() if shown.isascii() else shown.decode("utf-8", "replace").casefold().encode("utf-8")


def folded_name(note: Note) -> bytes:
    """The name of a note as it is compared: without its suffix, composed (NFC), case-folded, in UTF-8."""
    stem = note.path.stem
    plain = stem.lower() if stem.isascii() else unicodedata.normalize("NFC", stem).casefold()
    return plain.encode("utf-8", "surrogatepass")


class Block:
    """The segments. Belongs to its picture, which sees to it that one thread at a time changes it."""

    def __init__(self) -> None:
        self._segments: dict[int, Segment] = {}
        self._where: dict[Note, int] = {}
        self._gone: dict[int, set[Note]] = {}
        self._fresh: dict[Note, _Chunk] = {}
        self._fresh_bytes = 0
        self._made = 0

    def add(self, note: Note, name: bytes, text: bytes, more: bytes = b"") -> None:
        """Put in a note, which is not in yet.

        Args:
            name: its folded name.
            text: its folded text.
            more: what else ranked search looks for in it, behind the text; not seen by literal search.
        """
        start = len(name) + len(BEHIND_NAME)
        data = b"".join((name, BEHIND_NAME, text, BEHIND_TEXT, more, BORDER))
        self._fresh[note] = _Chunk(data, start, start + len(text), text.count(b"\n"))
        self._fresh_bytes += len(data)
        if self._fresh_bytes >= FULL_BYTES:
            self._write_fresh()

    def remove(self, note: Note) -> None:
        """Take a note out, if it is in."""
        waiting = self._fresh.pop(note, None)
        if waiting is not None:
            self._fresh_bytes -= len(waiting.data)
            return
        key = self._where.pop(note, None)
        if key is not None:
            self._gone.setdefault(key, set()).add(note)

    def segments(self) -> tuple[Segment, ...]:
        """All of it, as it is now and will stay."""
        self._bury()
        self._write_fresh()
        return tuple(self._segments.values())

    def _bury(self) -> None:
        """Let go of the notes that were taken out, all those of a segment at once."""
        gone, self._gone = self._gone, {}
        for key, dead in gone.items():
            self._segments[key] = _without(self._segments[key], dead)
        for key in gone:
            segment = self._segments.get(key)  # None: another of them has swallowed it
            if segment is not None and segment.dead_bytes * _DEAD_PART > len(segment.data):
                del self._segments[key]
                self._put(segment)

    def _write_fresh(self) -> None:
        if self._fresh:
            self._bury()
            fresh = _written(self._fresh)
            self._fresh, self._fresh_bytes = {}, 0
            self._put(fresh)

    def _put(self, segment: Segment) -> None:
        """Put in what lives in a segment, together with the last ones as long as those are not larger."""
        joined = [segment]
        size = len(segment.data)
        while self._segments:
            key, before = next(reversed(self._segments.items()))
            if len(before.data) > size or size + len(before.data) > FULL_BYTES:
                break
            del self._segments[key]
            joined.append(before)
            size += len(before.data)
        made = segment if len(joined) == 1 and not segment.dead_bytes else _joined(reversed(joined))
        if made.notes:
            self._segments[self._made] = made
            self._where.update(dict.fromkeys((note for note in made.notes if note is not None), self._made))
            self._made += 1


def _written(chunks: dict[Note, _Chunk]) -> Segment:
    starts, texts, ends = array("I"), array("I"), array("I")
    offset = 0
    for chunk in chunks.values():
        starts.append(offset)
        texts.append(offset + chunk.text)
        ends.append(offset + chunk.end)
        offset += len(chunk.data)
    lines = array("I", (chunk.lines for chunk in chunks.values()))
    return Segment(b"".join(chunk.data for chunk in chunks.values()), starts, texts, ends, lines, tuple(chunks))


def _without(segment: Segment, dead: set[Note]) -> Segment:
    notes = list(segment.notes)
    dead_bytes = segment.dead_bytes
    for index, note in enumerate(segment.notes):
        if note in dead:
            notes[index] = None
            dead_bytes += segment.following(index) - segment.starts[index]
    return replace(segment, notes=tuple(notes), dead_bytes=dead_bytes, masks={})


def _joined(segments: Iterable[Segment]) -> Segment:
    """One segment of all that lives in some."""
    starts, texts, ends, lines = array("I"), array("I"), array("I"), array("I")
    pieces: list[memoryview] = []
    notes: list[Note] = []
    offset = 0
    for segment in segments:
        whole = memoryview(segment.data)
        for index, note in enumerate(segment.notes):
            if note is None:
                continue
            start, end = segment.starts[index], segment.following(index)
            pieces.append(whole[start:end])
            starts.append(offset)
            texts.append(offset + segment.texts[index] - start)
            ends.append(offset + segment.ends[index] - start)
            lines.append(segment.lines[index])
            notes.append(note)
            offset += end - start
    return Segment(b"".join(pieces), starts, texts, ends, lines, tuple(notes))
