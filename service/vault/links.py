"""Links over the whole vault: which notes link to a note, and which links lead nowhere.

Where links lead is known to the vault's map of them (`linkmap`); what is read is the notes that an answer quotes.
Low-trust folders are left out unless they are asked for: neither their links nor their names are told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from service.guards.paths import VaultPath
from service.store.listings import Folders
from service.store.reading import version_of
from service.vault import linking, notes, patience, reach, survey
from service.vault.linkmap import LinkMap, Source
from service.vault.model import Page, Vault, page_of
from service.vault.notes import Note
from service.vault.parts.links import LinkUse
from service.vault.picture.note import Note as Known
from service.vault.resolving import folded

T = TypeVar("T")


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

    def looked_up(known: LinkMap) -> _LookedUp:
        return _LookedUp(
            *_own(known, note),
            _linking_to(known, note.path, include_low_trust=include_low_trust),
            known.skipped(include_low_trust=include_low_trust),
        )

    found, left_out = _asked(vault, looked_up, include_low_trust=include_low_trust)
    out = [
        _outgoing(vault, note.path, *one, include_low_trust=include_low_trust)
        for one in zip(found.uses, found.leads, strict=True)
    ]
    return Linked(
        note.path,
        page_of(out, limit, offset).map(_quoted(note)),
        Page(tuple(_page_of_incoming(found.incoming, limit, offset)), sum(one.count for one in found.incoming), offset),
        sum(one.is_broken for one in out),
        found.skipped,
        left_out,
    )


def loose(vault: Vault, *, limit: int, offset: int = 0, include_low_trust: bool = False) -> Loose:
    """Links that lead nowhere, and notes that no other note or canvas links to; by path.

    Raises:
        Unavailable: it took longer than a survey may.
    """

    def looked_up(known: LinkMap) -> tuple[Page[Broken], Page[VaultPath], int]:
        orphans = known.orphans(include_low_trust=include_low_trust)
        return (
            _page_of_broken(known.broken(include_low_trust=include_low_trust), limit, offset),
            page_of(orphans, limit, offset).map(lambda one: one.note.path),
            known.skipped(include_low_trust=include_low_trust),
        )

    (broken, orphans, skipped), left_out = _asked(vault, looked_up, include_low_trust=include_low_trust)
    return Loose(broken, orphans, skipped, left_out)


def _asked(vault: Vault, ask: Callable[[LinkMap], T], *, include_low_trust: bool) -> tuple[T, tuple[VaultPath, ...]]:
    """What the map of links answers, as of now; and the low-trust folders that are left out of it."""

    def asked(deadline: patience.Deadline) -> tuple[T, Folders[Known]]:
        folders = vault.picture.now(deadline.check).folders
        with vault.picture.links(vault.low_trust).at(folders, deadline.check) as known:
            return ask(known), folders

    answer, folders = patience.within(survey.DEADLINE_S, asked)
    left_out = reach.of(vault, folders, include_low_trust=include_low_trust).left_out
    return answer, tuple(path for path in left_out if path in folders or path.has_suffix(linking.LINKED_SUFFIXES))


def _page_of_broken(sources: Sequence[Source], limit: int, offset: int) -> Page[Broken]:
    before = 0
    found: list[Broken] = []
    for source in sources:
        first, before = max(0, offset - before), before + source.broken
        if before > offset and len(found) < limit:
            pairs = zip(linking.uses(source.note), source.leads, strict=False)
            found += [Broken(source.note.path, use) for use, lead in pairs if lead is None][first:]
    return Page(tuple(found[:limit]), before, offset)


def _own(known: LinkMap, note: Note) -> tuple[Sequence[LinkUse], Sequence[VaultPath | None]]:
    """The links of one note and where they lead."""
    if not note.path.has_suffix(linking.LINKED_SUFFIXES):
        return (), ()
    source = known.source(note.path)
    if source is not None and source.note.version == note.version:
        uses = linking.uses(source.note)
        if len(uses) == len(source.leads):
            return uses, source.leads
    uses = linking.uses_in(note.path, *_bytes(note))
    return uses, [linking.leads_to(known.names, use.target, use.kind, note.path) for use in uses]


def _bytes(note: Note) -> tuple[bytes, bytes]:
    return note.content.text.encode("utf-8", errors="replace"), note.view.text.encode("utf-8", errors="replace")


def _quoted(note: Note) -> Callable[[Outgoing], Outgoing]:
    """Puts to each link of a note the line around it."""
    quote = linking.quoting(note.path, *_bytes(note))
    return lambda one: replace(one, snippet=quote(one.use))


def _outgoing(
    vault: Vault, source: VaultPath, use: LinkUse, path: VaultPath | None, *, include_low_trust: bool
) -> Outgoing:
    is_left_out = (
        path is not None and not include_low_trust and vault.low_trust.holds(path) and not vault.low_trust.holds(source)
    )
    return Outgoing(use, None if is_left_out else path, "", is_left_out)


@dataclass(frozen=True, slots=True)
class _Linking:
    """A file with links to the one that is asked for: how many, and which of its links they are."""

    note: Known
    count: int
    are: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class _LookedUp:
    """What the map knows of one note: its links and where they lead, and who links to it."""

    uses: Sequence[LinkUse]
    leads: Sequence[VaultPath | None]
    incoming: Sequence[_Linking]
    skipped: int


def _linking_to(known: LinkMap, path: VaultPath, *, include_low_trust: bool) -> list[_Linking]:
    """The other files that lead to a file, by path."""
    wanted = known.names.own(path)
    found = []
    for source in known.looking_for({folded(path.name), folded(path.stem)}).values():
        if (include_low_trust or source.is_trusted) and source.note.path != path and wanted is not None:
            are = tuple(lead is wanted for lead in source.leads)
            if count := sum(are):
                found.append(_Linking(source.note, count, are))
    return sorted(found, key=lambda one: str(one.note.path))


def _page_of_incoming(sources: Sequence[_Linking], limit: int, offset: int) -> Iterator[Incoming]:
    """Some of the links of these files, in their order. Only files that are quoted are read."""
    before = wanted = 0
    for source in sources:
        first, before = max(0, offset - before), before + source.count
        if before <= offset or wanted >= limit:
            continue
        pairs = zip(linking.uses(source.note), source.are, strict=False)
        found = sorted((use for use, is_one in pairs if is_one), key=lambda use: (use.line, use.start))
        page = found[first : first + limit - wanted]
        wanted += len(page)
        read = source.note.read()
        is_same = read is not None and version_of(read[0]) == source.note.version
        quote = linking.quoting(source.note.path, *read) if read is not None and is_same else _nothing
        yield from (Incoming(source.note.path, use, quote(use)) for use in page)


def _nothing(_: LinkUse) -> str:
    """For a note that has changed while it was asked for."""
    return ""
