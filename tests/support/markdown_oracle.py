"""What markdown-it-py finds in a text, in the words of our own scanner, so that the two can be compared.

`validateLink` is overridden, since it hides `javascript:` and `file:`; so is `normalizeLink`, since destinations are
compared as they are meant, not as they are written into a page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

from markdown_it import MarkdownIt
from markdown_it.token import Token

from service.guards.markdown import Autolink, Block, BlockKind, Code, Document, Inline, Link, Wikilink

Found: TypeAlias = tuple[str, ...]
Placed: TypeAlias = tuple[str, int, int]
"""Kind, first line, line after the last."""

_KINDS = {
    "fence": BlockKind.FENCED_CODE,
    "code_block": BlockKind.INDENTED_CODE,
    "html_block": BlockKind.HTML,
    "heading_open": BlockKind.HEADING,
    "paragraph_open": BlockKind.PARAGRAPH,
    "hr": BlockKind.RULE,
}


class _Parser(MarkdownIt):
    def validateLink(self, url: str) -> bool:
        return True

    def normalizeLink(self, url: str) -> str:
        return url


class OracleFailed(Exception):
    """markdown-it-py raised on a text (4.3: an IndexError for HTML at the end of nested quotes and items)."""


class Oracle:
    """A CommonMark parser that is not ours; GFM's tables on demand."""

    def __init__(self, *, with_tables: bool = False) -> None:
        self._parser = _Parser("commonmark", {"maxNesting": 1000})
        if with_tables:
            self._parser.enable("table")

    def blocks(self, text: str) -> list[Placed]:
        """The blocks of `text` by line, with definitions."""
        env: dict[str, object] = {}
        tokens = self._parse(text, env)
        found = [
            (_KINDS[token.type].value, *token.map) for token in tokens if token.type in _KINDS and token.map is not None
        ]
        references = [*env.get("references", {}).values(), *env.get("duplicate_refs", [])]
        found += [(BlockKind.DEFINITION.value, *reference["map"]) for reference in references]
        lines = text.split("\n")
        return sorted(((kind, *_without_blanks(lines, *span)) for kind, *span in found), key=lambda placed: placed[1:])

    def inlines(self, text: str) -> list[Found]:
        """Code, HTML, links and images of `text` in order, outermost first."""
        return [piece for token in self._parse(text, {}) for piece in _pieces(token.children or [])]

    def tokens(self, text: str) -> list[Token]:
        """The parser's own tokens."""
        return self._parse(text, {})

    def comments(self, text: str) -> set[str]:
        """The HTML comments of `text` that hold a word."""
        tokens = self._parse(text, {})
        found = {token.content for token in tokens if token.type == "html_block"}
        found |= {piece[1] for token in tokens for piece in _pieces(token.children or []) if piece[0] == "html"}
        return {comment for html in found for comment in re.findall(r"<!--\w+-->", html)}

    def _parse(self, text: str, env: dict[str, object]) -> list[Token]:
        try:
            return self._parser.parse(text, env)
        except IndexError as error:
            raise OracleFailed from error


def blocks_by_line(text: str, document: Document) -> list[Placed]:
    """Our blocks as the oracle names them."""
    lines = text.split("\n")
    return [
        (
            block.kind.value,
            *_without_blanks(lines, text.count("\n", 0, block.start), text.count("\n", 0, block.end) + 1),
        )
        for block in document.blocks
    ]


def inlines_in_order(document: Document) -> list[Found]:
    """Our pieces as the oracle names them; wikilinks it does not know."""
    return [_named(block, piece) for block, pieces in document for piece in pieces if not isinstance(piece, Wikilink)]


def _named(block: Block, piece: Inline) -> Found:
    match piece:
        case Code():
            return "code", _squeezed(piece.text)
        case Autolink():
            return "link", piece.destination, ""
        case Link():
            return "image" if piece.is_image else "link", _squeezed(piece.destination), _squeezed(piece.title)
    return "html", _squeezed(block.text[piece.start - block.start : piece.end - block.start])


def _pieces(tokens: list[Token]) -> Iterator[Found]:
    for token in tokens:
        match token.type:
            case "code_inline":
                yield "code", _squeezed(token.content)
            case "html_inline":
                yield "html", _squeezed(token.content)
            case "link_open":
                yield "link", _squeezed(str(token.attrs["href"])), _squeezed(str(token.attrs.get("title", "")))
            case "image":
                yield "image", _squeezed(str(token.attrs["src"])), _squeezed(str(token.attrs.get("title", "")))
                yield from _pieces(token.children or [])


def _without_blanks(lines: list[str], first: int, last: int) -> tuple[int, int]:
    """A span of lines without blank ones at its end: whether an open block has them makes no difference."""
    while last > first + 1 and not lines[last - 1].strip(" \t\r>"):
        last -= 1
    return first, last


def _squeezed(text: str) -> str:
    """White space made one blank: the two keep the indent of lines within a piece differently, and no one sees it."""
    return re.sub(r"[ \t\r\n]+", " ", text).strip(" ")
