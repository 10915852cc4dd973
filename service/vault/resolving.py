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
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from service.guards.paths import VaultPath

_NOTE_SUFFIX: Final = ".md"
_PLAIN_BLANKS: Final = str.maketrans("\u00a0\u202f", "  ")
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
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name.translate(_PLAIN_BLANKS)).lower())


@dataclass(slots=True)
class _Namesakes:
    """The files of one name, by length of path; and by path, once somebody asks for those of a folder."""

    by_length: Sequence[_Known]
    by_path: Sequence[_Known] | None = None

    def in_folder(self, start: str) -> Sequence[_Known]:
        """Those whose compared path begins with `start`, in no promised order."""
        if self.by_path is None:
            self.by_path = sorted(self.by_length, key=_compared)
        first = bisect_left(self.by_path, start, key=_compared)
        return self.by_path[first : bisect_left(self.by_path, start + _BEYOND, key=_compared)]


@dataclass(slots=True)
class Names:
    """The names of all files of a vault, at one moment. Made in linear time; a look-up costs what it finds.

    Thread-safe; hidden files are not to be among `files`, since no link reaches them.
    """

    _by_path: dict[str, list[VaultPath]] = field(default_factory=dict)
    _by_name: dict[str, _Namesakes] = field(default_factory=dict)
    _by_end: dict[str, _Namesakes] = field(default_factory=dict)
    """What was found for targets with a folder in them."""

    @staticmethod
    def of(files: Iterable[VaultPath]) -> Names:
        """The snapshot of these files: notes and attachments alike."""
        names = Names()
        by_name: dict[str, list[_Known]] = {}
        for path in files:
            compared = folded(str(path))
            names._by_path.setdefault(compared, []).append(path)
            by_name.setdefault(_last_part(compared), []).append((compared, path))
        for twins in names._by_path.values():
            twins.sort(key=lambda path: path.parts)
        names._by_name = {name: _Namesakes(_by_length(known)) for name, known in by_name.items()}
        return names

    def __iter__(self) -> Iterator[VaultPath]:
        """Every file, in no promised order."""
        for twins in self._by_path.values():
            yield from twins

    def __len__(self) -> int:
        return sum(map(len, self._by_path.values()))

    def __contains__(self, path: VaultPath) -> bool:
        return path in self._by_path.get(folded(str(path)), ())

    def at(self, path: str) -> VaultPath | None:
        """The file at exactly this path from the root (names compared as links do), as canvases name theirs."""
        return next(iter(self._by_path.get(folded(path), ())), None)

    def first(self, target: str, source: VaultPath | None) -> VaultPath | None:
        """The file that Obsidian opens. As `resolve`, without the other candidates."""
        if not target:
            return source
        found = self._look_up(target, source)
        if isinstance(found, list):
            return found[0] if found else None
        start, namesakes = found
        if not start:
            return namesakes.by_length[0][1] if namesakes.by_length else None
        near = namesakes.in_folder(start)
        if near:
            return min(near, key=_length_then_path)[1]
        return namesakes.by_length[0][1] if namesakes.by_length else None

    def resolve(self, target: str, source: VaultPath | None) -> Resolved:
        """Where a link with this path part leads.

        Args:
            target: as `LinkUse.target`: decoded, without subpath; empty for the source itself.
            source: the file that the link stands in; None as if it stood in a note at the root.
        """
        if not target:
            return Resolved(source, () if source is None else (source,))
        found = self._look_up(target, source)
        if isinstance(found, list):
            others = [path for path in self._sharing(target) if path not in found]
            return Resolved(found[0], (*found, *others)) if found else UNRESOLVED
        start, namesakes = found
        near = {path for _, path in namesakes.in_folder(start)} if start else frozenset[VaultPath]()
        ranked = sorted(namesakes.by_length, key=lambda known: known[1] not in near)  # stable: each part by length
        paths = tuple(path for _, path in ranked)
        return Resolved(paths[0], paths) if paths else UNRESOLVED

    def _sharing(self, target: str) -> Iterator[VaultPath]:
        """All files that a bare name may mean; none for what has a folder in it, which is exact."""
        if "/" not in target:
            _, namesakes = self._namesakes(folded(target))
            yield from (path for _, path in namesakes.by_length)

    def _look_up(self, target: str, source: VaultPath | None) -> list[VaultPath] | tuple[str, _Namesakes]:
        """The files at exactly the path that is meant; or how the source's folder begins, and the files that end so."""
        wanted, namesakes = self._namesakes(folded(target))
        if not namesakes.by_length:
            return []
        here = folded(str(source.parent)) if source is not None else ""
        if wanted.startswith(("./", "../")):
            wanted = _from_folder(wanted, here)
            if wanted in self._by_path:
                return self._at(wanted, target)
        is_rooted = wanted.startswith("/")
        wanted = wanted.removeprefix("/")
        if wanted in self._by_path:
            return self._at(wanted, target)
        if is_rooted:
            return []
        return here, self._ending(wanted, namesakes)

    def _at(self, wanted: str, target: str) -> list[VaultPath]:
        """The files at one compared path: most often one, else the one that is spelled as the link is first."""
        twins = self._by_path[wanted]
        spelled = _last_part(target)
        return sorted(twins, key=lambda path: path.name not in (spelled, spelled + _NOTE_SUFFIX))

    def _namesakes(self, wanted: str) -> tuple[str, _Namesakes]:
        """The target with its suffix, and the files of its name."""
        name = _last_part(wanted)
        if "." in name and name in self._by_name:
            return wanted, self._by_name[name]
        return wanted + _NOTE_SUFFIX, self._by_name.get(name + _NOTE_SUFFIX, _NONE)

    def _ending(self, wanted: str, namesakes: _Namesakes) -> _Namesakes:
        if "/" not in wanted:
            return namesakes
        known = self._by_end.get(wanted)
        if known is None:
            known = _Namesakes([one for one in namesakes.by_length if one[0].endswith(wanted)])
            self._by_end[wanted] = known
        return known


_NONE: Final = _Namesakes(())


def _from_folder(wanted: str, folder: str) -> str:
    """`./x` and `../x` as a path from the root; what climbs above the root stays there."""
    wanted = wanted[2:] if wanted.startswith("./../") else wanted
    if wanted.startswith("./"):
        wanted = wanted[2:]
    while wanted.startswith("../"):
        wanted = wanted[3:]
        folder = folder.rpartition("/")[0]
    return f"{folder}/{wanted}" if folder else wanted


def _by_length(known: Iterable[_Known]) -> list[_Known]:
    return sorted(known, key=_length_then_path)


def _length_then_path(known: _Known) -> tuple[int, str, tuple[str, ...]]:
    return len(known[0]), known[0], known[1].parts


def _compared(known: _Known) -> str:
    return known[0]


def _last_part(path: str) -> str:
    return path.rpartition("/")[2]
