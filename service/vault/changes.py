"""Where a text differs from what it was: lines first, then the letters of the lines that changed.

Lines that occur once in both texts and keep their order hold the texts together (as in a patience diff), so that two far
changes are two spans and not one that covers all between. Linear, save for sorting.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence

from service.vault import text

Span = tuple[int, int]

_MAX_SLIDE = 1000
"""Characters by which a piece that was put in is taken for having been put in further up."""


def between(before: str, after: str) -> list[Span]:
    """Where in `after` something stands that `before` has not there: sorted, disjoint. A removal is an empty span.

    What was put in between two places that read alike may have been put in at either: the span covers both.
    """
    old, new = text.lines_with_ends(before), text.lines_with_ends(after)
    starts = [0]
    for line in new:
        starts.append(starts[-1] + len(line))
    spans: list[Span] = []
    for old_from, old_to, new_from, new_to in _hunks(old, new):
        was, now = "".join(old[old_from:old_to]), "".join(new[new_from:new_to])
        head, tail = _common_ends(was, now)
        start, end = starts[new_from] + head, starts[new_to] - tail
        if head + tail == len(was):
            start -= _slide(after, start, end)
        spans.append((max(start, spans[-1][1] if spans else 0), end))
    return spans


def words_of(after: str, words: Sequence[str], changed: Sequence[Span]) -> list[Span]:
    """Where in `after` some of `words` stand whole around something that changed."""
    spans: list[Span] = []
    for word in words:
        if not word:
            continue
        for start, end in changed:
            at = after.find(word, max(0, end - len(word)), start + len(word))
            if at != -1:
                spans.append((at, at + len(word)))
    return spans


def _hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """The rows of lines that differ, as (from, to) in `old` and (from, to) in `new`."""
    done_old = done_new = 0
    for at_old, at_new in [*_anchors(old, new), (len(old), len(new))]:
        if at_old < done_old or at_new < done_new:
            continue
        gap_old, gap_new = at_old, at_new
        while gap_old > done_old and gap_new > done_new and old[gap_old - 1] == new[gap_new - 1]:
            gap_old, gap_new = gap_old - 1, gap_new - 1
        while done_old < gap_old and done_new < gap_new and old[done_old] == new[done_new]:
            done_old, done_new = done_old + 1, done_new + 1
        if done_old < gap_old or done_new < gap_new:
            yield done_old, gap_old, done_new, gap_new
        done_old, done_new = at_old, at_new
        while done_old < len(old) and done_new < len(new) and old[done_old] == new[done_new]:
            done_old, done_new = done_old + 1, done_new + 1


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Lines that occur once in each, in an order that both have: the longest such row."""
    head = next(
        (at for at, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), min(len(old), len(new))
    )
    counts, others = Counter(old[head:]), Counter(new[head:])
    places = {line: at for at, line in enumerate(new) if at >= head and others[line] == 1}
    pairs = [(at, places[line]) for at, line in enumerate(old) if at >= head and counts[line] == 1 and line in places]
    tops: list[int] = []  # of each length, the smallest place a rising row may end in
    rows: list[int] = []  # the pair there
    backwards: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(tops, place)
        backwards.append(rows[length - 1] if length else -1)
        if length == len(tops):
            tops.append(place)
            rows.append(number)
        else:
            tops[length], rows[length] = place, number
    row, number = [], rows[-1] if rows else -1
    while number >= 0:
        row.append(pairs[number])
        number = backwards[number]
    return row[::-1]


def _common_ends(was: str, now: str) -> tuple[int, int]:
    shorter = min(len(was), len(now))
    head = next((at for at in range(shorter) if was[at] != now[at]), shorter)
    left = shorter - head
    tail = next((at for at in range(left) if was[-1 - at] != now[-1 - at]), left)
    return head, tail


def _slide(after: str, start: int, end: int) -> int:
    most = min(start, _MAX_SLIDE)
    return next((by for by in range(most) if after[start - 1 - by] != after[end - 1 - by]), most) if end > start else 0
