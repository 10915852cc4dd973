"""Where tags stand in a piece of text, as Obsidian's own parser takes it apart.

A tag begins at a `#` behind white space, or where a piece of the text begins: at its start, behind what was read as one
thing (code, a link, HTML, an escaped character, another tag), inside emphasis, in a link's label, in a cell of a table.
Behind any other character there is none: `(#a)`, `x#a`. The characters of a tag, and that it must not be all digits, are
those of Obsidian 1.13 (help, "Tags"; read back from its index in cyanheads/obsidian-mcp-server#138 and #140).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from service.guards.markdown import Block, Inline, Link, Span

BLANKS: Final = "\t\n\x0b\x0c\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
"""White space as JavaScript has it, for a character class."""

_TAG: Final = re.compile(rf"#[^\u2000-\u206f\u2e00-\u2e7f'!\"#$%&()*+,.:;<=>?@^`{{|}}~\[\]\\{BLANKS}]+")
_NO_NAME: Final = re.compile(r"[0-9]+|[\ufe0e\ufe0f\u20e3]+")
"""Only digits; or what makes an emoji, the hash key, of the `#`."""
_BLANK: Final = re.compile(f"[{BLANKS}]")
_EVENTS: Final = re.compile(rf"\\|#|\$+|\*+|_+|~~+|==+|://[^<{BLANKS}]*")
"""What may begin a tag or decide where a piece ends; an address is passed over whole."""
_ESCAPABLE: Final = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_RUNS: Final = re.compile(r"(?<!\\)(?:\*+|_+|~~+|==+)")
_DOLLAR: Final = re.compile(r"(?<![\\$])\$(?!\$)")
_DELIMITER_ROW: Final = re.compile(
    r"^[ \t]*+\|?[ \t]*+:?-+:?[ \t]*+(?:\|[ \t]*+:?-+:?[ \t]*+)*+\|?[ \t]*+\r?$", re.MULTILINE
)
_CELL_END: Final = re.compile(r"(?<!\\)\||\n")

_HEX: Final = re.compile(r"#(?:[0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})")
_COLOURED: Final = re.compile(
    r"(?:colou?r|background|border|outline|fill|stroke|shadow|hex)[\w-]*[ \t]*[:=][ \t]*(?:[\w.%-]+[ \t]+){0,3}\Z",
    re.IGNORECASE,
)
_COLOUR_CONTEXT_CHARS: Final = 80


def find(block: Block, pieces: Sequence[Inline], passed: Sequence[Span] = ()) -> Iterator[Span]:
    """The spans of the tags in a paragraph or heading, `#` included, in order. Takes linear time.

    Args:
        pieces: of the block, as the scanner has them.
        passed: further spans to pass over, in order: comments, formulas.
    """
    atoms, labels = _apart(block, pieces, passed)
    chunk = _Chunks(block.text, block.start, atoms, labels)
    is_table = "|" in block.text and _DELIMITER_ROW.search(block.text) is not None
    for start, end in _cells(block.text, block.start, atoms) if is_table else [(0, len(block.text))]:
        yield from chunk.tags(start, end)


def is_name(name: str) -> bool:
    """Whether `name` (without its `#`) can be a tag in a text."""
    return _TAG.fullmatch(f"#{name}") is not None and _NO_NAME.fullmatch(name) is None


def _apart(block: Block, pieces: Sequence[Inline], passed: Sequence[Span]) -> tuple[list[Span], frozenset[int]]:
    """What is read as one thing, as sorted spans; and where labels of links begin. A picture's label is no text."""
    spans = [span for span in passed if span[0] < block.end and span[1] > block.start]
    labels: set[int] = set()
    for piece in pieces:
        if isinstance(piece, Link) and not piece.is_image:
            labels.add(piece.label[0])
            spans.append((piece.label[1], piece.end))
        else:
            spans.append((piece.start, piece.end))
    return sorted(spans), frozenset(labels)


def _cells(text: str, offset: int, atoms: Sequence[Span]) -> Iterator[Span]:
    """The cells of a table: from mark to mark, those in code and links not counted."""
    at = start = 0
    for mark in _CELL_END.finditer(text):
        place = mark.start() + offset
        while at < len(atoms) and atoms[at][1] <= place:
            at += 1
        if at < len(atoms) and atoms[at][0] <= place and mark[0] == "|":
            continue
        yield start, mark.start()
        start = mark.end()
    yield start, len(text)


@dataclass(slots=True)
class _Chunks:
    """One block's text while it is read, from left to right."""

    text: str
    offset: int
    atoms: Sequence[Span]
    labels: frozenset[int]
    passed: int = 0
    """How many of the atoms lie behind, or begin there."""
    covered: int = -1
    """Where the last of those ends."""
    closers: Mapping[str, Sequence[int]] | None = None
    """Where runs of each kind may end an emphasis; None until one is asked for."""
    dollars: Sequence[int] | None = None
    line_end: int = -1
    limits: list[Span] = field(default_factory=list)
    """The runs that close the emphases that are open, innermost last."""

    def tags(self, start: int, stop: int) -> Iterator[Span]:
        """The tags in `text[start:stop]`, which is a piece of its own."""
        at = fresh = start
        self.limits = []
        while event := _EVENTS.search(self.text, at, stop):
            begin, end = event.span()
            self._pass(begin)
            if self.covered > at:
                at = fresh = self.covered
                continue
            mark = self.text[begin]
            if mark == "#":
                tag = self._tag(begin, stop, is_fresh=begin == fresh)
                at, fresh = (tag[1], tag[1]) if tag else (end, fresh)
                if tag and not is_colour(self.text, *tag):
                    yield tag[0] + self.offset, tag[1] + self.offset
            elif mark == "\\":
                is_escape = self.text[end : end + 1] in _ESCAPABLE if end < stop else False
                at, fresh = (end + 1, end + 1) if is_escape else (end, fresh)
            elif mark == "$":
                formula_end = self._formula(begin, end, stop)
                at, fresh = (formula_end, formula_end) if formula_end else (end, fresh)
            elif mark == ":":
                at = end
            else:
                at, fresh = (end, end) if self._is_emphasis(begin, end, stop) else (end, fresh)

    def _pass(self, at: int) -> None:
        """Go past all that is read as one thing and begins at `at` or before."""
        while self.passed < len(self.atoms) and self.atoms[self.passed][0] - self.offset <= at:
            self.covered = max(self.covered, self.atoms[self.passed][1] - self.offset)
            self.passed += 1

    def _tag(self, at: int, stop: int, *, is_fresh: bool) -> Span | None:
        """The tag whose `#` stands at `at`, if one may begin there."""
        is_begin = is_fresh or at + self.offset in self.labels or _BLANK.match(self.text, at - 1) is not None
        while self.limits and self.limits[-1][1] <= at:
            self.limits.pop()
        limit = self.limits[-1][0] if self.limits else stop
        found = _TAG.match(self.text, at, min(limit, stop)) if is_begin else None
        return None if found is None or _NO_NAME.fullmatch(self.text, at + 1, found.end()) else found.span()

    def _formula(self, begin: int, end: int, stop: int) -> int:
        """Where the formula ends that a dollar opens; 0 when it opens none. Longer runs are told by `passed`."""
        if end - begin > 1 or end >= stop or _BLANK.match(self.text, end):
            return 0
        if self.dollars is None:
            self.dollars = [
                found.start() for found in self._outside(_DOLLAR) if not _BLANK.match(self.text, found.start() - 1)
            ]
        at = bisect_left(self.dollars, end + 1)
        if at == len(self.dollars):
            return 0
        closing = self.dollars[at]
        if self.line_end < end:
            self.line_end = self.text.find("\n", end)
            self.line_end = len(self.text) if self.line_end < 0 else self.line_end
        if closing >= min(stop, self.line_end) or self.text[closing + 1 : closing + 2].isdigit():
            return 0
        return closing + 1

    def _is_emphasis(self, begin: int, end: int, stop: int) -> bool:
        """Whether a run closes the emphasis that is open, or opens one that another run closes."""
        while self.limits and self.limits[-1][1] <= begin:
            self.limits.pop()
        if self.limits and self.limits[-1] == (begin, end):
            self.limits.pop()
            return True
        if self.closers is None:
            self.closers = self._closing_runs()
        run = self.text[begin:end]
        places = self.closers.get(run, ())
        at = bisect_left(places, end + 1)
        limit = self.limits[-1][0] if self.limits else stop
        if end >= stop or _BLANK.match(self.text, end) or at == len(places) or places[at] + len(run) > limit:
            return False
        self.limits.append((places[at], places[at] + len(run)))
        return True

    def _closing_runs(self) -> Mapping[str, Sequence[int]]:
        """A run closes behind what is no blank; a single underscore only in front of what is no letter or digit."""
        closers: dict[str, list[int]] = {}
        for run in self._outside(_RUNS):
            before, after = self.text[run.start() - 1 : run.start()], self.text[run.end() : run.end() + 1]
            if not before or _BLANK.match(before) or (run[0] == "_" and after.isalnum()):
                continue
            closers.setdefault(run[0], []).append(run.start())
        return closers

    def _outside(self, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """What matches outside of the atoms."""
        at = 0
        covered = -1
        for found in pattern.finditer(self.text):
            place = found.start() + self.offset
            while at < len(self.atoms) and self.atoms[at][0] <= place:
                covered = max(covered, self.atoms[at][1])
                at += 1
            if place >= covered:
                yield found


def is_colour(text: str, start: int, end: int) -> bool:
    """Whether what could be a tag is a colour to whoever wrote it; Obsidian takes it for a tag all the same.

    Six or eight hex digits with a decimal one among them, or one letter over and over; or any hex colour behind a property
    that names a colour. Shorter ones elsewhere may be words: `#add`, `#b2b`, `#c64`.
    """
    digits = text[start + 1 : end].lower()
    if _HEX.fullmatch(text, start, end) is None:
        return False
    if len(set(digits)) == 1 or (len(digits) >= 6 and any(digit.isdecimal() for digit in digits)):
        return True
    line = text.rfind("\n", 0, start) + 1
    return _COLOURED.search(text, max(line, start - _COLOUR_CONTEXT_CHARS), start) is not None
