"""Exact replacement in a note's text: old and new strings are literal, and only what differs between them is touched.

Matching sees the note's view, so that nothing hidden can be found or guessed at, and every line end as LF, on both sides,
so that a caller who saw LF can edit a note that has CRLF. What is written is the note's own bytes, save for the smallest
changed span, whose new lines take the note's line ends; what is hidden stays where it is (`service.vault.through`).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from service.errors import HiddenContent, MatchAmbiguous, NoMatch, TooLarge
from service.guards import limits
from service.guards.outgoing import View
from service.vault import diffs, text, through
from service.vault.text import CRLF, LF, NoteText
from service.vault.through import Piece

MAX_LINES_NAMED: Final = 10
"""Line numbers that an ambiguous match names."""

MAX_PLACES_LOOKED_AT: Final = 1000
"""Places whose lines are looked up for that."""


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
        HiddenContent: what is not shown of the note would be touched, or would not stay what it is.
    """
    line_end = note.line_end
    before = now = through.look(note.text)
    replaced = 0
    for number, edit in enumerate(edits, start=1):
        who = f"edit {number} of {len(edits)}" if len(edits) > 1 else "old_string"
        count = _count(now.text, edit, who, text_before=before.text)
        now = _replaced(now, edit, count, line_end, who)
        replaced += count
    return note.with_text(now.raw), Outcome(replaced, diffs.unified(before.text, now.text))


def _count(now: str, edit: Edit, who: str, text_before: str) -> int:
    """How many places there are to replace: one, unless the edit is meant everywhere."""
    view, old = now.replace(CRLF, LF), edit.old.replace(CRLF, LF)
    count = view.count(old) if old else 0
    if count == 0:
        raise NoMatch(_why_not(view, old, who, was_there=old in text_before.replace(CRLF, LF)))
    if not edit.everywhere:
        places = list(islice(_find_all(view, old), MAX_PLACES_LOOKED_AT))
        overlapping = view.find(old, places[0] + 1)
        if count > 1 or overlapping != -1:
            raise MatchAmbiguous(_which_ones(view, places if count > 1 else [*places, overlapping], max(count, 2), who))
    return count


def _find_all(view: str, old: str) -> Iterator[int]:
    """Where `old` stands in the LF view, from the left and not overlapping."""
    at = view.find(old)
    while at != -1:
        yield at
        at = view.find(old, at + len(old))


def _replaced(now: View, edit: Edit, count: int, line_end: str, who: str) -> View:
    old, new = edit.old.replace(CRLF, LF), edit.new.replace(CRLF, LF)
    size = len(now.raw) + count * (len(new) - len(old))
    if size > limits.MAX_NOTE_BYTES:
        raise TooLarge(f"the note after {who}", size, limits.MAX_NOTE_BYTES, unit="characters")
    if now.is_whole and CRLF not in now.raw:  # the view is the text itself; a letter may stand in millions of places
        after = now.raw.replace(old, new)
        return through.changed(now, after, after, new)
    skip, keep = _common_ends(old, new)
    added = text.in_style(new[skip : len(new) - keep], line_end)
    try:
        return through.changed(now, *_written(now, old, (skip, keep), added), added)
    except HiddenContent:
        if now.is_whole or skip + keep != len(old):
            raise
    return through.changed(now, *_written(now, old, (skip, keep), added, is_after_hidden=True), added)


def _written(
    now: View, old: str, ends: tuple[int, int], added: str, *, is_after_hidden: bool = False
) -> tuple[str, str]:
    """The raw text and the view with `added` in the place of each `old` but for its `ends`, which stay.

    `is_after_hidden`: what is only put in goes behind what is hidden at that place, not before it.
    """
    skip, keep = ends
    view_offset = _offsets(now.text)
    pieces = (
        Piece(view_offset(place + skip), view_offset(place + len(old) - keep), added)
        for place in _find_all(now.text.replace(CRLF, LF), old)
    )
    return through.pieced(now, pieces, is_after_hidden=is_after_hidden)


def _common_ends(old: str, new: str) -> tuple[int, int]:
    """How many characters `old` and `new` share at their beginning and, beyond those, at their end."""
    shorter = min(len(old), len(new))
    head = next((index for index in range(shorter) if old[index] != new[index]), shorter)
    left = shorter - head
    tail = next((index for index in range(left) if old[-1 - index] != new[-1 - index]), left)
    return head, tail


def _offsets(now: str) -> Callable[[int], int]:
    """From an offset in the text with LF to one in the text; offsets must be asked for in rising order."""
    seen_view, seen_raw, following = 0, 0, now.find(CRLF)

    def raw(offset: int) -> int:
        nonlocal seen_view, seen_raw, following
        while following != -1 and following - seen_raw < offset - seen_view:
            seen_view += following - seen_raw + 1
            seen_raw = following + len(CRLF)
            following = now.find(CRLF, seen_raw)
        seen_raw, seen_view = seen_raw + offset - seen_view, offset
        return seen_raw

    return raw


def _which_ones(view: str, places: Sequence[int], count: int, who: str) -> str:
    lines: dict[int, None] = {}
    line, seen = 1, 0
    for place in places:
        line += view.count(LF, seen, place)
        seen = place
        lines[line] = None
    named = ", ".join(str(one) for one in [*lines][:MAX_LINES_NAMED])
    where = f"in line {named}" if len(lines) == 1 else f"in lines {named}"
    more = " and more" if len(lines) > MAX_LINES_NAMED or count > len(places) else ""
    return (
        f"{who} occurs {count} times ({where}{more}); add text around it so that it is found "
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
