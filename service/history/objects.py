"""The object store: reading through dulwich, writing with our own hands.

Dulwich reads packs, deltas and alternates well, but its `add_object` trusts an empty leftover of a crash, leaves a lock
behind on a full disk and never syncs a folder. So we write loose objects ourselves: temporary file, zlib 1, fsync, rename,
folder fsync; many at once go into one pack (see packs.py).
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import struct
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from dulwich.errors import ApplyDeltaError, ChecksumMismatch, FileFormatException, WrongObjectException
from dulwich.object_store import DiskObjectStore
from dulwich.objects import ObjectID, RawObjectID

from service.errors import HistoryHeld, NoSpace

BLOB: Final = b"blob"
TREE: Final = b"tree"
COMMIT: Final = b"commit"
_KINDS: Final = {1: COMMIT, 2: TREE, 3: BLOB, 4: b"tag"}
_MAX_INFLATED_BYTES: Final = 600_000_000  # a planted zip bomb ends here; far above any STRONGROOM_MAX_FILE_SIZE in use
_LEFTOVER_AGE_S: Final = 600  # an unfinished temporary file older than this belongs to nobody
_COMPRESSION: Final = 1
_FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_TEMPORARY: Final = "tmp_obj_"
_OUR_PACKS: Final = re.compile(r"tmp_(pack|idx)_[0-9a-f]{16}")  # git's own names end in six letters
_DAMAGE: Final = (
    ApplyDeltaError, ChecksumMismatch, FileFormatException, WrongObjectException, zlib.error, struct.error,
    AssertionError, EOFError, IndexError, KeyError, OSError, ValueError,
)  # fmt: skip
"""What dulwich raises on a pack or an index that a disk or a sync tool has damaged."""
_FORBIDDEN: Final = (errno.EACCES, errno.EPERM, errno.EIO)
"""What says that an object may well be there: not to be taken for a missing one."""


def id_of(kind: bytes, data: bytes) -> str:
    """Git's id of an object."""
    digest = hashlib.sha1(b"%s %d\0" % (kind, len(data)), usedforsecurity=False)
    digest.update(data)
    return digest.hexdigest()


class ObjectMissing(Exception):
    """An object that history needs is missing or damaged. Callers turn it into a sentence."""


class Objects:
    """The objects of one git directory. Threads may share it.

    Args:
        folder: the `objects` folder, which exists.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._store = DiskObjectStore(str(folder), loose_object_size_limit=_MAX_INFLATED_BYTES)

    def close(self) -> None:
        """Give back the descriptors of packs."""
        self._store.close()

    def read(self, object_id: str, kind: bytes) -> bytes:
        """An object's content, which is what its id says.

        Raises:
            ObjectMissing: not there, damaged, or of another kind.
        """
        found = self._read_loose(object_id)
        if found is None:  # dulwich would give the beginning of a torn one as if it were whole
            is_torn = os.path.lexists(self._loose_path(object_id))
            found = self._read_past_damage(object_id) if is_torn else self._read_packed(object_id)
        if found is None or found[0] != kind or id_of(kind, found[1]) != object_id:
            raise ObjectMissing(object_id)
        return found[1]

    def is_stored(self, object_id: str, kind: bytes) -> bool:
        """Whether the object need not be written: an empty or torn leftover of a crash must be."""
        try:
            os.stat(self._loose_path(object_id))
        except (FileNotFoundError, NotADirectoryError):
            return self._is_packed(object_id)
        return self.is_sound(object_id, kind)

    def freshen(self, object_id: str) -> None:
        """Make a loose object young, so that a `git gc` running now does not take it for abandoned."""
        with suppress(OSError):
            os.utime(self._loose_path(object_id))

    def remove_loose(self, object_ids: Iterable[str]) -> None:
        """Remove loose objects that nothing points to."""
        for object_id in object_ids:
            with suppress(FileNotFoundError):
                os.unlink(self._loose_path(object_id))

    def drop_torn(self, object_id: str) -> None:
        """Remove a loose object that cannot be read; a sound one stays."""
        if self._read_loose(object_id) is None:
            with suppress(FileNotFoundError):
                os.unlink(self._loose_path(object_id))

    def is_sound(self, object_id: str, kind: bytes) -> bool:
        """Whether the object can be read and is what its id says."""
        try:
            self.read(object_id, kind)
        except ObjectMissing:
            return False
        return True

    def write_loose(self, kind: bytes, data: bytes, *, is_synced: bool = True) -> str:
        """Store one object unless it is there; returns its id. The folder's own sync is the caller's (`sync`).

        Raises:
            NoSpace: the disk is full; no leftover stays.
        """
        object_id = id_of(kind, data)
        if self.is_stored(object_id, kind):
            self.freshen(object_id)
        else:
            self.write_new(object_id, kind, data, is_synced=is_synced)
        return object_id

    def write_new(self, object_id: str, kind: bytes, data: bytes, *, is_synced: bool = True) -> None:
        """As `write_loose`, for an object that is known not to be there."""
        with _space_told(), self._fan_folder(object_id) as folder:
            temporary = f"{_TEMPORARY}{secrets.token_hex(8)}"
            try:
                descriptor = os.open(
                    temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o444, dir_fd=folder
                )
                with os.fdopen(descriptor, "wb") as file:
                    packer = zlib.compressobj(_COMPRESSION)
                    file.write(packer.compress(b"%s %d\0" % (kind, len(data))))
                    file.write(packer.compress(data))
                    file.write(packer.flush())
                    if is_synced:
                        file.flush()
                        os.fsync(descriptor)
                os.rename(temporary, object_id[2:], src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=folder)
                raise

    def settle(self, object_ids: Iterable[str]) -> None:
        """Make stored objects durable, which may have been written without a sync. Packed ones were synced with their pack."""
        loose = []
        for object_id in object_ids:
            with suppress(FileNotFoundError):
                descriptor = os.open(self._loose_path(object_id), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
                try:
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)
                loose.append(object_id)
        if loose:
            self.sync(loose)

    def sync(self, object_ids: Iterable[str]) -> None:
        """Make the names of loose objects durable."""
        for fan in sorted({object_id[:2] for object_id in object_ids}):
            sync_folder(self.folder / fan)
        sync_folder(self.folder)

    def sweep(self) -> None:
        """Remove what unfinished writes left behind; the caller holds the history lock.

        A pack of ours is written under that lock, so one that is there now belongs to a process that was killed: it may be
        as large as the vault, and a service that is killed and restarted again and again must not fill the disk with them.
        """
        oldest = time.time() - _LEFTOVER_AGE_S
        for folder in (self.folder / "pack", *(self.folder / f"{number:02x}" for number in range(256))):
            try:
                names = os.listdir(folder)
            except OSError:
                continue
            for name in names:
                if name.startswith((_TEMPORARY, "tmp_pack_", "tmp_idx_")):
                    with suppress(OSError):
                        if _OUR_PACKS.fullmatch(name) or os.lstat(folder / name).st_mtime < oldest:
                            os.unlink(folder / name)

    def _loose_path(self, object_id: str) -> str:
        return f"{self.folder}/{object_id[:2]}/{object_id[2:]}"

    @contextmanager
    def _fan_folder(self, object_id: str) -> Iterator[int]:
        path = self.folder / object_id[:2]
        try:
            descriptor = os.open(path, _FOLDER_FLAGS)
        except FileNotFoundError:
            with suppress(FileExistsError):
                os.mkdir(path)
            descriptor = os.open(path, _FOLDER_FLAGS)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _read_loose(self, object_id: str) -> tuple[bytes, bytes] | None:
        try:
            with open(self._loose_path(object_id), "rb") as file:
                packed = file.read()
        except OSError as error:
            _refuse_forbidden(error)
            return None
        try:
            unpacker = zlib.decompressobj()
            whole = unpacker.decompress(packed, _MAX_INFLATED_BYTES)
            header, _, data = whole.partition(b"\0")
            kind, _, size = header.partition(b" ")
            if not unpacker.eof or int(size) != len(data):
                return None
        except (zlib.error, ValueError):
            return None
        return kind, data

    def _read_packed(self, object_id: str) -> tuple[bytes, bytes] | None:
        try:
            number, data = self._store.get_raw(_git_id(object_id))
        except KeyError:
            return None
        except _DAMAGE as error:
            _refuse_forbidden(error)
            return self._read_past_damage(object_id)
        return _KINDS.get(number, b"?"), data

    def _is_packed(self, object_id: str) -> bool:
        sha = _git_id(object_id)
        try:
            return self._store.contains_packed(sha) or any(sha in other for other in self._store.alternates)
        except _DAMAGE as error:
            _refuse_forbidden(error)
            return self._read_past_damage(object_id) is not None

    def _read_past_damage(self, object_id: str) -> tuple[bytes, bytes] | None:
        """Ask each pack by itself, so that a damaged one does not hide what the others hold."""
        with suppress(*_DAMAGE):
            sha = RawObjectID(bytes.fromhex(object_id))
            for pack in self._store.packs:
                with suppress(*_DAMAGE):
                    number, data = pack.get_raw(sha)
                    return _KINDS.get(number, b"?"), data
        return None


def sync_folder(path: Path) -> None:
    """fsync a folder, so that names made in it survive a power cut."""
    descriptor = os.open(path, _FOLDER_FLAGS)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _space_told() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise told(error) from error


def told(error: OSError) -> NoSpace | HistoryHeld:
    """A failure of the disk that holds the history, in our words."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return NoSpace("history")
    return HistoryHeld(
        f"the history cannot be used ({error.strerror}); check the owner and mode of the state folder and that its disk is writable."
    )


def _refuse_forbidden(error: Exception) -> None:
    if isinstance(error, OSError) and error.errno in _FORBIDDEN:
        raise told(error) from error


def _git_id(object_id: str) -> ObjectID:
    return ObjectID(object_id.encode("ascii"))
