"""The blocks that hold text or code: how each begins, and one while it may go on (CommonMark 4). Knows no containers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from service.guards.markdown import entities
from service.guards.markdown.model import Block, BlockKind, Nesting, Span

_FRONTMATTER: Final = re.compile(r"\ufeff?---[ \t]*\r?\n")
_FRONTMATTER_END: Final = re.compile(r"^---[ \t]*(?=\r?$)", re.MULTILINE)
_HASHES: Final = re.compile(r"#{1,6}(?=[ \t]|\Z)[ \t]*")
_FENCE: Final = re.compile(r"(`{3,}|~{3,})[ \t]*")
_FENCE_END: Final = re.compile(r"(?:`{3,}|~{3,})[ \t]*\Z")
_FENCE_LINE: Final = re.compile(r"\n {0,3}(?:```|~~~)")
_FOOTNOTE: Final = re.compile(r"^[ \t>]*+\[\^[^\]\s]++\]:", re.MULTILINE)
_RUNS: Final = {mark: re.compile(rf"[{mark} \t]*") for mark in ("*", "_", "-")}


@dataclass(slots=True)
class Leaf:
    """A block that may go on. A paragraph that held nothing but definitions is empty: it starts where it ends."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    fence: str = ""
    info: str = ""
    info_span: Span = (0, 0)
    closing: re.Pattern[str] | None = None
    """What ends an HTML block, in the line it stands in."""
    is_text: bool = False
    """Of a paragraph: whether it was looked at and holds more than definitions."""
    nesting: Nesting = (0, 0, False)
    marks: list[Span] = field(default_factory=list)
    """Where the marks of quotes stand on its further lines."""

    def shown(self, text: str) -> str:
        """Its part of `text`, with spaces for the marks of quotes."""
        if not self.marks:
            return text[self.start : self.end]
        pieces: list[str] = []
        at = self.start
        for start, end in self.marks:
            if start >= self.end:
                break
            if start >= at:
                pieces += text[at:start], " " * (end - start)
                at = end
        return "".join(pieces) + text[at : self.end]

    def block(self, text: str) -> Block:
        """What it is now that it has ended."""
        return Block(
            self.kind, self.start, self.end, self.shown(text), self.level, self.info, self.info_span, *self.nesting
        )

    def closes_fence(self, text: str, start: int, end: int) -> bool:
        """Whether `text[start:end]` ends this fence: as many of the same mark or more, and nothing else."""
        return text.startswith(self.fence, start, end) and _FENCE_END.match(text, start, end) is not None

    def hop_in_fence(self, text: str, at: int) -> int:
        """Take the lines of this fence from `at` up to the next that may close it; where that begins."""
        found = _FENCE_LINE.search(text, at - 1)
        stop = found.start() + 1 if found else len(text)
        if stop > at:
            self.end = stop - (text.endswith("\n", at, stop) + text.endswith("\r\n", at, stop))
        return stop

    def has_footnote(self, text: str) -> bool:
        """Whether this is a paragraph that holds the text of a footnote: `[^1]: …`."""
        if self.kind is not BlockKind.PARAGRAPH or text.find("[^", self.start, self.end) < 0:
            return False
        return _FOOTNOTE.search(text, self.start, self.end) is not None


def frontmatter(text: str) -> Block | None:
    """The properties at the very top, be it behind a byte order mark (Obsidian help, Properties)."""
    opening = _FRONTMATTER.match(text)
    closing = opening and _FRONTMATTER_END.search(text, opening.end())
    if not closing:
        return None
    start = text.index("-", 0, 2)
    return Block(BlockKind.FRONTMATTER, start, closing.end(), text[start : closing.end()])


def heading(text: str, start: int, end: int) -> tuple[str, int] | None:
    """Text and level of the heading `text[start:end]`, if it begins with up to six `#`; its marks are spaces."""
    hashes = _HASHES.match(text, start, end)
    if hashes is None:
        return None
    left = hashes.end()
    body = text[left:end].rstrip(" \t")
    bare = body.rstrip("#")
    if bare[-1:] in {"", " ", "\t"}:
        body = bare
    shown = " " * (left - start) + body + " " * (end - left - len(body))
    return shown, len(hashes[0].rstrip(" \t"))


def no_rule(text: str, start: int, end: int) -> int | None:
    """None if `text[start:end]` is a rule; else up to where there is none of this mark for certain."""
    mark = text[start]
    run = _RUNS[mark].match(text, start, end)
    stop = run.end() if run else start
    return None if stop == end and text.count(mark, start, end) >= 3 else stop


def fence(text: str, start: int, end: int) -> Leaf | None:
    """The fence that `text[start:end]` opens. No backtick may stand in the info string of one made of backticks."""
    opening = _FENCE.match(text, start, end)
    if opening is None:
        return None
    left = opening.end()
    info = text[left:end].rstrip(" \t")
    if "`" in info and opening[1][0] == "`":
        return None
    span = (left, left + len(info)) if info else (opening.end(1), opening.end(1))
    return Leaf(BlockKind.FENCED_CODE, start, end, 0, opening[1], entities.markdown(info), span)
