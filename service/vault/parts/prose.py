"""A note's text as its features see it: one scan of the Markdown, and what of it is an Obsidian comment.

A comment stands between two `%%`, within a line or over many (Obsidian help, "Basic formatting syntax"). It is text that
the owner sees when editing, so the view shows it; but no tag, task, link or heading in it counts.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from service.guards import markdown
from service.guards.markdown import Block, BlockKind, Code, Document, Inline, Span, Unseen

_MARK: Final = "%%"
_MARKS: Final = re.compile(r"%%")
_LINE_END: Final = re.compile(r"\n")
_NO_TEXT: Final = frozenset({BlockKind.FRONTMATTER, BlockKind.FENCED_CODE, BlockKind.INDENTED_CODE, BlockKind.HTML})
_TEXT: Final = frozenset({BlockKind.HEADING, BlockKind.PARAGRAPH})


@dataclass(frozen=True, slots=True)
class Prose:
    """A text and what it is made of.

    Args:
        text: as given.
        document: the scanner's; positions are offsets in `text`.
        comments: the spans of `%% … %%`, marks included, sorted and disjoint.
        line_starts: where each line begins.
    """

    text: str
    document: Document
    comments: tuple[Span, ...]
    line_starts: Sequence[int]

    def line_of(self, offset: int) -> int:
        """The line, from 1, that `text[offset]` stands in."""
        return bisect_right(self.line_starts, offset)

    def line_span(self, line: int) -> Span:
        """Where a line (from 1) stands, its line break not included."""
        start = self.line_starts[line - 1]
        end = self.line_starts[line] - 1 if line < len(self.line_starts) else len(self.text)
        return start, end - (end > start and self.text[end - 1] == "\r")

    def is_comment(self, offset: int) -> bool:
        """Whether `text[offset]` stands in a comment."""
        at = bisect_right(self.comments, offset, key=lambda span: span[0]) - 1
        return at >= 0 and offset < self.comments[at][1]

    def spoken(self) -> Iterator[tuple[Block, tuple[Inline, ...]]]:
        """Headings and paragraphs with their pieces; those that begin in a comment and end in it are left out."""
        for block, pieces in self.document:
            if block.kind in _TEXT and not (self.is_comment(block.start) and self.is_comment(block.end - 1)):
                yield block, pieces


def read(text: str, marks: Sequence[str] | None = None) -> Prose:
    """Scan a text once. Linear; never raises.

    Args:
        marks: only blocks that hold one of these, or may begin or end a comment, need their pieces; None for all.
    """
    document = markdown.document(text, None if marks is None else _holding((*marks, _MARK)))
    starts = (0, *(found.end() for found in _LINE_END.finditer(text)))
    return Prose(text, document, tuple(_comments(text, document)) if _MARK in text else (), starts)


def _holding(marks: Sequence[str]) -> Callable[[Block], bool]:
    return lambda block: any(mark in block.text for mark in marks)


def _comments(text: str, document: Document) -> Iterator[Span]:
    """From each `%%` to the next, both outside code; an odd one at the end hides all that follows, as in Obsidian."""
    codes = sorted(_code(document))
    opened: int | None = None
    at = 0
    for mark in _MARKS.finditer(text):
        while at < len(codes) and codes[at][1] <= mark.start():
            at += 1
        # Within a comment nothing is code: what ends it may stand anywhere.
        if opened is None and at < len(codes) and codes[at][0] <= mark.start():
            continue
        if opened is None:
            opened = mark.start()
        else:
            yield opened, mark.end()
            opened = None
    if opened is not None:
        yield opened, len(text)


def _code(document: Document) -> Iterator[Span]:
    """Where `%%` is no mark: in code, HTML and front matter."""
    for block, pieces in document:
        if block.kind in _NO_TEXT:
            yield block.start, block.end
        for piece in pieces:
            if isinstance(piece, Code | Unseen):
                yield piece.start, piece.end
