"""The blocks of a text: one pass over its lines, after the parsing strategy of CommonMark 0.31 (appendix, phase 1).

Added for Obsidian: front matter at the top, and footnotes (`[^1]: text`), which are paragraphs and hold what is indented
below them. Lines end with \\n or \\r\\n and with nothing else; for a carriage return by itself see `readings`. No recursion:
nesting is a list.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from service.guards.markdown import definitions, html, leaves
from service.guards.markdown.containers import CODE_INDENT, Containers
from service.guards.markdown.leaves import Leaf
from service.guards.markdown.model import Block, BlockKind, Definition

_PLAIN_LINES: Final = re.compile(r"(?:[^\x00-\x20#>*+_=~`<0-9-].*\n)++")
"""Whole lines that can be nothing but text when they stand in no container."""
_BLANK_LINES: Final = re.compile(r"(?:[ \t]*\r?\n)++")
_UNINDENTED: Final = frozenset({BlockKind.PARAGRAPH, BlockKind.FENCED_CODE})
_UNDERLINE: Final = re.compile(r"(?:(=)+|-+)[ \t]*\Z")


@dataclass(slots=True)
class Scan:
    """Blocks in order, and the definitions among them."""

    blocks: list[Block] = field(default_factory=list)
    definitions: list[Definition] = field(default_factory=list)


def scan(text: str) -> Scan:
    """The blocks of `text`, in time linear in its length. Never raises."""
    scanner = _Scanner(text)
    scanner.run()
    return scanner.result


class _Scanner:
    __slots__ = ("_inner", "_leaf", "_leaves", "_no_rule", "_text", "result")

    def __init__(self, text: str) -> None:
        self._text = text
        self._inner = Containers(text)
        self._leaf: Leaf | None = None
        self._no_rule: tuple[str, int] = ("", 0)
        """In this line, up to where a rule of which mark is known to fail: `- - - - a` is looked at once."""
        self._leaves = {"#": self._heading, "`": self._fence, "~": self._fence, "<": self._html} | dict.fromkeys(
            "*-_", self._rule
        )
        self.result = Scan()

    def run(self) -> None:
        text, length = self._text, len(self._text)
        at = self._top()
        while at < length:
            if not len(self._inner):
                at = self._hop(at)
                if at >= length:
                    break
            following = text.find("\n", at)
            if following < 0:
                self._line(at, length)
                break
            self._line(at, following - (following > at and text[following - 1] == "\r"))
            at = following + 1
        self._close()

    def _top(self) -> int:
        """Take the properties; where the rest begins, without a byte order mark."""
        text = self._text
        properties = leaves.frontmatter(text)
        if properties is None:
            return int(text.startswith("\ufeff"))
        self.result.blocks.append(properties)
        line_end = text.find("\n", properties.end)
        return line_end + 1 if line_end >= 0 else len(text)

    # ---- whole runs of lines in no container -----------------------------------------------------------------------------

    def _hop(self, at: int) -> int:
        """Go over lines that need no look at each: blank ones, plain text, the inside of a fence."""
        leaf = self._leaf
        if leaf is None:
            blank = _BLANK_LINES.match(self._text, at)
            at = blank.end() if blank else at
        elif leaf.kind is BlockKind.FENCED_CODE:
            return leaf.hop_in_fence(self._text, at)
        elif leaf.kind is not BlockKind.PARAGRAPH or leaf.start == leaf.end:
            return at
        plain = _PLAIN_LINES.match(self._text, at)
        if plain is None:
            return at
        stop = plain.end() - 1
        stop -= self._text[stop - 1] == "\r"
        if leaf is None:
            self._leaf = Leaf(BlockKind.PARAGRAPH, at, stop, nesting=self._inner.nesting())
        else:
            leaf.end = stop
        return plain.end()

    # ---- one line --------------------------------------------------------------------------------------------------------

    def _line(self, start: int, end: int) -> None:
        inner = self._inner
        inner.begin_line(start, end)
        self._no_rule = ("", 0)
        matched = inner.match(takes_indented=self._leaf is None or self._leaf.kind not in _UNINDENTED)
        goes_on = matched == len(inner)
        if self._leaf is not None and self._leaf.kind is not BlockKind.PARAGRAPH:
            if goes_on and self._continues(self._leaf):
                return
            self._close()
        if inner.is_blank():
            self._end_at_blank(matched)
            return
        in_paragraph = goes_on and self._leaf is not None
        while not self._takes_leaf(matched, in_paragraph=in_paragraph):
            if not self._takes_container(matched, in_paragraph=in_paragraph):
                self._text_line(matched)
                return
            matched, in_paragraph = len(inner), False
            if inner.is_blank():
                return

    def _end_at_blank(self, matched: int) -> None:
        """End what a blank line ends. What is indented below a footnote is more of it, and no code."""
        leaf = self._leaf
        goes_on = matched == len(self._inner)
        is_footnote = goes_on and leaf is not None and leaf.has_footnote(self._text)
        self._close()
        self._inner.keep(matched)
        if is_footnote:
            self._inner.open_footnote()

    def _continues(self, leaf: Leaf) -> bool:
        """Whether the line belongs to code or HTML that is open; take it then."""
        inner = self._inner
        if leaf.kind is BlockKind.INDENTED_CODE:
            if inner.is_blank():
                self._note_marks(leaf)
                return True
            if inner.indent < CODE_INDENT or inner.has_doubtful_tab():
                return False
        elif leaf.kind is BlockKind.HTML and leaf.closing is None and inner.is_blank():
            return False
        self._extend(leaf)
        if self._closes(leaf):
            self._close()
        return True

    def _closes(self, leaf: Leaf) -> bool:
        """Whether the line is the last of a fence or of an HTML block."""
        inner = self._inner
        if leaf.kind is BlockKind.FENCED_CODE:
            return inner.indent < CODE_INDENT and leaf.closes_fence(self._text, inner.at, inner.end)
        return leaf.closing is not None and leaf.closing.search(self._text, inner.prefix_end, inner.end) is not None

    def _text_line(self, matched: int) -> None:
        """A line of text: it goes on with the paragraph, be it lazily, or begins one."""
        if self._leaf is not None:
            self._extend(self._leaf)
        else:
            self._begin(Leaf(BlockKind.PARAGRAPH, self._inner.at, self._inner.end), matched)

    def _takes_container(self, matched: int, *, in_paragraph: bool) -> bool:
        """Whether a quote or a list item begins here; open it then."""
        inner = self._inner
        if inner.indent >= CODE_INDENT:
            return False
        if inner.at_quote():
            self._close()
            inner.keep(matched)
            inner.open_quote()
            return True
        mark = self._text[inner.at]
        if mark not in "*+-0123456789" or not inner.open_item(matched, in_paragraph=in_paragraph):
            return False
        self._close()
        return True

    def _takes_leaf(self, matched: int, *, in_paragraph: bool) -> bool:
        """Whether a block that is no paragraph begins here; take the line then."""
        inner = self._inner
        if inner.indent >= CODE_INDENT:
            if self._leaf is not None:
                return False
            if inner.has_doubtful_tab():
                return self._html(matched)
            self._begin(Leaf(BlockKind.INDENTED_CODE, inner.at, inner.end), matched)
            return True
        mark = self._text[inner.at]
        if mark in "-=" and in_paragraph and self._setext():
            return True
        opens = self._leaves.get(mark)
        return opens is not None and opens(matched)

    # ---- kinds of blocks -------------------------------------------------------------------------------------------------

    def _heading(self, matched: int) -> bool:
        found = leaves.heading(self._text, self._inner.at, self._inner.end)
        if found is not None:
            self._emit(BlockKind.HEADING, matched, *found)
        return found is not None

    def _setext(self) -> bool:
        """Make the open paragraph a heading if this is its underline and something is left of it besides definitions.

        If nothing is, the line is not done with: it is a rule, or the first of the paragraph that goes on.
        """
        inner, leaf = self._inner, self._leaf
        underline = _UNDERLINE.match(self._text, inner.at, inner.end)
        if underline is None or leaf is None:
            return False
        self._take_definitions(leaf)
        if leaf.start == leaf.end:
            return False
        gap = self._text[leaf.end : inner.start] + " " * (inner.at - inner.start)
        shown = leaf.shown(self._text) + gap + " " * (inner.end - inner.at)
        level = 1 if underline[1] else 2
        heading = Block(BlockKind.HEADING, leaf.start, inner.end, shown, level, "", (0, 0), *leaf.nesting)
        self.result.blocks.append(heading)
        self._leaf = None
        return True

    def _rule(self, matched: int) -> bool:
        inner = self._inner
        mark, stop = self._no_rule
        if mark == self._text[inner.at] and inner.at < stop:
            return False
        fails = leaves.no_rule(self._text, inner.at, inner.end)
        if fails is not None:
            self._no_rule = (self._text[inner.at], fails)
            return False
        self._emit(BlockKind.RULE, matched, self._text[inner.at : inner.end])
        return True

    def _fence(self, matched: int) -> bool:
        leaf = leaves.fence(self._text, self._inner.at, self._inner.end)
        if leaf is not None:
            self._begin(leaf, matched)
        return leaf is not None

    def _is_in_text(self) -> bool:
        """Whether a paragraph is open and holds more than definitions; take them if not.

        CommonMark's own programs let definitions count as a paragraph here, others do not, and the specification leaves
        it open: HTML is what is no code.
        """
        leaf = self._leaf
        if leaf is None or leaf.is_text:
            return leaf is not None
        shown = leaf.shown(self._text)
        leaf.is_text = definitions.leading(shown, 0)[1] < len(shown)
        if not leaf.is_text:
            self._take_definitions(leaf)
        return leaf.is_text

    def _html(self, matched: int) -> bool:
        inner = self._inner
        condition = html.block_start(self._text, inner.at, inner.end, in_paragraph=self._is_in_text())
        if not condition:
            return False
        leaf = Leaf(BlockKind.HTML, inner.at, inner.end, condition, closing=html.block_end(condition))
        self._begin(leaf, matched)
        if leaf.closing is not None and leaf.closing.search(self._text, inner.at, inner.end):
            self._close()
        return True

    # ---- the open block --------------------------------------------------------------------------------------------------

    def _begin(self, leaf: Leaf, matched: int) -> None:
        """Open a block at this line, in the outermost `matched` containers."""
        self._close()
        self._inner.keep(matched)
        self._inner.fill()
        leaf.nesting = self._inner.nesting()
        self._leaf = leaf

    def _emit(self, kind: BlockKind, matched: int, shown: str, level: int = 0) -> None:
        """Take a block of one line."""
        inner = self._inner
        self._close()
        inner.keep(matched)
        inner.fill()
        self.result.blocks.append(Block(kind, inner.at, inner.end, shown, level, "", (0, 0), *inner.nesting()))

    def _extend(self, leaf: Leaf) -> None:
        if leaf.start == leaf.end:  # a paragraph of which all was definitions
            leaf.start = self._inner.at
        else:
            self._note_marks(leaf)
        leaf.end = self._inner.end

    def _note_marks(self, leaf: Leaf) -> None:
        inner = self._inner
        if inner.prefix_end > inner.start:
            leaf.marks.append((inner.start, inner.prefix_end))

    def _close(self) -> None:
        leaf, self._leaf = self._leaf, None
        if leaf is None:
            return
        if leaf.kind is BlockKind.PARAGRAPH:
            self._take_definitions(leaf)
        if leaf.start < leaf.end:
            self.result.blocks.append(leaf.block(self._text))

    def _take_definitions(self, leaf: Leaf) -> None:
        """Take the definitions that a paragraph begins with. If it has nothing else, it is left empty, at its end."""
        if not self._text.startswith("[", leaf.start):
            return
        shown, offset = leaf.shown(self._text), leaf.start
        found, rest = definitions.leading(shown, offset)
        for definition in found:
            start, end = definition.start, definition.end
            block = Block(
                BlockKind.DEFINITION, start, end, shown[start - offset : end - offset], 0, "", (0, 0), *leaf.nesting
            )
            self.result.blocks.append(block)
            depth, _, in_item = leaf.nesting
            leaf.nesting = (depth, depth, in_item)
        self.result.definitions.extend(found)
        leaf.start = offset + rest
