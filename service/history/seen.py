"""What history knows of the vault's files: which tree it last committed, and how each file looked on disk then.

A rebuildable cache in the state folder (`history.seen`). Its word "clean" is only taken for a file whose times, size, inode
and mode are all as they were, and which had come to rest before it was hashed; a damaged or foreign cache is thrown away.
"""

from __future__ import annotations

import os
import struct
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Final

from service.errors import AppError
from service.history.model import LOOK, Blob, Look
from service.history.trees import ReadTree, differences, flatten

FILE_NAME: Final = "history.seen"
REST_NS: Final = 2_000_000_000
"""A file that changed less than this before it was read may change again within the same time stamp (FAT, NFS: 2 s)."""
WORTH_WRITING: Final = 1_000
"""Files learnt about since the cache was last written."""
_MAGIC: Final = b"SRSEEN1\n"
_HEAD: Final = struct.Struct("<8sI40s64sI")
_BLOB: Final = struct.Struct("<I40s")
_NEVER: Final = Look(bytes(LOOK.size))


class Seen:
    """What was committed, and how it looked.

    `committed` is every file of `tree` by path; `looks` says, by folder (`""` or ending in `/`) and name, how a file looked on
    disk when its content was what is committed. A folder's names lie together because the walk asks folder by folder.
    """

    def __init__(self, tree: str | None = None, ignore_digest: str = "") -> None:
        self.tree = tree
        self.ignore_digest = ignore_digest
        self.committed: dict[str, Blob] = {}
        self.looks: dict[str, dict[str, Look]] = {}

    def move_to(self, read: ReadTree, tree: str | None) -> None:
        """Follow history to another tree; only what differs is looked at."""
        if self.tree == tree:
            return
        for path, _, now in differences(read, self.tree, tree):
            self.note(path, now, None)
        self.tree = tree

    def note(self, path: str, blob: Blob | None, look: Look | None) -> None:
        """What `path` holds in the tree now, and its look on disk if that is known to be the same."""
        if blob is None:
            self.committed.pop(path, None)
        else:
            self.committed[path] = blob
        folder, name = _split(path)
        if blob is not None and look is not None:
            self.looks.setdefault(folder, {})[name] = look
        elif folder in self.looks:
            self.looks[folder].pop(name, None)

    def look_of(self, path: str) -> Look | None:
        """How the file looked when it was hashed; None when that is not known."""
        folder, name = _split(path)
        return self.looks.get(folder, {}).get(name)

    def save(self, path: Path) -> None:
        """Write the cache; losing it costs a rehash, so a failure is no error."""
        with suppress(OSError):
            temporary = path.with_name(path.name + ".new")
            with open(temporary, "wb", opener=_private) as file:
                file.write(self._packed())
            os.rename(temporary, path)

    def _packed(self) -> bytes:
        names = os.fsencode("\0".join(self.committed))
        looks = b"".join(self.look_of(path) or _NEVER for path in self.committed)
        blobs = b"".join(_BLOB.pack(mode, blob.encode("ascii")) for mode, blob in self.committed.values())
        tree, digest = (self.tree or "").encode("ascii"), self.ignore_digest.encode("ascii")
        body = looks + blobs + names
        return _HEAD.pack(_MAGIC, len(self.committed), tree, digest, zlib.crc32(body)) + body


class SeenStore:
    """The cache's file, and the copy in memory as long as nobody else has written the file."""

    def __init__(self, state: Path) -> None:
        self._path = state / FILE_NAME
        self._held: Seen | None = None
        self._signature: tuple[int, int, int] | None = None
        self._unwritten = 0

    def load(self, read: ReadTree, tree: str | None) -> Seen:
        """The cache, brought to `tree`; made anew from the tree itself when the file is missing or of no use."""
        seen = self._held if self._held is not None and self._signature == self._look() else _unpacked(self._path)
        if seen is not None:
            try:
                seen.move_to(read, tree)
            except AppError:  # its old tree is gone (another history): the cache is of no use
                seen = None
        if seen is None:
            seen = Seen(tree)
            seen.committed = dict(flatten(read, tree))
        self._held, self._signature = None, None
        return seen

    def keep(self, seen: Seen, news: int) -> None:
        """Keep the cache for the next time; `news` is how many files it has learnt about.

        It is written when that is worth it: a few files more or less only mean that another process hashes those again.
        """
        self._unwritten += news
        if self._unwritten > WORTH_WRITING:
            seen.save(self._path)
            self._unwritten = 0
        self._held, self._signature = seen, self._look()

    def close(self) -> None:
        """Write what is not written yet."""
        if self._held is not None and self._unwritten and self._signature == self._look():
            self._held.save(self._path)
        self._held, self._unwritten = None, 0

    def _look(self) -> tuple[int, int, int] | None:
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size


def at_rest(seen: os.stat_result, now_ns: int) -> bool:
    """Whether a later change would be bound to show in the file's times."""
    return seen.st_ctime_ns < now_ns - REST_NS and not now_ns - REST_NS <= seen.st_mtime_ns <= now_ns + REST_NS


def _unpacked(path: Path) -> Seen | None:
    try:
        with open(path, "rb") as file:
            raw = file.read()
        magic, count, tree, digest, checksum = _HEAD.unpack_from(raw)
    except (OSError, struct.error):
        return None
    body = memoryview(raw)[_HEAD.size :]
    if magic != _MAGIC or zlib.crc32(body) != checksum:
        return None
    seen = Seen(_text(tree) or None, _text(digest))
    looks_end = count * LOOK.size
    blobs_end = looks_end + count * _BLOB.size
    names = os.fsdecode(bytes(body[blobs_end:])).split("\0") if count else []
    looks = bytes(body[:looks_end])
    blobs = (Blob(mode, blob.decode("ascii")) for mode, blob in _BLOB.iter_unpack(body[looks_end:blobs_end]))
    seen.committed = dict(zip(names, blobs, strict=True))
    found = (Look(looks[at : at + LOOK.size]) for at in range(0, looks_end, LOOK.size))
    for whole_name, look in zip(names, found, strict=True):
        if look != _NEVER:
            folder, name = _split(whole_name)
            seen.looks.setdefault(folder, {})[name] = look
    return seen


def _split(path: str) -> tuple[str, str]:
    cut = path.rfind("/") + 1
    return path[:cut], path[cut:]


def _text(padded: bytes) -> str:
    return padded.rstrip(b"\0").decode("ascii")


def _private(name: str, flags: int) -> int:
    return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
