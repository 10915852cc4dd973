"""The blocks of a text: one pass over its lines, after the parsing strategy of CommonMark 0.31 (appendix, phase 1).

Added for Obsidian: front matter at the top, and footnotes (`[^1]: text`), which are paragraphs. Lines end with \\n or \\r\\n
and with nothing else; for a carriage return by itself see `readings`. No recursion: nesting is a list.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Final

from service.guards.markdown import definitions, entities, html
from service.guards.markdown.containers import CODE_INDENT, Containers
from service.guards.markdown.model import Block, BlockKind, Definition, Span

_FRONTMATTER: Final = re.compile(r"\ufeff?---[ \t]*\r?\n")
_FRONTMATTER_END: Final = re.compile(r"^---[ \t]*(?=\r?$)", re.MULTILINE)
_PLAIN_LINES: Final = re.compile(r"(?:[^\x00-\x20#>*+_=~`<0-9-].*\n)++")
"""Whole lines that can be nothing but text when they stand in no container."""
_BLANK_LINES: Final = re.compile(r"(?:[ \t]*\r?\n)++")
_HASHES: Final = re.compile(r"#{1,6}(?=[ \t]|\Z)[ \t]*")
_FENCE: Final = re.compile(r"(`{3,}|~{3,})[ \t]*")
_FENCE_END: Final = re.compile(r"(`{3,}|~{3,})[ \t]*\Z")
_FENCE_LINE: Final = re.compile(r"\n {0,3}(?:```|~~~)")
_UNDERLINE: Final = re.compile(r"(?:(=)+|-+)[ \t]*\Z")
_RULES: Final = {mark: re.compile(rf"[{mark} \t]*") for mark in ("*", "_", "-")}


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


@dataclass(slots=True)
class _Leaf:
    """A block that may go on."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    fence: str = ""
    info: str = ""
    info_span: Span = (0, 0)
    closing: re.Pattern[str] | None = None
    is_text: bool = False
    """Of a paragraph: whether it was looked at and holds more than definitions."""
    nesting: tuple[int, int, bool] = (0, 0, False)
    """See `Containers.nesting`."""
    marks: list[Span] = field(default_factory=list)
    """Where the marks of quotes stand on its further lines."""


class _Scanner:
    __slots__ = ("_inner", "_leaf", "_leaves", "_rule_fails", "_text", "result")

    def __init__(self, text: str) -> None:
        self._text = text
        self._inner = Containers(text)
        self._leaf: _Leaf | None = None
        self._rule_fails: tuple[str, int] = ("", 0)
        """In this line, up to where a rule of which mark is known to fail: `- - - - a` is looked at once."""
        self._leaves = {"#": self._atx, "`": self._fence, "~": self._fence, "<": self._html} | dict.fromkeys(
            "*-_", self._rule
        )
        self.result = Scan()

    def run(self) -> None:
        text, length = self._text, len(self._text)
        at = self._frontmatter()
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

    def _frontmatter(self) -> int:
        """Take the properties at the very top; else nothing but a byte order mark."""
        text = self._text
        opening = _FRONTMATTER.match(text)
        closing = opening and _FRONTMATTER_END.search(text, opening.end())
        bom = int(text.startswith("\ufeff"))
        if not closing:
            return bom
        end = closing.end()
        self.result.blocks.append(Block(BlockKind.FRONTMATTER, bom, end, text[bom:end]))
        line_end = text.find("\n", end)
        return line_end + 1 if line_end >= 0 else len(text)

    # ---- whole runs of lines in no container -----------------------------------------------------------------------------

    def _hop(self, at: int) -> int:
        """Go over lines that need no look at each: blank ones, plain text, the inside of a fence."""
        leaf = self._leaf
        if leaf is None:
            blank = _BLANK_LINES.match(self._text, at)
            at = blank.end() if blank else at
        elif leaf.kind is BlockKind.FENCED_CODE:
            return self._hop_in_fence(leaf, at)
        elif leaf.kind is not BlockKind.PARAGRAPH or leaf.start == leaf.end:
            return at
        plain = _PLAIN_LINES.match(self._text, at)
        if plain is None:
            return at
        stop = plain.end() - 1
        stop -= self._text[stop - 1] == "\r"
        if leaf is None:
            self._leaf = _Leaf(BlockKind.PARAGRAPH, at, stop, nesting=self._inner.nesting())
        else:
            leaf.end = stop
        return plain.end()

    def _hop_in_fence(self, leaf: _Leaf, at: int) -> int:
        """Go to the next line that may close the fence."""
        found = _FENCE_LINE.search(self._text, at - 1)
        if found and found.start() + 1 == at:
            return at
        stop = found.start() + 1 if found else len(self._text)
        leaf.end = stop
        if self._text.endswith("\n", at, stop):
            leaf.end -= 1 + self._text.endswith("\r\n", at, stop)
        return stop

    # ---- one line --------------------------------------------------------------------------------------------------------

    def _line(self, start: int, end: int) -> None:
        inner = self._inner
        inner.begin_line(start, end)
        self._rule_fails = ("", 0)
        matched = inner.match()
        goes_on = matched == len(inner)
        if self._leaf is not None and self._leaf.kind is not BlockKind.PARAGRAPH:
            if goes_on and self._continues(self._leaf):
                return
            self._close()
        if inner.is_blank():
            self._close()
            inner.keep(matched)
            return
        in_paragraph = goes_on and self._leaf is not None
        while not self._takes_leaf(matched, in_paragraph=in_paragraph):
            if not self._takes_container(matched, in_paragraph=in_paragraph):
                self._text_line(matched)
                return
            matched, in_paragraph = len(inner), False
            if inner.is_blank():
                return

    def _continues(self, leaf: _Leaf) -> bool:
        """Whether the line belongs to code or HTML that is open; take it then."""
        inner = self._inner
        if leaf.kind is BlockKind.INDENTED_CODE:
            if inner.is_blank():
                self._note_marks(leaf)
                return True
            if inner.indent < CODE_INDENT:
                return False
        elif leaf.kind is BlockKind.HTML and leaf.closing is None and inner.is_blank():
            return False
        self._extend(leaf)
        if self._closes(leaf):
            self._close()
        return True

    def _closes(self, leaf: _Leaf) -> bool:
        """Whether the line is the last of a fence or of an HTML block."""
        inner = self._inner
        if leaf.closing is not None:
            return leaf.closing.search(self._text, inner.prefix_end, inner.end) is not None
        if leaf.kind is not BlockKind.FENCED_CODE:
            return False
        if inner.indent >= CODE_INDENT or not self._text.startswith(leaf.fence, inner.at, inner.end):
            return False
        return _FENCE_END.match(self._text, inner.at, inner.end) is not None

    def _text_line(self, matched: int) -> None:
        """A line of text: it goes on with the paragraph, be it lazily, or begins one."""
        if self._leaf is not None:
            self._extend(self._leaf)
        else:
            self._begin(BlockKind.PARAGRAPH, matched)

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
            self._begin(BlockKind.INDENTED_CODE, matched)
            return True
        mark = self._text[inner.at]
        if mark in "-=" and in_paragraph and self._setext():
            return True
        opens = self._leaves.get(mark)
        return opens is not None and opens(matched)

    # ---- kinds of blocks -------------------------------------------------------------------------------------------------

    def _atx(self, matched: int) -> bool:
        inner, text = self._inner, self._text
        hashes = _HASHES.match(text, inner.at, inner.end)
        if hashes is None:
            return False
        left, end = hashes.end(), inner.end
        body = text[left:end].rstrip(" \t")
        bare = body.rstrip("#")
        if bare[-1:] in {"", " ", "\t"}:
            body = bare
        level = len(hashes[0].rstrip(" \t"))
        shown = " " * (left - inner.at) + body + " " * (end - left - len(body))
        self._emit(matched, Block(BlockKind.HEADING, inner.at, end, shown, level))
        return True

    def _setext(self) -> bool:
        """Make the open paragraph a heading if this is its underline and something is left of it besides definitions.

        If nothing is, the line is not done with: it is a rule, or the first of the paragraph that goes on.
        """
        inner, leaf = self._inner, self._leaf
        underline = _UNDERLINE.match(self._text, inner.at, inner.end)
        if underline is None or leaf is None:
            return False
        start, shown = self._without_definitions(leaf)
        if not shown:
            leaf.start = leaf.end
            return False
        gap = self._text[leaf.end : inner.start] + " " * (inner.at - inner.start)
        shown += gap + " " * (inner.end - inner.at)
        self.result.blocks.append(
            Block(BlockKind.HEADING, start, inner.end, shown, 1 if underline[1] else 2, "", (0, 0), *leaf.nesting)
        )
        self._leaf = None
        return True

    def _rule(self, matched: int) -> bool:
        inner, text = self._inner, self._text
        mark = text[inner.at]
        if mark == self._rule_fails[0] and inner.at < self._rule_fails[1]:
            return False
        run = _RULES[mark].match(text, inner.at, inner.end)
        stop = run.end() if run else inner.at
        if stop < inner.end or text.count(mark, inner.at, inner.end) < 3:
            self._rule_fails = (mark, stop)
            return False
        self._emit(matched, Block(BlockKind.RULE, inner.at, inner.end, text[inner.at : inner.end]))
        return True

    def _fence(self, matched: int) -> bool:
        inner, text = self._inner, self._text
        fence = _FENCE.match(text, inner.at, inner.end)
        if fence is None:
            return False
        left = fence.end()
        info = text[left : inner.end].rstrip(" \t")
        if "`" in info and fence[1][0] == "`":
            return False
        leaf = self._begin(BlockKind.FENCED_CODE, matched)
        leaf.fence = fence[1]
        leaf.info = entities.markdown(info)
        leaf.info_span = (left, left + len(info)) if info else (fence.end(1), fence.end(1))
        return True

    def _is_in_text(self) -> bool:
        """Whether a paragraph is open and holds more than definitions; take those.

        CommonMark's own programs let definitions count as a paragraph here, others do not, and the specification leaves
        it open: HTML is what is no code.
        """
        leaf = self._leaf
        if leaf is None or leaf.is_text:
            return leaf is not None
        start, shown = self._without_definitions(leaf)
        leaf.start, leaf.is_text = start, bool(shown)
        if not shown:
            leaf.start = leaf.end
        return leaf.is_text

    def _html(self, matched: int) -> bool:
        inner = self._inner
        condition = html.block_start(self._text, inner.at, inner.end, in_paragraph=self._is_in_text())
        if not condition:
            return False
        leaf = self._begin(BlockKind.HTML, matched)
        leaf.level = condition
        leaf.closing = html.block_end(condition)
        if leaf.closing is not None and leaf.closing.search(self._text, inner.at, inner.end):
            self._close()
        return True

    # ---- the open block --------------------------------------------------------------------------------------------------

    def _begin(self, kind: BlockKind, matched: int) -> _Leaf:
        """Open a block at this line, in the outermost `matched` containers."""
        inner = self._inner
        self._close()
        inner.keep(matched)
        inner.fill()
        self._leaf = leaf = _Leaf(kind, inner.at, inner.end, nesting=inner.nesting())
        return leaf

    def _emit(self, matched: int, block: Block) -> None:
        """Take a block of one line."""
        self._close()
        self._inner.keep(matched)
        self._inner.fill()
        depth, kept, in_item = self._inner.nesting()
        self.result.blocks.append(replace(block, depth=depth, kept=kept, in_item=in_item))

    def _extend(self, leaf: _Leaf) -> None:
        if leaf.start == leaf.end:  # a paragraph of which all was definitions
            leaf.start = self._inner.at
        else:
            self._note_marks(leaf)
        leaf.end = self._inner.end

    def _note_marks(self, leaf: _Leaf) -> None:
        inner = self._inner
        if inner.prefix_end > inner.start:
            leaf.marks.append((inner.start, inner.prefix_end))

    def _close(self) -> None:
        leaf, self._leaf = self._leaf, None
        if leaf is None:
            return
        if leaf.kind is BlockKind.PARAGRAPH:
            start, shown = self._without_definitions(leaf)
            if shown:
                self.result.blocks.append(
                    Block(BlockKind.PARAGRAPH, start, leaf.end, shown, 0, "", (0, 0), *leaf.nesting)
                )
            return
        shown = self._shown(leaf)
        self.result.blocks.append(
            Block(leaf.kind, leaf.start, leaf.end, shown, leaf.level, leaf.info, leaf.info_span, *leaf.nesting)
        )

    def _without_definitions(self, leaf: _Leaf) -> tuple[int, str]:
        """Take the definitions that a paragraph begins with; where the rest starts, and its text."""
        shown = self._shown(leaf)
        if not shown.startswith("["):
            return leaf.start, shown
        found, rest = definitions.leading(shown, leaf.start)
        for definition in found:
            start, end = definition.start, definition.end
            text = shown[start - leaf.start : end - leaf.start]
            self.result.blocks.append(Block(BlockKind.DEFINITION, start, end, text, 0, "", (0, 0), *leaf.nesting))
        self.result.definitions.extend(found)
        return leaf.start + rest, shown[rest:]

    def _shown(self, leaf: _Leaf) -> str:
        """The text of a block, with spaces for the marks of quotes."""
        text = self._text
        if not leaf.marks:
            return text[leaf.start : leaf.end]
        pieces: list[str] = []
        at = leaf.start
        for start, end in leaf.marks:
            if start >= leaf.end:
                break
            if end <= leaf.start:
                continue
            pieces += text[at:start], " " * (end - start)
            at = end
        return "".join(pieces) + text[at : leaf.end]
