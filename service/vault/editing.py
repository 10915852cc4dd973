"""Exact replacement in a note's text: old and new strings are literal, and only what differs between them is touched.

Matching sees every line end as LF, on both sides, so that a caller who saw LF can edit a note that has CRLF; what is
written is the note's own bytes, save for the smallest changed span, whose new lines take the note's line ends.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from service.errors import MatchAmbiguous, NoMatch, TooLarge
from service.guards import limits
from service.vault import diffs, text
from service.vault.text import CRLF, LF, NoteText

MAX_LINES_NAMED: Final = 10
"""Line numbers that an ambiguous match names."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Put `new` in the place of `old`, which must occur once unless `everywhere`."""

    old: str
    new: str
    everywhere: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a row of edits came to: how many places were replaced, and a short unified diff."""

    replaced: int
    diff: str


def apply(note: NoteText, edits: Sequence[Edit]) -> tuple[NoteText, Outcome]:
    """Apply `edits` in order, each to the result of the one before; all or nothing.

    Raises:
        NoMatch, MatchAmbiguous, TooLarge: naming the edit, never its words.
    """
    line_end = note.line_end
    now, replaced = note.text, 0
    for number, edit in enumerate(edits, start=1):
        who = f"edit {number} of {len(edits)}" if len(edits) > 1 else "old_string"
        places = _places(now, edit, who, text_before=note.text)
        now = _replaced(now, edit, places, line_end, who)
        replaced += len(places)
    return note.with_text(now), Outcome(replaced, diffs.unified(note.text, now))


def _places(now: str, edit: Edit, who: str, text_before: str) -> list[int]:
    """Where to replace, as offsets into the LF view of `now`."""
    view, old = now.replace(CRLF, LF), edit.old.replace(CRLF, LF)
    count = view.count(old) if old else 0
    if count == 0:
        raise NoMatch(_why_not(view, old, who, was_there=old in text_before.replace(CRLF, LF)))
    places = _find_all(view, old)
    overlapping = view.find(old, places[0] + 1)
    if not edit.everywhere and (count > 1 or overlapping != -1):
        if count == 1:
            places.append(overlapping)
        raise MatchAmbiguous(_which_ones(view, places, who))
    return places


def _find_all(view: str, old: str) -> list[int]:
    places: list[int] = []
    at = view.find(old)
    while at != -1:
        places.append(at)
        at = view.find(old, at + len(old))
    return places


def _replaced(now: str, edit: Edit, places: Sequence[int], line_end: str, who: str) -> str:
    old, new = edit.old.replace(CRLF, LF), edit.new.replace(CRLF, LF)
    if len(now) + len(places) * (len(new) - len(old)) > limits.MAX_NOTE_BYTES:
        size = len(now) + len(places) * (len(new) - len(old))
        raise TooLarge(f"the note after {who}", size, limits.MAX_NOTE_BYTES, unit="characters")
    skip, keep = _common_ends(old, new)
    added = text.in_style(new[skip : len(new) - keep], line_end)
    raw_offset = _raw_offsets(now)
    pieces, done = [], 0
    for place in places:
        pieces += [now[done : raw_offset(place + skip)], added]
        done = raw_offset(place + len(old) - keep)
    return "".join([*pieces, now[done:]])


def _common_ends(old: str, new: str) -> tuple[int, int]:
    """How many characters `old` and `new` share at their beginning and, beyond those, at their end."""
    shorter = min(len(old), len(new))
    head = next((index for index in range(shorter) if old[index] != new[index]), shorter)
    left = shorter - head
    tail = next((index for index in range(left) if old[-1 - index] != new[-1 - index]), left)
    return head, tail


def _raw_offsets(now: str) -> Callable[[int], int]:
    """From an offset in the LF view to one in the text; offsets must be asked for in rising order."""
    if CRLF not in now:
        return lambda offset: offset
    seen_view, seen_raw = 0, 0

    def raw(offset: int) -> int:
        nonlocal seen_view, seen_raw
        while True:
            at = now.find(CRLF, seen_raw)
            if at == -1 or at - seen_raw >= offset - seen_view:
                seen_raw, seen_view = seen_raw + offset - seen_view, offset
                return seen_raw
            seen_view += at - seen_raw + 1
            seen_raw = at + len(CRLF)

    return raw


def _which_ones(view: str, places: Sequence[int], who: str) -> str:
    lines, line, seen = [], 1, 0
    for place in places[:MAX_LINES_NAMED]:
        line += view.count(LF, seen, place)
        seen = place
        lines.append(str(line))
    more = " and more" if len(places) > MAX_LINES_NAMED else ""
    return (
        f"{who} occurs {len(places)} times (at lines {', '.join(lines)}{more}); add text around it so that it is found "
        "once, or set replace_all. Nothing was changed."
    )


def _why_not(view: str, old: str, who: str, *, was_there: bool) -> str:
    """A sentence with the likeliest reason, by looking with looser eyes; it names lines, never words."""
    if was_there:
        hint = "an edit before it has changed that text; write it as it stands after that one"
    elif (line := _line_of(view, old, _as_composed)) is not None:
        hint = f"line {line} has the same letters, encoded differently; copy them from read_note"
    elif (line := _line_of(view, old, str.casefold)) is not None:
        hint = f"line {line} differs only in upper and lower case"
    elif (line := _line_of_words(view, old)) is not None:
        hint = f"line {line} differs only in white space or line breaks"
    else:
        hint = "read the note again and copy the text exactly"
    return f"{who} does not occur in the note; {hint}. Nothing was changed."


def _as_composed(words: str) -> str:
    return unicodedata.normalize("NFC", words)


def _line_of(view: str, old: str, looser: Callable[[str], str]) -> int | None:
    loose = looser(view)
    at = loose.find(looser(old))
    return None if at == -1 else loose.count(LF, 0, at) + 1


def _line_of_words(view: str, old: str) -> int | None:
    """The line where the words of `old` begin to stand in a row, whatever the white space between them."""
    wanted = " ".join(old.split())
    if not wanted:
        return None
    words: list[str] = []
    starts: list[tuple[int, int]] = []  # (offset in the joined words, line)
    offset = 0
    for number, line in enumerate(view.split(LF), start=1):
        joined = " ".join(line.split())
        if joined:
            starts.append((offset, number))
            words.append(joined)
            offset += len(joined) + 1
    at = " ".join(words).find(wanted)
    return None if at == -1 else max(number for start, number in starts if start <= at)
