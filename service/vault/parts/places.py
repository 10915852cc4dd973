"""Where in a note the end of a link leads: `#Heading`, `#Heading#Below`, `#^block`.

As Obsidian's `resolveSubpath`: headings are compared without regard to case, punctuation and repeated blanks; of a chain each
is looked for behind the one before, at a deeper level, and nothing is taken back. Headings in quotes, callouts and items are
none (`headings`). A block's name stands at its end, or in a paragraph of its own behind it (Obsidian help, "Link to a block").
"""

from __future__ import annotations

import re
from typing import Final

from service.guards.markdown import Block, BlockKind
from service.vault.parts import prose
from service.vault.parts.prose import Prose

_PUNCTUATION: Final = re.compile(r"[!\"#$%&()*+,.:;<=>?@^`{|}~/\[\]\\\s]+")
"""What Obsidian's `stripHeading` takes for blanks (obsidian.d.ts has the list as its example)."""
_BLOCK_NAME: Final = re.compile(r"(?:\A|[ \t\n])\^([A-Za-z0-9-]+)\s*\Z")
_NAMED: Final = frozenset({BlockKind.PARAGRAPH, BlockKind.HEADING})
_TRAILING_NAME: Final = re.compile(r"[ \t]\^[A-Za-z0-9-]+\Z")


def line_of(text: str, subpath: str) -> int | None:
    """The line, from 1, that a subpath (`#…`) leads to; None when the note has no such place, or `subpath` names none.

    For a block it is the line where the block begins.
    """
    parts = [part.strip() for part in subpath.split("#") if part.strip()]
    if not parts:
        return None
    read = prose.read(text)
    if parts[-1].startswith("^"):
        return _block(read, parts[-1][1:].lower())
    return _heading(read, [_plain(part) for part in parts])


def _heading(read: Prose, parts: list[str]) -> int | None:
    wanted, level = 0, 0
    for block, _ in read.spoken():
        if (
            block.kind is not BlockKind.HEADING
            or block.depth
            or block.level <= level
            or parts[wanted] not in _names(block)
        ):
            continue
        wanted, level = wanted + 1, block.level
        if wanted == len(parts):
            return read.line_of(block.start)
    return None


def _names(heading: Block) -> tuple[str, str]:
    """A heading as it is compared: as it stands, and without a block's name at its end."""
    words = heading.text.rstrip()
    return _plain(words), _plain(_TRAILING_NAME.sub("", words))


def _plain(heading: str) -> str:
    return _PUNCTUATION.sub(" ", heading).strip().lower()


def _block(read: Prose, name: str) -> int | None:
    blocks = read.document.blocks
    for index, block in enumerate(blocks):
        found = _BLOCK_NAME.search(block.text) if block.kind in _NAMED else None
        if found is None or found[1].lower() != name or read.is_comment(block.start + found.start(1)):
            continue
        is_alone = not block.text[: found.start(1) - 1].strip()
        return read.line_of(_before(blocks, index).start if is_alone else block.start)
    return None


def _before(blocks: tuple[Block, ...], index: int) -> Block:
    """The block that a name in a paragraph of its own stands for: the one before it, of a list or quote its beginning."""
    before = max(index - 1, 0)
    while before > 0 and (blocks[before].kept or (blocks[before].in_item and blocks[before - 1].in_item)):
        before -= 1
    return blocks[before]
