"""Where renderers differ over what is code: the other ways to read a text, so that a guard can believe the worst of all.

The scanner reads CommonMark. Obsidian also knows comments (`%%`), maths (`$`, `$$`) and tables, each of which may end inside
what CommonMark takes for code; and a carriage return by itself ends a line for CommonMark, but not for us. Whatever one of
the readings does not call code is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from service.guards.markdown.document import document
from service.guards.markdown.model import Block, BlockKind, Code, Document, Inline, Span

_LONE_RETURN: Final = re.compile(r"\r(?!\n)")
_PAIRED: Final = ("%%", "$$")
"""What Obsidian opens and closes a comment and a block of maths with, over any number of blocks."""
_PAIR_MARKS: Final = re.compile(r"\\?(?:%{2,}|\${2,})")
_DOLLAR: Final = re.compile(r"(?<!\\)\$")
_TABLE: Final = re.compile(r"^[ \t]*+\|?+(?:[ \t]*+:?+-++:?+[ \t]*+\|?+)++\r?$", re.MULTILINE)
"""The line below a table's head (GFM, tables), and some that are none."""
_CELL_END: Final = re.compile(r"(?<!\\)\||\n")
_LAZY: Final = re.compile(r"\n(?: {4}| {0,3}\t)")
"""A line that may go on with a paragraph in two containers or more, or end it: some programs end it there."""
_CODE_MARKS: Final = re.compile(r"`|~(?=~~)|(?<=~~)~|(?<=~)~(?=~)|^(?:[ \t]{0,3}>)*+(?:\t| {4})", re.MULTILINE)
_CODE: Final = frozenset({BlockKind.FENCED_CODE, BlockKind.INDENTED_CODE})
_NO_TEXT: Final = frozenset({BlockKind.FRONTMATTER, BlockKind.RULE})


def readings(text: str) -> tuple[str, ...]:
    """The texts to scan instead of `text`, each as long as it is, most often itself alone.

    A guard that means to find all that is hidden or active looks for it in each of them and takes all it finds. What it
    finds has its place in `text`; the characters there are to be taken from `text`.
    """
    plain = _plain(text)
    return tuple(dict.fromkeys(reading for way in plain for reading in (way, _without_doubtful_code(way))))


def documents(text: str) -> Iterator[tuple[str, Document]]:
    """`readings` and what each of them holds; none is scanned twice, nor before it is asked for."""
    for way in _plain(text):
        read = document(way)
        yield way, read
        reading = _without_doubtful_code(way, read)
        if reading != way:
            yield reading, document(reading)


def _plain(text: str) -> tuple[str, ...]:
    """What a carriage return by itself may be: a line end, or a blank."""
    if "\r" in text and _LONE_RETURN.search(text):
        return _LONE_RETURN.sub("\n", text), _LONE_RETURN.sub(" ", text)
    return (text,)


def _without_doubtful_code(text: str, read: Document | None = None) -> str:
    """`text` with other characters for the marks of all that may be no code. `read` is what it holds, if that is known."""
    has_spans = "`" in text and any(mark in text for mark in ("|", "$", "]:", "\n    ", "\t"))
    if not has_spans and not any(mark in text for mark in _PAIRED):
        return text
    if not _CODE_MARKS.search(text):
        return text
    pieces: list[str] = []
    at = 0
    for start, end in _doubts(text, read or document(text)):
        pieces += text[at:start], _CODE_MARKS.sub(_letters, text[start:end])
        at = end
    return "".join(pieces) + text[at:]


def _letters(found: re.Match[str]) -> str:
    """As many characters that mark nothing; quote marks stay."""
    mark = found[0]
    kept = mark.rfind(">") + 1
    return mark[:kept] + "x" * (len(mark) - kept)


@dataclass(slots=True)
class _Pairs:
    """Which of the paired marks may be open. One that another parser may not count leaves its kind open for good."""

    odd: set[str] = field(default_factory=set)
    unclear: set[str] = field(default_factory=set)

    def close_in(self, text: str) -> bool:
        """Whether one that may be open may close in `text`."""
        return any(mark in text for mark in self.odd | self.unclear)

    def read(self, text: str, *, is_clear: bool) -> None:
        """Count the marks of a text that is no code."""
        for found in _PAIR_MARKS.findall(text):
            mark = found[-1] * 2
            if found == mark and is_clear:
                self.odd ^= {mark}
            else:
                self.unclear.add(mark)


def _doubts(text: str, read: Document) -> Iterator[Span]:
    """Where code may be none, in order: to the end of a block, or of the text if a comment or maths may close in it.

    Behind such a place everything is in doubt, since what ends this code begins another one.
    """
    pairs = _Pairs()
    before: Block | None = None
    for block, pieces in read:
        if block.kind in _CODE:
            if pairs.close_in(block.text):
                yield text.rfind("\n", 0, block.start) + 1, len(text)
                return
        elif block.kind not in _NO_TEXT:
            doubt, is_endless = _doubt_in(text, block, pieces, pairs, is_table=_is_table(block, before))
            if is_endless:
                yield doubt, len(text)
                return
            if _is_indented_behind_definition(text, block, before):
                doubt = block.start
            if doubt < block.end:
                yield doubt, block.end
        before = block


def _is_table(block: Block, before: Block | None) -> bool:
    """Whether a paragraph may be a table, or the rows of one: some take `a | b` and `---`, a heading, for its head."""
    if before is not None and before.kind is BlockKind.HEADING and "|" in before.text:
        return True
    return "|" in block.text and "-" in block.text and _TABLE.search(block.text) is not None


def _is_indented_behind_definition(text: str, block: Block, before: Block | None) -> bool:
    """Whether some take the first line of a paragraph for code, so that the rest begins anew."""
    if block.kind is not BlockKind.PARAGRAPH or before is None or before.kind is not BlockKind.DEFINITION:
        return False
    gap = text[before.end : block.start]
    return "\t" in gap or "    " in gap


def _doubt_in(
    text: str, block: Block, pieces: tuple[Inline, ...], pairs: _Pairs, *, is_table: bool
) -> tuple[int, bool]:
    """Where the first doubtful code of a text starts, and whether the doubt goes on behind the block."""
    at, first, has_dollar = block.start, block.end, False
    is_clear = block.kind is not BlockKind.HTML and all(_is_clear(block, piece) for piece in pieces)
    for piece in pieces:
        if not isinstance(piece, Code) or piece.start < at:
            continue
        before = block.text[at - block.start : piece.start - block.start]
        code = block.text[piece.start - block.start : piece.end - block.start]
        pairs.read(before, is_clear=is_clear)
        has_dollar = has_dollar or _DOLLAR.search(before) is not None
        if pairs.close_in(code):
            return min(first, piece.start), True
        is_split = is_table and _CELL_END.search(code) is not None
        is_split = is_split or (block.depth > 1 and _LAZY.search(text, piece.start, piece.end) is not None)
        if is_split or (has_dollar and "$" in code):
            first = min(first, piece.start)
        at = piece.end
    pairs.read(block.text[at - block.start :], is_clear=is_clear)
    return first, False


def _is_clear(block: Block, piece: Inline) -> bool:
    """Whether no paired mark stands in HTML or in a link, where another parser may not count it."""
    if isinstance(piece, Code):
        return True
    text = block.text[piece.start - block.start : piece.end - block.start]
    return not any(mark in text for mark in _PAIRED)
