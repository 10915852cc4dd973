"""A text's headings and the sections below them, as Obsidian's outline has them.

ATX and setext headings (CommonMark 4.2, 4.3). Those in quotes, callouts and list items are none here: Obsidian keeps
them out of its outline and links to none of them. None in code, HTML, front matter or comments.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from service.guards.markdown import Block, BlockKind, Inline
from service.vault.parts import plain, prose
from service.vault.parts.prose import Prose

_LOOSE: Final = re.compile(r"[*_~=`\[\]\\\ufe0e\ufe0f]+|[ \t]\^[A-Za-z0-9-]+\Z")
"""Marks of emphasis and links, the style of an emoji, a block id at the end."""
_MAY_BE: Final = re.compile(r"^\ufeff? {0,3}(?:#{1,6}(?:[ \t\r\n]|\Z)|[=-]+[ \t]*\r?$)", re.MULTILINE)
_UNDERLINE: Final = re.compile(r"\n *[=-]")
_HASHES: Final = re.compile(r"#{1,6}[ \t]*")
_MAX_LEVELS: Final = 6


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading, and the section that it begins.

    Args:
        level: 1 to 6.
        text: as written, in one line, without the marks of the heading.
        shown: the same without its Markdown.
        line: from 1.
        start: where its line begins, as offset in the text.
        end: where its last line ends, without the line break; of a setext heading, its underline.
        section_end: where the next heading of the same or a higher level begins, or the text ends.
    """

    level: int
    text: str
    shown: str
    line: int
    start: int
    end: int
    section_end: int


def of(text: str) -> tuple[Heading, ...]:
    """The headings of a text, in order. Linear; never raises."""
    return within(prose.read(text)) if "#" in text or _UNDERLINE.search(text) else ()


def lines_at_most(text: str) -> int:
    """How many lines of a text may be headings, at the price of a glance."""
    return sum(1 for _ in _MAY_BE.finditer(text))


def within(read: Prose) -> tuple[Heading, ...]:
    """The headings of a text that was read."""
    blocks = [(block, pieces) for block, pieces in read.spoken() if block.kind is BlockKind.HEADING and not block.depth]
    lines = [read.line_of(block.start) for block, _ in blocks]
    starts = [read.line_starts[line - 1] for line in lines]
    ends = _section_ends([block.level for block, _ in blocks], starts, len(read.text))
    return tuple(
        _heading(block, pieces, line, start, end)
        for (block, pieces), line, start, end in zip(blocks, lines, starts, ends, strict=True)
    )


def _heading(block: Block, pieces: Sequence[Inline], line: int, start: int, section_end: int) -> Heading:
    text = plain.squeezed(block.text)
    shown = plain.words(block, pieces) if plain.may_differ(text) else text
    return Heading(block.level, text, shown, line, start, block.end, section_end)


def _section_ends(levels: Sequence[int], starts: Sequence[int], end: int) -> Sequence[int]:
    """For each heading, where the next one starts that is no deeper."""
    ends = [end] * len(levels)
    opened: list[int] = []
    for at, level in enumerate(levels):
        while opened and levels[opened[-1]] >= level:
            ends[opened.pop()] = starts[at]
        opened.append(at)
    return ends


def matching(headings: Sequence[Heading], asked: str) -> tuple[Heading, ...]:
    """The headings that `asked` names: those that fit best, so that one that fits exactly hides one that fits nearly.

    Both `## Heading` and `Heading` name it, as written or as shown; then without regard to case; then without regard to
    marks of emphasis. `Above#Heading` names one below another, when no heading has that text itself.
    """
    names = _Names(headings)
    return names.named(asked) or names.below([part for part in asked.split("#") if part.strip()])


class _Names:
    """Headings by name, in each way to compare names; each way is worked out once it is asked for."""

    def __init__(self, headings: Sequence[Heading]) -> None:
        self._headings = headings
        self._known: dict[Callable[[str], str], dict[str, list[Heading]]] = {}

    def named(self, asked: str, inside: Container[int] | None = None) -> tuple[Heading, ...]:
        """Those that fit best; of the level that was asked for, if there are such. `inside` limits where they start."""
        for level, words in _readings(asked):
            for same in _WAYS:
                found = [
                    heading
                    for heading in self._by(same).get(same(words), ())
                    if inside is None or heading.start in inside
                ]
                if found:
                    return tuple(heading for heading in found if heading.level == level) or tuple(found)
        return ()

    def below(self, path: Sequence[str]) -> tuple[Heading, ...]:
        """Those with the last of the names that lie below one with each of the others, in that order."""
        if not 1 < len(path) <= _MAX_LEVELS:
            return ()
        found = self.named(path[0])
        for name in path[1:]:
            found = self.named(name, self._inside(found))
        return found

    def _by(self, same: Callable[[str], str]) -> dict[str, list[Heading]]:
        if same not in self._known:
            names: dict[str, list[Heading]] = {}
            for heading in self._headings:
                text = same(heading.text)
                names.setdefault(text, []).append(heading)
                if heading.shown != heading.text and (shown := same(heading.shown)) != text:
                    names.setdefault(shown, []).append(heading)
            names.pop("", None)
            self._known[same] = names
        return self._known[same]

    def _inside(self, found: Sequence[Heading]) -> set[int]:
        """Where the headings start that lie in the sections of those that were found."""
        starts, reach, inside = {heading.start for heading in found}, 0, set[int]()
        for heading in self._headings:
            if heading.start < reach:
                inside.add(heading.start)
            if heading.start in starts:
                reach = max(reach, heading.section_end)
        return inside


def _readings(asked: str) -> Iterator[tuple[int, str]]:
    """The words to look for, and the level that they say (0: none)."""
    plainly = plain.squeezed(asked)
    if plainly:
        yield 0, plainly
    written = of(asked.strip())
    if len(written) == 1 and written[0].text:
        yield written[0].level, written[0].text
    rest = _HASHES.sub("", plainly, count=1)
    if rest and plainly.startswith("#"):
        yield 0, rest


def _composed(words: str) -> str:
    return unicodedata.normalize("NFC", words)


def _folded(words: str) -> str:
    return _composed(words).casefold()


def _loose(words: str) -> str:
    return plain.squeezed(_LOOSE.sub("", _folded(words)))


_WAYS: Final[Sequence[Callable[[str], str]]] = (_composed, _folded, _loose)
