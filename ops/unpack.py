"""Lay a verified archive into folders: one file at a time, each complete before it has its name, no link followed.

The vault comes first and the database last, so that a run that was cut short is an empty state beside some notes, and
never tokens or a history that claim more than is there.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from ops.archive import Archive, Entry, Progress
from ops.listing import DATABASE, LOCK_ENDINGS
from service.errors import BadMount, Busy, Conflict, NoSpace, Unavailable
from service.store import mounts, staging
from service.store.lock import Lock

_FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PRIVATE: Final = ("state", "history")


@contextlib.contextmanager
def reserved(targets: Mapping[str, Path], *, may_overwrite: bool) -> Iterator[None]:
    """Make the folders, see that they are empty and that nobody works there, and hold all locks meanwhile.

    Raises:
        Conflict: a folder is not empty.
        Unavailable: a server or a command uses the state.
        BadMount: a folder cannot be made or written.
    """
    for tree, path in targets.items():
        _make(tree, path)
    mounts.prepare_state(targets["state"], targets["vault"])  # closes a fresh one: a server refuses an open one
    mounts.check_vault(targets["vault"], is_read_only=False)
    with _locked(targets["state"]):
        for tree, path in targets.items():
            if not may_overwrite and any(not _is_no_content(name) for name in os.listdir(path)):
                raise Conflict(
                    f"the {tree} folder {str(path)!r} is not empty; name an empty one (--to-vault, --to-state), or add "
                    "--overwrite to lay the backup over what is there."
                )
        yield


def into(targets: Mapping[str, Path], archive: Archive, progress: Progress) -> None:
    """Unpack everything.

    Raises:
        NoSpace: before anything is written where that can be seen, else with what fitted in place.
        Damaged: the archive changed after it was verified.
    """
    entries = archive.manifest.entries
    _check_space(targets, entries)
    for tree in ("vault", "history", "state"):
        if tree in targets:
            names = [name for name in entries if name == tree or name.startswith(f"{tree}/")]
            _unpack_tree(tree, targets[tree], archive, sorted(names, key=_database_last), progress)
    os.sync()


def _is_no_content(name: str) -> bool:
    """What a folder may hold and still count as empty: locks, and what a fresh file system has."""
    return name == "lost+found" or name.endswith(LOCK_ENDINGS)


def _database_last(name: str) -> tuple[bool, str]:
    return (name == DATABASE, name)


@contextlib.contextmanager
def _locked(state: Path) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        try:
            for name in ("server.lock", "history.lock", "writer.lock"):
                stack.enter_context(Lock(state / name, name).writing(timeout_s=0))
        except Busy as error:
            raise Unavailable(
                f"a server or a command works on {str(state)!r}; stop it first (./ops/up --down, or docker stop)."
            ) from error
        yield


def _make(tree: str, path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700 if tree in _PRIVATE else 0o755)
    except OSError as error:
        raise BadMount(
            f"the {tree} folder {str(path)!r} cannot be made ({error.strerror}); check the mount."
        ) from error


def _check_space(targets: Mapping[str, Path], entries: Mapping[str, Entry]) -> None:
    needed: dict[int, int] = {}
    for tree, path in targets.items():
        size = sum(entry.size_bytes for name, entry in entries.items() if name.startswith(f"{tree}/"))
        device = path.stat().st_dev
        needed[device] = needed.get(device, 0) + size
        free = os.statvfs(path)
        if needed[device] > free.f_bavail * free.f_frsize:
            raise NoSpace(tree)


def _unpack_tree(tree: str, root: Path, archive: Archive, names: list[str], progress: Progress) -> None:
    entries = archive.manifest.entries
    root_fd = os.open(root, _FOLDER_FLAGS & ~os.O_NOFOLLOW)
    try:
        for name in names:
            parts = name.split("/")[1:]
            if not parts:
                continue
            with _folder(root_fd, parts[:-1]) as folder:
                if entries[name].is_folder:
                    _make_folder(folder, parts[-1])
                else:
                    _write(folder, parts[-1], archive, name, progress)
        for name in sorted(names, reverse=True):  # a folder's times last: writing into it changes them
            if entries[name].is_folder and name != tree:
                with _folder(root_fd, name.split("/")[1:]) as folder:
                    os.fchmod(folder, (entries[name].mode | 0o700) & _mask(tree))
                    os.utime(folder, ns=(entries[name].mtime_ns, entries[name].mtime_ns))
    except OSError as error:
        raise _told(error, tree) from error
    finally:
        os.close(root_fd)


@contextlib.contextmanager
def _folder(root_fd: int, parts: list[str]) -> Iterator[int]:
    """The open folder at `parts` below the root, one component at a time, so that no link leads out of it."""
    current = os.dup(root_fd)
    try:
        for part in parts:
            parent = current
            current = os.open(part, _FOLDER_FLAGS, dir_fd=parent)
            os.close(parent)
        yield current
    finally:
        os.close(current)


def _make_folder(folder: int, name: str) -> None:
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, 0o700, dir_fd=folder)
    os.close(os.open(name, _FOLDER_FLAGS, dir_fd=folder))  # a file or a link of that name is none


def _write(folder: int, name: str, archive: Archive, member: str, progress: Progress) -> None:
    entry = archive.manifest.entries[member]
    temporary = staging.part_name()
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, 0o600, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            for piece in archive.pieces(member):
                file.write(piece)
                progress(len(piece))
            file.flush()
            os.fchmod(descriptor, (entry.mode | 0o400) & _mask(member.split("/", maxsplit=1)[0]))
            os.utime(descriptor, ns=(entry.mtime_ns, entry.mtime_ns))
        for ending in ("-wal", "-shm", "-journal") if member == DATABASE else ():
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name + ending, dir_fd=folder)  # they belong to the database that was there before
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
        raise


def _mask(tree: str) -> int:
    return 0o700 if tree in _PRIVATE else 0o777


def _told(error: OSError, tree: str) -> Exception:
    import errno

    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return NoSpace(tree)
    if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.EEXIST):
        return Conflict(
            f"in the {tree}, {error.filename!r} is a link, a file or a folder where the backup has another kind; "
            "move it away, then run this again."
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return BadMount(
            f"{error.filename!r} in the {tree} cannot be written ({error.strerror}); run this as its owner."
        )
    return error
