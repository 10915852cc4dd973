"""HTML tags that load, run or lead away, in the blocks of a note.

Judging is `active_html`'s; here is where a `<` begins a tag at all, and what to write instead of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from service.guards import active_html, destinations, markdown
from service.guards.active_html import OpenTag
from service.guards.active_model import LINK_LABEL, MAX_KEY_CHARS, Active, Kind, Patch, Spans, key_of
from service.guards.destinations import Place
from service.guards.markdown import Block, BlockKind, Code, Inline, Link, Unseen

_TAG: Final = re.compile(r"<([A-Za-z][^\s/>]*)(>)?")
_ESCAPED: Final = re.compile(r"(?<!\\)\\(?:\\\\)*+<")  # CommonMark 2.4: an odd number of backslashes
_COMMENT: Final = re.compile(r"<!--(?:-?>|[\s\S]*?(?:--!?>|\Z))")
_PLAIN_LABEL: Final = re.compile(r"[\w .,:;()/+-]{1,100}")


class Tags:
    """Looks for tags in one reading of a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._budget_chars = 3 * len(text) + 100_000  # for reading tags: each may be as long as the text

    def in_block(self, block: Block, pieces: Sequence[Inline]) -> Iterator[Active]:
        """Tags as HTML5 reads them; one inside another's attribute counts too, because readers disagree on where it ends."""
        text, start = block.text, block.start
        if not _TAG.search(text):
            return
        skipped = Spans(self._not_html(block, pieces))
        written = {piece.start for piece in pieces if isinstance(piece, markdown.Tag)}
        for found in _TAG.finditer(text):
            at = found.start() + start
            if found[2] and not active_html.is_active(found[1].lower(), ()):
                continue  # by far the most: a harmless tag without attributes
            if skipped.holds(at):
                continue
            tag = self._tag_at(text, found.start())
            if tag is None:
                continue
            is_unread = tag.is_cut or self._budget_chars < 0
            if not is_unread and not active_html.is_active(
                tag.name, _telling(tag, is_read=block.kind is BlockKind.HTML or at in written)
            ):
                continue
            end = tag.end + start
            patches = self._instead(tag, at, end) if block.kind is not BlockKind.HTML and at in written else None
            key = self._key(tag, text)
            yield Active(Kind.ELEMENT, key, at, end, patches or (Patch(at, at + 1, "&lt;"),))

    def _tag_at(self, text: str, at: int) -> OpenTag | None:
        limit = len(text) if self._budget_chars > 0 else min(len(text), at + 100)
        tag = active_html.tag_at(text, at, limit)
        if tag is not None:
            self._budget_chars -= tag.end - tag.start
        return tag

    def _not_html(self, block: Block, pieces: Sequence[Inline]) -> list[tuple[int, int]]:
        """Where in a block a `<` begins no tag: code, comments, behind a backslash, and the address of a link in pointed
        brackets. In an HTML block a backslash is a letter, and within a tag as well."""
        spans = [(piece.start, piece.end) for piece in pieces if isinstance(piece, Code | Unseen)]
        tags = Spans([(piece.start, piece.end) for piece in pieces if isinstance(piece, markdown.Tag)])
        escaped = (found.end() - 1 + block.start for found in _ESCAPED.finditer(block.text))
        spans += [(at, at + 1) for at in escaped if not tags.holds(at)]
        for piece in pieces:
            if isinstance(piece, Link) and piece.reference is None and self._text[piece.destination_span[0] - 1] == "<":
                spans.append((piece.destination_span[0] - 1, piece.destination_span[0]))
        if block.kind is BlockKind.HTML:
            spans = [
                (found.start() + block.start, found.end() + block.start) for found in _COMMENT.finditer(block.text)
            ]
        return spans

    def _instead(self, tag: OpenTag, at: int, end: int) -> tuple[Patch, ...] | None:
        """An `<img>` in a line that only loads a picture becomes a link to it."""
        address = active_html.remote_image(tag)
        if address is None or destinations.place(address) is not Place.WORLD:
            return None
        name = dict(tag.attributes).get("alt", "").strip()
        label = name if _PLAIN_LABEL.fullmatch(name) else LINK_LABEL
        return (Patch(at, end, f"[{label}]({address})"),)

    def _key(self, tag: OpenTag, text: str) -> str:
        key = text[tag.start : tag.end]
        if tag.name in active_html.TEXT_INSIDE:
            inside = text[tag.end : tag.end + MAX_KEY_CHARS]
            key += re.split(f"</{tag.name}", inside, maxsplit=1, flags=re.IGNORECASE)[0]
        return key_of(key)


def _telling(tag: OpenTag, *, is_read: bool) -> tuple[tuple[str, str], ...]:
    """The attributes that count. Where CommonMark reads no tag, words behind `a <b` look like some: "one" and "is"."""
    return tag.attributes if is_read else tuple((name, value) for name, value in tag.attributes if value)
