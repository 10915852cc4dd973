"""The owner's index, when the repository is the owner's own: after our commit it says what the commit says.

Entries that agree with the new tree are kept byte for byte; the others are written anew, with the file's stat data only where
the file still looks as it did when it was hashed, so that git is never told "clean" about something nobody read. An index of
another make (version 4, split, damaged) is replaced by a plain one; git fills in what is missing at its next look.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from service.errors import AppError, HistoryHeld
from service.guards import paths
from service.history.model import Blob, Look
from service.history.model import look_of as look_now
from service.store.root import Root

_HEADER: Final = struct.Struct(">4sLL")
_FIXED: Final = struct.Struct(">10L20sH")
_EXTENDED: Final = 0x4000
_STAGE: Final = 0x3000
_NAME_BITS: Final = 0x0FFF
_INTENT_OR_SKIP: Final = 0x6000  # second flags word: intent-to-add, skip-worktree
_KNOWN_EXTENSIONS: Final = (b"TREE", b"REUC", b"UNTR", b"EOIE", b"IEOT", b"FSMN")


class Entry(NamedTuple):
    """One entry: its whole bytes, what it points to, and its second flags word."""

    raw: bytes
    blob: Blob
    more_flags: int


class Unreadable(Exception):
    """The index is of a make we do not read."""


def read(path: Path) -> dict[bytes, Entry] | None:
    """Every entry by name; None when there is no index, or one that has to be made anew.

    Raises:
        HistoryHeld: it holds an unresolved conflict.
    """
    try:
        return _parse(path.read_bytes())
    except (FileNotFoundError, Unreadable, struct.error, ValueError):
        return None


def written(
    old: Mapping[bytes, Entry] | None, root: Root, committed: Mapping[str, Blob], look_of: Callable[[str], Look | None]
) -> bytes:
    """The index that agrees with `committed`."""
    raws: list[tuple[bytes, bytes]] = []
    has_extended = False
    for path, blob in committed.items():
        name = os.fsencode(path)
        entry = old.get(name) if old else None
        if entry is not None and entry.blob == blob and not entry.more_flags & _INTENT_OR_SKIP:
            raws.append((name, entry.raw))
            has_extended = has_extended or bool(entry.more_flags)
        else:
            raws.append((name, _fresh(name, blob, _look(root, path, look_of(path)))))
    raws.sort()
    body = _HEADER.pack(b"DIRC", 3 if has_extended else 2, len(raws)) + b"".join(raw for _, raw in raws)
    return body + hashlib.sha1(body, usedforsecurity=False).digest()


def _parse(raw: bytes) -> dict[bytes, Entry]:
    magic, version, count = _HEADER.unpack_from(raw)
    if (
        magic != b"DIRC"
        or version not in (2, 3)
        or hashlib.sha1(raw[:-20], usedforsecurity=False).digest() != raw[-20:]
    ):
        raise Unreadable
    entries: dict[bytes, Entry] = {}
    at = _HEADER.size
    for _ in range(count):
        *numbers, sha, flags = _FIXED.unpack_from(raw, at)
        name_at, more = at + _FIXED.size, 0
        if flags & _EXTENDED:
            (more,) = struct.unpack_from(">H", raw, name_at)
            name_at += 2
        length = flags & _NAME_BITS
        name_end = name_at + length if length < _NAME_BITS else raw.index(b"\0", name_at)
        following = at + ((name_end - at) // 8 + 1) * 8
        if flags & _STAGE:
            raise HistoryHeld(
                "the repository holds an unresolved conflict; resolve or abort it, then history goes on by itself."
            )
        entries[raw[name_at:name_end]] = Entry(raw[at:following], Blob(numbers[6], sha.hex()), more)
        at = following
    _check_extensions(raw, at)
    return entries


def _check_extensions(raw: bytes, at: int) -> None:
    while at < len(raw) - 20:
        signature, size = struct.unpack_from(">4sL", raw, at)
        if signature not in _KNOWN_EXTENSIONS:
            raise Unreadable
        at += 8 + size


def _fresh(name: bytes, blob: Blob, look: os.stat_result | None) -> bytes:
    flags = min(len(name), _NAME_BITS)
    numbers = (0, 0, 0, 0, 0, 0, blob.mode, 0, 0, 0) if look is None else _numbers(look, blob.mode)
    raw = _FIXED.pack(*numbers, bytes.fromhex(blob.id), flags) + name
    return raw + b"\0" * (8 - len(raw) % 8)


def _numbers(look: os.stat_result, mode: int) -> tuple[int, ...]:
    fields = (
        *divmod(look.st_ctime_ns, 1_000_000_000),
        *divmod(look.st_mtime_ns, 1_000_000_000),
        look.st_dev,
        look.st_ino,
        mode,
        look.st_uid,
        look.st_gid,
        look.st_size,
    )
    return tuple(field & 0xFFFFFFFF for field in fields)


def _look(root: Root, path: str, known: Look | None) -> os.stat_result | None:
    if known is None:
        return None
    try:
        where = paths.tracked(path)
        with root.folder(where.parent) as folder:
            found = os.stat(where.name, dir_fd=folder, follow_symlinks=False)
    except (OSError, AppError):
        return None
    return found if look_now(found) == known else None
