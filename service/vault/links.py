"""Links over the whole vault: which notes link to a note, and which links lead nowhere.

Nothing is indexed: names come from one walk, links from one survey of what is shown of each note, remembered by content.
Low-trust folders are left out unless they are asked for: neither their links nor their names are told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from service.guards import paths
from service.guards.paths import VaultPath
from service.vault import linking, notes, survey
from service.vault.model import Page, Vault, page_of
from service.vault.notes import Note
from service.vault.parts.links import LinkUse
from service.vault.picture.note import Note as Known
from service.vault.resolving import MAX_TARGET_CHARS, Names, folded
from service.vault.survey import Survey


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A link in a note. `path` is None when it is broken, and when it leads into a folder that is left out."""

    use: LinkUse
    path: VaultPath | None
    snippet: str
    is_left_out: bool = False

    @property
    def is_broken(self) -> bool:
        return self.path is None and not self.is_left_out


@dataclass(frozen=True, slots=True)
class Incoming:
    """A link to a note, in another one or in a canvas."""

    path: VaultPath
    use: LinkUse
    snippet: str


@dataclass(frozen=True, slots=True)
class Linked:
    """The links of a note and those to it, a page of each; `broken` counts those of the note that lead nowhere.

    `skipped` are notes that could not be looked at, `left_out` the low-trust folders that were not.
    """

    path: VaultPath
    outgoing: Page[Outgoing]
    incoming: Page[Incoming]
    broken: int
    skipped: int
    left_out: tuple[VaultPath, ...]

    @property
    def named(self) -> tuple[VaultPath, ...]:
        """The files that the two pages name or quote."""
        leads_to = (one.path for one in self.outgoing.items if one.path is not None)
        return (self.path, *leads_to, *(one.path for one in self.incoming.items))


@dataclass(frozen=True, slots=True)
class Broken:
    """A link that leads nowhere."""

    path: VaultPath
    use: LinkUse


@dataclass(frozen=True, slots=True)
class Loose:
    """Links that lead nowhere, and notes that nothing else links to; a page of each. The rest as `Linked`."""

    broken: Page[Broken]
    orphans: Page[VaultPath]
    skipped: int
    left_out: tuple[VaultPath, ...]

    @property
    def named(self) -> tuple[VaultPath, ...]:
        """The files that the two pages name."""
        return (*(one.path for one in self.broken.items), *self.orphans.items)


def of(vault: Vault, path: VaultPath, *, limit: int, offset: int = 0, include_low_trust: bool = False) -> Linked:
    """The links in a note or canvas, in its order, and the links to it from others, by path.

    Raises:
        NoteNotFound, PathAmbiguous, PathRefused, TooLarge: as `notes.read`.
        Unavailable: it took longer than a survey may.
    """
    note = notes.read(vault, path)

    def linked(begun: Survey) -> Linked:
        names = linking.names(vault, begun.deadline)
        out = [_outgoing(vault, names, note.path, *one, include_low_trust=include_low_trust) for one in _own(note)]
        found = sorted(_incoming(begun, names, note.path), key=lambda one: (str(one.path), one.use.line, one.use.start))
        return Linked(
            note.path,
            page_of(out, limit, offset),
            page_of(found, limit, offset),
            sum(one.is_broken for one in out),
            begun.skipped,
            tuple(begun.left_out),
        )

    return survey.make(vault, linked, include_low_trust=include_low_trust, suffixes=linking.LINKED_SUFFIXES)


def loose(vault: Vault, *, limit: int, offset: int = 0, include_low_trust: bool = False) -> Loose:
    """Links that lead nowhere, and notes that no other note or canvas links to; by path.

    Raises:
        Unavailable: it took longer than a survey may.
    """

    def found(begun: Survey) -> Loose:
        names = linking.names(vault, begun.deadline)
        broken: dict[VaultPath, list[LinkUse]] = {}
        looked_at: list[VaultPath] = []
        reached: set[VaultPath] = set()
        for seen in linking.all_seen(begun):
            if seen.path.has_suffix(paths.MARKDOWN_SUFFIXES):
                looked_at.append(seen.path)
            for use in linking.uses(seen):
                target = linking.leads_to(names, use, seen.path)
                if target is None:
                    broken.setdefault(seen.path, []).append(use)
                elif target != seen.path:
                    reached.add(target)
        orphans = sorted((path for path in looked_at if path not in reached), key=str)
        return Loose(
            _page_of_broken(broken, limit, offset),
            page_of(orphans, limit, offset),
            begun.skipped,
            tuple(begun.left_out),
        )

    return survey.make(vault, found, include_low_trust=include_low_trust, suffixes=linking.LINKED_SUFFIXES)


def _page_of_broken(broken: Mapping[VaultPath, Sequence[LinkUse]], limit: int, offset: int) -> Page[Broken]:
    every = (Broken(path, use) for path in sorted(broken, key=str) for use in broken[path])
    return Page(tuple(islice(every, offset, offset + limit)), sum(map(len, broken.values())), offset)


def _own(note: Note) -> Iterator[tuple[LinkUse, str]]:
    """The links of one note with their snippets."""
    if not note.path.has_suffix(linking.LINKED_SUFFIXES):
        return
    shown = note.view.text.encode("utf-8", errors="replace")
    data = note.content.text.encode("utf-8", errors="replace")
    quote = linking.quoting(note.path, data, shown)
    for use in linking.uses_in(note.path, data, shown):
        yield use, quote(use)


def _outgoing(
    vault: Vault, names: Names, source: VaultPath, use: LinkUse, snippet: str, *, include_low_trust: bool
) -> Outgoing:
    path = linking.leads_to(names, use, source)
    is_left_out = (
        path is not None and not include_low_trust and vault.low_trust.holds(path) and not vault.low_trust.holds(source)
    )
    return Outgoing(use, None if is_left_out else path, snippet, is_left_out)


def _incoming(begun: Survey, names: Names, wanted: VaultPath) -> Iterator[Incoming]:
    """The links of other files that lead to `wanted`. Only what may name it is looked into, so the first call is quick."""
    may_name = linking.may_name(wanted)
    called = {folded(wanted.name), folded(wanted.stem)}
    for seen in linking.all_seen(begun):
        if seen.path == wanted or not (seen.path.has_suffix(linking.CANVAS_SUFFIXES) or may_name(_shown(seen))):
            continue
        found = [
            use
            for use in linking.uses(seen)
            if len(use.target) <= MAX_TARGET_CHARS
            and folded(use.target.rpartition("/")[2]) in called
            and linking.leads_to(names, use, seen.path) == wanted
        ]
        read = seen.read() if found else None
        quote = None if read is None else linking.quoting(seen.path, *read)
        for use in found:
            if quote is not None:
                yield Incoming(seen.path, use, quote(use))


def _shown(note: Known) -> bytes:
    read = note.read()
    return b"" if read is None else read[1]
