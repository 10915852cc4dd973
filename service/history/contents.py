"""Read what the walk found and store it as blobs, one file at a time, each only when it stood still.

A file is looked at before and after reading; when it changed meanwhile it is read once more, and if it will not stand still
its previous version stays. One bad file never stops a commit: every failure of a file becomes a line in the report.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby
from typing import Final, NamedTuple

from service.errors import AppError, NoteNotFound, PathRefused
from service.guards import paths
from service.history.model import Blob, Look, Trouble, git_mode, look_of
from service.history.objects import BLOB, id_of
from service.history.scan import KeepGoing, Scan
from service.history.seen import Seen, at_rest
from service.store.root import Root

_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_TRIES: Final = 2
_MAX_ATTRIBUTE_LINE_BYTES: Final = 2_000
"""git fsck refuses a `.gitattributes` with a longer line."""


class Taken(NamedTuple):
    """What a file holds now, stored. `look` is None when the file may change again without showing it."""

    blob: Blob
    look: Look | None


def take(
    root: Root,
    wanted: Iterable[str],
    seen: Seen,
    scan: Scan,
    *,
    put: Callable[[bytes], str],
    max_bytes: int,
    keep_going: KeepGoing,
) -> dict[str, Taken]:
    """Read and store the `wanted` files (those of one folder together). What cannot be taken is noted in `scan`."""
    taken: dict[str, Taken] = {}
    for folder, group in groupby(wanted, key=lambda path: path.rpartition("/")[0]):
        members = list(group)
        with _open_folder(root, folder) as descriptor:
            for path in members:
                keep_going()
                found = _take_one(descriptor, path, seen, put, max_bytes)
                if isinstance(found, Trouble):
                    scan.keep(found, path)
                else:
                    taken[path] = found
    return taken


def _take_one(
    folder: int | Trouble, path: str, seen: Seen, put: Callable[[bytes], str], max_bytes: int
) -> Taken | Trouble:
    if isinstance(folder, Trouble):
        return folder
    name = path.rpartition("/")[2]
    now_ns = time.time_ns()
    read = _read(folder, name, max_bytes)
    if isinstance(read, Trouble):
        return read
    data, seen_now = read
    if name.casefold() == ".gitattributes" and any(len(line) > _MAX_ATTRIBUTE_LINE_BYTES for line in data.split(b"\n")):
        return Trouble.GIT_NAME
    known = seen.committed.get(path)
    object_id = known.id if known is not None and id_of(BLOB, data) == known.id else put(data)
    return Taken(Blob(git_mode(seen_now.st_mode), object_id), look_of(seen_now) if at_rest(seen_now, now_ns) else None)


def _read(folder: int, name: str, max_bytes: int) -> tuple[bytes, os.stat_result] | Trouble:
    try:
        descriptor = os.open(name, _FLAGS, dir_fd=folder)
    except (FileNotFoundError, NotADirectoryError):
        return Trouble.VANISHED
    except OSError:
        return Trouble.UNREADABLE
    try:
        return _settled(descriptor, max_bytes)
    except OSError:
        return Trouble.UNREADABLE
    finally:
        os.close(descriptor)


def _settled(descriptor: int, max_bytes: int) -> tuple[bytes, os.stat_result] | Trouble:
    for _ in range(_TRIES):
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            return Trouble.SPECIAL
        if before.st_size > max_bytes:
            return Trouble.TOO_LARGE
        data = _whole(descriptor, before.st_size)
        if look_of(os.fstat(descriptor)) == look_of(before) and len(data) == before.st_size:
            return data, before
    return Trouble.CHANGING


def _whole(descriptor: int, size: int) -> bytes:
    """The file's bytes; one more than expected shows that it grew."""
    data = os.pread(descriptor, size + 1, 0)
    if len(data) >= size:
        return data
    chunks = [data]
    offset = len(data)
    while offset <= size and (chunk := os.pread(descriptor, size + 1 - offset, offset)):
        chunks.append(chunk)
        offset += len(chunk)
    return b"".join(chunks)


@contextmanager
def _open_folder(root: Root, folder: str) -> Iterator[int | Trouble]:
    try:
        descriptor = root.open_folder(paths.tracked(folder) if folder else paths.ROOT)
    except (NoteNotFound, PathRefused):
        yield Trouble.VANISHED
        return
    except (AppError, OSError):
        yield Trouble.UNREADABLE
        return
    try:
        yield descriptor
    finally:
        os.close(descriptor)
