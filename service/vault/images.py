"""Pictures in the vault: what they are is told by how they begin, never by their name alone.

A picture is given as it lies on the disk. Signatures: the formats' own specifications (PNG, JFIF, GIF89a, RIFF WebP,
ISO/IEC 23000-22 for AVIF, BMP).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from service.errors import PathRefused, TooLarge
from service.guards import limits
from service.guards.paths import VaultPath
from service.vault.model import Vault

_SIGNATURES: Final[Sequence[tuple[str, int, tuple[bytes, ...]]]] = (
    ("image/png", 0, (b"\x89PNG\r\n\x1a\n",)),
    ("image/jpeg", 0, (b"\xff\xd8\xff",)),
    ("image/gif", 0, (b"GIF87a", b"GIF89a")),
    ("image/webp", 8, (b"WEBP",)),
    ("image/avif", 4, (b"ftypavif", b"ftypavis")),
    ("image/bmp", 0, (b"BM",)),
)


@dataclass(frozen=True, slots=True)
class Image:
    """A picture as it lies on the disk. `path` is spelled as there."""

    path: VaultPath
    data: bytes
    mime_type: str
    version: str


def read(vault: Vault, path: VaultPath) -> Image:
    """Read a picture whole.

    Raises:
        TooLarge: more than `limits.MAX_IMAGE_BYTES`.
        PathRefused: NOT_A_NOTE, it is none of the kinds of picture there are here, whatever its name says.
        NoteNotFound, PathAmbiguous, Unavailable: as `VaultFiles.read`.
    """
    try:
        found = vault.files.read(path, limits.MAX_IMAGE_BYTES)
    except TooLarge as error:
        way_out = "Ask the owner for a smaller copy."
        raise TooLarge(repr(str(path)), error.size, limits.MAX_IMAGE_BYTES, way_out=way_out) from error
    kind = mime_type(found.data)
    if kind is None:
        raise PathRefused(
            "NOT_A_NOTE",
            f"{str(found.path)!r} has the name of a picture and does not begin like one; ask the owner what it is.",
        )
    return Image(found.path, found.data, kind, found.version)


def mime_type(data: bytes) -> str | None:
    """What kind of picture begins so; None for anything else."""
    for kind, offset, beginnings in _SIGNATURES:
        if data.startswith(beginnings, offset) and (kind != "image/webp" or data.startswith(b"RIFF")):
            return kind
    return None
