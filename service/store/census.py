"""Every visible file and folder of the vault as it is now, kept in memory and brought up to date whenever it is asked for.

What is told is never older than the question: `Census.now` first takes from the kernel what has happened, or looks at every
file where the kernel does not tell (`fresh`). Hidden names are not there, links are never followed, and a folder that cannot
be read is empty. Whoever keeps something about files is told of each that may have changed; such a file gets a new object, so
what hangs on an object is true as long as it is listed. How and why: docs/explanation/search.md, Never stale.
"""

from __future__ import annotations

import contextlib
import errno
import math
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Generic, TypeAlias

import structlog

from service.guards.paths import ROOT, VaultPath
from service.store import fresh, looking
from service.store.fresh import Choice, Mode, Mounts
from service.store.listings import F, Folders, Listing
from service.store.looking import Looking
from service.store.root import Root
from service.store.sharing import held
from service.store.watching import Changes, Watching

log = structlog.get_logger()

TRY_AGAIN_S: Final = 60.0
"""Seconds after which watching is tried again where it was given up: storms end, and limits are raised."""

_MAX_ROUNDS: Final = 5
"""Times that all is looked at again because folders were moved meanwhile, before events are done without."""

_TOO_FEW: Final = {
    errno.ENOSPC: "the kernel watches no more folders for this user; raise fs.inotify.max_user_watches",
    errno.EMFILE: "the kernel gives this user no more watchers; raise fs.inotify.max_user_instances",
}


Make: TypeAlias = Callable[[VaultPath, int, int, int], F]
"""Makes the object for a file, as `File` itself does."""

OnChange: TypeAlias = Callable[[VaultPath, F | None, F | None, F | None], None]
"""Takes the path of a file, what stood for it, what stands for it now, and what stood for a file that most likely had its bytes:
the first of these, or one that was moved."""


@dataclass(frozen=True, slots=True)
class State:
    """How the vault is kept up with. `watched` folders of `folders`."""

    choice: Choice
    watched: int
    folders: int


class _Noticed(Generic[F]):
    """What has changed while the census was being taken: what stood for a file when it began, and what does at the end."""

    def __init__(self) -> None:
        self._files: dict[VaultPath, tuple[F | None, F | None]] = {}

    def note(self, path: VaultPath, before: F | None, after: F | None) -> None:
        """One step of a file."""
        first = self._files[path][0] if path in self._files else before
        self._files[path] = first, after

    def gone(self) -> list[tuple[VaultPath, F]]:
        """The files that are there no more."""
        return [(path, before) for path, (before, after) in self._files.items() if before is not None and after is None]

    def come(self) -> list[tuple[VaultPath, F | None, F]]:
        """The files that came or may have changed."""
        return [
            (path, before, after)
            for path, (before, after) in self._files.items()
            if after is not None and after is not before
        ]


class Census(Generic[F]):
    """The files and folders below one root. Thread-safe.

    Args:
        make: makes the objects that stand for files.
        on_change: told of each file that came, went or may have changed. Called while the census is being taken, from one
            thread at a time.
        asked: how to keep up with the vault: `auto`, `events` or `walk`.
    """

    def __init__(self, root: Root, make: Make[F], on_change: OnChange[F], asked: str = "auto") -> None:
        self._root = root
        self._make = make
        self._on_change = on_change
        self._asked = asked
        self._lock = threading.Lock()
        self._looking = Looking(root)
        self._folders: dict[VaultPath, Listing[F]] = {}
        self._linked: set[VaultPath] = set()
        self._has_new_link = False
        self._told: Folders[F] = MappingProxyType({})
        self._is_told = False
        self._choice = Choice(Mode.WALK, "nothing was looked at yet")
        self._watching: Watching | None = None
        self._mounts: Mounts | None = None
        self._place: tuple[int, int] | None = None
        self._try_again_at = math.inf

    def now(self, check: Callable[[], None] = lambda: None) -> Folders[F]:
        """The folders as they are: everything that had happened when this was called is in it.

        Args:
            check: called between two folders; raises to give up, which loses nothing.

        Raises:
            VaultMissing: the vault is not there.
        """
        with held(self._lock, check):
            self._root.check()
            self._looking.has_missed = False
            if self._is_elsewhere():
                self._start_over(check)
            elif self._choice.mode is Mode.WALK:
                self._adopt(ROOT, self._scan(ROOT, check))
            else:
                self._follow(check)
            if self._looking.has_missed and self._watching is not None:
                self._watching.is_lost = True
            if not self._is_told:
                self._told, self._is_told = MappingProxyType(dict(self._folders)), True
            return self._told

    def state(self) -> State:
        """How the vault is kept up with just now."""
        return State(self._choice, len(self._watching or ()), len(self._folders))

    def close(self) -> None:
        """Give the descriptors back; the next question takes new ones."""
        with self._lock:
            self._unwatch()
            if self._mounts is not None:
                self._mounts.close()
            self._mounts = self._place = None

    # -- by events --

    def _follow(self, check: Callable[[], None]) -> None:
        """Look at what events name. What is lost on the way (a deadline, say) is made up for by starting over."""
        watching = self._watching
        if watching is None:
            return self._start_over(check)
        changes = watching.changes()
        if self._linked:
            changes = self._with_linked(changes)
        if not changes and not watching.is_lost:
            return None
        for _ in range(_MAX_ROUNDS):
            if watching.is_lost:
                return self._start_over(check)
            watching.is_lost = True
            try:
                self._apply(changes, check)
            except OSError:  # a new folder cannot be watched; starting over says why
                return self._start_over(check)
            watching.is_lost = self._has_new_link
            if not watching.has_half_a_move and not watching.is_lost:
                break
            changes = watching.changes()
        return self._start_over(check) if watching.is_lost else None

    def _apply(self, changes: Changes, check: Callable[[], None]) -> None:
        with self._telling() as noticed:
            for path, names in changes.items():
                check()
                listing = self._folders.get(path)
                if listing is not None:
                    self._look(listing, names, noticed, check)

    def _look(
        self, listing: Listing[F], names: Mapping[str, bool], noticed: _Noticed[F], check: Callable[[], None]
    ) -> None:
        """Look at some names in one folder."""
        files, folders = dict(listing.files), set(listing.folders)
        anew: list[VaultPath] = []
        for name, seen in self._looking.at(listing.path, names):
            path = listing.path.child(name)
            files.pop(name, None)
            is_folder = seen is not None and stat.S_ISDIR(seen.st_mode)
            if name in folders and (not is_folder or names[name]):
                folders.discard(name)
                self._forget(path, noticed)
            if seen is None:
                continue
            if is_folder and name not in folders:
                folders.add(name)
                anew.append(path)
            elif stat.S_ISREG(seen.st_mode):
                files[name] = self._file(path, seen)
        self._replace(Listing(listing.path, files, tuple(sorted(folders))), noticed)
        for path in anew:
            for found in self._scan(path, check).values():
                self._replace(found, noticed)

    def _with_linked(self, changes: Changes) -> Changes:
        """Files of several names may be changed by one that is not in the vault, of which no event tells."""
        found = {path: dict(names) for path, names in changes.items()}
        for path in self._linked:
            listing = self._folders.get(path.parent)
            known = listing.files.get(path.name) if listing else None
            for _, seen in self._looking.at(path.parent, {path.name: False}):
                if seen is None or known is None or known.mark == looking.NO_MARK or known.mark != looking.mark(seen):
                    found.setdefault(path.parent, {}).setdefault(path.name, False)
        return found

    # -- by looking at everything --

    def _is_elsewhere(self) -> bool:
        """Whether what was known of mounts or of the root holds no more."""
        held_root = os.fstat(self._root.fd)
        place = (held_root.st_dev, held_root.st_ino)
        is_same, self._place = place == self._place, place
        if time.monotonic() > self._try_again_at:
            return True
        return not is_same or (self._mounts is not None and self._mounts.have_changed())

    def _start_over(self, check: Callable[[], None]) -> None:
        """Choose how to keep up with the vault, watch it if so, and look at everything."""
        self._choose()
        for _ in range(_MAX_ROUNDS if self._choice.mode is Mode.EVENTS else 0):
            self._unwatch()
            try:
                if self._watch(check):
                    return
            except OSError as error:
                self._give_up(_TOO_FEW.get(error.errno or 0, f"watching failed ({error.strerror})"))
                break
            except BaseException:
                self._unwatch()  # half of it is not watched
                raise
        else:
            if self._choice.mode is Mode.EVENTS:
                self._give_up("a folder is mounted at two places, or folders keep moving")
        self._unwatch()
        self._adopt(ROOT, self._scan(ROOT, check))

    def _watch(self, check: Callable[[], None]) -> bool:
        """Watch and look at everything; False when folders were moved meanwhile. Raises OSError when it cannot be watched."""
        watching = self._watching = Watching()
        self._adopt(ROOT, self._scan(ROOT, check))
        self._has_new_link = False
        if not watching.is_lost:
            self._apply(watching.changes(), check)
        return not watching.is_lost and not self._has_new_link

    def _choose(self) -> None:
        self._try_again_at = math.inf
        try:
            self._mounts = self._mounts or Mounts()
            self._mounts.have_changed()
            text, number = self._mounts.text(), fresh.mount_id(self._root.fd)
            choice = fresh.choose(self._asked, text, number, os.path.realpath(self._root.path))
        except OSError:
            choice = Choice(Mode.WALK, "/proc is not there")
        self._decide(choice)

    def _give_up(self, why: str) -> None:
        self._decide(Choice(Mode.WALK, why))
        self._try_again_at = time.monotonic() + TRY_AGAIN_S

    def _decide(self, choice: Choice) -> None:
        if choice != self._choice:
            log.info("vault.watched", by=choice.mode.value, why=choice.why)
        self._choice = choice

    def _unwatch(self) -> None:
        if self._watching is not None:
            self._watching.close()
        self._watching = None

    def _scan(self, start: VaultPath, check: Callable[[], None]) -> dict[VaultPath, Listing[F]]:
        """List a folder and all below it. Raises OSError when one cannot be watched."""
        found: dict[VaultPath, Listing[F]] = {}
        pending = [start]
        while pending:
            check()
            here = pending.pop()
            found[here] = self._listed(here)
            pending += map(here.child, found[here].folders)
        return found

    def _listed(self, path: VaultPath) -> Listing[F]:
        """What is in one folder; files that are as they were keep their objects."""
        known = self._folders.get(path)
        files: dict[str, F] = {}
        folders: list[str] = []
        for name, seen in self._looking.into(path, self._watching):
            if seen is None:
                folders.append(name)
                continue
            before = known.files.get(name) if known else None
            mark = looking.mark(seen)
            is_same = before is not None and mark != looking.NO_MARK and mark == before.mark
            files[name] = before if before is not None and is_same else self._file(path.child(name), seen)
        return Listing(path, files, tuple(sorted(folders)))

    def _file(self, path: VaultPath, seen: os.stat_result) -> F:
        if seen.st_nlink > 1:
            self._has_new_link |= path not in self._linked  # no event tells of the names that it had before
            self._linked.add(path)  # for good: who holds it open by a name that is removed may go on writing
        return self._make(path, seen.st_size, seen.st_mtime_ns, looking.mark(seen))

    # -- what is known --

    def _adopt(self, start: VaultPath, found: Mapping[VaultPath, Listing[F]]) -> None:
        """Take what was found for what there is at and below a folder."""
        with self._telling() as noticed:
            for path in [path for path in self._folders if path not in found and path.is_inside(start)]:
                self._drop(path, noticed)
            for listing in found.values():
                self._replace(listing, noticed)

    def _forget(self, start: VaultPath, noticed: _Noticed[F]) -> None:
        """A folder is there no more, nor is anything below it."""
        for path in [path for path in self._folders if path.is_inside(start)]:
            self._drop(path, noticed)

    def _drop(self, path: VaultPath, noticed: _Noticed[F]) -> None:
        self._is_told = False
        for name, file in self._folders.pop(path).files.items():
            noticed.note(path.child(name), file, None)

    def _replace(self, now: Listing[F], noticed: _Noticed[F]) -> None:
        known = self._folders.get(now.path)
        before: Mapping[str, F] = known.files if known else {}
        changed = [name for name, file in now.files.items() if before.get(name) is not file]
        changed += [name for name in before if name not in now.files]
        if known is not None and known.folders == now.folders and not changed:
            return
        self._is_told = False
        self._folders[now.path] = now
        for name in changed:
            noticed.note(now.path.child(name), before.get(name), now.files.get(name))

    @contextlib.contextmanager
    def _telling(self) -> Iterator[_Noticed[F]]:
        """Tell of what was noticed, in any case: what is known has changed with it."""
        noticed: _Noticed[F] = _Noticed()
        try:
            yield noticed
        finally:
            gone = noticed.gone()
            moved = {file.mark: file for _, file in gone if file.mark != looking.NO_MARK}
            self._linked -= {path for path, _ in gone}
            for path, file in gone:
                self._on_change(path, file, None, None)
            for path, before, after in noticed.come():
                self._on_change(path, before, after, before or moved.get(after.mark))
