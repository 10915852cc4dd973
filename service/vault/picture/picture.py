"""The picture of a vault: brought up to date whenever it is asked for, and only by what has changed since.

Two depths. `folders` tells what there is and reads no file. `now` has looked into every note as well: what may be shown of
it is in the block, and its facts can be asked of its `Note`. Neither is ever older than the moment it was asked for.
"""

from __future__ import annotations

import contextlib
import copy
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from service.errors import AppError
from service.guards import paths
from service.guards.folders import Scope
from service.guards.paths import VaultPath
from service.guards.trust import LowTrust
from service.store import census, listings, sharing
from service.store.census import Census
from service.store.listings import Folders
from service.store.root import Root
from service.store.sharing import Shared
from service.vault import words
from service.vault.linkmap import LinkMap, LinkMaps
from service.vault.parts import canvas
from service.vault.picture.block import Block, Segment, folded, folded_name
from service.vault.picture.kept import Kept
from service.vault.picture.note import Note

LOOKING_S: Final = 10.0
"""Seconds of the processor that one question spends on views in all.

After them, long notes that may hide something and were never looked at are skipped, and counted: a folder of hostile notes
must not keep every question from being answered. The next question goes on with them."""

MAX_LATE_BYTES: Final = 20_000
"""Bytes of a note that is looked at even then: it takes a few hundredths of a second."""

_LOOKED_AT: Final = (*paths.SEARCHED_SUFFIXES, canvas.SUFFIX)


def _never() -> None:
    return


@dataclass(frozen=True, slots=True)
class Moment:
    """The vault at one moment, looked into.

    Args:
        folders: what there is.
        segments: what may be shown of all notes, folded; with a scope, of notes outside of it as well: see `holds`.
        unshown: the notes of which nothing is shown: too large, unreadable, withheld, or not looked at in time. With a scope,
            those outside of it as well.
        scope: the folders that the asker is limited to.
    """

    folders: Folders[Note]
    segments: tuple[Segment, ...]
    unshown: tuple[Note, ...] = ()
    scope: Scope | None = None

    def holds(self, path: VaultPath) -> bool:
        """Whether a note belongs to what the asker may see."""
        return self.scope is None or self.scope.holds(path)


@dataclass(frozen=True, slots=True)
class _Change:
    """A note to be looked at: what stood for it when it was last looked at, what stands for it now, what may be the same text."""

    before: Note | None
    after: Note | None
    like: Note | None


class Picture:
    """One vault in memory, for all who ask. Thread-safe."""

    def __init__(self, root: Root, freshness: str = "auto") -> None:
        """`freshness` is how to keep up with the vault: `auto`, `events` or `walk` (STRONGROOM_FRESHNESS)."""
        self._root = root = root.whole
        self._scope: Scope | None = None
        self._census = Census[Note](root, partial(Note, root), self._noticed, freshness)
        self._look_shared = Shared(self._census.now)
        self._looking = threading.Lock()
        self._noticing = threading.Lock()
        self._pending: dict[VaultPath, _Change] = {}
        self._block = Block()
        self._unshown: dict[VaultPath, Note] = {}
        self.kept = Kept()
        self._link_maps = LinkMaps()

    def limited(self, scope: Scope) -> Picture:
        """The same picture as if there were nothing outside the folders of `scope`."""
        view = copy.copy(self)
        view._scope = scope
        return view

    def links(self, low_trust: LowTrust) -> LinkMap:
        """The map of the links among the files of this picture, to be brought up to date by what it says."""
        return self._link_maps.of(self._scope, low_trust)

    def folders(self, check: Callable[[], None] = _never) -> Folders[Note]:
        """The visible folders and files, none of them looked into.

        Raises:
            VaultMissing: the vault is not there.
        """
        folders = self._look_shared.now(check)
        return folders if self._scope is None else listings.within(folders, self._scope)

    def now(self, check: Callable[[], None] = _never) -> Moment:
        """The vault with every note looked into. What was looked at stays known when `check` raises in between.

        Raises:
            VaultMissing: the vault is not there.
        """
        folders = self.folders(check)
        with sharing.held(self._looking, check):
            self._look(check)
            return Moment(folders, self._block.segments(), tuple(self._unshown.values()), self._scope)

    def state(self) -> census.State:
        """How the vault is kept up with just now."""
        return self._census.state()

    def close(self) -> None:
        """Give back what the kernel holds for it; the next question takes it anew."""
        self._census.close()

    def _noticed(self, path: VaultPath, before: Note | None, after: Note | None, like: Note | None) -> None:
        if not path.has_suffix(_LOOKED_AT):
            return
        with self._noticing:
            if path in self._pending:
                earlier = self._pending[path]
                before, like = earlier.before, like if like is not before else earlier.like
            self._pending[path] = _Change(before, after, like)

    def _look(self, check: Callable[[], None]) -> None:
        """Look into every note that came or changed; one that cannot be read is tried again the next time."""
        looked_s = 0.0
        unread: dict[VaultPath, _Change] = {}
        reached = _Reached(self._root)
        try:
            while self._pending:
                check()
                with self._noticing:
                    path, change = self._pending.popitem()  # the last: to take the first of many is slow
                self._unshown.pop(path, None)
                unread[path] = change  # until it is done, come what may
                if change.before is not None:
                    self._block.remove(change.before)
                after = change.after
                if after is None:
                    del unread[path]
                    continue
                began = time.thread_time()
                shown = after.look(
                    change.like, MAX_LATE_BYTES if looked_s >= LOOKING_S else None, reached.folder_of(path)
                )
                looked_s += time.thread_time() - began
                if not after.is_shown:
                    self._unshown[path] = after
                if not after.version:
                    continue
                if shown is not None and path.has_suffix(paths.SEARCHED_SUFFIXES):
                    text = folded(shown)
                    self._block.add(after, folded_name(after), text, words.others(text))
                del unread[path]
        finally:
            reached.close()
            with self._noticing:
                for path, change in unread.items():
                    self._pending.setdefault(path, change)


class _Reached:
    """The folder that was read last, kept open: notes come folder by folder."""

    def __init__(self, root: Root) -> None:
        self._root = root
        self._path: VaultPath | None = None
        self._folder: int | None = None

    def folder_of(self, path: VaultPath) -> int | None:
        """The open folder of a file; None when it cannot be opened."""
        if path.parts[:-1] != (self._path.parts if self._path else None):
            self.close()
            self._path = path.parent
            with contextlib.suppress(AppError, OSError):
                self._folder = self._root.open_folder(self._path)
        return self._folder

    def close(self) -> None:
        """Keep none open."""
        if self._folder is not None:
            os.close(self._folder)
        self._path = self._folder = None
