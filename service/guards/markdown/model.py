"""What a scan of Markdown finds: blocks, the pieces within them, link definitions. Every position is an offset in the raw text."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

Span: TypeAlias = tuple[int, int]
"""Where something starts and where it ends (exclusive), as offsets in the raw text."""

Nesting: TypeAlias = tuple[int, int, bool]
"""Of a block: `depth`, `kept` and `in_item`."""


class BlockKind(enum.Enum):
    """What a block is. Containers (quotes, lists) are no blocks: what lies in them is."""

    FRONTMATTER = "front matter"
    FENCED_CODE = "fenced code"
    INDENTED_CODE = "indented code"
    HTML = "html"
    DEFINITION = "definition"
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    RULE = "rule"

    __hash__ = object.__hash__
    """Sets of kinds are asked for each block; the hash of `Enum` is made in Python, each time anew."""


@dataclass(frozen=True, slots=True)
class Block:
    """A leaf of the document.

    Args:
        kind: what it is. A table, a footnote and the text of a task are paragraphs.
        start: where its first character that is not white space stands.
        end: where its last line ends, without the line break.
        text: as long as the raw text from `start` to `end`; the quote marks on its lines are spaces, and so are the
            marks of a heading. White space and line breaks are as in the file.
        level: of a heading 1 to 6; of an HTML block which of the seven start conditions opened it (CommonMark 4.6).
        info: of a fence, the info string with escapes and entities decoded.
        info_span: where the info string stands; empty and right behind the fence when there is none.
        depth: how many quotes and list items it lies in.
        kept: in how many of those the block before lies as well.
        in_item: whether the innermost of them is a list item.
    """

    kind: BlockKind
    start: int
    end: int
    text: str
    level: int = 0
    info: str = ""
    info_span: Span = (0, 0)
    depth: int = 0
    kept: int = 0
    in_item: bool = False


@dataclass(frozen=True, slots=True)
class Code:
    """A code span with its backticks."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Tag:
    """An HTML tag among text, written as CommonMark 6.6 asks. Names are in lower case, values decoded; first one wins."""

    start: int
    end: int
    name: str
    is_closing: bool
    attributes: tuple[tuple[str, str], ...]


class Markup(enum.Enum):
    """HTML that is neither text nor tag."""

    COMMENT = "comment"
    PROCESSING = "processing instruction"
    DECLARATION = "declaration"
    CDATA = "cdata"


@dataclass(frozen=True, slots=True)
class Unseen:
    """A comment, processing instruction, declaration or CDATA section among text: a browser shows none of it."""

    start: int
    end: int
    kind: Markup


@dataclass(frozen=True, slots=True)
class Autolink:
    """`<https://…>` or `<name@host>`; the destination of the latter has `mailto:` in front."""

    start: int
    end: int
    destination: str


@dataclass(frozen=True, slots=True)
class Link:
    """A link or an image, inline or by reference. What stands in its label is found, too, as pieces of their own.

    Args:
        is_image: whether it starts with `!`.
        label: the span between the first pair of brackets.
        destination: decoded of escapes and entities; of a reference, that of the definition.
        destination_span: where the destination stands as written (without `<>`); of a reference, in the definition.
        title: decoded; empty when there is none.
        reference: the normalised label of the definition it stands for; None for an inline one.
    """

    start: int
    end: int
    is_image: bool
    label: Span
    destination: str
    destination_span: Span
    title: str
    reference: str | None = None


@dataclass(frozen=True, slots=True)
class Wikilink:
    """`[[target]]` or `![[target]]`: what stands between the brackets, alias and all.

    Obsidian alone reads it; a CommonMark link over the same characters is found besides.
    """

    start: int
    end: int
    is_embed: bool
    target: str


Inline: TypeAlias = Code | Tag | Unseen | Autolink | Link | Wikilink


@dataclass(frozen=True, slots=True)
class Definition:
    """A link reference definition.

    Args:
        label: normalised as CommonMark 4.7 says: white space folded, case folded.
        destination: decoded of escapes and entities.
        destination_span: where it stands as written, without `<>`.
        title: decoded; empty when there is none.
        has_title: whether a title is written, be it an empty one.
    """

    start: int
    end: int
    label: str
    destination: str
    destination_span: Span
    title: str
    has_title: bool


@dataclass(frozen=True, slots=True)
class Document:
    """One scan of a text, so that nobody scans it twice.

    Args:
        blocks: in order, disjoint; what is in none of them is white space, a quote mark or the mark of a list item.
        inlines: for each block its pieces, ordered by start and then outermost first; empty for what is no text.
        definitions: in order, duplicates included. The first of a label is the one that counts.
        used: the labels that some link or image refers to.
    """

    blocks: tuple[Block, ...]
    inlines: tuple[tuple[Inline, ...], ...]
    definitions: tuple[Definition, ...]
    used: frozenset[str] = field(default_factory=frozenset)

    def __iter__(self) -> Iterator[tuple[Block, tuple[Inline, ...]]]:
        """Each block with its pieces."""
        return zip(self.blocks, self.inlines, strict=True)
