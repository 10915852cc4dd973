"""What a kill or a power cut left behind: dropped when its text is where it belongs, kept as a visible copy otherwise.

The two hashes in a leftover's name say which versions it may hold. If it holds the new one, the exchange had not taken
place; if the old one, it had, and only the clean-up was missing. Anything else was written by another program at that
very moment and is kept. A part file was never whole, so it goes; a guard link goes when the file has another name.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import structlog

from service.errors import AppError
from service.guards import paths
from service.guards.paths import ROOT, VaultPath
from service.store import names, placing, reading, staging
from service.store.root import Root
from service.store.syscalls import Folder, Kernel

_PART: Final = re.compile(re.escape(staging.PREFIX) + r"(part|probe)-[0-9a-f]+\.tmp")
_ASIDE: Final = re.compile(re.escape(staging.PREFIX) + r"([0-9a-f]{16})-([0-9a-f]{16})-[0-9a-f]{8}\.tmp")
_GUARD: Final = re.compile(re.escape(staging.PREFIX) + r"guard-[0-9a-f]+\.tmp")

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Swept:
    """What the sweep did: how many leftovers it dropped, and the copies it made of what was found nowhere else."""

    dropped: int
    recovered: tuple[VaultPath, ...]


def find(root: Root) -> Iterator[VaultPath]:
    """Every leftover of ours in the vault, in hidden folders as well."""
    pending = [ROOT]
    while pending:
        here = pending.pop()
        for name, is_folder in _entries(root, here):
            if is_folder:
                pending.append(here.child(name))
            elif name.startswith(staging.PREFIX):
                yield here.child(name)


def sweep(kernel: Kernel, root: Root) -> Swept:
    """Clear away every leftover. The caller holds the writer lock, so none of them is in use."""
    dropped, recovered = 0, []
    for path in list(find(root)):
        try:
            with root.folder(path.parent) as folder:
                kept = _settle(Folder(kernel, folder), path)
        except (OSError, AppError):
            log.warning("vault.leftover_stayed", path=str(path))
            continue
        if kept is None:
            dropped += 1
        else:
            recovered.append(kept)
            log.warning("vault.copy_recovered", path=str(kept))
    return Swept(dropped, tuple(recovered))


def _settle(folder: Folder, path: VaultPath) -> VaultPath | None:
    """Drop the leftover, or make it visible; where it is then."""
    if _is_worthless(folder.fd, path.name):
        folder.kernel.unlink(folder.fd, path.name)
        return None
    mark = reading.version_at(folder.fd, path.name)
    return path.parent.child(placing.keep_copy(folder, path.name, "Recovered by Strongroom.md", mark))


def _is_worthless(folder: int, name: str) -> bool:
    if _PART.fullmatch(name):
        return True
    found = names.exists(folder, name)
    if found is None or not stat.S_ISREG(found.st_mode):
        return False
    if _GUARD.fullmatch(name):
        return found.st_nlink > 1
    hashes = _ASIDE.fullmatch(name)
    return hashes is not None and _hash16(folder, name) in hashes.groups()


def _hash16(folder: int, name: str) -> str:
    with os.fdopen(os.open(name, reading.READ_FLAGS, dir_fd=folder), "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def _entries(root: Root, folder: VaultPath) -> list[tuple[str, bool]]:
    try:
        with root.folder(folder) as held:
            descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=held)
    except (OSError, AppError):
        return []
    try:
        with os.scandir(descriptor) as entries:
            return [
                (entry.name, entry.is_dir(follow_symlinks=False))
                for entry in entries
                if not paths.is_git_alias(entry.name)
            ]
    finally:
        os.close(descriptor)
