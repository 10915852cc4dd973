"""The names, titles and headings of the notes of a segment, as ranked search looks for words in them."""

from __future__ import annotations

import itertools
import re
from array import array
from dataclasses import dataclass
from typing import Final

from service.vault import words
from service.vault.picture.block import Segment

_TITLE: Final = re.compile(rb"^(?:title:|#[ \t])[^\n]*", re.MULTILINE)
_TITLE_BYTES: Final = 2000  # of a note, in which its title is looked for
_MAX_HEADINGS: Final = 200  # of a note
_HEADING: Final = b"\n#"
_MARK: Final = re.compile(rb"#{1,6}[ \t]")


@dataclass(frozen=True, slots=True)
class Titles:
    """The words of each note's name and title, and of its headings, folded, with blanks around each; where each note's begin and end."""

    names: bytes
    name_starts: array[int]
    name_ends: array[int]
    headings: bytes
    heading_starts: array[int]
    heading_ends: array[int]


def of(segment: Segment) -> Titles:
    """The names, titles and headings in a segment."""
    names: list[bytes] = []
    headings: list[bytes] = []
    for start, text, end in zip(segment.starts, segment.texts, segment.ends, strict=True):
        name = segment.data[start : text - 1]
        title = _TITLE.search(segment.data[text : min(end, text + _TITLE_BYTES)])
        names.append(words.spread(name + b" " + (title[0].removeprefix(b"title:") if title else b"")))
        headings.append(words.spread(b" ".join(_headings(segment.data, text, end))))
    return Titles(b"".join(names), *_places(names), b"".join(headings), *_places(headings))


def _headings(data: bytes, start: int, end: int) -> list[bytes]:
    found: list[bytes] = []
    at = data.find(_HEADING, start, end)
    while at >= 0 and len(found) < _MAX_HEADINGS:
        stop = data.find(b"\n", at + 1, end)
        stop = end if stop < 0 else stop
        if _MARK.match(data, at + 1, stop):
            found.append(data[at + 1 : stop])
        at = data.find(_HEADING, stop, end)
    return found


def _places(pieces: list[bytes]) -> tuple[array[int], array[int]]:
    ends = array("I", itertools.accumulate(map(len, pieces)))
    return array("I", [0, *ends[:-1]][: len(ends)]), ends
