"""A heading or paragraph without its Markdown: the words that Obsidian shows, in one line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from service.guards.markdown import Autolink, Block, Code, Inline, Link, Wikilink, entities

_MARKED: Final = re.compile(r"[\\&*_~=`<\[]")
_MARKUP: Final = re.compile(r"\\[!-/:-@\[-`{-~]|&[#A-Za-z][0-9A-Za-z]{0,31};|\*+|_+|~~+|==+")


def squeezed(text: str) -> str:
    """`text` in one line, with single blanks and none at its ends."""
    return " ".join(text.split())


def may_differ(text: str) -> bool:
    """Whether a text may hold Markdown, at the price of a glance."""
    return _MARKED.search(text) is not None


def words(block: Block, pieces: Sequence[Inline]) -> str:
    """What is left of a block's text: labels of links, code without backticks, no HTML, no marks of emphasis."""
    shown: list[str] = []
    at = block.start
    for start, end, instead in _cuts(block, pieces):
        if start < at:
            continue
        shown += _unmarked(block.text[at - block.start : start - block.start]), instead
        at = end
    return squeezed("".join(shown) + _unmarked(block.text[at - block.start :]))


def _cuts(block: Block, pieces: Sequence[Inline]) -> list[tuple[int, int, str]]:
    """What goes out of the text, in order, and what comes in its place."""
    return sorted((cut for piece in pieces for cut in _cut(block, piece)), key=lambda cut: (cut[0], -cut[1]))


def _cut(block: Block, piece: Inline) -> Iterator[tuple[int, int, str]]:
    match piece:
        case Code():
            yield piece.start, piece.end, piece.text
        case Autolink():
            yield piece.start, piece.end, block.text[piece.start - block.start + 1 : piece.end - block.start - 1]
        case Wikilink():
            target, _, alias = piece.target.partition("|")
            yield piece.start, piece.end, alias or target
        case Link(is_image=True):
            start, end = piece.label
            yield piece.start, piece.end, _unmarked(block.text[start - block.start : end - block.start])
        case Link():
            yield piece.start, piece.label[0], ""
            yield piece.label[1], piece.end, ""
        case _:
            yield piece.start, piece.end, ""


def _unmarked(text: str) -> str:
    """Escapes and entities decoded, and without runs that may mark emphasis; those between blanks or in words stay."""

    def instead(found: re.Match[str]) -> str:
        run = found[0]
        if run[0] in "\\&":
            return entities.markdown(run)
        before, after = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
        is_free = (not before or before.isspace()) and (not after or after.isspace())
        is_in_word = run[0] == "_" and before.isalnum() and after.isalnum()
        return run if is_free or is_in_word else ""

    return _MARKUP.sub(instead, text)
