"""The archive that `backup` writes and `restore-backup` reads: a plain tar with a manifest as its last member.

    README.txt              how to unpack it by hand
    vault/…                 the notes, everything but links and special files
    state/…                 tokens (state/strongroom.db, an SQLite snapshot) and the history (state/history.git/…)
    history/…               only when the history lives in a folder of its own
    MANIFEST.json           every file and folder that counts: SHA-256, size, mode, time

What changed while the archive was being written was written again, so a name may come twice: the last one counts, as tar
has it. What vanished meanwhile stands under `left_out`. Names are bytes that POSIX allows, as UTF-8 with PEP 383 escapes.
Nothing in an archive is trusted: `verify` looks at every byte before anybody unpacks one.
"""

from __future__ import annotations

import hashlib
import json
import tarfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO, Final, cast

from service.errors import NotFound, Refused

FORMAT: Final = 1
MANIFEST: Final = "MANIFEST.json"
README: Final = "README.txt"
TREES: Final = ("vault", "state", "history")
MAX_MANIFEST_BYTES: Final = 200_000_000
"""About a million files; more memory than that is not taken on an archive's word."""
MAX_NAME_BYTES: Final = 4096
_PIECE_BYTES: Final = 1 << 20

Progress = Callable[[int], None]
"""Told how many more bytes are done."""


class Damaged(Refused):
    """The archive is not what was written: cut short, changed, or made to do harm."""

    def __init__(self, why: str) -> None:
        super().__init__(f"this archive is not sound: {why}. Nothing was unpacked; use another one.")


class ArchiveNotFound(NotFound):
    """No such file."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"there is no archive {str(path)!r}; check the path.")


@dataclass(frozen=True, slots=True)
class Entry:
    """A file or folder that counts. `sha256` is empty for a folder; `mode` has permission bits only."""

    sha256: str
    size_bytes: int
    mode: int
    mtime_ns: int

    @property
    def is_folder(self) -> bool:
        return not self.sha256


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an archive holds. `made` is an ISO time; `entries` are in the order of their names."""

    version: str
    made: str
    entries: Mapping[str, Entry]
    left_out: tuple[str, ...]

    def to_json(self) -> bytes:
        """The manifest as it lies in the archive: one line an entry, so that people can read it too."""
        lines = [f"{_text(name)}: {json.dumps(asdict(self.entries[name]))}" for name in sorted(self.entries)]
        head = f'"format": {FORMAT}, "version": {_text(self.version)}, "made": {_text(self.made)}'
        left_out = json.dumps(sorted(self.left_out), ensure_ascii=True)
        return "".join(
            ("{", head, ', "left_out": ', left_out, ', "entries": {\n', ",\n".join(lines), "\n}}\n")
        ).encode()


def _text(value: str) -> str:
    return json.dumps(
        value, ensure_ascii=True
    )  # a lone surrogate (a byte that is no UTF-8) becomes \udcXX and comes back


class Archive:
    """An archive opened for reading, its manifest read and every byte checked against it."""

    def __init__(self, tar: tarfile.TarFile, manifest: Manifest, members: Mapping[str, tarfile.TarInfo]) -> None:
        self.manifest = manifest
        self._tar, self._members = tar, members

    def pieces(self, name: str) -> Iterator[bytes]:
        """A file's bytes, checked once more: the file may have changed since.

        Raises:
            Damaged: after the last piece, when they are not those of the manifest.
        """
        digest = hashlib.sha256()
        with _our_words():
            for piece in _pieces(self._tar, self._members[name]):
                digest.update(piece)
                yield piece
        if digest.hexdigest() != self.manifest.entries[name].sha256:
            raise Damaged(f"{name!r} changed while it was being unpacked")


@contextmanager
def verified(path: Path, progress: Progress = lambda _: None) -> Iterator[Archive]:
    """Open an archive and check all of it: form, names, and each file's SHA-256.

    Raises:
        ArchiveNotFound: no such file.
        Damaged: anything is not as the manifest has it.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError as error:
        raise ArchiveNotFound(path) from error
    with file:
        yield _verify(file, progress)


def _verify(file: BinaryIO, progress: Progress) -> Archive:
    with _our_words():
        tar = tarfile.open(fileobj=file, mode="r:")  # noqa: SIM115  # holds nothing but `file`
        members, digests = _scan(tar, progress)
        if MANIFEST not in members:
            raise Damaged("it has no manifest, so it was cut short")
        manifest = _read_manifest(tar, members.pop(MANIFEST))
        members.pop(README, None)
        _compare(manifest, members, digests)
        return Archive(tar, manifest, members)


@contextmanager
def _our_words() -> Iterator[None]:
    try:
        yield
    except (tarfile.TarError, ValueError, OverflowError, EOFError) as error:
        raise Damaged(f"it cannot be read as a tar file ({type(error).__name__})") from error


def _scan(tar: tarfile.TarFile, progress: Progress) -> tuple[dict[str, tarfile.TarInfo], dict[str, str]]:
    """Every member by name, the last of each name, with the SHA-256 of its bytes."""
    members: dict[str, tarfile.TarInfo] = {}
    digests: dict[str, str] = {}
    for member in tar:
        name = member.name.removesuffix("/")
        if name not in (MANIFEST, README):
            _check_name(name)
        if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.DIRTYPE) or member.issparse():
            raise Damaged(f"{name!r} is a link, a device or a sparse file; we write none")
        members[name] = member
        digests[name] = ""
        if member.isreg():
            digest = hashlib.sha256()
            for piece in _pieces(tar, member):
                digest.update(piece)
                progress(len(piece))
            digests[name] = digest.hexdigest()
    return members, digests


def _pieces(tar: tarfile.TarFile, member: tarfile.TarInfo) -> Iterator[bytes]:
    file = cast("BinaryIO", tar.extractfile(member))
    left = member.size
    while left:
        piece = file.read(min(_PIECE_BYTES, left))
        if not piece:
            raise Damaged(f"it was cut short in {member.name!r}")
        left -= len(piece)
        yield piece


def _check_name(name: str) -> None:
    parts = name.split("/")
    is_bad = any(part in ("", ".", "..") or len(part.encode("utf-8", "surrogateescape")) > 255 for part in parts)
    if is_bad or parts[0] not in TREES or "\0" in name or len(name.encode("utf-8", "surrogateescape")) > MAX_NAME_BYTES:
        raise Damaged(f"it holds the name {name[:200]!r}, which leads out of the folders we write")


def _read_manifest(tar: tarfile.TarFile, member: tarfile.TarInfo) -> Manifest:
    if not member.isreg() or member.size > MAX_MANIFEST_BYTES:
        raise Damaged("its manifest is none")
    try:
        found = json.loads(b"".join(_pieces(tar, member)))
        if found["format"] != FORMAT:
            raise Damaged(
                f"it was written in format {found['format']!r}, by another version of Strongroom; use that one"
            )
        entries = {name: _read_entry(entry) for name, entry in found["entries"].items()}
        return Manifest(str(found["version"]), str(found["made"]), entries, tuple(map(str, found["left_out"])))
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Damaged("its manifest is not one of ours") from error


def _read_entry(found: Mapping[str, object]) -> Entry:
    match found:
        case {"sha256": str(sha256), "size_bytes": int(size), "mode": int(mode), "mtime_ns": int(mtime_ns)} if (
            abs(mtime_ns) < 1 << 62
        ):
            return Entry(sha256, size, mode & 0o777, mtime_ns)
        case _:
            raise TypeError("no entry")


def _compare(manifest: Manifest, members: Mapping[str, tarfile.TarInfo], digests: Mapping[str, str]) -> None:
    for name in members.keys() - manifest.entries.keys() - set(manifest.left_out):
        raise Damaged(f"{name!r} is not in its manifest")
    for name, entry in manifest.entries.items():
        if name not in members:
            raise Damaged(f"{name!r} is missing")
        found = members[name]
        if name in TREES and not entry.is_folder:
            raise Damaged(f"{name!r} is no folder")
        if found.isdir() != entry.is_folder or digests[name] != entry.sha256 or found.size != entry.size_bytes:
            raise Damaged(f"{name!r} is not what was written")
        parent = name.rpartition("/")[0]
        if parent and not (parent in manifest.entries and manifest.entries[parent].is_folder):
            raise Damaged(f"{name!r} lies in a folder that is none")
