"""What of a note's bytes a search may look at: the bytes of its view. The picture remembers what was cut."""

from __future__ import annotations

import codecs
from array import array
from collections.abc import Sequence
from typing import Final

from service.guards import outgoing
from service.guards.outgoing import may_hide
from service.vault import text

__all__ = ["NOTHING", "cuts", "may_hide", "shown", "without"]

NOTHING: Final[Sequence[int]] = ()
_WITHHELD: Final = None


def shown(data: bytes) -> bytes | None:
    """The bytes of a note's view, without a byte order mark; None when it is withheld.

    Bytes that are no UTF-8 stay as they are where nothing is hidden; otherwise they become U+FFFD.
    """
    return without(data, cuts(data))


def cuts(data: bytes) -> Sequence[int] | None:
    """The ends of the hidden pieces, for `without`: start, end, start, end and so on; None when all is withheld."""
    data = data.removeprefix(codecs.BOM_UTF8)
    return _cuts(text.decode(data).text) if may_hide(data) else NOTHING


def without(data: bytes, cuts: Sequence[int] | None) -> bytes | None:
    """The view of a note's bytes, given what `cuts` found in them."""
    data = data.removeprefix(codecs.BOM_UTF8)
    if cuts is _WITHHELD:
        return None
    return _without(_as_utf8(data), cuts) if cuts else data


def _cuts(raw: str) -> Sequence[int] | None:
    """The ends of the hidden pieces as byte offsets of the text in UTF-8."""
    view = outgoing.view(raw)
    if view.withheld:
        return _WITHHELD
    if view.is_whole:
        return NOTHING
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
