"""What is active in a note: every construct that would run, load or lead away by itself, where it stands, and what to
write instead.

Judging is done elsewhere (`destinations`, `active_html`, `fences`); here is where to look. Images and HTML count inside HTML
blocks too, whatever CommonMark says, because not every reader does as it says. What stands in code is code, but for
Templater, which looks everywhere. Source: guards.md 4.4; docs/explanation/guards.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from service.guards import active_words, destinations, fences, markdown
from service.guards.active_model import LINK_LABEL, MAX_KEY_CHARS, Active, Kind, Patch, Spans, key_of
from service.guards.active_tags import Tags
from service.guards.markdown import Autolink, Block, BlockKind, Code, Definition, Inline, Link, Wikilink
from service.guards.markdown.blocks import Scan, scan

_MAYBE: Final = re.compile(
    r"!\[|<[A-Za-z%]|\]:|`\s*(?:\w{0,3}\$?=|VIEW)|\\style|\\href|\\csname|onload|TQ_|excalidraw-plugin|\\[xu]|(?:```|~~~)[^\n`]*[\w{&\\]"
    r"|\]\(\s*<?\s*(?!https?://)(?:[/\\]|[^\n()\[\]]{0,200}?[:&\\%])",
    re.IGNORECASE,
)
"""Without one of these nothing is active. Most texts of plain words have none."""

_TABLE_RULE: Final = re.compile(r"^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t|:-]*)?$", re.MULTILINE)
_CELL: Final = re.compile(r"(?:[^|\n\\]|\\[^\n]|\\$)+")
_TEMPLATE: Final = re.compile("<%")
_TEXT: Final = frozenset({BlockKind.PARAGRAPH, BlockKind.HEADING, BlockKind.HTML})


def may_hold_any(text: str) -> bool:
    """Whether it is worth looking. A quick look that says yes too often and never no by mistake."""
    return _MAYBE.search(text) is not None


MAX_FOUND: Final = 10_000
"""Active things in one note. Nobody has so many; looking through more would take too long."""


class TooMany(Exception):
    """There are more than `MAX_FOUND`."""


@dataclass(frozen=True, slots=True)
class Scanned:
    """A text with its blocks, in each of the ways in which readers may read it."""

    text: str
    readings: tuple[tuple[str, Scan], ...]

    @property
    def blocks(self) -> Sequence[Block]:
        """As most readers have them."""
        return self.readings[0][1].blocks

    @property
    def definitions(self) -> list[tuple[str, str]]:
        """Label and destination of each link definition, in order."""
        return [(definition.label, definition.destination) for definition in self.readings[0][1].definitions]


def scanned(text: str) -> Scanned:
    """Read a text, in time linear in its length."""
    return Scanned(text, tuple((reading, scan(reading)) for reading in markdown.readings(text)))


def find(text: str) -> list[Active]:
    """Everything active in `text`, by where it starts. Takes time linear in its length. Raises as `compare`."""
    return compare(scanned(""), scanned(text))[1]


def compare(old: Scanned, new: Scanned) -> tuple[list[Active], list[Active]]:
    """What is active in each of two texts, by where it starts; left out are blocks that both begin or end with.

    Raises:
        TooMany: there is more than anybody could look through.
    """
    was, now = _Found(), _Found()
    was.add(_templates(old.text))
    now.add(_templates(new.text))
    is_alike = old.definitions == new.definitions and len(old.readings) == len(new.readings)
    for number in range(max(len(old.readings), len(new.readings))):
        one, other = old.readings[number : number + 1], new.readings[number : number + 1]
        shift = len(new.text) - len(old.text)
        head, tail = _common(one[0][1].blocks, other[0][1].blocks, shift) if is_alike else (0, 0)
        for found, readings in ((was, one), (now, other)):
            for text, read in readings:
                found.add(_Looker(text, read).look(read.blocks[head : len(read.blocks) - tail]))
    return was.in_order(), now.in_order()


def _common(old: Sequence[Block], new: Sequence[Block], shift: int) -> tuple[int, int]:
    """How many blocks two texts begin and, beyond those, end with, where the second is longer by `shift`."""
    shorter = min(len(old), len(new))
    head = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    tail = 0
    while tail < shorter - head:
        one, other = old[-1 - tail], new[-1 - tail]
        if (one.kind, one.start + shift, one.text, one.info) != (other.kind, other.start, other.text, other.info):
            break
        tail += 1
    return head, tail


class _Found:
    """What was found, each once."""

    def __init__(self) -> None:
        self._found: dict[tuple[Kind, int], Active] = {}

    def add(self, found: Iterable[Active]) -> None:
        for one in found:
            self._found[one.kind, one.start] = one
            if len(self._found) > MAX_FOUND:
                raise TooMany

    def in_order(self) -> list[Active]:
        return sorted(self._found.values(), key=lambda one: (one.start, -one.end))


def _templates(text: str) -> Iterator[Active]:
    """Templater's commands, which it finds everywhere."""
    for found in _TEMPLATE.finditer(text):
        at = found.start()
        closing = text.find("%>", at, at + MAX_KEY_CHARS)
        key = text[at : closing if closing >= 0 else at + MAX_KEY_CHARS]
        yield Active(Kind.TEMPLATE, key, at, at + 2, (Patch(at + 1, at + 1, "\\"),))


def code_spans(text: str) -> list[tuple[int, int]]:
    """Where code and front matter stand, sorted: what the last resort leaves alone."""
    spans: list[tuple[int, int]] = []
    for block, pieces in markdown.document(text):
        if block.kind in _TEXT:
            spans += [(piece.start, piece.end) for piece in pieces if isinstance(piece, Code)]
        elif block.kind in (BlockKind.FENCED_CODE, BlockKind.INDENTED_CODE, BlockKind.FRONTMATTER):
            spans.append((block.start, block.end))
    return spans


class _Looker:
    """One look at one reading of a text."""

    def __init__(self, text: str, scan: Scan, depth: int = 0) -> None:
        self._text, self._all, self._depth = text, scan.definitions, depth
        self._definitions: dict[str, Definition] = {}
        for definition in scan.definitions:
            self._definitions.setdefault(definition.label, definition)
        self._tags = Tags(text)

    def look(self, blocks: Sequence[Block]) -> Iterator[Active]:
        """What is active in some of its blocks and in all of its definitions."""
        for block in blocks:
            if block.kind is BlockKind.FENCED_CODE:
                yield from self._fence(block)
            elif block.kind is BlockKind.FRONTMATTER:
                for (start, end), key in active_words.properties(self._text, block.start, block.end):
                    yield Active(Kind.PROPERTY, key_of(key), start, end, (Patch(start, start, "text-"),))
            elif block.kind in _TEXT:
                for readers in self._readers(block):
                    for piece in readers:
                        yield from self._piece(piece)
                    yield from self._tags.in_block(block, readers)
                    yield from self._commands(block, readers)
        for definition in self._all:
            if destinations.has_forbidden_scheme(definition.destination):
                at = definition.start
                yield Active(Kind.LINK, key_of(definition.destination), at, definition.end, (Patch(at, at, "\\"),))

    def _commands(self, block: Block, pieces: Sequence[Inline]) -> Iterator[Active]:
        """TeX that sets styles or leads somewhere, whether or not it stands between dollars: they may be anywhere."""
        code: Spans | None = None
        for start, end in active_words.commands(block.text) if self._text.count("$") > 1 else ():
            code = code or Spans([(piece.start, piece.end) for piece in pieces if isinstance(piece, Code)])
            at = block.start + start
            if not code.holds(at):
                key = key_of(block.text[start : end + MAX_KEY_CHARS].split("$")[0])
                yield Active(Kind.MATHS, key, at, block.start + end, (Patch(at + 1, at + 1, " "),))

    def _readers(self, block: Block) -> Iterator[Sequence[Inline]]:
        """The pieces of a block as different readers have them; what one of them takes for active is active."""
        yield markdown.inlines(block.text, block.start, self._definitions)
        if block.kind is BlockKind.PARAGRAPH and "`" in block.text and _TABLE_RULE.search(block.text):
            # The bars of a table come first, even within code (GitHub Flavored Markdown 4.10).
            cells = (
                markdown.inlines(cell[0], block.start + cell.start(), self._definitions)
                for cell in _CELL.finditer(block.text)
            )
            yield [piece for found in cells for piece in found]

    def _fence(self, block: Block) -> Iterator[Active]:
        start, end = block.info_span
        body = block.text[end - block.start :]
        if (
            fences.runs(self._text[start:end], body)
            or fences.runs(block.info, body)
            or self._is_active_within(fences.rendered(block.info, body))
        ):
            key = self._text[start:end] + body
            yield Active(Kind.BLOCK, key, block.start, block.end, (Patch(start, start, "text "),))

    def _is_active_within(self, body: str) -> bool:
        """Whether something in a block would be active if a plugin renders it as Markdown."""
        if not may_hold_any(body):
            return False
        if self._depth >= fences.MAX_NESTING:
            return True
        return any(
            next(_Looker(text, scan, self._depth + 1).look(scan.blocks), None) is not None
            for text, scan in scanned(body).readings
        )

    def _piece(self, piece: Inline) -> Iterator[Active]:
        match piece:
            case Link(is_image=True) if destinations.is_loaded_from_elsewhere(piece.destination):
                yield Active(Kind.IMAGE, key_of(piece.destination), piece.start, piece.end, self._as_link(piece))
            case Link(is_image=False) if destinations.has_forbidden_scheme(piece.destination):
                yield self._as_text(piece)
            case Wikilink(is_embed=True) if destinations.is_loaded_from_elsewhere(piece.target.partition("|")[0]):
                patches = (Patch(piece.start, piece.start + 1, ""),)
                yield Active(Kind.IMAGE, key_of(piece.target.partition("|")[0]), piece.start, piece.end, patches)
            case Autolink() if destinations.has_forbidden_scheme(piece.destination):
                at = piece.start
                yield Active(Kind.LINK, key_of(piece.destination), at, piece.end, (Patch(at, at, "\\"),))
            case Code():
                yield from self._code(piece)

    def _as_link(self, image: Link) -> tuple[Patch, ...]:
        """An image's `!` goes; where the address may not even be linked to, `\\` takes its place."""
        at, (label_start, label_end) = image.start, image.label
        if image.reference is None and destinations.has_forbidden_scheme(image.destination):
            return (Patch(at, at + 1, "\\"),)
        if self._text[label_start:label_end].strip():
            return (Patch(at, at + 1, ""),)
        return (Patch(at, at + 1, ""), Patch(label_start, label_end, LINK_LABEL))

    def _as_text(self, link: Link) -> Active:
        at, after_label = link.start, link.label[1] + 1
        patches = [Patch(at, at, "\\")]
        if link.reference is not None and after_label < link.end:  # [label][reference]: each half may be a link
            patches.append(Patch(after_label, after_label, "\\"))
        by_reference = link.reference is not None
        return Active(Kind.LINK, key_of(link.destination), at, link.end, tuple(patches), by_reference)

    def _code(self, code: Code) -> Iterator[Active]:
        """An inline script or query of Dataview: what comes first in a code span tells."""
        written = self._text[code.start : code.end]
        ticks = len(written) - len(written.lstrip("`"))
        inner = written[ticks : len(written) - ticks]
        if (offset := fences.inline_script(inner)) is not None:
            at, text = code.start + ticks + offset, " "
        elif (offset := fences.inline_query(inner)) is not None:
            at, text = code.start + ticks + offset, "text "
        else:
            return
        yield Active(Kind.SCRIPT, code.text[:MAX_KEY_CHARS], code.start, code.end, (Patch(at, at, text),))
