"""What questions about links share: the names of all files, and the links that a reader of a file sees."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from service.guards import limits, paths
from service.guards.paths import VaultPath
from service.vault import snippets, text
from service.vault.model import Vault
from service.vault.parts import canvas, links
from service.vault.parts.links import LinkKind, LinkUse
from service.vault.patience import Deadline
from service.vault.picture.note import Note
from service.vault.resolving import Names
from service.vault.survey import Survey

ANY_SUFFIX: Final = ("",)
CANVAS_SUFFIXES: Final = (canvas.SUFFIX,)
LINKED_SUFFIXES: Final = (*paths.MARKDOWN_SUFFIXES, *CANVAS_SUFFIXES)
"""Files that have links of their own."""

MAX_LINKED_BYTES: Final = 1_000_000
"""Bytes of a file whose links are looked at when many files are: more would be a list of links beyond anybody's use."""

_AROUND_CHARS: Final = 2 * limits.MAX_SNIPPET_CHARS
_RUNS: Final = re.compile(r"[a-z0-9]{2,}")
_DISGUISES: Final = (b"&#", b"&fjlig;", "\N{KELVIN SIGN}".encode())
_ENCODED: Final = re.compile(rb"%(?:3[0-9]|4[1-9A-Fa-f]|5[0-9Aa]|6[1-9A-Fa-f]|7[0-9Aa])")
"""What may stand for an ASCII letter or digit in a link: these, and such percent-encoding."""
_ESCAPED: Final = re.compile(rb"\\[xuU]")
"""So may these, in properties."""


def names(vault: Vault, deadline: Deadline) -> Names:
    """The names of all visible files, attachments included, as they are now.

    Raises:
        Unavailable: the deadline has passed.
    """

    def walked() -> Iterator[VaultPath]:
        for entry in vault.files.walk(suffixes=ANY_SUFFIX):
            deadline.check()
            yield entry.path

    return Names.of(walked())


def all_seen(begun: Survey) -> Iterator[Note]:
    """The files of a survey, without those that are too long, which count as skipped."""
    for seen in begun:
        if seen.size_bytes > MAX_LINKED_BYTES:
            begun.skipped += 1
        else:
            yield seen


def uses(note: Note) -> Sequence[LinkUse]:
    """The links that are seen in a file, in its order. Definitions are none: what refers to them is."""
    if note.path.has_suffix(CANVAS_SUFFIXES):
        return note.canvas_links
    return [use for use in note.links if use.kind is not LinkKind.DEFINITION]


def uses_in(path: VaultPath, data: bytes, shown: bytes) -> Sequence[LinkUse]:
    """The same, of a file's bytes and those of its view."""
    if path.has_suffix(CANVAS_SUFFIXES):
        return canvas.links_in(text.decode(data).text)
    return [use for use in links.of(text.decode(shown).text) if use.kind is not LinkKind.DEFINITION]


def leads_to(names: Names, use: LinkUse, source: VaultPath) -> VaultPath | None:
    """The file that a link leads to; None when it is broken."""
    return names.at(use.target) if use.kind is LinkKind.CANVAS else names.first(use.target, source)


def quoting(path: VaultPath, data: bytes, shown: bytes) -> Callable[[LinkUse], str]:
    """Gives of each link in a file the line around it, as far as it is shown."""
    if path.has_suffix(CANVAS_SUFFIXES):
        board = canvas.of(text.decode(data).text) or canvas.EMPTY
        lines = canvas.outline(board).split("\n")
        return lambda use: snippets.around(lines[use.line - 1], _span_of(use.target, lines[use.line - 1]))
    words = text.decode(shown).text
    return lambda use: quoted(words, use)


def quoted(shown: str, use: LinkUse) -> str:
    """The line of `shown` around a link; of a long line a part."""
    start = shown.rfind("\n", max(0, use.start - _AROUND_CHARS), use.start) + 1 or max(0, use.start - _AROUND_CHARS)
    end = shown.find("\n", use.start, use.start + _AROUND_CHARS)
    line = shown[start : end if end >= 0 else use.start + _AROUND_CHARS]
    return snippets.around(line, (use.start - start, use.start - start + 1))


def may_name(path: VaultPath) -> Callable[[bytes], bool]:
    """Tells, at the price of a glance, notes apart whose text cannot hold a link to `path`."""
    runs = [run.encode() for run in _RUNS.findall(path.stem.lower())] if path.stem.isascii() else []

    def may(shown: bytes) -> bool:
        lower = shown.lower()
        return all(run in lower for run in runs) or _may_disguise(shown)

    return may


def _span_of(words: str, line: str) -> tuple[int, int]:
    start = max(line.find(words), 0)
    return start, start + 1


def _may_disguise(shown: bytes) -> bool:
    """Whether a letter or digit in a link may be written in other characters than its own."""
    if any(disguise in shown for disguise in _DISGUISES) or (b"%" in shown and _ENCODED.search(shown)):
        return True
    return shown.startswith(b"---") and _ESCAPED.search(shown, 0, max(shown.find(b"\n---"), 0)) is not None
