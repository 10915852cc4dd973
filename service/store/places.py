"""Where a path leads on the disk: how it is spelled there, whether something has it, whether it is free.

Looking only; `VaultFiles` is what does something there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from service.errors import NoteExists, NoteNotFound, PathAmbiguous, PathRefused
from service.guards import paths
from service.guards.folders import Scope
from service.guards.paths import ROOT, VaultPath
from service.store import faults, links, listing, names, trashed
from service.store.root import Root
from service.store.syscalls import Folder, Kernel


class Places:
    """The names below one root.

    All methods raise VaultMissing when the vault is not there, and VaultDenied, NoSpace or DiskFault as the disk has it.

    Args:
        follows_links: whether a path may go through symbolic links that stay inside the vault. Lists never show links, so
            a note is listed once, under its own name; and no write goes through a link that is the last part of a path.
        is_apart: whether a path is one that no error offers, unless what was asked for is such a path itself.
    """

    def __init__(
        self,
        root: Root,
        kernel: Kernel | None = None,
        *,
        follows_links: bool = False,
        is_apart: Callable[[VaultPath], bool] = lambda _: False,
    ) -> None:
        self.root = root
        self._follows_links = follows_links
        self._is_apart = is_apart
        self._kernel = kernel or Kernel()

    def locate(self, path: VaultPath, *, follow_last: bool = True) -> VaultPath:
        """`path` as the disk spells it: the exact name, else the one that is equal under NFC, else without outer blanks.

        Args:
            follow_last: where links are followed at all, whether also one that is the last part.

        Raises:
            NoteNotFound: nothing answers to it; names up to three that look alike.
            PathAmbiguous: two names do.
            PathRefused: as `links.Trail.follow`.
        """
        found, missing = self._along(path, keep=0 if follow_last else 1)
        if missing:
            raise self._not_found(path)
        return found

    def answers(self, path: VaultPath) -> bool:
        """Whether something answers to the path, as `locate` finds it without a last link; looks for nothing that looks alike.

        Raises:
            PathAmbiguous, PathRefused: as `locate`.
        """
        return not self._along(path, keep=1)[1]

    def behind_links(self, path: VaultPath) -> VaultPath:
        """Where a file of this path would be made: links among its folders are followed, where they are followed at all.

        Raises:
            PathAmbiguous, PathRefused: as `locate`.
            Forbidden: it is outside of the folders that this view is limited to, whatever there is.
        """
        scope = self.root.scope
        if scope is not None:
            path = _inside(scope, scope.entered(path))
        if not self._follows_links:
            return path
        found, missing = self._along(path, keep=1, skip_last=True)
        for part in missing:
            found = found.child(part)
        return found if scope is None else _inside(scope, scope.entered(found))

    def free_place(self, path: VaultPath, moved: VaultPath | None = None, *, may_be_taken: bool = False) -> VaultPath:
        """Where a file or folder of this path would be made: folders as the disk spells them, links among them followed.

        Args:
            moved: what is going to have the name, and so may have a twin of it now.
            may_be_taken: whether a file may have exactly this name.

        Raises:
            NoteExists: the name is taken, as in `move`; or a folder on the way differs from one that is there in case only.
            PathAmbiguous, PathRefused: as `locate`, and for the name of a folder that would be made.
            Forbidden: as `behind_links`.
        """
        found, (*missing, _) = self._along(path, keep=1, skip_last=True)
        if self.root.scope is not None:
            _inside(self.root.scope, self.root.scope.entered(VaultPath((*found.parts, *missing, path.name))))
        wanted = paths.new_name(missing[0]) if missing else path.name
        with self.root.folder(found) as held, faults.spoken(str(path), held):
            folder = Folder(self._kernel, held)
            self._refuse_twin(folder, found.child(wanted), moved)
            is_itself = moved is not None and moved.parent == found and names.are_twins(moved.name, wanted)
            is_free = may_be_taken or missing or is_itself or found.child(wanted) == moved
            if not is_free and names.exists(held, wanted):
                raise NoteExists(str(found.child(wanted)))
        for part in missing:
            found = found.child(paths.new_name(part))
        return found.child(path.name)

    def trash_place(self, path: VaultPath) -> VaultPath:
        """The path that a file would get in `.trash/` now; in a limited view always one with a time stamp, since other things of
        that name may lie there which are not its to know of."""
        there = ROOT.child(paths.TRASH)
        for part in path.parts:
            there = there.child(part)
        is_stamped = self.root.scope is not None or self.is_there(there)
        return trashed.stamped(there) if is_stamped else there

    def is_there(self, path: VaultPath, twin: VaultPath | None = None) -> bool:
        """Whether something has exactly this path; where a file system takes `twin` for it, whether this is its name."""
        try:
            self.root.require(path)
            with self.root.folder(path.parent) as folder:
                if names.exists(folder, path.name) is None:
                    return False
                if twin is None or twin.parent != path.parent or not names.are_twins(path.name, twin.name):
                    return True
                return path.name in names.listed(folder)
        except (NoteNotFound, PathRefused):
            return False

    def _along(self, path: VaultPath, *, keep: int, skip_last: bool = False) -> tuple[VaultPath, list[str]]:
        """The part of `path` that is there, links followed save among the last `keep` parts, and what is missing."""
        self.root.check()
        found, trail = ROOT, links.Trail(path)
        while len(trail.ahead) > skip_last:
            part = trail.ahead.pop()
            words = None
            try:
                with self.root.folder(found) as folder, faults.spoken(str(path), folder):
                    shown = self.root.names_shown(found)
                    name = names.spelled(folder, part) if shown is None else names.spelled_among(shown, part)
                    if name is not None and self._follows_links and len(trail.ahead) >= keep:
                        words = links.words_of(folder, name)
            except names.TwoNamesError as error:
                raise PathAmbiguous(str(path)) from error
            if name is None:
                return found, [part, *reversed(trail.ahead)]
            found = found.child(name) if words is None else trail.follow(words, found)
        return found, list(reversed(trail.ahead))

    @contextmanager
    def _at(self, path: VaultPath) -> Iterator[Folder]:
        """The open folder that `path` lies in; what the disk says inside is said in our words."""
        self.root.require(path)
        with self.root.folder(path.parent) as descriptor, faults.spoken(str(path), descriptor):
            yield Folder(self._kernel, descriptor)

    def _refuse_twin(self, folder: Folder, path: VaultPath, moved: VaultPath | None) -> None:
        twin = names.twin(folder.fd, path.name, self.root.names_shown(path.parent))
        if twin is not None and path.parent.child(twin) != moved:
            raise NoteExists(str(path), str(path.parent.child(twin)))

    def _open_once(self, folder: VaultPath, *, follow_last: bool = True) -> VaultPath:
        located = self.locate(folder, follow_last=follow_last)
        with self.root.folder(located):
            return located

    def _not_found(self, path: VaultPath) -> NoteNotFound:
        may_offer_all = self._is_apart(path)
        offered = (str(found) for found in listing.everything(self.root) if may_offer_all or not self._is_apart(found))
        return NoteNotFound(str(path), names.nearest(str(path), offered))


def _inside(scope: Scope, path: VaultPath | None) -> VaultPath:
    if path is None:
        raise scope.refusal()
    return path
