"""Give a file another name, or take it away, when it still is what it was thought to be.

The rename comes first and the look after it: what was renamed can then be judged in peace, and goes back when another
program had changed it. Nothing that anybody wrote is ever under no name.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat

from service.errors import AppError, Busy, DiskFault, NoteChanged, PathRefused
from service.guards.paths import VaultPath
from service.store import displaced, names, placing, reading, staging
from service.store.displaced import Verdict
from service.store.exchange import confirm
from service.store.reading import FileContent
from service.store.staging import Dress, Permit
from service.store.syscalls import NO_LINKS, NO_SUCH_CALL, Folder


def move(source: Folder, old: FileContent, target: Folder, to: VaultPath, permit: Permit) -> FileContent:
    """Move `old` from one open folder to another; never over a name that is taken.

    Raises:
        FileExistsError: the name is taken.
        NoteChanged: the disk did not hold `old.data`, or stopped doing so; the file has its old name.
    """
    reading.require(source.fd, old)
    permit()
    try:
        _rename(source, old, target, to, permit)
    except FileExistsError:
        if not _is_same_entry(source, old.path.name, target, to.name):
            raise
        source.kernel.rename(source.fd, old.path.name, target.fd, to.name)
    caution = _confirm_both(target, source)
    return FileContent(to, old.data, old.mode, old.mtime_ns, caution)


def remove(folder: Folder, old: FileContent, permit: Permit) -> str:
    """Remove `old` for good. Returns a caution, or nothing.

    Raises:
        NoteChanged, Busy: another program changed it or is writing into it; it stays.
        DiskFault: it could not be read any more; it stays.
    """
    displaced.wait_until_closed(folder, old.path)
    reading.require(folder.fd, old)
    aside = staging.aside_name(old.data, old.data)
    permit()
    try:
        folder.kernel.rename(
            folder.fd, old.path.name, folder.fd, aside
        )  # replaces nothing: nobody has that random name
    except FileNotFoundError as error:
        raise NoteChanged(str(old.path), old.version, reading.NO_VERSION) from error
    verdict = displaced.drop_if_same(folder, aside, old.data)
    if verdict in (Verdict.DROPPED, Verdict.LEFT):
        return confirm(folder)
    found = reading.version_at(folder.fd, aside)
    _put_back(folder, aside, old)
    if verdict is Verdict.HELD_OPEN:
        raise Busy(repr(str(old.path)), displaced.MAX_WAIT_S)
    if verdict is Verdict.UNREADABLE:
        raise DiskFault(str(old.path))
    raise NoteChanged(str(old.path), old.version, found)


def move_unread(source: Folder, name: str, target: Folder, new_name: str, permit: Permit) -> str:
    """Move a whole folder, or a file without looking into it; never over a name that is taken. Returns a caution, or nothing.

    Raises:
        FileExistsError: the name is taken.
        OSError: EXDEV, the new place is on another file system.
    """
    _require_plain(source, name)
    permit()
    try:
        source.kernel.rename_free(source.fd, name, target.fd, new_name)
    except FileExistsError:
        if not _is_same_entry(source, name, target, new_name):
            raise
        source.kernel.rename(source.fd, name, target.fd, new_name)
    except OSError as error:
        if error.errno not in NO_SUCH_CALL:
            raise
        _rename_unread(source, name, target, new_name)
    return _confirm_both(target, source)


def put_back(source: Folder, name: str, target: Folder, new_name: str) -> None:
    """Give what an unfinished change had renamed the name it had.

    Raises:
        FileExistsError: somebody has taken it.
    """
    if not placing.place(source, name, target, new_name):
        _rename_unread(source, name, target, new_name)
    _confirm_both(target, source)


def drop_second_name(source: Folder, name: str, target: Folder, new_name: str) -> None:
    """Remove `new_name` if it is the very file that `name` is: a kill came between the link and the removal."""
    if _is_one_file(source, name, target, new_name) and not _is_same_entry(source, name, target, new_name):
        target.kernel.unlink(target.fd, new_name)


def _rename(source: Folder, old: FileContent, target: Folder, to: VaultPath, permit: Permit) -> None:
    try:
        source.kernel.rename_free(source.fd, old.path.name, target.fd, to.name)
    except FileExistsError:
        raise
    except FileNotFoundError as error:
        raise NoteChanged(str(old.path), old.version, reading.NO_VERSION) from error
    except OSError as error:
        if error.errno not in NO_SUCH_CALL | {errno.EXDEV}:
            raise
        _move_by_copy(source, old, target, to, permit)
    else:
        _require_moved(source, old, target, to)


def _rename_unread(source: Folder, name: str, target: Folder, new_name: str) -> None:
    """Where no rename keeps from replacing: a folder can replace an empty folder at most; a file gets a second name first."""
    if not _is_same_entry(source, name, target, new_name):
        if names.exists(target.fd, new_name) is not None:
            raise FileExistsError(new_name)
        found = names.exists(source.fd, name)
        if found is not None and stat.S_ISREG(found.st_mode):
            _rename_file(source, name, target, new_name)
            return
    source.kernel.rename(source.fd, name, target.fd, new_name)


def _rename_file(source: Folder, name: str, target: Folder, new_name: str) -> None:
    """A second name and a removal; without links the name is taken first, by an empty file that the rename replaces."""
    try:
        source.kernel.link(source.fd, name, target.fd, new_name)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        os.close(target.kernel.open_new(target.fd, new_name))
        is_reserved = True
    else:
        is_reserved = False
    try:
        if is_reserved:
            source.kernel.rename(source.fd, name, target.fd, new_name)
        else:
            source.kernel.unlink(source.fd, name)
    except OSError:
        with contextlib.suppress(OSError):
            target.kernel.unlink(target.fd, new_name)
        raise


def _require_plain(source: Folder, name: str) -> None:
    found = os.stat(name, dir_fd=source.fd, follow_symlinks=False)
    if stat.S_ISLNK(found.st_mode):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):
        raise PathRefused("NOT_A_FILE", f"{name!r} is not a regular file.")


def _confirm_both(target: Folder, source: Folder) -> str:
    cautions = confirm(target), confirm(source)
    return cautions[0] or cautions[1]


def _require_moved(source: Folder, old: FileContent, target: Folder, to: VaultPath) -> None:
    moved = FileContent(to, old.data, old.mode, old.mtime_ns)
    try:
        reading.require(target.fd, moved)
    except (AppError, OSError) as error:
        with contextlib.suppress(OSError):  # the old name was taken again: then each version keeps the name it has
            placing.place(target, to.name, source, old.path.name)
        if not isinstance(error, NoteChanged):  # it cannot be read, or does not hold still
            raise
        raise NoteChanged(str(old.path), old.version, error.found) from error


def _move_by_copy(source: Folder, old: FileContent, target: Folder, to: VaultPath, permit: Permit) -> None:
    """No rename that keeps from replacing, or another file system: a second name or a copy first, then the removal."""
    permit()
    try:
        source.kernel.link(source.fd, old.path.name, target.fd, to.name)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        _copy(source, old, target, to, permit)
    try:
        remove(source, old, lambda: None)
    except (AppError, OSError):
        if _is_one_file(source, old.path.name, target, to.name):
            target.kernel.unlink(target.fd, to.name)
        else:
            displaced.drop_if_same(target, to.name, old.data, wait_s=0)
        raise


def _copy(source: Folder, old: FileContent, target: Folder, to: VaultPath, permit: Permit) -> None:
    worn = Dress.of_file(source.fd, old.path.name)
    dress = Dress(worn.mode, worn.uid, worn.gid, worn.attributes, old.mtime_ns)
    with staging.staged(target, old.data, dress) as new:
        new.publish(to.name, permit)


def _put_back(folder: Folder, aside: str, old: FileContent) -> None:
    with contextlib.suppress(FileExistsError):
        if placing.place(folder, aside, folder, old.path.name):
            return
        if names.exists(folder.fd, old.path.name) is None:
            folder.kernel.rename(folder.fd, aside, folder.fd, old.path.name)
            return
    mark = f"conflict {reading.version_at(folder.fd, aside)}"
    placing.keep_copy(folder, aside, old.path.name, mark)


def _is_same_entry(source: Folder, name: str, target: Folder, new_name: str) -> bool:
    """Whether both names are one entry of a folder, on a file system that ignores case or encoding."""
    if not names.are_twins(name, new_name) or not os.path.samestat(os.fstat(source.fd), os.fstat(target.fd)):
        return False
    there = names.listed(source.fd)
    return _is_one_file(source, name, target, new_name) and not (name in there and new_name in there)


def _is_one_file(source: Folder, name: str, target: Folder, new_name: str) -> bool:
    one, other = names.exists(source.fd, name), names.exists(target.fd, new_name)
    return one is not None and other is not None and os.path.samestat(one, other)
