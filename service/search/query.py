"""Search over every note: a plain scan of the disk, so that an answer is never older than the question.

Two passes: the first reads all notes and counts their matching lines, the second reads again the few notes whose lines
are on the page that was asked for. What is searched is what is shown of a note; only where it hides something is kept
between searches, by content (`service.vault.views`).
"""

from __future__ import annotations

import enum
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from service.errors import AppError
from service.guards import limits, paths
from service.guards.paths import ROOT, VaultPath
from service.search import matching, snippets
from service.search.matching import Needle
from service.vault import frontmatter, survey, text
from service.vault.model import Page, Vault
from service.vault.survey import Seen, Survey

NAME_BONUS: Final = 10
"""Points of relevance for a file name that holds the query; a matching line is one."""


class Part(enum.Enum):
    """Which part of a note is searched."""

    BOTH = "both"
    CONTENT = "content"
    FRONTMATTER = "frontmatter"


class Order(enum.Enum):
    """What comes first: the most relevant note, the first by path, or the last changed."""

    RELEVANCE = "relevance"
    PATH = "path"
    MODIFIED = "modified"


@dataclass(frozen=True, slots=True)
class Query:
    """A question. `folder` and `excluded` hold whole folders or single notes, never beginnings of names.

    Low-trust folders are left out unless they are included, or `folder` is or lies in one.
    """

    words: str
    folder: VaultPath = ROOT
    excluded: tuple[VaultPath, ...] = ()
    order: Order = Order.RELEVANCE
    part: Part = Part.BOTH
    is_case_sensitive: bool = False
    limit: int = 20
    offset: int = 0
    include_low_trust: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """One matching line, or the first line of a note of which only the name matches."""

    path: VaultPath
    line: int
    snippet: str
    score: int


@dataclass(frozen=True, slots=True)
class Found:
    """The asked page of hits, how many notes they all come from, and how many notes could not be searched.

    `skipped` are those that are too large, cannot be read, or are withheld. `left_out` are the low-trust folders that were not looked into.
    """

    page: Page[Hit]
    notes: int
    skipped: int
    left_out: tuple[VaultPath, ...] = ()


@dataclass(frozen=True, slots=True)
class _Match:
    path: VaultPath
    mtime_ns: int
    hits: int
    score: int


def search(vault: Vault, query: Query, now: Callable[[], float] = time.monotonic) -> Found:
    """Find the lines that hold `query.words`, by Unicode case folding unless it is case-sensitive.

    Raises:
        NoteNotFound: there is no such folder; names the nearest.
        Unavailable: it took longer than a survey may take.
    """
    needle = matching.needle(query.words, is_case_sensitive=query.is_case_sensitive)
    excluded = _as_excluded(query.excluded)
    return survey.make(
        vault,
        lambda notes: _found(notes, query, needle),
        query.folder,
        include_low_trust=query.include_low_trust,
        is_excluded=(lambda path: _composed(path.parts) in excluded) if excluded else None,
        now=now,
    )


def _found(notes: Survey, query: Query, needle: Needle) -> Found:
    matches = [match for seen in notes if (match := _match(seen, query, needle))]
    matches.sort(key=_in_order(query.order))
    total = sum(match.hits for match in matches)
    hits = tuple(_hits(notes.vault, query, needle, matches))
    return Found(Page(hits, total, query.offset), len(matches), notes.skipped, tuple(notes.left_out))


def _as_excluded(given: Sequence[VaultPath]) -> frozenset[tuple[str, ...]]:
    """The names to leave out, as `_composed` has them; with and without outer blanks, which may be a slip."""
    named = [path.parts for path in given]
    return frozenset(_composed(parts) for parts in [*named, *(tuple(part.strip() for part in one) for one in named)])


def _composed(parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part if part.isascii() else unicodedata.normalize("NFC", part) for part in parts)


def _match(seen: Seen, query: Query, needle: Needle) -> _Match | None:
    lines = len(_lines(seen.path, seen.data, seen.shown, query, needle))
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
    try:
        data = vault.files.read(match.path, limits.MAX_SEARCHED_BYTES).data
    except (AppError, OSError):
        return []
    shown = vault.views.shown(data)
    if shown is None:
        return []
    numbers = _lines(match.path, data, shown, query, needle)
    lines = text.decode(shown).text.split(text.LF)
    return [
        Hit(match.path, number, snippets.around(line, needle.span_in(line)), match.score)
        for number in numbers or [1]
        for line in [lines[number - 1].removesuffix("\r")]
    ]
