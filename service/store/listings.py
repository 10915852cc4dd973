"""What there is in the vault, folder by folder: snapshots that never change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar

from service.guards.folders import Scope
from service.guards.paths import ROOT, VaultPath


class File:
    """One visible file as it was last seen. `mtime_ns` counts from 1970; equal marks mean the same file, unchanged."""

    __slots__ = ("mark", "mtime_ns", "path", "size_bytes")

    def __init__(self, path: VaultPath, size_bytes: int, mtime_ns: int, mark: int) -> None:
        self.path = path
        self.size_bytes = size_bytes
        self.mtime_ns = mtime_ns
        self.mark = mark


F = TypeVar("F", bound=File)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Listing(Generic[F]):
    """What is visible directly in one folder. Never changed, only replaced; equal only to itself."""

    path: VaultPath
    files: Mapping[str, F] = field(default_factory=dict)
    folders: tuple[str, ...] = ()


Folders: TypeAlias = Mapping[VaultPath, Listing[F]]
"""All visible folders by their paths, the vault's root among them. A snapshot: it does not change any more."""


def within(folders: Folders[F], scope: Scope) -> Folders[F]:
    """The same as if there were nothing outside the folders of `scope`: above them a bare way, nothing beside it."""
    kept: dict[VaultPath, Listing[F]] = {}
    for path, listing in folders.items():
        if scope.holds(path):
            kept[path] = listing
            continue
        way = {one.parts[len(path.parts)] for one in scope.below(path) if _is_there(folders, one)}
        if way or path == ROOT:
            kept[path] = Listing(
                path,
                {name: found for name, found in listing.files.items() if name in way},
                tuple(name for name in listing.folders if name in way),
            )
    return kept


def _is_there(folders: Folders[F], path: VaultPath) -> bool:
    around = folders.get(path.parent)
    return around is not None and (path.name in around.files or path.name in around.folders)
