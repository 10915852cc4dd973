"""All files below a folder in one sweep, read as they come: for searching, where opening is most of the work.

As `VaultFiles.walk` and `read`, but a folder is resolved once for all its files and a file costs one open. One bad file
never ends the sweep. Files come folder by folder, in no promised order.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from service.errors import AppError
from service.guards import paths
from service.guards.paths import ROOT, VaultPath
from service.store.files import VaultFiles
from service.store.reading import READ_FLAGS

_FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Scanned:
    """One file. `data` is None when it cannot be read, is no regular file, or is larger than the limit.

    `mtime_ns` is nanoseconds since 1970 (0 when it is not known).
    """

    path: VaultPath
    mtime_ns: int
    data: bytes | None


def scan(
    files: VaultFiles,
    folder: VaultPath = ROOT,
    *,
    max_bytes: int,
    is_wanted: Callable[[VaultPath], bool],
    suffixes: tuple[str, ...] = paths.SEARCHED_SUFFIXES,
) -> Iterator[Scanned]:
    """Read every visible file with one of `suffixes` at or below `folder`.

    Hidden names and symbolic links are passed over, and folders that cannot be read.

    Args:
        max_bytes: larger files come without their bytes.
        is_wanted: asked for each folder and each file before it is opened; a refused folder is left out whole.

    Raises:
        NoteNotFound, PathAmbiguous, PathRefused: as `VaultFiles.locate` and `Root.folder`, for `folder` alone.
    """
    pending = [files.locate(folder)]
    is_asked_for = True
    while pending:
        here = pending.pop()
        try:
            descriptor = files.root.open_folder(here)
        except (AppError, OSError):
            if is_asked_for:
                raise
            continue  # gone, or swapped for a link, since its parent was listed
        is_asked_for = False
        try:
            folder_names, file_names = _names(descriptor, suffixes)
            if (shown := files.root.names_shown(here)) is not None:
                folder_names, file_names = [
                    [name for name in found if name in shown] for found in (folder_names, file_names)
                ]
            pending += [path for path in map(here.child, folder_names) if _is_nameable(path) and is_wanted(path)]
            for path in map(here.child, file_names):
                if _is_nameable(path) and is_wanted(path):
                    yield _read(descriptor, path, max_bytes)
        finally:
            os.close(descriptor)


def _names(folder: int, suffixes: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The names of the visible folders and files of one folder."""
    folder_names: list[str] = []
    file_names: list[str] = []
    try:
        readable = os.open(".", _FOLDER_FLAGS, dir_fd=folder)
    except OSError:
        return [], []
    try:
        with os.scandir(readable) as entries:
            for entry in entries:
                name = entry.name
                if name.lower().endswith(suffixes) and entry.is_file(follow_symlinks=False):
                    if paths.is_visible(name):
                        file_names.append(name)
                elif entry.is_dir(follow_symlinks=False) and paths.is_visible(name):
                    folder_names.append(name)
    except OSError:
        return folder_names, file_names  # the disk gave up half-way: what was seen is still good
    finally:
        os.close(readable)
    return folder_names, file_names


def _is_nameable(path: VaultPath) -> bool:
    return len(path.parts) > 1 or not path.name.startswith("~")  # no path may begin with it


def _read(folder: int, path: VaultPath, max_bytes: int) -> Scanned:
    try:
        descriptor = os.open(path.name, READ_FLAGS, dir_fd=folder)
    except OSError:
        return Scanned(path, 0, None)
    try:
        seen = os.fstat(descriptor)
        if not stat.S_ISREG(seen.st_mode) or seen.st_size > max_bytes:
            return Scanned(path, seen.st_mtime_ns, None)
        data = os.read(descriptor, seen.st_size + 1)
        if len(data) != seen.st_size:
            data = _rest(descriptor, data, max_bytes)
        return Scanned(path, seen.st_mtime_ns, data if len(data) <= max_bytes else None)
    except OSError:
        return Scanned(path, 0, None)
    finally:
        os.close(descriptor)


def _rest(descriptor: int, data: bytes, max_bytes: int) -> bytes:
    """What `os.read` left: a file that grew meanwhile, or a file system that reads in small pieces."""
    pieces, size = [data], len(data)
    while size <= max_bytes and (piece := os.read(descriptor, 1 << 20)):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)
