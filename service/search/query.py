"""Search over every note: a plain scan of the disk, so that an answer is never older than the question.

Two passes: the first reads all notes and counts their matching lines, the second reads again the few notes whose lines
are on the page that was asked for. What is searched is what is shown of a note; only where it hides something is kept
between searches, by content (`service.vault.views`). Literal: every line that holds the query is a hit. Ranked: every note
that holds one of its words is, by its best line (`ranking`).
"""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from service.errors import AppError
from service.guards import limits, paths
from service.guards.paths import VaultPath
from service.search import matching, ranked, ranking
from service.search.asked import NAME_BONUS, Found, Hit, Mode, Order, Part, Query
from service.search.matching import Needle
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
    if ranked.is_for(query):
        return patience.within(survey.DEADLINE_S, lambda deadline: ranked.found(vault, query, deadline.check), now)
    excluded = _as_excluded(query.excluded)
    return survey.make(
        vault,
        _answer(query),
        query.folder,
        include_low_trust=query.include_low_trust,
        is_excluded=(lambda path: _composed(path.parts) in excluded) if excluded else None,
        now=now,
    )


def _answer(query: Query) -> Callable[[Survey], Found]:
    match query.mode:
        case Mode.LITERAL:
            needle = matching.needle(query.words, is_case_sensitive=query.is_case_sensitive)
            return lambda notes: _found(notes, query, needle)
        case Mode.RANKED:
            question = ranking.question(query.words, is_case_sensitive=query.is_case_sensitive)
            return lambda notes: _ranked(notes, query, question)


def _found(notes: Survey, query: Query, needle: Needle) -> Found:
    matches = [match for seen in notes if (match := _match(seen, query, needle)) and _is_wanted(seen, query)]
    matches.sort(key=_in_order(query.order))
    total = sum(match.hits for match in matches)
    hits = tuple(_hits(notes.vault, query, needle, matches))
    return Found(Page(hits, total, query.offset), len(matches), notes.skipped, tuple(notes.left_out))


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


def _match(seen: Note, query: Query, needle: Needle) -> _Match | None:
    read = seen.read()
    lines = 0 if read is None else len(_lines(seen.path, *read, query, needle))
    is_named = needle.is_in(unicodedata.normalize("NFC", seen.path.stem))
    hits = lines or int(is_named and query.part is Part.BOTH)
    if not hits:
        return None
    return _Match(seen.path, seen.mtime_ns, hits, lines + (NAME_BONUS if is_named else 0))


def _lines(path: VaultPath, data: bytes, shown: bytes, query: Query, needle: Needle) -> list[int]:
    """The matching lines of `shown`; where the front matter ends is asked of the note's own bytes, as Obsidian does."""
    lines = needle.lines_in(shown)
    if query.part is Part.BOTH or not lines:
        return lines
    last = frontmatter.line_count(data) if path.has_suffix(paths.MARKDOWN_SUFFIXES) else 0
    return [line for line in lines if (line <= last) is (query.part is Part.FRONTMATTER)]


def _in_order(order: Order) -> Callable[[_Match], tuple[int, str]]:
    match order:
        case Order.RELEVANCE:
            return lambda match: (-match.score, str(match.path))
        case Order.MODIFIED:
            return lambda match: (-match.mtime_ns, str(match.path))
        case Order.PATH:
            return lambda match: (0, str(match.path))


def _hits(vault: Vault, query: Query, needle: Needle, matches: Sequence[_Match]) -> Iterator[Hit]:
    """The hits of the asked page. A note that has gone since it was counted leaves its place empty."""
    to_skip, to_give = query.offset, query.limit
    for match in matches:
        if to_give <= 0:
            return
        if to_skip >= match.hits:
            to_skip -= match.hits
            continue
        hits = _hits_of(vault, query, needle, match)[to_skip : to_skip + to_give]
        yield from hits
        to_give -= len(hits)
        to_skip = 0


def _hits_of(vault: Vault, query: Query, needle: Needle, match: _Match) -> list[Hit]:
    note = _read_again(vault, match.path)
    if note is None:
        return []
    data, shown = note
    numbers = _lines(match.path, data, shown, query, needle)
    lines = text.decode(shown).text.split(text.LF)
    return [
        Hit(match.path, number, snippets.around(line, needle.span_in(line)), match.score)
        for number in numbers or [1]
        for line in [lines[number - 1].removesuffix("\r")]
    ]


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
