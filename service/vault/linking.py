"""What questions about links share: the links that a reader of a file sees, where they lead, and the lines around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from service.guards import limits, paths
from service.guards.paths import VaultPath
from service.vault import snippets, text
from service.vault.parts import canvas, links
from service.vault.parts.links import LinkKind, LinkUse
from service.vault.picture import packing
from service.vault.picture.note import Fact, Note
from service.vault.resolving import Names

CANVAS_SUFFIXES: Final = (canvas.SUFFIX,)
LINKED_SUFFIXES: Final = (*paths.MARKDOWN_SUFFIXES, *CANVAS_SUFFIXES)
"""Files that have links of their own."""

MAX_LINKED_BYTES: Final = 1_000_000
"""Bytes of a file whose links are looked at when many files are: more would be a list of links beyond anybody's use."""

_AROUND_CHARS: Final = 2 * limits.MAX_SNIPPET_CHARS


def learn(note: Note) -> bool:
    """Find the links of a file if they are not known yet; whether they are known now."""
    return _fact(note).learn(note)


def uses(note: Note) -> Sequence[LinkUse]:
    """The links that are seen in a file, in its order. Definitions are none: what refers to them is."""
    return [use for use in every_use(note) if use.kind is not LinkKind.DEFINITION]


def every_use(note: Note) -> Sequence[LinkUse]:
    """The same, definitions among them."""
    return note.canvas_links if note.path.has_suffix(CANVAS_SUFFIXES) else note.links


def targets(note: Note) -> Sequence[tuple[str, LinkKind]]:
    """The targets and kinds of `every_use`."""
    packed = _fact(note).packed(note)
    return packing.targets(packed) if packed else ()


def written_in(note: Note) -> Sequence[LinkUse]:
    """Every link in the bytes of a file, definitions and what is hidden from readers among them; of one that may be shown."""
    if note.path.has_suffix(CANVAS_SUFFIXES):
        return note.raw_canvas_links
    return note.raw_links if note.cuts else note.links


def written_in_text(path: VaultPath, raw: str) -> Sequence[LinkUse]:
    """The same, of a text."""
    return canvas.every_link(raw) if path.has_suffix(CANVAS_SUFFIXES) else links.of(raw)


def are_alike(before: Note, after: Note) -> bool:
    """Whether the links of a file are known to be what they were: it was touched, not changed."""
    return before.version == after.version and learn(before) and learn(after)


def _fact(note: Note) -> Fact[LinkUse]:
    return Note.canvas_links if note.path.has_suffix(CANVAS_SUFFIXES) else Note.links


def uses_in(path: VaultPath, data: bytes, shown: bytes) -> Sequence[LinkUse]:
    """The same, of a file's bytes and those of its view."""
    if path.has_suffix(CANVAS_SUFFIXES):
        return canvas.links_in(text.decode(data).text)
    return [use for use in links.of(text.decode(shown).text) if use.kind is not LinkKind.DEFINITION]


def leads_to(names: Names, target: str, kind: LinkKind, source: VaultPath) -> VaultPath | None:
    """The file that a link leads to; None when it is broken."""
    return names.at(target) if kind is LinkKind.CANVAS else names.first(target, source)


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


def _span_of(words: str, line: str) -> tuple[int, int]:
    start = max(line.find(words), 0)
    return start, start + 1
