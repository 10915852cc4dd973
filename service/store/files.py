"""The vault's files: read, walk, create, replace, move, trash. Every door takes a `VaultPath` and nothing else.

A reader sees the old note or the new one. No write goes without a look at what it replaces: `replace`, `move`, `trash`
and `remove` take what they were decided on and refuse with `NoteChanged` when the disk holds something else; what other
programs write is never lost. `permit` is called at the last moment before a change becomes visible; when it raises,
nothing has changed. Once a change is visible, an error is no failure any more: it is the `caution` of the answer.

Whoever changes files holds the writer lock. How it is done: docs/explanation/writes.md.
"""

from __future__ import annotations

import copy
import errno
from collections.abc import Callable, Iterator, Sequence

from service.errors import BadArgument, NoteExists, NoteNotFound, PathRefused
from service.guards import limits, paths
from service.guards.folders import Scope
from service.guards.paths import ROOT, VaultPath
from service.store import (
    capabilities,
    exchange,
    faults,
    leftovers,
    listing,
    moving,
    reading,
    staging,
    trashed,
)
from service.store.capabilities import Capabilities
from service.store.folders import mode_for_new_file, with_parents
from service.store.guardlinks import GuardLinks
from service.store.leftovers import Swept
from service.store.listing import Entry
from service.store.places import Places
from service.store.reading import VERSION_CHARS, FileContent, version_of
from service.store.root import Root
from service.store.staging import Dress, Permit
from service.store.syscalls import Kernel

__all__ = ["VERSION_CHARS", "Entry", "FileContent", "Permit", "VaultFiles", "version_of"]


class VaultFiles(Places):
    """The files below one root. Threads may share it; whoever changes files holds the writer lock.

    All methods raise VaultMissing when the vault is not there, and VaultDenied, NoSpace or DiskFault as the disk has it.
    """

    def __init__(
        self,
        root: Root,
        kernel: Kernel | None = None,
        *,
        follows_links: bool = False,
        is_apart: Callable[[VaultPath], bool] = lambda _: False,
    ) -> None:
        """As `Places`."""
        super().__init__(root, kernel, follows_links=follows_links, is_apart=is_apart)
        self._guards = GuardLinks()
        self.whole = self

    def limited(self, scope: Scope) -> VaultFiles:
        """These files as if there were none outside the folders of `scope`. The view is not to be closed."""
        view = copy.copy(self)
        view.root = self.root.limited(scope)
        return view

    def close(self) -> None:
        """Judge the guard links that still wait. The root stays open: it belongs to who made it."""
        self._guards.settle()

    # -- looking --

    def read(self, path: VaultPath, max_bytes: int = limits.MAX_NOTE_BYTES, *, follow_last: bool = True) -> FileContent:
        """Read one regular file whole, as one version of it. What is read to be changed is read without `follow_last`.

        Raises:
            NoteNotFound, PathAmbiguous: as `locate`.
            PathRefused: OUTSIDE_VAULT for a symbolic link, NOT_A_FILE for a folder, FIFO, socket or device.
            TooLarge: more than `max_bytes`.
            Busy: it did not hold still while it was read.
        """
        return self.read_tracked(self.locate(path, follow_last=follow_last), max_bytes)

    def read_tracked(self, path: VaultPath, max_bytes: int = limits.MAX_NOTE_BYTES) -> FileContent:
        """As `read`, for a path exactly as it is named."""
        self.root.check()
        self.root.require(path)
        with self.root.folder(path.parent) as folder:
            return reading.read_at(folder, path, max_bytes)

    def read_settings(self, name: str) -> bytes:
        """One of Obsidian's own files in `.obsidian/`, by its path; for a limited view too, since how notes are written is one
        for all. No word of it may be told to a limited reader.

        Raises:
            NoteNotFound: it is not there, or is none of those.
            PathRefused, TooLarge: it cannot be read.
        """
        path = paths.tracked(name)
        if path.parts[0] != paths.SETTINGS:
            raise NoteNotFound(name)
        return self.whole.read_tracked(path).data

    def walk(self, folder: VaultPath = ROOT, suffixes: tuple[str, ...] = paths.SEARCHED_SUFFIXES) -> Iterator[Entry]:
        """Every visible file with one of `suffixes` at or below `folder`, in no promised order.

        Hidden names and symbolic links are never listed; a folder that cannot be read is passed over.

        Raises:
            NoteNotFound, PathAmbiguous: as `locate`, before the first file.
            PathRefused: INVALID_PATH when `folder` is a file, OUTSIDE_VAULT when it is a link.
        """
        return listing.walk(self.root, self._open_once(folder), suffixes)

    def open_folder(self, folder: VaultPath) -> VaultPath:
        """A folder as the disk spells it, once it is sure that it is one.

        Raises:
            NoteNotFound, PathAmbiguous, PathRefused: as `walk`.
        """
        return self._open_once(folder)

    # -- changing --

    def create(self, path: VaultPath, data: bytes, permit: Permit, mode: int | None = None) -> FileContent:
        """Make a new file, and its folders; never overwrites. The mode is the folder's unless one is given.

        Raises:
            NoteExists: the name is taken, also by another spelling or case of the same letters.
        """
        return self._create(self.behind_links(path), data, permit, mode, literal=False)

    def replace(self, old: FileContent, data: bytes, permit: Permit, mode: int | None = None) -> FileContent:
        """Put `data` in the place of `old`, keeping mode, owner and attributes unless a mode is given.

        Raises:
            NoteChanged: the disk no longer holds `old.data`.
            Busy: another program keeps the file open for writing.
        """
        self.root.check()
        with self._at(old.path) as folder:
            return exchange.replace(folder, self._guards, old, data, permit, mode=mode)

    def move(self, old: FileContent, to: VaultPath, permit: Permit) -> FileContent:
        """Give a file another name, making the folders on the way; never overwrites.

        Raises:
            NoteChanged: the disk no longer holds `old.data`.
            NoteExists: the name is taken, also by another spelling or case of the same letters, save the file's own.
        """
        return self._move(old, self.behind_links(to), permit, literal=False)

    def move_unread(self, source: VaultPath, to: VaultPath, permit: Permit) -> tuple[VaultPath, str]:
        """Give a folder with all in it, or a file of any size, another name; never overwrites. Both as the disk has them.

        Returns:
            Where it is, and a caution or nothing.

        Raises:
            NoteExists: the name is taken, as in `move`.
            BadArgument: the new place lies inside the folder itself, or on another file system.
        """
        self.root.check()
        if not source.parts or to.is_inside(source):
            raise BadArgument("a folder cannot be moved into itself; choose another place.")
        with (
            with_parents(self._kernel, self.root, to, permit, literal=False) as there,
            self._at(source) as old_parent,
            self._at(there) as new_parent,
        ):
            self._refuse_twin(new_parent, there, source)
            try:
                return there, moving.move_unread(old_parent, source.name, new_parent, there.name, permit)
            except FileExistsError as error:
                raise NoteExists(str(there)) from error
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
                raise BadArgument(
                    f"{str(there)!r} is on another file system than {str(source)!r}, so it cannot be moved there in one "
                    "step; move smaller pieces (notes and files of up to 10 MB), or choose a place beside it."
                ) from error

    def put_back(self, current: VaultPath, old: VaultPath) -> None:
        """Take back a rename of an unfinished change.

        Raises:
            NoteExists: somebody has taken the old name.
        """
        with self._at(current) as source, self._at(old) as target:
            try:
                moving.put_back(source, current.name, target, old.name)
            except FileExistsError as error:
                raise NoteExists(str(old)) from error

    def drop_second_name(self, path: VaultPath, second: VaultPath) -> None:
        """Remove `second` where it is one more name of the very file `path`."""
        with self._at(path) as source, self._at(second) as target:
            moving.drop_second_name(source, path.name, target, second.name)

    def trash(self, old: FileContent, permit: Permit) -> VaultPath:
        """Move a file into `.trash/`, keeping its folders; a taken name gets a time stamp (UTC). Returns where it went.

        Raises:
            NoteChanged: the disk no longer holds `old.data`.
        """
        there = self.trash_place(old.path)
        try:
            return self._move(old, there, permit, literal=True).path
        except NoteExists:
            return self._move(old, trashed.stamped(there), permit, literal=True).path

    def trashed(self, path: VaultPath) -> Sequence[VaultPath]:
        """What lies in `.trash/` of deletions of `path`, the latest first: by when each got there (its ctime)."""
        folder = ROOT.child(paths.TRASH)
        for part in path.parent.parts:
            folder = folder.child(part)
        found, missing = self._along(folder, keep=len(folder.parts) + 1)
        if missing:
            return ()
        try:
            with self.root.folder(found) as descriptor:
                return [found.child(name) for name in trashed.names(descriptor, path.name)]
        except (NoteNotFound, PathRefused):
            return ()

    def move_to_trash(self, path: VaultPath, there: VaultPath, permit: Permit) -> str:
        """Move a file of any type and size to exactly `there`; a caution or nothing.

        Raises:
            NoteExists: that name is taken.
        """
        self.root.check()
        with (
            with_parents(self._kernel, self.root, there, permit, literal=True),
            self._at(path) as source,
            self._at(there) as target,
        ):
            try:
                return moving.move_unread(source, path.name, target, there.name, permit)
            except FileExistsError as error:
                raise NoteExists(str(there)) from error

    # -- restoring: paths exactly as history names them --

    def put(
        self, path: VaultPath, data: bytes, mode: int, permit: Permit, expected: FileContent | None = None
    ) -> FileContent:
        """Write any tracked path exactly as named (no look at other spellings), making its folders.

        Args:
            expected: what `read_tracked` found there, or None when nothing may be there.

        Raises:
            NoteChanged, NoteExists: the disk holds something else.
        """
        if expected is None:
            return self._create(path, data, permit, mode, literal=True)
        return self.replace(expected, data, permit, mode)

    def remove(self, old: FileContent, permit: Permit) -> None:
        """Remove a file for good, if it still holds `old.data`: for restoring to a time when it was not there.

        Raises:
            NoteChanged: the disk no longer holds `old.data`.
        """
        self.root.check()
        with self._at(old.path) as folder:
            moving.remove(folder, old, permit)

    def drop_folder(self, folder: VaultPath) -> bool:
        """Remove a folder, if it is there and empty; whether it was. One on the way to a limited view stays."""
        if self.root.scope is not None and not self.root.scope.holds(folder):
            return False
        with self._at(folder) as parent:
            try:
                self._kernel.remove_folder(parent.fd, folder.name)
            except OSError as error:
                if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT, errno.ENOTDIR, errno.EBUSY):
                    return False
                raise
        return True

    # -- caring --

    def sweep(self) -> Swept:
        """Clear away what a kill left behind; at start, under the writer lock."""
        self.root.check()
        return leftovers.sweep(self._kernel, self.root)

    def leftovers(self) -> Iterator[VaultPath]:
        """Temporary files of ours that lie in the vault, for doctor."""
        return leftovers.find(self.root)

    def capabilities(self) -> Capabilities:
        """What the vault's file system can do; writes and removes small hidden files."""
        self.root.check()
        with faults.spoken("."):
            return capabilities.probe(self._kernel, self.root)

    def _create(self, path: VaultPath, data: bytes, permit: Permit, mode: int | None, *, literal: bool) -> FileContent:
        self.root.check()
        with (
            with_parents(self._kernel, self.root, path, permit, literal=literal) as there,
            self._at(there) as folder,
        ):
            if not literal:
                self._refuse_twin(folder, there, None)
            dress = Dress(mode_for_new_file(folder.fd) if mode is None else mode)
            with staging.staged(folder, data, dress) as new:
                try:
                    new.publish(there.name, permit)
                except FileExistsError as error:
                    raise NoteExists(str(there)) from error
                return new.content(there, exchange.confirm(folder))

    def _move(self, old: FileContent, to: VaultPath, permit: Permit, *, literal: bool) -> FileContent:
        self.root.check()
        with (
            with_parents(self._kernel, self.root, to, permit, literal=literal) as there,
            self._at(old.path) as source,
            self._at(there) as target,
        ):
            if not literal:
                self._refuse_twin(target, there, old.path)
            try:
                return moving.move(source, old, target, there, permit)
            except FileExistsError as error:
                raise NoteExists(str(there)) from error
