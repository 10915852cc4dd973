"""What of a note's bytes a search may look at: the bytes of its view, remembered by content.

Looking for hidden text costs many times what reading does, and a search reads everything. So what was found, nothing in
most notes, is kept in memory under SHA-256 of the very bytes that were read (a gigabyte a second on today's machines):
what is remembered can never be older than the note, whatever its times say.
"""

from __future__ import annotations

import codecs
import hashlib
import threading
from array import array
from collections.abc import Sequence
from typing import Final

from service.guards import outgoing
from service.vault import text

MAX_REMEMBERED: Final = 100_000
"""Notes of which this is kept, about 200 bytes each. When it is full all is forgotten, which costs time and nothing else."""

MAX_PIECES: Final = 1_000_000
"""Hidden pieces that are kept in all, 8 bytes each."""

_NOTHING: Final[Sequence[int]] = ()
_WITHHELD: Final = None


class Views:
    """Remembers what is hidden where. Thread-safe; two threads may do the same work."""

    def __init__(self) -> None:
        self._known: dict[bytes, Sequence[int] | None] = {}
        self._pieces = 0
        self._lock = threading.Lock()

    def shown(self, data: bytes, max_new_bytes: int | None = None) -> bytes | None:
        """The bytes of a note's view, without a byte order mark; None when it is withheld.

        With `max_new_bytes`, a longer note that is not known yet and may hide something is not looked at: None, this time.
        Bytes that are no UTF-8 stay as they are where nothing is hidden; otherwise they become U+FFFD.
        """
        data = data.removeprefix(codecs.BOM_UTF8)
        key = hashlib.sha256(data).digest()
        cuts = self._known.get(key)
        if cuts is None and key not in self._known:
            if max_new_bytes is not None and len(data) > max_new_bytes and outgoing.may_hide(data):
                return None
            cuts = self._remember(key, data)
        if cuts is _WITHHELD:
            return None
        if not cuts:
            return data
        return _without(_as_utf8(data), cuts)

    def _remember(self, key: bytes, data: bytes) -> Sequence[int] | None:
        cuts = _cuts(text.decode(data).text) if outgoing.may_hide(data) else _NOTHING
        with self._lock:
            size = len(cuts or ())
            if len(self._known) >= MAX_REMEMBERED or self._pieces + size > MAX_PIECES:
                self._known, self._pieces = {}, 0
            self._known[key] = cuts
            self._pieces += size
        return cuts


def _cuts(raw: str) -> Sequence[int] | None:
    """The ends of the hidden pieces as byte offsets: start, end, start, end and so on; None when all is withheld."""
    view = outgoing.view(raw)
    if view.withheld:
        return _WITHHELD
    if view.is_whole:
        return _NOTHING
    cuts = array("L")
    chars = size_bytes = 0
    for span in view.removed:
        for offset in span:
            size_bytes += len(raw[chars:offset].encode("utf-8"))
            chars = offset
            cuts.append(size_bytes)
    return cuts


def _as_utf8(data: bytes) -> bytes:
    note = text.decode(data)
    return data if note.is_exact else note.text.encode("utf-8")


def _without(data: bytes, cuts: Sequence[int]) -> bytes:
    kept, at = [], 0
    for start, end in zip(cuts[::2], cuts[1::2], strict=True):
        kept.append(data[at:start])
        at = end
    kept.append(data[at:])
    return b"".join(kept)
