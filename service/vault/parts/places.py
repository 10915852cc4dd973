"""Where in a note the end of a link leads: `#Heading`, `#Heading#Below`, `#^block`.

As Obsidian's `resolveSubpath`: headings are compared without regard to case, punctuation and repeated blanks; of a chain each
is looked for behind the one before, at a deeper level, and nothing is taken back. Headings in quotes, callouts and items are
none (`headings`).
"""

from __future__ import annotations

import re
from typing import Final

from service.guards.markdown import Block, BlockKind
from service.vault.parts import blockids, prose
from service.vault.parts.prose import Prose

_PUNCTUATION: Final = re.compile(r"[!\"#$%&()*+,.:;<=>?@^`{|}~/\[\]\\\s]+")
"""What Obsidian's `stripHeading` takes for blanks (obsidian.d.ts has the list as its example)."""
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
    return next((one.block_line for one in blockids.within(read) if one.name.lower() == name), None)
