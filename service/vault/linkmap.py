"""Which file leads to which, kept up to date by what has changed.

Three things are known of each file that has links of its own: where each of them leads, under which names it looks for
files, and how many other files lead to it. When a file comes or goes, links are looked at again in the files that look for
its name, and nowhere else. A map knows the files of the snapshots it is given and nothing more; so each limited view has
one of its own.
"""

from __future__ import annotations

import sys
import threading
from bisect import bisect_left, insort
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Final, TypeAlias

from service.guards import paths
from service.guards.folders import Scope
from service.guards.paths import VaultPath
from service.guards.trust import LowTrust
from service.store import sharing
from service.store.listings import Folders
from service.vault import linking
from service.vault.parts.links import LinkKind
from service.vault.picture import changes
from service.vault.picture.note import Note
from service.vault.resolving import MAX_TARGET_CHARS, Names, folded

MAX_LIMITED_MAPS: Final = 4
"""Maps of limited views that are kept, the latest used; each is made anew in less than a second for 100,000 notes."""

_MANY: Final = 64
"""Changes from which sorting a list again is quicker than changing it in its places."""
_NOTE_SUFFIX: Final = ".md"

_Targets: TypeAlias = Sequence[tuple[str, LinkKind]]


def sought(targets: _Targets) -> tuple[str, ...]:
    """The compared names that links look for, each once."""
    last = dict.fromkeys(target.rpartition("/")[2] for target, _ in targets if len(target) <= MAX_TARGET_CHARS)
    return tuple(sys.intern(name) for name in dict.fromkeys(map(folded, last)) if name)


def answering(name: str) -> set[str]:
    """The names that links to a file of this compared name look for."""
    return {name, name.removesuffix(_NOTE_SUFFIX)}


class Source:
    """A file that has links, or could have.

    Args:
        note: the file as it was last seen.
        leads: where each of `linking.uses(note)` leads; None for one that is broken, of which there are `broken`.
        keys: the compared names that its links (definitions included) look for.
        reached: how many other files lead to it; `reached_trusted` of those that are not low trust.
    """

    __slots__ = ("broken", "is_trusted", "keys", "leads", "note", "reached", "reached_trusted")

    def __init__(self, note: Note, *, is_trusted: bool) -> None:
        self.note = note
        self.is_trusted = is_trusted
        self.keys: tuple[str, ...] = ()
        self.leads: tuple[VaultPath | None, ...] = ()
        self.broken = 0
        self.reached = 0
        self.reached_trusted = 0

    def is_orphan(self, *, include_low_trust: bool) -> bool:
        """Whether no other file leads to this note, of those that are looked at."""
        return not (self.reached if include_low_trust else self.reached_trusted)


class LinkMap:
    """The links of one view of the vault. Whoever asks holds it for as long as it takes: `named` or `at`.

    Args:
        low_trust: the folders whose links are told only when asked for.
    """

    def __init__(self, low_trust: LowTrust) -> None:
        self._low_trust = low_trust
        self._lock = threading.Lock()
        self._forget()

    def _forget(self) -> None:
        self._names = Names()
        self._named: Folders[Note] = {}
        self._folders: Folders[Note] = {}
        self._touched: set[str] = set()
        self._sources: dict[VaultPath, Source] = {}
        self._users: dict[str, list[Source]] = {}
        self._skipped: dict[VaultPath, Note] = {}
        self._unsure: dict[VaultPath, Note] = {}
        self._broken = _ByPath()
        self._lonely = _ByPath()

    # -- asking --

    @contextmanager
    def named(self, folders: Folders[Note], check: Callable[[], None]) -> Iterator[Names]:
        """The names of all files of a snapshot."""
        with sharing.held(self._lock, check), self._whole():
            self._name(folders)
            yield self._names

    @contextmanager
    def at(self, folders: Folders[Note], check: Callable[[], None]) -> Iterator[LinkMap]:
        """The map as of a snapshot whose notes were looked into.

        Args:
            check: called between two notes whose links are not known yet; raises to give up, which loses nothing.
        """
        for _, note in changes.between(self._folders, folders):  # before anybody has to wait for it
            if note is not None and _is_linked(note):
                check()
                linking.learn(note)
        with sharing.held(self._lock, check), self._whole():
            self._name(folders)
            self._link(folders)
            yield self

    @property
    def names(self) -> Names:
        """The names of all files."""
        return self._names

    def looking_for(self, keys: Iterable[str]) -> dict[VaultPath, Source]:
        """The files with links whose last part, as names are compared, is one of these."""
        return {one.note.path: one for key in keys for one in self._users.get(key, ())}

    def obscure(self) -> list[Note]:
        """The files that may hold links which the map does not know: hidden ones, and those that cannot be looked at."""
        hiding = (
            one.note
            for one in self._sources.values()
            if one.note.cuts or one.note.path.has_suffix(linking.CANVAS_SUFFIXES)
        )
        return [*hiding, *self._skipped.values()]

    def source(self, path: VaultPath) -> Source | None:
        """What is known for sure of a file with links; None of any other."""
        return None if path in self._unsure else self._sources.get(path)

    def broken(self, *, include_low_trust: bool) -> list[Source]:
        """The files with broken links, by path."""
        return [one for one in self._broken.sources if include_low_trust or one.is_trusted]

    def orphans(self, *, include_low_trust: bool) -> list[Source]:
        """The notes that no other file leads to, by path."""
        lonely = self._lonely.sources
        if include_low_trust:
            return [one for one in lonely if not one.reached]
        return [one for one in lonely if one.is_trusted]

    def skipped(self, *, include_low_trust: bool) -> int:
        """How many files with links could not be looked at, or are too long to."""
        if include_low_trust or not self._low_trust.folders:
            return len(self._skipped)
        return sum(not self._low_trust.holds(path) for path in self._skipped)

    # -- keeping up --

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """When something fails half-way, forget all: it costs time and nothing else."""
        try:
            yield
        except BaseException:
            self._forget()
            raise

    def _name(self, folders: Folders[Note]) -> None:
        """Bring the names up to date, and note which have others now."""
        found = [change for change in changes.between(self._named, folders) if None in change]
        if len(found) > _MANY and len(found) > len(self._names) // 8:
            self._touched.update(_last_part(known.path) for change in found if (known := change[0] or change[1]))
            gone = {before.path for before, _ in found if before is not None}
            come = (after.path for _, after in found if after is not None)
            self._names = Names.of(chain((path for path in self._names if path not in gone), come))
        else:
            for before, after in found:
                if before is not None:
                    self._touched.add(self._names.remove(before.path))
                if after is not None:
                    self._touched.add(self._names.add(after.path))
        self._named = folders
        if not self._sources:
            self._touched.clear()

    def _link(self, folders: Folders[Note]) -> None:
        """Bring the links up to date. The names are already."""
        found = [change for change in changes.between(self._folders, folders) if _is_linked(change[1] or change[0])]
        self._folders = folders
        for before, after in found:
            if before is not None and after is None:
                self._unsure.pop(before.path, None)
                self._drop(before.path)
        again = [note for note in self._unsure.values() if note.version]
        come = (*again, *(after for _, after in found if after is not None))
        stale = {source: None for note in come if (source := self._put(note)) is not None}
        for name in self._touched:
            for key in answering(name):
                stale.update(dict.fromkeys(self._users.get(key, ())))
        self._touched = set()
        moved = dict(stale)
        for source in stale:
            moved.update(dict.fromkeys(self._lead(source)))
        if moved:
            self._sort(moved)

    def _put(self, note: Note) -> Source | None:
        """Take in a file as it is now; None when its links are what they were, or none are looked at."""
        path = note.path
        was_sure = self._unsure.pop(path, None) is None
        is_seen = note.is_shown and note.size_bytes <= linking.MAX_LINKED_BYTES
        if not note.version or (is_seen and not linking.learn(note)):
            self._unsure[path] = note
        if not is_seen:
            self._drop(path)
            self._skipped[path] = note
            return None
        self._skipped.pop(path, None)
        source = self._sources.get(path)
        if source is None:
            source = self._sources[path] = Source(note, is_trusted=not self._low_trust.holds(path))
            self._count(source)
        elif was_sure and linking.are_alike(source.note, note):
            source.note = note
            return None
        source.note = note
        self._look_for(source, sought(linking.targets(note)))
        return source

    def _drop(self, path: VaultPath) -> None:
        """Forget a file's links."""
        self._skipped.pop(path, None)
        source = self._sources.pop(path, None)
        if source is None:
            return
        self._look_for(source, ())
        gone, source.leads = source.leads, ()
        self._sort([source, *self._reach(source, gone, -1)], is_gone=source)

    def _look_for(self, source: Source, keys: tuple[str, ...]) -> None:
        """Set the names that a file looks for."""
        before, after = set(source.keys), set(keys)
        source.keys = keys
        for key in before - after:
            users = self._users[key]
            users.remove(source)
            if not users:
                del self._users[key]
        for key in after - before:
            self._users.setdefault(key, []).append(source)

    def _count(self, source: Source) -> None:
        """Count, for a file that is new here, who leads to it already."""
        path = self._names.own(source.note.path)
        name = _last_part(source.note.path)
        for one in self.looking_for(answering(name)).values():
            if any(lead is path for lead in one.leads):
                source.reached += 1
                source.reached_trusted += one.is_trusted

    def _lead(self, source: Source) -> list[Source]:
        """Look again where the links of a file lead; those that it led to before and leads to now."""
        before, path = source.leads, source.note.path
        source.leads = tuple(
            linking.leads_to(self._names, target, kind, path)
            for target, kind in linking.targets(source.note)
            if kind is not LinkKind.DEFINITION
        )
        source.broken = source.leads.count(None)
        if source.leads == before:
            return []
        return [*self._reach(source, before, -1), *self._reach(source, source.leads, 1)]

    def _reach(self, source: Source, leads: Sequence[VaultPath | None], by: int) -> list[Source]:
        """Count a file's links at what they lead to."""
        found = []
        for path in dict.fromkeys(leads):
            target = None if path is None else self._sources.get(path)
            if target is not None and target is not source:
                target.reached += by
                target.reached_trusted += by * source.is_trusted
                found.append(target)
        return found

    def _sort(self, changed: Iterable[Source], is_gone: Source | None = None) -> None:
        there = {one for one in changed if one is not is_gone}
        gone = set[Source]() if is_gone is None else {is_gone}
        broken = {one for one in there if one.broken}
        lonely = {
            one
            for one in there
            if one.note.path.has_suffix(paths.MARKDOWN_SUFFIXES) and one.is_orphan(include_low_trust=False)
        }
        self._broken.change(broken, (there - broken) | gone)
        self._lonely.change(lonely, (there - lonely) | gone)


class LinkMaps:
    """The maps of a vault: that of the whole, and those of limited views. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[Scope | None, LowTrust], LinkMap] = OrderedDict()

    def of(self, scope: Scope | None, low_trust: LowTrust) -> LinkMap:
        """The map of what a view holds."""
        with self._lock:
            found = self._known.pop((scope, low_trust), None) or LinkMap(low_trust)
            self._known[(scope, low_trust)] = found
            limited = [key for key in self._known if key[0] is not None]
            for key in limited[:-MAX_LIMITED_MAPS]:
                del self._known[key]
        return found


class _ByPath:
    """Some of the files, by path."""

    def __init__(self) -> None:
        self.sources: list[Source] = []
        self._held: set[Source] = set()

    def change(self, come: set[Source], gone: set[Source]) -> None:
        come, gone = come - self._held, gone & self._held
        self._held -= gone
        self._held |= come
        if len(come) + len(gone) > _MANY:
            self.sources = sorted(self._held, key=_path_of)
            return
        for one in gone:
            del self.sources[bisect_left(self.sources, _path_of(one), key=_path_of)]
        for one in come:
            insort(self.sources, one, key=_path_of)


def _path_of(source: Source) -> str:
    return str(source.note.path)


def _is_linked(note: Note | None) -> bool:
    return note is not None and note.path.has_suffix(linking.LINKED_SUFFIXES)


def _last_part(path: VaultPath) -> str:
    return folded(path.name)
