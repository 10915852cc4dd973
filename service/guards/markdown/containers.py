"""Where one is in a line, and in which quotes and list items (CommonMark 5.1 and 5.2): columns, tabs and the open containers.

A quote that is open wants its `>` on each line, an item wants its indent. Only marks move `prefix_end`; white space is told
by columns alone, so that no tab is ever split. Blank lines go through any number of items at once: 300 nested lists and as
many blank lines take no longer than the lines are long.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import Final

from service.guards.markdown.model import Nesting

_BLANKS: Final = re.compile(r"[ \t]*")
_BULLET_OR_NUMBER: Final = re.compile(r"[*+-]|([0-9]{1,9})[.)]")
_QUOTE: Final = 0
TAB_WIDTH: Final = 4
CODE_INDENT: Final = 4


class Containers:
    """The place in the current line, and the open quotes and items, outermost first.

    `at` and `column` are those of the next character that is not white space, `indent` the columns before it that no
    container has taken, `prefix_end` the offset behind the last mark of a container.
    """

    __slots__ = ("_base", "_fresh", "_kept", "_open", "_quotes", "at", "column", "end", "prefix_end", "start", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.start = self.end = self.at = self.column = self.prefix_end = 0
        self._base = 0
        self._open: list[int] = []
        """Of an item, the columns it wants; of a quote, `_QUOTE`."""
        self._quotes: list[int] = []
        self._fresh = False
        self._kept = 0

    def __len__(self) -> int:
        return len(self._open)

    @property
    def indent(self) -> int:
        return self.column - self._base

    def is_blank(self) -> bool:
        """Whether nothing but white space is left of the line."""
        return self.at >= self.end

    def has_doubtful_tab(self) -> bool:
        """Whether the indent of what comes next has a tab in a quote within a quote.

        Some programs count the columns of such a tab from another place than CommonMark does, so that it is no code.
        """
        return len(self._quotes) > 1 and self.text.find("\t", self.prefix_end, self.at) >= 0

    def begin_line(self, start: int, end: int) -> None:
        """Go to the line `text[start:end]`."""
        self.start = self.prefix_end = start
        self.end = end
        self._base = 0
        self._past_blanks(start, 0)

    def match(self, *, takes_indented: bool) -> int:
        """How many of the open containers, from the outermost, the line goes on with; go past their marks.

        Args:
            takes_indented: whether a quote goes on with a mark that is indented like code. For CommonMark it does not, for
                some of its programs it does: what such a line holds is then no code.
        """
        for depth, wanted in enumerate(self._open):
            if self.at >= self.end:
                return self._match_blank(depth)
            if wanted == _QUOTE:
                if not self.at_quote(any_indent=takes_indented):
                    return depth
                self._take_quote()
            elif self.column - self._base >= wanted:
                self._base += wanted
            else:
                return depth
        return len(self._open)

    def at_quote(self, *, any_indent: bool = False) -> bool:
        """Whether a quote mark comes next."""
        return self.text.startswith(">", self.at, self.end) and (any_indent or self.indent < CODE_INDENT)

    def keep(self, count: int) -> None:
        """Close all but the outermost `count`."""
        if count < len(self._open):
            self._kept = min(self._kept, count)
            del self._open[count:]
            del self._quotes[bisect_left(self._quotes, count) :]
            self._fresh = False

    def fill(self) -> None:
        """Note that the innermost container holds something now."""
        self._fresh = False

    def nesting(self) -> Nesting:
        """Of a block that begins: its depth, how much of that it shares with the one before, whether it lies in an item."""
        depth = len(self._open)
        kept, self._kept = self._kept, depth
        return depth, kept, depth > 0 and self._open[-1] != _QUOTE

    def open_quote(self) -> None:
        self._quotes.append(len(self._open))
        self._open.append(_QUOTE)
        self._fresh = False
        self._take_quote()

    def open_item(self, kept: int, *, in_paragraph: bool) -> bool:
        """Open a list item if its mark comes next, in the outermost `kept` containers.

        A paragraph is only interrupted by an item that is not empty and, if it is numbered, has the number 1.
        """
        found = _BULLET_OR_NUMBER.match(self.text, self.at, self.end)
        if found is None:
            return False
        end = found.end()
        if end < self.end and self.text[end] not in " \t":
            return False
        mark, before = self.column + end - self.at, self.indent
        at, column = self.at, self.column
        self._past_blanks(end, mark)
        if in_paragraph and (self.is_blank() or (found[1] is not None and int(found[1]) != 1)):
            self.at, self.column = at, column
            return False
        spaces = self.column - mark
        if self.is_blank() or not 1 <= spaces <= CODE_INDENT:
            self._base = mark + min(spaces, 1)
            spaces = 1
        else:
            self._base = self.column
        self.prefix_end = end
        self.keep(kept)
        self._open.append(before + mark - column + spaces)
        self._fresh = True
        return True

    def open_footnote(self) -> None:
        """Take for the rest of a footnote what is indented below it. Call at a blank line."""
        self._open.append(CODE_INDENT)

    def _match_blank(self, depth: int) -> int:
        """Of a blank line: items go on, save an empty one at its second line; a quote does not."""
        following = bisect_left(self._quotes, depth)
        if following < len(self._quotes):
            return self._quotes[following]
        return len(self._open) - self._fresh

    def _take_quote(self) -> None:
        at, column = self.at + 1, self.column + 1
        self.prefix_end = at
        self._base = column + (at < self.end and self.text[at] in " \t")
        self._past_blanks(at, column)

    def _past_blanks(self, at: int, column: int) -> None:
        if at >= self.end or self.text[at] not in " \t":
            self.at, self.column = at, column
            return
        found = _BLANKS.match(self.text, at, self.end)
        self.at = found.end() if found else at
        if self.text.find("\t", at, self.at) < 0:
            self.column = column + self.at - at
            return
        for mark in self.text[at : self.at]:
            column += TAB_WIDTH - column % TAB_WIDTH if mark == "\t" else 1
        self.column = column
