"""Which notes a question is about: its folder, what it leaves out, low trust, and the folders that a grant is limited to.

Decided once per folder, by names alone, so that a note found in the block is known to count or not within a fraction of a
microsecond, whatever happens to its folder meanwhile.
"""

from __future__ import annotations

import enum
import unicodedata
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

from service.guards import paths, trust
from service.guards.paths import VaultPath
from service.search.asked import Query
from service.vault import tags
from service.vault.model import Vault
from service.vault.picture.note import Note
from service.vault.picture.picture import Moment


class Verdict(enum.Enum):
    """Whether all notes directly in a folder are looked at, none, or each is to be decided by itself."""

    ALL = enum.auto()
    NONE = enum.auto()
    SOME = enum.auto()


class _Verdicts(dict[tuple[str, ...], Verdict]):
    """By folder; decided when first asked for."""

    def __init__(self, decide: Callable[[VaultPath], Verdict]) -> None:
        super().__init__()
        self._decide = decide

    def __missing__(self, folder: tuple[str, ...]) -> Verdict:
        verdict = self[folder] = self._decide(VaultPath(folder))
        return verdict


class Reach:
    """The notes that one question looks at.

    Args:
        start: the folder that is asked for, as the disk spells it.
    """

    def __init__(self, vault: Vault, query: Query, moment: Moment, start: VaultPath) -> None:
        self._moment = moment
        self._start = start
        self._tag = query.tag
        self._excluded = _as_excluded(query.excluded)
        self._low = () if query.include_low_trust or vault.low_trust.holds(start) else vault.low_trust.folders
        self._low_trust = trust.Folders(self._low)
        self.verdicts: Mapping[tuple[str, ...], Verdict] = _Verdicts(self._decided)
        """By the parts of a folder; ALL promises that `holds` says yes to each note directly in it."""
        self.key: Hashable = (
            None
            if self._excluded or query.tag
            else (start, self._low, None if moment.scope is None else moment.scope.everywhere)
        )
        """What the paths that it holds depend on, besides themselves; None: on more than is worth to be remembered by."""

    def holds(self, note: Note) -> bool:
        """Whether the question is about that note."""
        verdict = self.verdicts[note.path.parts[:-1]]
        if verdict is Verdict.NONE or (verdict is Verdict.SOME and not self._has(note.path)):
            return False
        return not self._tag or tags.has(note, self._tag)

    def skipped(self) -> int:
        """How many notes it is about that could not be looked at."""
        unshown = [note.path for note in self._moment.unshown if note.path.has_suffix(paths.SEARCHED_SUFFIXES)]
        return sum(self._has(path) for path in unshown)

    def left_out(self) -> tuple[VaultPath, ...]:
        """The low-trust folders that are there, but not looked into."""
        return tuple(self._left_out()) if self._low else ()

    def _left_out(self) -> Iterator[VaultPath]:
        pending = [self._start]
        while pending:
            here = self._moment.folders.get(pending.pop())
            if here is None:
                continue
            files = [note.path for note in here.files.values() if note.path.has_suffix(paths.SEARCHED_SUFFIXES)]
            for path in [*map(here.path.child, here.folders), *(files if self._may_be_low_in(here.path) else ())]:
                if self._is_excluded(path):
                    continue
                if self._low_trust.holds(path):
                    yield path
                elif self._leads_to_low(path):
                    pending.append(path)

    def _decided(self, folder: VaultPath) -> Verdict:
        scope = self._moment.scope
        if not folder.is_inside(self._start) or self._is_excluded(folder) or self._low_trust.holds(folder):
            return Verdict.NONE
        if scope is not None and not scope.holds(folder):
            return Verdict.SOME if any(one.parent == folder for one in scope.everywhere) else Verdict.NONE
        composed = _composed(folder.parts)
        names_some = any(one[:-1] == composed and _is_note(one) for one in self._excluded)
        return Verdict.SOME if self._tag or names_some or self._may_be_low_in(folder) else Verdict.ALL

    def _has(self, path: VaultPath) -> bool:
        return (
            path.is_inside(self._start)
            and self._moment.holds(path)
            and not self._is_excluded(path)
            and not self._low_trust.holds(path)
        )

    def _is_excluded(self, path: VaultPath) -> bool:
        """Whether it, or a folder around it that lies below the one asked for, is left out."""
        composed = _composed(path.parts) if self._excluded else ()
        return any(composed[:depth] in self._excluded for depth in range(len(self._start.parts) + 1, len(composed) + 1))

    def _may_be_low_in(self, folder: VaultPath) -> bool:
        """Whether a note directly in a folder can be called as a low-trust folder is."""
        folded = trust.folded(folder.parts)
        return any(one[:-1] == folded and _is_note(one) for one in self._low)

    def _leads_to_low(self, folder: VaultPath) -> bool:
        folded = trust.folded(folder.parts)
        return any(one[: len(folded)] == folded for one in self._low)


def _is_note(parts: tuple[str, ...]) -> bool:
    return bool(parts) and VaultPath(parts).has_suffix(paths.SEARCHED_SUFFIXES)


def _as_excluded(given: Sequence[VaultPath]) -> frozenset[tuple[str, ...]]:
    """The names to leave out, as `_composed` has them; with and without outer blanks, which may be a slip."""
    named = [path.parts for path in given]
    return frozenset(_composed(parts) for parts in [*named, *(tuple(part.strip() for part in one) for one in named)])


def _composed(parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part if part.isascii() else unicodedata.normalize("NFC", part) for part in parts)
