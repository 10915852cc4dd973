"""Search over every note, answered from the picture of the vault, so that an answer is never older than the question.

Literal: every line that holds the query is a hit (`literal`). Ranked: every note that holds one of its words is, by its best
line (`ranking`). What is searched is what is shown of a note.
"""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from service.errors import AppError
from service.guards import limits, paths
from service.guards.paths import VaultPath
from service.search import literal, ranked, ranking
from service.search.asked import Found, Hit, Mode, Order, Part, Query
from service.search.ranking import Counted, Question
from service.vault import frontmatter, patience, snippets, survey, tags, text, views
from service.vault.model import Page, Vault
from service.vault.picture.note import Note
from service.vault.survey import Survey

__all__ = ["Found", "Hit", "Mode", "Order", "Part", "Query", "search"]


@dataclass(frozen=True, slots=True)
class _Match:
    path: VaultPath
    mtime_ns: int
    hits: int
    score: int


def search(vault: Vault, query: Query, now: Callable[[], float] = time.monotonic) -> Found:
    """Find the lines that hold `query.words`, or rank the notes that hold some of them, ignoring case unless it counts.

    Raises:
        NoteNotFound: there is no such folder; names the nearest.
        Unavailable: it took longer than a survey may take.
    """
    if query.mode is Mode.LITERAL:
        return patience.within(survey.DEADLINE_S, lambda deadline: literal.found(vault, query, deadline), now)
    if ranked.is_for(query):
        return patience.within(survey.DEADLINE_S, lambda deadline: ranked.found(vault, query, deadline.check), now)
    excluded = _as_excluded(query.excluded)
    question = ranking.question(query.words, is_case_sensitive=query.is_case_sensitive)
    return survey.make(
        vault,
        lambda notes: _ranked(notes, query, question),
        query.folder,
        include_low_trust=query.include_low_trust,
        is_excluded=(lambda path: _composed(path.parts) in excluded) if excluded else None,
        now=now,
    )


def _ranked(notes: Survey, query: Query, question: Question) -> Found:
    holding: list[tuple[VaultPath, int, Counted]] = []
    count = size = 0
    for seen in notes:
        if not _is_wanted(seen, query):
            continue
        read = seen.read()
        if read is None:
            continue
        asked = _part(seen.path, *read, query.part)
        words = question.spread(asked)
        count += 1
        size += len(words)
        if counted := question.counted(seen.path.stem if query.part is Part.BOTH else "", asked, words):
            holding.append((seen.path, seen.mtime_ns, counted))
    weights = ranking.weights((counted for _, _, counted in holding), question.size, count)
    matches = [
        _Match(path, mtime_ns, 1, round(100 * ranking.score(counted, weights, size / count)))
        for path, mtime_ns, counted in holding
    ]
    matches.sort(key=_in_order(query.order))
    asked_for = matches[query.offset : query.offset + query.limit]
    hits = tuple(hit for match in asked_for if (hit := _best_hit(notes.vault, query, question, weights, match)))
    page = Page(hits, len(matches), query.offset)
    return Found(page, len(matches), notes.skipped, tuple(notes.left_out))


def _is_wanted(seen: Note, query: Query) -> bool:
    return not query.tag or tags.has(seen, query.tag)


def _as_excluded(given: Sequence[VaultPath]) -> frozenset[tuple[str, ...]]:
    """The names to leave out, as `_composed` has them; with and without outer blanks, which may be a slip."""
    named = [path.parts for path in given]
    return frozenset(_composed(parts) for parts in [*named, *(tuple(part.strip() for part in one) for one in named)])


def _composed(parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part if part.isascii() else unicodedata.normalize("NFC", part) for part in parts)


def _in_order(order: Order) -> Callable[[_Match], tuple[int, str]]:
    match order:
        case Order.RELEVANCE:
            return lambda match: (-match.score, str(match.path))
        case Order.MODIFIED:
            return lambda match: (-match.mtime_ns, str(match.path))
        case Order.PATH:
            return lambda match: (0, str(match.path))


def _best_hit(vault: Vault, query: Query, question: Question, weights: Sequence[float], match: _Match) -> Hit | None:
    """The line of a note that says most of what was asked; None when the note has gone since it was counted."""
    note = _read_again(vault, match.path)
    if note is None:
        return None
    asked = _part(match.path, *note, query.part)
    best = question.best_line(asked, weights)
    line = text.decode(asked).text.split(text.LF)[best].removesuffix("\r")
    return Hit(match.path, best + 1, snippets.around(line, question.span_in(line, weights)), match.score)


def _part(path: VaultPath, data: bytes, shown: bytes, part: Part) -> bytes:
    """What of a note is searched; where it is a part, the lines of the other are empty."""
    if part is Part.BOTH:
        return shown
    last = frontmatter.line_count(data) if path.has_suffix(paths.MARKDOWN_SUFFIXES) else 0
    lines = shown.split(b"\n")
    kept = [line if (number <= last) is (part is Part.FRONTMATTER) else b"" for number, line in enumerate(lines, 1)]
    return b"\n".join(kept)


def _read_again(vault: Vault, path: VaultPath) -> tuple[bytes, bytes] | None:
    """A note's bytes and those of its view, or None when they are to be had no more."""
    try:
        data = vault.files.read(path, limits.MAX_SEARCHED_BYTES).data
    except (AppError, OSError):
        return None
    shown = views.shown(data)
    return None if shown is None else (data, shown)
