"""Make the folders that a new file needs, and take them away again when the file does not come to be."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from typing import Final

from service.errors import NoteExists, PathAmbiguous
from service.guards import paths
from service.guards.paths import ROOT, VaultPath
from service.store import faults, names
from service.store.root import Root
from service.store.staging import Permit
from service.store.syscalls import Folder, Kernel

_READ_WRITE: Final = 0o666


@contextlib.contextmanager
def with_parents(kernel: Kernel, root: Root, path: VaultPath, permit: Permit, *, literal: bool) -> Iterator[VaultPath]:
    """Make the folders above `path` that are missing, with the mode of the one they are made in.

    Args:
        permit: called before the first is made.
        literal: take each name as it is; otherwise one that differs only in encoding is used, one that differs only
            in case is refused, and what is made has a name that may be new.

    Yields:
        The path, spelled as on the disk. When the block raises, the folders made for it go again if they are empty.

    Raises:
        NoteExists: a folder differs only in case.
        PathAmbiguous: two folders differ only in encoding.
        PathRefused: a folder that is not there has a name that may not be new.
        Forbidden: the view `root` is limited, and the path outside of it.
    """
    if root.scope is not None and not root.scope.holds(path):
        raise root.scope.refusal()
    made: list[VaultPath] = []
    here = ROOT
    try:
        for part in path.parts[:-1]:
            is_exact = (
                literal or root.names_shown(here) is not None
            )  # on the way to a limited view nothing is looked at
            with root.whole.folder(here) as descriptor, faults.spoken(str(path), descriptor):
                found = _literally(descriptor, part) if is_exact else _spelled(descriptor, here.child(part))
                if found is None:
                    found = part if literal else paths.new_name(part)
                    if not made:
                        permit()
                    if _make(Folder(kernel, descriptor), found):
                        made.append(here.child(found))
            here = here.child(found)
        yield here.child(path.name)
    except BaseException:
        _unmake(kernel, root.whole, made)
        raise


def mode_for_new_file(folder: int) -> int:
    """A new file may be read and written by whoever may list and change its folder."""
    return stat.S_IMODE(os.fstat(folder).st_mode) & _READ_WRITE


def _literally(folder: int, part: str) -> str | None:
    return part if names.exists(folder, part) else None


def _spelled(folder: int, path: VaultPath) -> str | None:
    try:
        found = names.spelled(folder, path.name)
    except names.TwoNamesError as error:
        raise PathAmbiguous(str(path)) from error
    if found is None and (twin := names.twin(folder, path.name)):
        raise NoteExists(str(path), str(path.parent.child(twin)))
    return found


def _make(folder: Folder, name: str) -> bool:
    """Make a folder; False when somebody else just did. When something fails on the way, it goes again."""
    try:
        folder.kernel.make_folder(folder.fd, name)
    except FileExistsError:
        return False
    try:
        _open_to_others(folder, name)
        folder.kernel.sync_folder(folder.fd)
    except BaseException:
        with contextlib.suppress(OSError):
            folder.kernel.remove_folder(folder.fd, name)
        raise
    return True


def _open_to_others(folder: Folder, name: str) -> None:
    """Give a new folder the mode of the one it lies in."""
    descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder.fd)
    try:
        with contextlib.suppress(PermissionError):  # file systems with one mode for all
            os.fchmod(descriptor, stat.S_IMODE(os.fstat(folder.fd).st_mode))
    finally:
        os.close(descriptor)


def _unmake(kernel: Kernel, root: Root, made: list[VaultPath]) -> None:
    for folder in reversed(made):
        with contextlib.suppress(Exception), root.folder(folder.parent) as parent:
            kernel.remove_folder(parent, folder.name)
