"""A commit's new objects: a few go loose, many into one pack, streamed.

A pack here holds whole objects (no deltas): writing it costs one fsync instead of thousands, and takes no more memory than
its index. Whoever wants it smaller runs git's own gc on the directory.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import struct
import zlib
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

from dulwich.pack import write_pack_index_v2

from service.history.objects import BLOB, COMMIT, TREE, Objects, id_of, sync_folder, told

_NUMBERS: Final = {COMMIT: 1, TREE: 2, BLOB: 3}
_HEADER: Final = struct.Struct(">4sLL")
_COMPRESSION: Final = 1
_CHUNK_BYTES: Final = 1 << 20
_NEW_FILE: Final = os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
FEW_OBJECTS: Final = 200
"""New objects of one commit that go loose; more go into one pack."""
_MAX_WAITING_BYTES: Final = 16_000_000


class Writer:
    """Takes the new objects of one commit; nothing counts before `finish`, and leaving without it leaves nothing.

    Objects wait in memory while they are few, so that it can be known whether they are many.
    """

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._waiting: dict[str, tuple[bytes, bytes]] = {}
        self._waiting_bytes = 0
        self._loose: set[str] = set()
        self._stored: set[str] = set()
        self._small: dict[str, bytes] = {}
        self._pack: Pack | None = None

    def put(self, kind: bytes, data: bytes) -> str:
        """Store one object, unless it is there; returns its id.

        Raises:
            NoSpace, HistoryHeld: the disk will not take it.
        """
        object_id = id_of(kind, data)
        if object_id in self._waiting or (self._pack and object_id in self._pack):
            return object_id
        if self._objects.is_stored(object_id, kind):
            self._objects.freshen(object_id)
            self._stored.add(object_id)
            return object_id
        if kind != BLOB:
            self._small[object_id] = data
        if self._pack is not None:
            self._pack.add(object_id, kind, data)
            return object_id
        self._waiting[object_id] = kind, data
        self._waiting_bytes += len(data)
        if len(self._waiting) + len(self._loose) > FEW_OBJECTS:
            self._pack = Pack(self._objects.folder / "pack")
            for waiting_id, waiting in self._waiting.items():
                self._pack.add(waiting_id, *waiting)
            self._waiting.clear()
        elif self._waiting_bytes > _MAX_WAITING_BYTES:
            self._write_loose()
        return object_id

    def read(self, object_id: str, kind: bytes) -> bytes:
        """An object's content, also of a tree just put.

        Raises:
            ObjectMissing: it is not there.
        """
        found = self._small.get(object_id)
        return self._objects.read(object_id, kind) if found is None else found

    def finish(self) -> None:
        """Make all of it durable, also what was stored already: by a tool's write, which does not wait for the disk."""
        self._write_loose()
        self._objects.settle(self._stored)
        if self._loose:
            self._objects.sync(self._loose)
        if self._pack is not None:
            self._pack.finish()
        self._loose.clear()

    def give_back(self) -> None:
        """Remove what was written, as the disk is full. Does nothing once `finish` was through: commits may need it."""
        self._objects.remove_loose(self._loose)
        self._loose.clear()

    def abandon(self) -> None:
        """Leave nothing half-written behind. Loose objects are whole; those of a failed commit wait for the next try."""
        if self._pack is not None:
            self._pack.abandon()

    def _write_loose(self) -> None:
        for object_id, (kind, data) in self._waiting.items():
            self._objects.write_new(object_id, kind, data)
            self._loose.add(object_id)
        self._waiting.clear()
        self._waiting_bytes = 0


class Pack:
    """One pack being written, entry by entry."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._temporary = folder / f"tmp_pack_{secrets.token_hex(8)}"
        self._entries: dict[str, tuple[int, int]] = {}
        self._offset = _HEADER.size
        try:
            folder.mkdir(exist_ok=True)
            descriptor = os.open(self._temporary, _NEW_FILE | os.O_RDWR, 0o444)
        except OSError as error:
            raise told(error) from error
        self._file: BinaryIO = os.fdopen(descriptor, "w+b", buffering=_CHUNK_BYTES)
        self._file.write(_HEADER.pack(b"PACK", 2, 0))

    def __contains__(self, object_id: str) -> bool:
        return object_id in self._entries

    def add(self, object_id: str, kind: bytes, data: bytes) -> None:
        """Write one object's entry."""
        packer = zlib.compressobj(_COMPRESSION)
        entry = b"".join((_entry_header(_NUMBERS[kind], len(data)), packer.compress(data), packer.flush()))
        try:
            self._file.write(entry)
        except OSError as error:
            raise told(error) from error
        self._entries[object_id] = (self._offset, zlib.crc32(entry))
        self._offset += len(entry)

    def finish(self) -> None:
        """Seal it, write its index, give both their names, durably."""
        index = self._folder / self._temporary.name.replace("tmp_pack_", "tmp_idx_")
        try:
            checksum = self._seal()
            name = self._folder / f"pack-{checksum.hex()}"
            self._write_index(index, checksum)
            os.rename(self._temporary, f"{name}.pack")
            os.rename(index, f"{name}.idx")  # a pack counts from the moment its index has this name
            sync_folder(self._folder)
        except OSError as error:
            with suppress(FileNotFoundError):
                index.unlink()
            raise told(error) from error

    def abandon(self) -> None:
        """Remove the unfinished file, if there is one."""
        with suppress(OSError):
            self._file.close()
        with suppress(FileNotFoundError):
            self._temporary.unlink()

    def _seal(self) -> bytes:
        self._file.seek(0)
        self._file.write(_HEADER.pack(b"PACK", 2, len(self._entries)))
        self._file.flush()
        self._file.seek(0)
        digest = hashlib.sha1(usedforsecurity=False)
        while chunk := self._file.read(_CHUNK_BYTES):
            digest.update(chunk)
        self._file.write(digest.digest())
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        return digest.digest()

    def _write_index(self, path: Path, checksum: bytes) -> None:
        rows = sorted((bytes.fromhex(object_id), *place) for object_id, place in self._entries.items())
        descriptor = os.open(path, _NEW_FILE | os.O_WRONLY, 0o444)
        with os.fdopen(descriptor, "wb", buffering=_CHUNK_BYTES) as file:
            write_pack_index_v2(file, rows, checksum)
            file.flush()
            os.fsync(descriptor)


def _entry_header(number: int, size: int) -> bytes:
    header = bytearray()
    byte = (number << 4) | (size & 0x0F)
    size >>= 4
    while size:
        header.append(byte | 0x80)
        byte = size & 0x7F
        size >>= 7
    header.append(byte)
    return bytes(header)
