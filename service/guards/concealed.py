"""What a note's Markdown and HTML hide: comments, link definitions nobody uses, unseen elements, entities for invisible letters.

Markdown decides what is HTML at all (a block of it, or a tag among text); that is laid out in a text of the same length with
everything else blanked, and HTML5's tokens are read from there. So no place needs translating. Source of the rules:
docs/explanation/guards.md.
"""

from __future__ import annotations

import enum
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from service.guards import invisible, markdown, references, suspicion, tables
from service.guards.markdown import Block, BlockKind, Document, Link, Tag
from service.guards.markup import elements, html
from service.guards.markup.elements import Reach

Span = tuple[int, int]

_TEXT: Final = frozenset({BlockKind.PARAGRAPH, BlockKind.HEADING})
_CODE: Final = frozenset({BlockKind.FRONTMATTER, BlockKind.FENCED_CODE, BlockKind.INDENTED_CODE})
_SAYS_NOTHING: Final = frozenset({"", "#"})
"""Destinations of a link definition that is there for its label or title alone."""
_FILLER: Final = "x"
_MARK: Final = "\ufeff"
_NAME: Final = re.compile(r"[a-z][a-z0-9:._-]*", re.IGNORECASE)
_VISIBLE_RAW_TEXT: Final = re.compile(r"<(?:textarea|xmp|plaintext)", re.IGNORECASE)
"""Elements in which tags are shown as text. How far one goes that nothing closes is a matter of lists and quotes."""


class Hidden(enum.Enum):
    """Why a piece of a note is left out of its view. The value is the word of an answer's header."""

    INVISIBLE = "invisible"
    COMMENT = "comment"
    ELEMENT = "element"
    DEFINITION = "definition"


@dataclass(slots=True)
class Concealed:
    """Parts of a text that are not seen; in no order, they may overlap and hold line breaks."""

    spans: list[Span] = field(default_factory=list)
    counts: Counter[Hidden] = field(default_factory=Counter)

    def add(self, kind: Hidden, spans: Sequence[Span], count: int) -> None:
        """Note that `count` things of `kind` stand at `spans`."""
        if spans:
            self.spans.extend(spans)
            self.counts[kind] += count

    def joined(self, other: Concealed) -> Concealed:
        """What either reading of one text hides; counted is the one that hides more, since most of it is the same."""
        return Concealed([*self.spans, *other.spans], max(self.counts, other.counts, key=Counter.total))


NOTHING: Final = Concealed()
"""Of a text that hides nothing."""


class OutOfTimeError(Exception):
    """Looking has taken longer than it may."""


Check = Callable[[], None]
"""Raises OutOfTimeError when it is time to stop; called every now and then."""


def find(text: str, check: Check, *, may_hold_markup: bool = True) -> Concealed:
    """What of `text` is not seen, in time linear in its length. Leaving it out may put together something else: ask again.

    Args:
        check: called every now and then; may raise to stop.
        may_hold_markup: False where Markdown and HTML are known to hide nothing (`suspicion.may_hide_by_markup`).

    Raises:
        OutOfTimeError: as `check` does.

    Invisible letters and markup are looked for in one text, since a letter may be all that keeps a line from being blank.
    Where renderers differ (on what ends a line, or a table), what either hides is hidden.
    """
    found = Concealed()
    for reading, document in _readings(text) if may_hold_markup else ():
        found = found.joined(_find(reading, document, check))
    letters = invisible.spans(text) if suspicion.may_hold_invisible(text.encode("utf-8", "surrogatepass")) else []
    found.add(Hidden.INVISIBLE, letters, len(letters))
    return found


def _readings(text: str) -> Iterator[tuple[str, Document]]:
    """What renderers make of lone carriage returns, and of a byte order mark that is no file's first bytes."""
    yield from markdown.documents(text)
    if text.startswith(_MARK):
        yield from markdown.documents(_FILLER + text[1:])


def _find(text: str, document: Document, check: Check) -> Concealed:
    check()
    found = Concealed()
    if "<" in text:
        found = _Html(text, document, check).find()
    _find_definitions(document, found)
    ended = tables.ended(text, document) if "|" in text else None
    if ended is not None:
        found = found.joined(_find(ended, markdown.document(ended), check))
    hidden = references.spans(text, _decoded_parts(document))
    found.add(Hidden.INVISIBLE, hidden, len(hidden))
    return found


def _find_definitions(document: Document, found: Concealed) -> None:
    """CommonMark 4.7: the first of a label counts, and only if something refers to it. Footnotes are no definitions."""
    seen: set[str] = set()
    spans: list[Span] = []
    for one in document.definitions:
        is_read = one.label in document.used and one.label not in seen
        seen.add(one.label)
        if not is_read and (one.has_title or one.destination.strip() in _SAYS_NOTHING):
            spans.append((one.start, one.end))
    found.add(Hidden.DEFINITION, spans, len(spans))


def _decoded_parts(document: Document) -> Iterator[tuple[int, int, bool]]:
    """Where entities stand for characters: (start, end, whether as in HTML)."""
    for block, pieces in document:
        if block.kind in _CODE:
            continue
        if block.kind is BlockKind.HTML:
            yield block.start, block.end, True
            continue
        at = block.start
        for piece in pieces:
            if isinstance(piece, markdown.Code | Tag) and piece.start >= at:
                yield at, piece.start, False
                if isinstance(piece, Tag):
                    yield piece.start, piece.end, True
                at = piece.end
        yield at, block.end, False


class _Html:
    """The HTML of one text."""

    def __init__(self, text: str, document: Document, check: Check) -> None:
        self._text = text
        self._check = check
        self._document = document
        self._starts = [block.start for block in document.blocks]
        self._layers = _Layers(document.blocks)

    def find(self) -> Concealed:
        """What comments and elements hide."""
        written = _only_html(self._text, self._document)
        found = self._hidden(self._read(written, self._layers.sections()))
        if self._layers.are_deep and _VISIBLE_RAW_TEXT.search(written):
            found = found.joined(self._hidden(self._read(written, self._layers.leaves())))
        return found

    def _hidden(self, tokens: list[html.Token]) -> Concealed:
        found = Concealed()
        comments = {(token.start, token.end) for token in tokens if isinstance(token, html.Comment)}
        comments.update(
            (piece.start, piece.end)
            for _, pieces in self._document
            for piece in pieces
            if isinstance(piece, markdown.Unseen)
        )
        found.add(Hidden.COMMENT, sorted(comments), len({start for start, _ in comments}))
        said = [*self._said_in_closing(tokens)]
        found.add(Hidden.COMMENT, said, len(said))
        unfinished = [(token.start, token.end) for token in tokens if isinstance(token, html.Unfinished)]
        found.add(Hidden.ELEMENT, unfinished, len(unfinished))
        unseen = elements.unseen(self._text, tokens, self._end_of_block, self._check)
        found.add(Hidden.ELEMENT, unseen.spans, unseen.count)
        return found

    def _said_in_closing(self, tokens: Iterable[html.Token]) -> Iterator[Span]:
        """What an end tag says besides its name: browsers drop it (HTML, 13.2.2, end-tag-with-attributes), as they drop
        one whose name is none."""
        for token in tokens:
            if isinstance(token, html.End):
                name_end = token.start + len("</") + len(token.name)
                if not _NAME.fullmatch(token.name):
                    yield token.start, token.end
                elif self._text[name_end : token.end - 1].strip():
                    yield name_end, token.end - 1

    def _read(self, written: str, sections: Iterable[Span]) -> list[html.Token]:
        tokens: list[html.Token] = []
        for start, end in sections:
            for token in self._tokens(written, start, end):
                tokens.append(token)
                if len(tokens) % elements.TOKENS_PER_CHECK == 0:
                    self._check()
        return tokens

    def _tokens(self, written: str, start: int, end: int) -> Iterator[html.Token]:
        """The tokens of a section; one that runs over the end of its block swallows the section."""
        if written.find("<", start, end) < 0:
            return
        for token in html.tokens(written, start, end):
            block = self._document.blocks[bisect_right(self._starts, token.start) - 1]
            if token.end > block.end:
                is_comment = isinstance(token, html.Comment)
                yield html.Comment(token.start, end) if is_comment else html.Unfinished(token.start, end)
                return
            yield token

    def _end_of_block(self, offset: int, reach: Reach) -> int:
        return self._layers.end(bisect_right(self._starts, offset) - 1, reach)


def _only_html(text: str, document: Document) -> str:
    """`text` with everything but its HTML replaced, character for character."""
    parts: list[str] = []
    at = 0
    for block, pieces in document:
        if block.kind is BlockKind.HTML:
            parts += _FILLER * (block.start - at), block.text
            at = block.end
        elif block.kind in _TEXT:
            pictures = [piece.label for piece in pieces if isinstance(piece, Link) and piece.is_image]
            for piece in pieces:
                if isinstance(piece, Tag | markdown.Unseen) and piece.start >= at:
                    if isinstance(piece, Tag) and piece.name in html.RAW_TEXT and _is_within(piece, pictures):
                        continue
                    inside = block.text[piece.start - block.start : piece.end - block.start]
                    parts += _FILLER * (piece.start - at), inside
                    at = piece.end
    parts.append(_FILLER * (len(text) - at))
    return "".join(parts)


def _is_within(tag: Tag, pictures: list[Span]) -> bool:
    """Whether a tag stands in the alternative text of a picture, and so is written nowhere."""
    at = bisect_right(pictures, (tag.start, len(pictures))) - 1
    return at >= 0 and tag.start < pictures[at][1]


class _Layers:
    """Which blocks lie in which quote or list item, as far as an unclosed element needs to know.

    Obsidian renders a top-level block by itself, and a whole list or quote is one.
    """

    def __init__(self, blocks: tuple[Block, ...]) -> None:
        self._blocks = blocks
        self._container_ends: list[int] = []
        self._section_ends: list[int] = []
        self.are_deep = any(block.depth for block in blocks)

    def sections(self) -> Iterator[Span]:
        """The top-level blocks, (start, end), in order."""
        start = -1
        for at, block in enumerate(self._blocks):
            start = block.start if start < 0 else start
            if not self._goes_on(at):
                yield start, block.end
                start = -1

    def leaves(self) -> Iterator[Span]:
        """All blocks, (start, end), in order."""
        return ((block.start, block.end) for block in self._blocks)

    def end(self, at: int, reach: Reach) -> int:
        """Where an element ends that begins in the block of this index and is never closed."""
        block = self._blocks[at]
        if block.depth == 0:
            return block.end
        if reach is Reach.SECTION:
            if not self._section_ends:
                self._section_ends = self._ends_of_sections()
            return self._section_ends[at]
        is_text = block.kind is BlockKind.PARAGRAPH and not block.in_item  # a tight list item has no paragraph
        if block.kind is BlockKind.HEADING or (is_text and reach is Reach.LEAF):
            return block.end
        if not self._container_ends:
            self._container_ends = self._ends()
        return self._container_ends[at]

    def _goes_on(self, at: int) -> bool:
        """Whether the next block lies in the same top-level list or quote, or beside it."""
        return at + 1 < len(self._blocks) and self._blocks[at].depth > 0 and self._blocks[at + 1].depth > 0

    def _ends_of_sections(self) -> list[int]:
        ends = [block.end for block in self._blocks]
        for at in range(len(ends) - 2, -1, -1):
            if self._goes_on(at):
                ends[at] = ends[at + 1]
        return ends

    def _ends(self) -> list[int]:
        """For each block, where the innermost container ends that it lies in."""
        ends = [block.end for block in self._blocks]
        waiting: list[int] = []
        for at, block in enumerate(self._blocks):
            while waiting and block.kept < self._blocks[waiting[-1]].depth:
                ends[waiting.pop()] = self._blocks[at - 1].end
            waiting.append(at)
        for left in waiting:
            ends[left] = self._blocks[-1].end
        return ends
