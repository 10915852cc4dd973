"""What a restore would do, file by file, before anything is done.

A pure comparison: what the vault holds now, what a commit held, which part of it was asked for. Files that are newer than
the target stay, unless the owner asked for the exact state; links and nested repositories are never made again; a name
that the vault spells with other code points for the same letters is that file, not a second one.
"""

from __future__ import annotations

import stat
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Final

from service.errors import PathRefused
from service.guards import paths
from service.history.model import Blob, Revision, git_mode, is_note

NAME_SKIPPED: Final = "no file of that name can lie in the vault"
LINK_SKIPPED: Final = "it was a symbolic link or a nested repository, which is not made again"
FOLDER_IN_THE_WAY: Final = "a folder stands there now; --exact takes it away when history holds what is in it"
FILE_IN_THE_WAY: Final = "a file stands where its folder was; --exact takes it away"


class Kind(StrEnum):
    """What happens to one file; the value is the letter that commands show."""

    CREATE = "A"
    CHANGE = "M"
    REMOVE = "D"
    SAME = "="
    SKIP = "!"


@dataclass(frozen=True, slots=True)
class Item:
    """One file of a plan.

    Args:
        path: where it is, or will be, in the vault.
        source: its name in the commit it comes from; None for a removal.
        old, new: what it holds now, and what it will hold.
        commit: where `new` comes from.
        why: for SKIP, the reason.
    """

    kind: Kind
    path: str
    source: str | None
    old: Blob | None
    new: Blob | None
    commit: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """All items, by path, the revisions they come from, and how many newer files are left as they are."""

    items: tuple[Item, ...]
    revisions: Mapping[str, Revision]
    left: int

    def of(self, *kinds: Kind) -> list[Item]:
        """The items of some kinds."""
        return [item for item in self.items if item.kind in kinds]

    @property
    def work(self) -> list[Item]:
        """What will be written or removed."""
        return self.of(Kind.CREATE, Kind.CHANGE, Kind.REMOVE)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Files of one commit to bring back. `files` maps the name in the vault to the name and content in the commit.

    `scope` is where `--exact` removes what is newer: a folder's path, empty for everything, None for a single note.
    `holds` says whether the commit has something at exactly that name.
    """

    commit: str
    files: Mapping[str, tuple[str, Blob]]
    scope: str | None
    holds: Callable[[str], bool]


def make(
    present: Mapping[str, Blob],
    wanted: Sequence[Wanted],
    revisions: Mapping[str, Revision],
    *,
    is_exact: bool,
    only_missing: bool,
) -> Plan:
    """Compare `present` (every file history keeps, as it is on disk) with what is wanted."""
    place = _Places(present)
    items: dict[str, Item] = {}
    newer: set[str] = set()
    for want in wanted:
        aimed = {path: place.of(path, want.holds) for path in want.files}
        scope = want.scope and place.folder(want.scope, want.holds)
        newer |= _newer(present, scope, set(aimed.values()))
        around = _Around(present, newer if is_exact else set())
        for path, (source, blob) in want.files.items():
            items[aimed[path]] = _item(aimed[path], source, blob, want.commit, around)
    if is_exact and wanted:
        for path in newer:
            items[path] = Item(Kind.REMOVE, path, None, present[path], None, wanted[-1].commit)
    chosen = (_settled(item) if only_missing else item for item in items.values())
    left = 0 if is_exact else sum(1 for path in newer if is_note(path))
    return Plan(tuple(sorted(chosen, key=lambda item: item.path)), revisions, left)


def _item(path: str, source: str, blob: Blob, commit: str, around: _Around) -> Item:
    old = around.present.get(path)
    if not stat.S_ISREG(blob.mode):
        return Item(Kind.SKIP, path, source, old, blob, commit, LINK_SKIPPED)
    if not _can_lie_in_vault(path):
        return Item(Kind.SKIP, path, source, old, blob, commit, NAME_SKIPPED)
    blob = Blob(git_mode(blob.mode), blob.id)  # git of 2005 wrote 100664, too
    if old is not None:
        is_same = blob == Blob(git_mode(old.mode), old.id)
        return Item(Kind.SAME if is_same else Kind.CHANGE, path, source, old, blob, commit)
    why = around.blocks(path)
    return Item(Kind.SKIP if why else Kind.CREATE, path, source, None, blob, commit, why)


def _can_lie_in_vault(path: str) -> bool:
    try:
        paths.tracked(path)
    except PathRefused:
        return False
    return True


class _Around:
    """What stands in the vault and stays: nothing can be made where a file is needed as a folder, or the reverse."""

    def __init__(self, present: Mapping[str, Blob], removed: set[str]) -> None:
        self.present = present
        self._files = present.keys() - removed
        self._folders = {folder for path in self._files for folder in _above(path)}

    def blocks(self, path: str) -> str:
        """Why a file cannot be made at `path`; empty when it can."""
        if any(folder in self._files for folder in _above(path)):
            return FILE_IN_THE_WAY
        return FOLDER_IN_THE_WAY if path in self._folders else ""


def _above(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def _newer(present: Mapping[str, Blob], scope: str | None, aimed: set[str]) -> set[str]:
    if scope is None:
        return set()
    return {
        path for path in present if path not in aimed and (not scope or path == scope or path.startswith(scope + "/"))
    }


def _settled(item: Item) -> Item:
    if item.kind in (Kind.CHANGE, Kind.REMOVE):
        return Item(Kind.SAME, item.path, item.source, item.old, item.new, item.commit)
    return item


class _Places:
    """Where a name of history is in the vault: as it is, or under the spelling the vault has for the same letters.

    Where the commit itself holds both spellings they are two files, and each keeps its own place.
    """

    def __init__(self, present: Mapping[str, Blob]) -> None:
        self._present = present
        self._folders = {folder for path in present for folder in _above(path)}

    @cached_property
    def _spelled(self) -> dict[str, str]:
        return {_composed(name): name for name in self._present if not name.isascii()}

    @cached_property
    def _folders_spelled(self) -> dict[str, str]:
        return {_composed(name): name for name in self._folders if not name.isascii()}

    def of(self, path: str, holds: Callable[[str], bool]) -> str:
        """The place of a file."""
        if path in self._present:
            return path
        found = self._spelled.get(_composed(path))
        if found is not None and not holds(found):
            return found
        folder, slash, name = path.rpartition("/")
        return self.folder(folder, holds) + slash + name

    def folder(self, path: str, holds: Callable[[str], bool]) -> str:
        """The place of a folder; one that is nowhere yet lies in the place of the folder above it."""
        if not path or path.isascii() or path in self._folders:
            return path
        found = self._folders_spelled.get(_composed(path))
        if found is not None and not holds(found):
            return found
        above, slash, name = path.rpartition("/")
        return self.folder(above, holds) + slash + name


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)
