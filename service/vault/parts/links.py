"""The links of a note: wikilinks, Markdown links and images, reference links, and those in its properties.

As Obsidian finds them: not in code, not in HTML blocks, not in comments of either kind. Addresses on the web are no
links of the vault and are left out; footnotes are none. Sources: Obsidian help, "Internal links", "Embed files" and
"Properties"; CommonMark 0.31, 6.3.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Final, TypeAlias
from urllib.parse import unquote_to_bytes

from service.guards.markdown import Block, BlockKind, Code, Definition, Inline, Link, Span, Unseen, Wikilink, entities
from service.vault.parts import property_links, prose
from service.vault.parts.linkuse import LinkKind, LinkUse, Notation, is_address, is_external, split_wikilink, written
from service.vault.parts.prose import Prose

__all__ = [
    "LinkKind",
    "LinkUse",
    "Notation",
    "is_address",
    "is_external",
    "may_hold",
    "of",
    "percent_decoded",
    "split_wikilink",
    "written",
]

_MARKS: Final = ("[[", "](", "]:")
_HASH: Final = re.compile(r"#|\\#|&[^;\s&]{1,32};")
_ESCAPED: Final = re.compile(r"\\[()\\]")
_BAD_PERCENT: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_BLANKS: Final = re.compile(r"\s+")

_Destination: TypeAlias = tuple[str, str, Span, Notation]
"""Path, subpath, span of the path, notation."""
_Defined: TypeAlias = "dict[Span, _Destination | None]"
"""What definitions lead to, by where that stands."""


def may_hold(data: bytes) -> bool:
    """Whether a note's bytes may hold a link, at the price of a glance."""
    return b"[[" in data or b"](" in data or b"]:" in data


def of(text: str) -> tuple[LinkUse, ...]:
    """The links of a note's text, by where they begin. Linear in its length; never raises."""
    if not any(mark in text for mark in _MARKS):
        return ()
    read = prose.read(text, ("[",))
    found = [use for use in _found(read) if use.kind is LinkKind.PROPERTY or not _is_in_comment(read, use)]
    return tuple(sorted(found, key=lambda use: (use.start, -use.end)))


def _is_in_comment(read: Prose, use: LinkUse) -> bool:
    """Whether a link, or the definition that it refers to, stands in an Obsidian comment."""
    return read.is_comment(use.start) or read.is_comment(use.target_span[0])


def _found(read: Prose) -> Iterator[LinkUse]:
    defined: _Defined = {}
    for block, pieces in read.document:
        if block.kind is BlockKind.FRONTMATTER:
            yield from property_links.of(block)
        elif pieces:
            yield from _in_text(read, block, pieces, defined)
    for definition in read.document.definitions:
        use = _definition(read, definition)
        if use is not None:
            yield use


def _in_text(read: Prose, block: Block, pieces: tuple[Inline, ...], defined: _Defined) -> Iterator[LinkUse]:
    """The links of a heading or paragraph. Where a wikilink stands, no Markdown link begins."""
    codes = [piece for piece in pieces if isinstance(piece, Code | Unseen)]
    code_starts = [code.start for code in codes]
    wikilinks: list[Wikilink] = []
    for piece in pieces:
        if isinstance(piece, Wikilink):
            before = bisect_left(code_starts, piece.end) - 1
            if before < 0 or codes[before].end <= piece.end:  # else code begins in it and takes its brackets
                wikilinks.append(piece)
    wiki_starts = [one.start for one in wikilinks]
    for one in wikilinks:
        yield from _wikilink(read, one)
    for piece in pieces:
        if isinstance(piece, Link):
            before = bisect_right(wiki_starts, piece.start) - 1
            if before < 0 or wikilinks[before].end <= piece.start:
                yield from _markdown(read, block, piece, defined)


def _wikilink(read: Prose, piece: Wikilink) -> Iterator[LinkUse]:
    offset = piece.start + (3 if piece.is_embed else 2)
    inner = read.text[offset : piece.end - 2]
    (start, end), subpath, alias = split_wikilink(inner)
    target = inner[start:end]
    if (target or subpath) and not is_address(target):
        yield LinkUse(
            LinkKind.WIKILINK,
            piece.start,
            piece.end,
            read.line_of(piece.start),
            target,
            subpath,
            alias,
            (offset + start, offset + end),
            piece.is_embed,
            Notation.WIKI,
        )


def _markdown(read: Prose, block: Block, piece: Link, defined: _Defined) -> Iterator[LinkUse]:
    left, right = piece.label
    alias = _BLANKS.sub(" ", block.text[left - block.start : right - block.start]).strip()
    if piece.reference is None:
        destination = _destination(read.text, piece.destination_span)
    else:  # a definition may be as long as the text, and be referred to from everywhere
        if piece.destination_span not in defined:
            defined[piece.destination_span] = _destination(read.text, piece.destination_span)
        destination = defined[piece.destination_span]
    if destination is not None:
        target, subpath, span, notation = destination
        yield LinkUse(
            LinkKind.MARKDOWN if piece.reference is None else LinkKind.REFERENCE,
            piece.start,
            piece.end,
            read.line_of(piece.start),
            target,
            subpath,
            alias,
            span,
            piece.is_image,
            notation,
        )


def _definition(read: Prose, found: Definition) -> LinkUse | None:
    destination = _destination(read.text, found.destination_span)
    if destination is None:
        return None
    target, subpath, span, notation = destination
    line = read.line_of(found.start)
    return LinkUse(LinkKind.DEFINITION, found.start, found.end, line, target, subpath, "", span, False, notation)


def _destination(text: str, span: Span) -> _Destination | None:
    """A Markdown destination taken apart: path, subpath, span of the path, notation; None for what is no vault link."""
    start, end = span
    raw = text[start:end]
    path, hash_at = raw, len(raw)
    for found in _HASH.finditer(raw):
        if "#" in entities.markdown(found[0]):
            path, hash_at = raw[: found.start()], found.start()
            break
    target = entities.markdown(path)
    subpath = entities.markdown(raw[hash_at:])
    if is_external(target) or not (target or subpath.strip("#")):
        return None
    if text[start - 1 : start] == "<":
        notation = Notation.POINTED
    else:
        bare = _ESCAPED.sub("", path)
        notation = Notation.PLAIN if bare.count("(") == bare.count(")") else Notation.FIXED
    return percent_decoded(target), percent_decoded(subpath), (start, start + len(path)), notation


def percent_decoded(text: str) -> str:
    """As a browser's `decodeURI` would, but with every character: all of it, or nothing if some of it is malformed."""
    if "%" not in text or _BAD_PERCENT.search(text):
        return text
    try:
        return unquote_to_bytes(text).decode("utf-8")
    except UnicodeDecodeError:
        return text
