"""Optimistic locking: a caller may name the version it has read, and is told when the note has moved on."""

from __future__ import annotations

import hashlib
import re
from typing import Final

from service.errors import BadArgument, NoteChanged
from service.store.files import VERSION_CHARS, FileContent

_HASH: Final = re.compile(r"[0-9a-f]{4,64}")


def check(found: FileContent, expected_hash: str) -> None:
    """Compare a note with the version the caller has read; an empty `expected_hash` asks for no check.

    Args:
        expected_hash: any prefix of the SHA-256 of the raw bytes, 4 to 64 hex digits.

    Raises:
        BadArgument: `expected_hash` is no such prefix.
        NoteChanged: the note is another version; names both.
    """
    wanted = expected_hash.strip().lower()
    if not wanted:
        return
    if not _HASH.fullmatch(wanted):
        raise BadArgument("expected_hash must be 4 to 64 hex digits: the version that a read of this note reported.")
    if not hashlib.sha256(found.data).hexdigest().startswith(wanted):
        raise NoteChanged(str(found.path), wanted[:VERSION_CHARS], found.version)
