"""Pieces within a paragraph or heading: code, HTML, links, images, wikilinks (CommonMark 6, Obsidian help "Internal links").

One pass from left to right over what may begin or end a piece; what failed once is remembered, so that no text takes more
than linear time. Emphasis, entities and bare addresses are text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from service.guards.markdown import entities, html, targets
from service.guards.markdown.model import Autolink, Code, Definition, Inline, Link, Markup, Span, Unseen, Wikilink

_MARKS: Final = re.compile(r"`+|\\[\s\S]?|<|!\[|\[|\]")
_TICKS: Final = re.compile(r"`+")
_LINE_END: Final = re.compile(r"\r?\n")
_ADDRESS: Final = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\x00-\x20<>]*+)>")
_MAILBOX: Final = re.compile(
    r"<([a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]++@"
    r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*)>"
)
_UNSEEN: Final = (
    ("<!--", Markup.COMMENT, "-->"),
    ("<?", Markup.PROCESSING, "?>"),
    ("<![CDATA[", Markup.CDATA, "]]>"),
    ("<!", Markup.DECLARATION, ">"),
)
_SHORT_COMMENT: Final = re.compile(r"<!---?>")
_DECLARATION: Final = re.compile(r"<![A-Za-z]")


def inlines(text: str, offset: int, definitions: Mapping[str, Definition]) -> tuple[Inline, ...]:
    """The pieces of `text`, placed `offset` further on; ordered by start, outermost first.

    Args:
        text: of a block, as `Block.text` has it.
        offset: where the block starts.
        definitions: the document's, by normalised label.
    """
    first = _MARKS.search(text)
    return _Reader(text, offset, definitions).read(first.start()) if first else ()


@dataclass(slots=True)
class _Target:
    destination: str
    span: Span
    title: str
    reference: str | None = None


@dataclass(slots=True)
class _Reader:
    text: str
    offset: int
    definitions: Mapping[str, Definition]
    found: list[Inline] = field(default_factory=list)
    openers: list[int] = field(default_factory=list)
    """Where the brackets stand that are open: those of an image at their `!`."""
    last_opener: int = -1
    inactive: int = 0
    """How many of the openers stand before a link: no link may hold another, so they open none (images may)."""
    ticks: dict[int, list[int]] | None = None
    """Where the runs of backticks of each length stand; None until the first is met."""
    missing: set[str] = field(default_factory=set)
    """Closing marks that do not occur any more."""
    parentheses: targets.Parentheses = field(default_factory=targets.Parentheses)
    wiki_end: int = -1
    wiki_line_end: int = -1

    def read(self, at: int) -> tuple[Inline, ...]:
        text, search = self.text, _MARKS.search
        while mark := search(text, at):
            start, at = mark.span()
            match text[start]:
                case "`":
                    at = self._code(start, at)
                case "<":
                    at = self._pointed(start)
                case "]":
                    at = self._close(start)
                case "[" | "!":
                    self._open(start, at)
        self.found.sort(key=lambda piece: (piece.start, -piece.end))
        return tuple(self.found)

    # ---- code ------------------------------------------------------------------------------------------------------------

    def _code(self, start: int, end: int) -> int:
        """Take the code span that the backticks `text[start:end]` open, if another run of that length closes it."""
        if self.ticks is None:
            self.ticks = {}
            for run in _TICKS.finditer(self.text, start):
                self.ticks.setdefault(run.end() - run.start(), []).append(run.start())
        length = end - start
        places = self.ticks.get(length, [])
        following = bisect_left(places, end)
        if following == len(places):
            return end
        closing = places[following]
        self.found.append(Code(start + self.offset, closing + length + self.offset, _code_text(self.text[end:closing])))
        return closing + length

    # ---- what begins with < ----------------------------------------------------------------------------------------------

    def _pointed(self, start: int) -> int:
        text, offset = self.text, self.offset
        if address := _ADDRESS.match(text, start):
            self.found.append(Autolink(start + offset, address.end() + offset, address[1]))
            return address.end()
        if mailbox := _MAILBOX.match(text, start):
            self.found.append(Autolink(start + offset, mailbox.end() + offset, f"mailto:{mailbox[1]}"))
            return mailbox.end()
        if tag := html.tag(text, start, offset):
            self.found.append(tag)
            return tag.end - offset
        return self._unseen(start)

    def _unseen(self, start: int) -> int:
        """Take a comment or the like; else the `<` is text."""
        text = self.text
        for opening, kind, closing in _UNSEEN:
            if not text.startswith(opening, start) or (
                kind is Markup.DECLARATION and not _DECLARATION.match(text, start)
            ):
                continue
            short = _SHORT_COMMENT.match(text, start)
            end = short.end() if short else self._after(closing, start + len(opening))
            if end:
                self.found.append(Unseen(start + self.offset, end + self.offset, kind))
            return end or start + 1
        return start + 1

    def _after(self, closing: str, at: int) -> int:
        """Where the first `closing` from `at` on ends; 0 when there is none."""
        if closing in self.missing:
            return 0
        found = self.text.find(closing, at)
        if found < 0:
            self.missing.add(closing)
            return 0
        return found + len(closing)

    # ---- brackets --------------------------------------------------------------------------------------------------------

    def _open(self, start: int, end: int) -> None:
        self.openers.append(start)
        self.last_opener = start
        if self.text.startswith("[", end) and self._is_wikilink(end + 1):
            self.found.append(
                Wikilink(
                    start + self.offset,
                    self.wiki_end + 2 + self.offset,
                    end - start == 2,
                    self.text[end + 1 : self.wiki_end],
                )
            )

    def _is_wikilink(self, at: int) -> bool:
        """Whether the name from `at` on ends in its line with `]]`, and no other `[[` comes first."""
        text = self.text
        if self.wiki_end < at:
            self.wiki_end = text.find("]]", at)
            self.wiki_end = len(text) if self.wiki_end < 0 else self.wiki_end
        if self.wiki_line_end < at:
            self.wiki_line_end = text.find("\n", at)
            self.wiki_line_end = len(text) if self.wiki_line_end < 0 else self.wiki_line_end
        return at < self.wiki_end < self.wiki_line_end and not self._has_opening(at)

    def _has_opening(self, at: int) -> bool:
        return self.text.find("[[", at - 1, self.wiki_end) >= 0

    def _close(self, at: int) -> int:
        """Take the link or image that the bracket at `at` may end; else it is text."""
        if not self.openers:
            return at + 1
        opener = self.openers.pop()
        is_inactive = len(self.openers) < self.inactive
        self.inactive = min(self.inactive, len(self.openers))
        is_image = self.text[opener] == "!"
        if is_inactive and not is_image:
            return at + 1
        link = self._inline(opener, at) or self._reference(opener, at)
        if link is None:
            return at + 1
        self.found.append(link)
        if not is_image:
            self.inactive = len(self.openers)
        return link.end - self.offset

    def _inline(self, opener: int, at: int) -> Link | None:
        """`[label](destination "title")`, whose first bracket closes at `at`."""
        text = self.text
        if not text.startswith("(", at + 1):
            return None
        start = targets.past_blanks(text, at + 2)
        target = targets.destination(text, start, self.parentheses)
        if target is None:
            return None
        span, end = target
        stop = targets.past_blanks(text, end)
        title = targets.title(text, stop) if stop > end else None
        if title:
            stop = targets.past_blanks(text, title[1])
        if not text.startswith(")", stop):
            return None
        return self._link(
            opener,
            at,
            stop + 1,
            _Target(
                entities.markdown(text[span[0] : span[1]]),
                (span[0] + self.offset, span[1] + self.offset),
                entities.markdown(title[0]) if title else "",
            ),
        )

    def _link(self, opener: int, at: int, end: int, target: _Target) -> Link:
        start = opener + self.offset
        is_image = self.text[opener] == "!"
        return Link(
            start,
            end + self.offset,
            is_image,
            (start + 1 + is_image, at + self.offset),
            target.destination,
            target.span,
            target.title,
            target.reference,
        )

    def _reference(self, opener: int, at: int) -> Link | None:
        """`[label][reference]`, `[reference][]` or `[reference]`, whose first bracket closes at `at`."""
        if not self.definitions:
            return None
        start = opener + 1 + (self.text[opener] == "!")
        full = targets.label(self.text, at + 1)
        end = full[1] if full else at + 1
        if full and full[0]:
            written = full[0]
        elif self.last_opener > opener or at - start > targets.MAX_LABEL_CHARS:
            return None
        else:
            written = self.text[start:at]
        definition = self.definitions.get(targets.normalised(written))
        if definition is None:
            return None
        span = definition.destination_span
        target = _Target(definition.destination, span, definition.title, definition.label)
        return self._link(opener, at, end, target)


def _code_text(written: str) -> str:
    """What a code span shows: line ends are blanks, and one blank goes from each side if anything is left then."""
    text = _LINE_END.sub(" ", written)
    return text[1:-1] if text[:1] == text[-1:] == " " and text.strip(" ") else text
