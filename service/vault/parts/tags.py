"""A text's tags, as Obsidian reads them: in its text, and named by its front matter.

None in code, HTML, comments (`<!-- -->`, `%% %%`), formulas and link targets. Unlike Obsidian a hex colour is none, see
`hashtags.is_colour`, and front matter may name tags as Obsidian before 1.9 allowed it, see `tag_list`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from service.guards.markdown import Block, BlockKind, Code, Span
from service.vault import frontmatter
from service.vault.parts import hashtags, prose, tag_list
from service.vault.parts.prose import Prose

MAX_USES: Final = 50_000
"""Tags that are looked for in the text of one note; no note for people has as many."""

_NO_TEXT: Final = frozenset({BlockKind.FRONTMATTER, BlockKind.FENCED_CODE, BlockKind.INDENTED_CODE, BlockKind.HTML})
_MARK: Final = re.compile(rb"#[^\s#'!\"$%&()*+,.:;<=>?@^`{|}~\[\]\\]")
_NAME: Final = re.compile(rb"(?<![0-9a-z_])tags?(?![0-9a-z_])")
"""The name of a property that holds tags, in lower case; only in double quotes may it be written in other letters."""
_QUOTED_NAME: Final = re.compile(rb"\"[ \t\r\n]*+[:#]")
"""Where such a name ends. (An alias, `*a`, may stand for one from elsewhere.)"""
_NOT_BEFORE: Final = frozenset(b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ(\"',.;:/?&-")
"""What may stand before the first tag of a text only if it was escaped, or ends what is read as one thing and not here."""
_DISPLAY: Final = re.compile(r"(?<!\\)\$\$+")
_ESCAPE: Final = ord("\\")
_FENCE: Final = b"\n---"
_LINE_BEGIN: Final = re.compile(r"[ \t>]*\Z")


@dataclass(frozen=True, slots=True)
class TagUse:
    """A tag in one place.

    Args:
        name: as written, without `#`.
        line: from 1.
        is_property: whether front matter names it; else it stands in the text.
    """

    name: str
    line: int
    is_property: bool = False


def of(text: str) -> tuple[TagUse, ...]:
    """The tags of a text, by line, MAX_USES of them at most. Linear; never raises."""
    return (*_properties(text), *islice(_inline(text), MAX_USES))


def may_hold(shown: bytes) -> bool:
    """Whether a note may hold tags, at the price of a glance at its bytes (without a byte order mark)."""
    return _may_begin(shown) or _may_name(shown)


def key(name: str) -> str:
    """What tags have in common that are one tag to Obsidian: letter case and encoding do not matter."""
    return unicodedata.normalize("NFC", name).casefold().strip("/")


def above(key: str) -> Iterator[str]:
    """The keys of the tags that a nested one lies in: `a` and `a/b` for `a/b/c`."""
    at = key.find("/")
    while at > 0:
        yield key[:at]
        at = key.find("/", at + 1)


def is_within(name: str, wanted: str) -> bool:
    """Whether a tag is the one with the key `wanted`, or nested in it."""
    return f"{key(name)}/".startswith(f"{wanted}/")


def _may_begin(shown: bytes) -> bool:
    """Whether a tag may stand in the text; the first one has something before it that lets tags begin."""
    for mark in _MARK.finditer(shown):
        at = mark.start()
        if not at or shown[at - 1] not in _NOT_BEFORE or (at > 1 and shown[at - 2] == _ESCAPE):
            return True
    return False


def front_matter(shown: bytes) -> bytes:
    """What may be properties at the beginning of a note, at the price of a glance; nothing without their end."""
    if not shown.startswith(b"---"):
        return b""
    end = shown.find(_FENCE, 3)
    while end >= 0 and shown[end + len(_FENCE) : end + len(_FENCE) + 1] not in b" \t\r\n":
        end = shown.find(_FENCE, end + 1)
    return shown[:end] if end >= 0 else b""


def _may_name(shown: bytes) -> bool:
    head = front_matter(shown)
    lower = head.lower()
    if b"tag" in lower and _NAME.search(lower):
        return True
    return b"\\" in head and b'"' in head and (b"*" in head or _QUOTED_NAME.search(head) is not None)


def _properties(text: str) -> Iterator[TagUse]:
    inner = frontmatter.inner(text)
    if inner:
        for named in tag_list.of(inner):
            yield TagUse(named.name, named.line + 1, is_property=True)


def _inline(text: str) -> Iterator[TagUse]:
    if not _may_begin(text.encode("utf-8", "surrogatepass")):
        return
    read = prose.read(text, ("#", "$$"))
    passed = _merged(sorted((*read.comments, *_formulas(read))))
    at = 0
    for block, pieces in read.spoken():
        if "#" not in block.text:
            continue
        while at < len(passed) and passed[at][1] <= block.start:
            at += 1
        for start, end in hashtags.find(block, pieces, _until(passed, at, block)):
            yield TagUse(text[start + 1 : end], read.line_of(start))


def _merged(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in spans:
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def _until(passed: list[Span], at: int, block: Block) -> list[Span]:
    """Those of the spans from `at` on that begin before the block ends."""
    found = []
    while at < len(passed) and passed[at][0] < block.end:
        found.append(passed[at])
        at += 1
    return found


def _formulas(read: Prose) -> Iterator[Span]:
    """Formulas between two `$$`: within one block, or over many if the first begins its line."""
    if "$$" not in read.text:
        return
    opened: tuple[int, Block] | None = None
    for block, start, end in _marks(read):
        if opened is not None and (opened[1] is block or _begins_line(read.text, opened[0])):
            yield opened[0], end
            opened = None
        else:
            opened = start, block


def _marks(read: Prose) -> Iterator[tuple[Block, int, int]]:
    """Where `$$` stands in text."""
    for block, pieces in read.document:
        if block.kind in _NO_TEXT or "$$" not in block.text:
            continue
        codes = [(piece.start, piece.end) for piece in pieces if isinstance(piece, Code)]
        at = 0
        for mark in _DISPLAY.finditer(block.text):
            start = mark.start() + block.start
            while at < len(codes) and codes[at][1] <= start:
                at += 1
            if not (at < len(codes) and codes[at][0] <= start) and not read.is_comment(start):
                yield block, start, mark.end() + block.start


def _begins_line(text: str, at: int) -> bool:
    line = text.rfind("\n", 0, at) + 1
    return _LINE_BEGIN.match(text, line, at) is not None
