"""How a link has to be written so that it leads where it led, once files have other names. Pure, no disk.

A link is left as it is, to the byte, when it still leads to the same file (`./x` and `../x` by just that way). Otherwise
its path part alone is written anew, as its writer would have: a bare name stays the shortest that leads there, a relative
path stays relative, one from the root stays from the root, and `.md` stays or stays away. What is no link (code, comments)
is never looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from service.guards.paths import VaultPath
from service.vault.parts.linkuse import LinkKind, LinkUse, written
from service.vault.resolving import Names, Resolved, folded

_NOTE_SUFFIX: Final = ".md"
_MARKDOWN: Final = frozenset({LinkKind.MARKDOWN, LinkKind.DEFINITION})


@dataclass(frozen=True, slots=True)
class Renaming:
    """The names of all files before and after a move, what each moved file becomes, and the names that links may have to them."""

    before: Names
    after: Names
    moved: Mapping[VaultPath, VaultPath]
    keys: frozenset[str] = field(default=frozenset())

    @staticmethod
    def of(files: Names, moved: Mapping[VaultPath, VaultPath]) -> Renaming:
        """Where `files` are all that links can reach before. What a moved file replaces is none of them any more."""
        after = files.copy()
        for path in moved:
            after.remove(path)
        for path in moved.values():
            if path not in after:
                after.add(path)
        keys = {key for pair in moved.items() for path in pair for key in _keys(path)}
        return Renaming(files, after, moved, frozenset(keys))

    def now(self, path: VaultPath) -> VaultPath:
        """Where a file is afterwards."""
        return self.moved.get(path, path)


@dataclass(frozen=True, slots=True)
class Piece:
    """Put `new` in the place of `text[start:end]`."""

    start: int
    end: int
    new: str


@dataclass(frozen=True, slots=True)
class Relinked:
    """What becomes of one text: the pieces, by place, and how many links nothing could be written for."""

    pieces: tuple[Piece, ...]
    unwritable: int = 0

    def applied(self, text: str) -> str:
        """The new text."""
        kept, at = [], 0
        for piece in self.pieces:
            kept += [text[at : piece.start], piece.new]
            at = piece.end
        return "".join(kept) + text[at:]


def relink(uses: Sequence[LinkUse], source: VaultPath, names: Renaming) -> Relinked:
    """What to write in the file `source` (its path before), whose links are `uses`."""
    pieces: list[Piece] = []
    unwritable = 0
    for use in uses:
        if use.kind is LinkKind.REFERENCE or not use.target:
            continue
        if source not in names.moved and _last_part(folded(use.target)) not in names.keys:
            continue
        change = _Change.of(use, source, names)
        if change is None:
            continue
        new = change.written()
        if new is None:
            unwritable += 1
        else:
            pieces.append(Piece(*use.target_span, new))
    return Relinked(tuple(sorted(pieces, key=lambda piece: piece.start)), unwritable)


@dataclass(frozen=True, slots=True)
class _Change:
    """A link that has to lead to `wanted` from `there`, and would not as it is written."""

    use: LinkUse
    was: VaultPath
    wanted: VaultPath
    here: VaultPath
    there: VaultPath
    names: Renaming

    @staticmethod
    def of(use: LinkUse, source: VaultPath, names: Renaming) -> _Change | None:
        there = names.now(source)
        if use.kind is LinkKind.CANVAS:
            was = names.before.at(use.target)
            if was is None or names.after.at(use.target) == names.now(was):
                return None
            return _Change(use, was, names.now(was), source, there, names)
        was = names.before.first(use.target, source)
        if was is None:
            return None
        wanted = names.now(was)
        if names.after.first(use.target, there) == wanted:
            after = names.after.resolve(use.target, there)
            was_tied = _is_tied(use.target, names.before.resolve(use.target, source), source)
            is_astray = _is_right(use.target, source, was) and not _is_right(use.target, there, wanted)
            if not is_astray and (was_tied or not _is_tied(use.target, after, there)):
                return None
        return _Change(use, was, wanted, source, there, names)

    def written(self) -> str | None:
        """The new path part, as it is to stand there; None when no way of writing it leads to the file."""
        if self.use.kind is LinkKind.CANVAS:
            return written(self.use, str(self.wanted))
        second: str | None = None
        for target in dict.fromkeys(self._ways()):
            text = written(self.use, target)
            if text is None or self.names.after.first(target, self.there) != self.wanted:
                continue
            if not _is_tied(target, self.names.after.resolve(target, self.there), self.there):
                return text
            second = second or text
        return second

    def _ways(self) -> Iterator[str]:
        """Ways of naming the file, the ones like that of the writer first."""
        target = self.use.target
        for path in (*self._alike(target), *self._any()):
            yield path
            yield _with_suffix(path, self.wanted)

    def _alike(self, target: str) -> Iterator[str]:
        keeps = _has_note_suffix(target) or not _has_note_suffix(self.was.name)
        full = _as_written(self.wanted.parts, keeps=keeps)
        relative = _relative(self.wanted, self.there.parent, keeps=keeps)
        if target.startswith(("./", "../")):
            yield relative if relative.startswith("../") or target.startswith("../") else f"./{relative}"
            yield relative if relative.startswith("../") else f"./{relative}"
        elif target.startswith("/"):
            yield f"/{full}"
        elif self.use.kind in _MARKDOWN and folded(target) == folded(
            _relative(self.was, self.here.parent, keeps=keeps)
        ):
            yield relative
            if not relative.startswith("../"):
                yield f"./{relative}"
        else:
            is_from_root = "/" in target and folded(target) == folded(_as_written(self.was.parts, keeps=keeps))
            least = len(self.wanted.parts) if is_from_root else target.count("/") + 1
            for count in range(least, len(self.wanted.parts) + 1):
                yield _as_written(self.wanted.parts[-count:], keeps=keeps)
            yield full

    def _any(self) -> Iterator[str]:
        for keeps in (_has_note_suffix(self.use.target), True, False):
            full = _as_written(self.wanted.parts, keeps=keeps)
            yield full
            yield f"/{full}"
            relative = _relative(self.wanted, self.there.parent, keeps=keeps)
            yield relative if relative.startswith("../") else f"./{relative}"


def _is_tied(target: str, found: Resolved, source: VaultPath) -> bool:
    """Whether Obsidian might as well open another file: two are equally near, and their paths equally long."""
    if not found.is_ambiguous or found.path is None:
        return False
    first, second = found.candidates[:2]
    one, other = folded(str(first)), folded(str(second))
    if target.startswith(("/", "./", "../")):
        if one == other:
            return False  # at just that path
    elif one in (folded(target), folded(target) + _NOTE_SUFFIX) and one != other:
        return False
    here = folded(str(source.parent))
    return len(one) == len(other) and one.startswith(here) == other.startswith(here)


def _is_right(target: str, source: VaultPath, leads_to: VaultPath) -> bool:
    """Whether `./x` or `../x` is the way from the file it stands in: what other programs follow, too, which do not search
    for a file whose path ends alike."""
    if not target.startswith(("./", "../")):
        return False
    parts = list(source.parent.parts)
    for part in target.split("/"):
        if part == "..":
            if not parts:
                return False
            parts.pop()
        elif part != ".":
            parts.append(part)
    path = folded("/".join(parts))
    return folded(str(leads_to)) in (path, path + _NOTE_SUFFIX)


def _as_written(parts: Sequence[str], *, keeps: bool) -> str:
    path = "/".join(parts)
    return path if keeps or not _has_note_suffix(path) else path[: -len(_NOTE_SUFFIX)]


def _with_suffix(path: str, wanted: VaultPath) -> str:
    """For names that would be read otherwise without it, such as `v1.2` or `a.png` of a note `a.png.md`."""
    return path if not _has_note_suffix(wanted.name) or _has_note_suffix(path) else path + wanted.name[-3:]


def _relative(path: VaultPath, folder: VaultPath, *, keeps: bool) -> str:
    common = 0
    for one, other in zip(path.parts[:-1], folder.parts, strict=False):
        if one != other:
            break
        common += 1
    up = [".."] * (len(folder.parts) - common)
    return _as_written((*up, *path.parts[common:]), keeps=keeps)


def _has_note_suffix(name: str) -> bool:
    return name.lower().endswith(_NOTE_SUFFIX)


def _keys(path: VaultPath) -> Iterator[str]:
    """What the last part of a link to a file may be, as links compare it."""
    name = folded(path.name)
    yield name
    if name.endswith(_NOTE_SUFFIX):
        yield name.removesuffix(_NOTE_SUFFIX)


def _last_part(path: str) -> str:
    return path.rpartition("/")[2]
