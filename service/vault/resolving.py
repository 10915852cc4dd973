"""Which file a link leads to, as Obsidian decides it; pure, given the names of all files.

The rule is that of Obsidian's `getFirstLinkpathDest`, taken from observation of versions 1.12 and 1.13 (help, "Internal
links", is silent on most of it; docs/explanation/links-and-frontmatter.md has the sources):

1. Names count without regard to case, to how letters are composed (NFC), and to whether a blank may break a line.
2. The last part of the target is looked up among the names of all files, as written if it has a dot; else, or if there is
   none, with `.md` behind it. Aliases are no names.
3. `./` and `../` begin at the folder of the note that holds the link; a file at just that path is it.
4. Else a file at just that path from the vault's root is it; with `/` in front, no other.
5. Else it is any file whose path ends as the target: those whose path begins as the source's folder does first, then the
   shortest path. Of equally long ones Obsidian takes the one it came to know first; here, the first by path.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from service.guards import limits
from service.guards.paths import VaultPath

MAX_TARGET_CHARS: Final = 4 * limits.MAX_PATH_CHARS
"""Characters of a path part beyond which no file can answer to it, letters taken apart and `../` included."""

MAX_KEPT: Final = 200_000
"""Files in what is remembered of look-ups, in all; past it all of that is forgotten."""

_NOTE_SUFFIX: Final = ".md"
_FINAL_SIGMA, _SIGMA = "\N{GREEK SMALL LETTER FINAL SIGMA}", "\N{GREEK SMALL LETTER SIGMA}"
"""Which of the two a capital becomes depends on what follows, a suffix for one."""
_BEYOND: Final = "\U0010ffff"

_Known: TypeAlias = tuple[str, VaultPath]
"""A file: its path as it is compared, and as it is."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """Where a link leads.

    Args:
        path: the file that Obsidian opens; None when there is none.
        candidates: all files that the link as written may mean, in Obsidian's order, `path` first. More than one only for
            a name, or the end of a path, that several files share.
    """

    path: VaultPath | None
    candidates: tuple[VaultPath, ...] = ()

    @property
    def is_ambiguous(self) -> bool:
        """Whether other files answer to the link as well."""
        return len(self.candidates) > 1


UNRESOLVED: Final = Resolved(None)


def folded(name: str) -> str:
    """A name or path as links compare it."""
    if name.isascii():
        return name.lower()
    plain = unicodedata.normalize("NFC", name.replace("\u00a0", " ").replace("\u202f", " "))
    return unicodedata.normalize("NFC", plain.lower().replace(_FINAL_SIGMA, _SIGMA))


@dataclass(slots=True)
class _Namesakes:
    """Several files of one name, by length of path; and by path, once somebody asks for those of a folder."""

    by_length: Sequence[_Known]
    by_path: Sequence[_Known] | None = None

    def in_folder(self, start: str) -> Sequence[_Known]:
        """Those whose compared path begins with `start`, in no promised order."""
        if self.by_path is None:
            self.by_path = sorted(self.by_length, key=_compared)
        first = bisect_left(self.by_path, start, key=_compared)
        return self.by_path[first : bisect_left(self.by_path, start + _BEYOND, key=_compared)]


class Names:
    """The names of all files of a vault. Made in linear time and kept by changes; a look-up costs what it finds.

    One thread at a time; hidden files are not to be among them, since no link reaches them.
    """

    __slots__ = ("_by_name", "_by_path", "_endings", "_endings_kept", "_folders", "_shared", "_twins")

    def __init__(self) -> None:
        self._by_path: dict[str, VaultPath] = {}
        """By compared path; of several that compare alike the first."""
        self._twins: dict[str, tuple[VaultPath, ...]] = {}
        """All of those."""
        self._by_name: dict[str, VaultPath] = {}
        """One file of each name."""
        self._shared: dict[str, _Namesakes] = {}
        """The names that several files have. Never changed, only replaced: copies share them."""
        self._endings: dict[str, dict[str, _Namesakes]] = {}
        """What was found for targets with a folder in them, by the name that they end in."""
        self._endings_kept = 0
        self._folders: dict[tuple[str, ...], str] = {}
        """Compared paths of folders that links stand in."""

    @staticmethod
    def of(files: Iterable[VaultPath]) -> Names:
        """The names of these files: notes and attachments alike."""
        names = Names()
        shared: dict[str, list[_Known]] = {}
        twins: dict[str, list[VaultPath]] = {}
        for path in files:
            compared = folded(str(path))
            known = names._by_path.setdefault(compared, path)
            if known is not path:
                twins.setdefault(compared, [known]).append(path)
            name = _last_part(compared)
            first = names._by_name.setdefault(name, path)
            if first is not path:
                shared.setdefault(name, [(folded(str(first)), first)]).append((compared, path))
        for compared, several in twins.items():
            names._set_twins(compared, several)
        for name, namesakes in shared.items():
            names._shared[name] = _Namesakes(sorted(namesakes, key=_length_then_path))
        return names

    def copy(self) -> Names:
        """The same names, to be changed by themselves."""
        names = Names()
        names._by_path, names._twins = dict(self._by_path), dict(self._twins)
        names._by_name, names._shared = dict(self._by_name), dict(self._shared)
        return names

    def add(self, path: VaultPath) -> str:
        """A file that is none of them has come; returns its compared name."""
        compared = folded(str(path))
        name = _last_part(compared)
        known = self._by_path.setdefault(compared, path)
        if known is not path:
            self._set_twins(compared, (*self._twins.get(compared, (known,)), path))
        first = self._by_name.setdefault(name, path)
        if first is not path:
            shared = self._shared.get(name)
            several = [(folded(str(first)), first)] if shared is None else list(shared.by_length)
            insort(several, (compared, path), key=_length_then_path)
            self._shared[name] = _Namesakes(several)
        self._forget(name)
        return name

    def remove(self, path: VaultPath) -> str:
        """One of the files has gone; returns its compared name."""
        compared = folded(str(path))
        name = _last_part(compared)
        twins = self._twins.pop(compared, (path,))
        self._set_twins(compared, [one for one in twins if one != path])
        shared = self._shared.pop(name, None)
        if shared is None:
            del self._by_name[name]
        else:
            several = list(shared.by_length)
            del several[bisect_left(several, _length_then_path((compared, path)), key=_length_then_path)]
            self._by_name[name] = several[0][1]
            if len(several) > 1:
                self._shared[name] = _Namesakes(several)
        self._forget(name)
        return name

    def own(self, path: VaultPath) -> VaultPath | None:
        """The very object that stands for a file here, and that look-ups give; None when it is none of them."""
        compared = folded(str(path))
        known = self._by_path.get(compared)
        if known is None or known == path:
            return known
        return next((twin for twin in self._twins.get(compared, ()) if twin == path), None)

    def _set_twins(self, compared: str, files: Sequence[VaultPath]) -> None:
        twins = sorted(files, key=lambda path: path.parts)
        if not twins:
            del self._by_path[compared]
            return
        self._by_path[compared] = twins[0]
        if len(twins) > 1:
            self._twins[compared] = tuple(twins)

    def _forget(self, name: str) -> None:
        self._endings_kept -= sum(map(_kept, self._endings.pop(name, {}).values()))

    def __iter__(self) -> Iterator[VaultPath]:
        """Every file, in no promised order."""
        for compared, path in self._by_path.items():
            yield from self._twins.get(compared, (path,))

    def __len__(self) -> int:
        return len(self._by_path) + sum(len(twins) - 1 for twins in self._twins.values())

    def __contains__(self, path: VaultPath) -> bool:
        compared = folded(str(path))
        return path == self._by_path.get(compared) or path in self._twins.get(compared, ())

    def at(self, path: str) -> VaultPath | None:
        """The file at exactly this path from the root (names compared as links do), as canvases name theirs."""
        return self._by_path.get(folded(path)) if len(path) <= MAX_TARGET_CHARS else None

    def first(self, target: str, source: VaultPath | None) -> VaultPath | None:
        """The file that Obsidian opens. As `resolve`, without the other candidates."""
        if not target:
            return source
        if len(target) > MAX_TARGET_CHARS:
            return None
        wanted, name = self._named(target)
        if not name:
            return None
        here = self._folder_of(source)
        exact = self._exact(wanted, here)
        if exact is not None:
            return self._at(exact, target)[0] if self._twins else self._by_path[exact]
        namesakes = self._ending(_from_folder(wanted, here), name)
        if isinstance(namesakes, _Namesakes):
            near = namesakes.in_folder(here) if here else ()
            return min(near, key=_length_then_path)[1] if near else namesakes.by_length[0][1]
        return namesakes

    def resolve(self, target: str, source: VaultPath | None) -> Resolved:
        """Where a link with this path part leads.

        Args:
            target: as `LinkUse.target`: decoded, without subpath; empty for the source itself.
            source: the file that the link stands in; None as if it stood in a note at the root.
        """
        if not target:
            return Resolved(source, () if source is None else (source,))
        if len(target) > MAX_TARGET_CHARS:
            return UNRESOLVED
        wanted, name = self._named(target)
        if not name:
            return UNRESOLVED
        here = self._folder_of(source)
        exact = self._exact(wanted, here)
        found = [] if exact is None else self._at(exact, target)
        if exact is None or "/" not in wanted:  # a bare name may mean any file that has it, the one at the root first
            found += [path for path in self._ranked(_from_folder(wanted, here), name, here) if path not in found]
        return Resolved(found[0], tuple(found)) if found else UNRESOLVED

    def _named(self, target: str) -> tuple[str, str]:
        """The target as it is compared, with its suffix; and the name of a file that it ends in, empty when none has it."""
        wanted = folded(target)
        name = _last_part(wanted)
        if "." in name and name in self._by_name:
            return wanted, name
        name += _NOTE_SUFFIX
        return wanted + _NOTE_SUFFIX, name if name in self._by_name else ""

    def _folder_of(self, source: VaultPath | None) -> str:
        if source is None:
            return ""
        folder = source.parts[:-1]
        known = self._folders.get(folder)
        if known is None:
            if len(self._folders) > MAX_KEPT:
                self._folders = {}
            known = self._folders[folder] = folded("/".join(folder))
        return known

    def _exact(self, wanted: str, here: str) -> str | None:
        """The compared path of the file at just the path that is meant, if there is one."""
        if wanted.startswith("."):
            wanted = _from_folder(wanted, here)
        path = wanted.removeprefix("/")
        return path if path in self._by_path else None

    def _at(self, compared: str, target: str) -> list[VaultPath]:
        """The files at one compared path: most often one, else the one that is spelled as the link is first."""
        spelled = _last_part(target)
        twins = self._twins.get(compared)
        if twins is None:
            return [self._by_path[compared]]
        return sorted(twins, key=lambda path: path.name not in (spelled, spelled + _NOTE_SUFFIX))

    def _ranked(self, wanted: str, name: str, here: str) -> list[VaultPath]:
        """All files whose path ends as `wanted`: those near the source first, each part by length."""
        namesakes = self._ending(wanted, name)
        if not isinstance(namesakes, _Namesakes):
            return [] if namesakes is None else [namesakes]
        near = {path for _, path in namesakes.in_folder(here)} if here else frozenset[VaultPath]()
        return [path for _, path in sorted(namesakes.by_length, key=lambda known: known[1] not in near)]

    def _ending(self, wanted: str, name: str) -> _Namesakes | VaultPath | None:
        """The files whose path ends as `wanted`, whose last part is `name`: several, one or none."""
        if wanted.startswith("/"):
            return None  # from the root, or nowhere
        shared = self._shared.get(name)
        if "/" not in wanted:
            return shared or self._by_name[name]
        if shared is None:
            only = self._by_name[name]
            return only if folded(str(only)).endswith(wanted) else None
        known = self._endings.get(name, {}).get(wanted)
        if known is None:
            known = _Namesakes([one for one in shared.by_length if one[0].endswith(wanted)])
            if self._endings_kept > MAX_KEPT:
                self._endings, self._endings_kept = {}, 0
            self._endings.setdefault(name, {})[wanted] = known
            self._endings_kept += _kept(known)
        return known if known.by_length else None


def _kept(namesakes: _Namesakes) -> int:
    return 1 + len(namesakes.by_length)


def _from_folder(wanted: str, folder: str) -> str:
    """`./x` and `../x` as a path from the root, anything else as it is; what climbs above the root stays there."""
    if not wanted.startswith(("./", "../")):
        return wanted
    wanted = wanted[2:] if wanted.startswith("./../") else wanted
    if wanted.startswith("./"):
        wanted = wanted[2:]
    while wanted.startswith("../"):
        wanted = wanted[3:]
        folder = folder.rpartition("/")[0]
    return f"{folder}/{wanted}" if folder else wanted


def _length_then_path(known: _Known) -> tuple[int, str, tuple[str, ...]]:
    return len(known[0]), known[0], known[1].parts


def _compared(known: _Known) -> str:
    return known[0]


def _last_part(path: str) -> str:
    return path.rpartition("/")[2]
