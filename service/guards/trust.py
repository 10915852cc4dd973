"""Folders that the owner named: those whose notes come from outside, and those that may hold what runs.

Low trust: clippings, imported mail, what others share into the vault.

What stands there was written by nobody knows whom, so it is left out of searches and lists unless asked for, labelled
when read, and reading it limits what the same grant may write afterwards (`service.auth.budget`).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from service.guards.paths import VaultPath


@dataclass(frozen=True, slots=True)
class Folders:
    """The folders of a setting such as STRONGROOM_LOW_TRUST or STRONGROOM_ALLOW_ACTIVE, matched without regard to case or to
    how letters are composed.

    `folders` holds the parts of each, folded; a folder of one part lies at the vault's root.
    """

    folders: tuple[tuple[str, ...], ...] = ()

    @staticmethod
    def of(named: Sequence[str]) -> Folders:
        """The folders by their vault-relative names."""
        return Folders(tuple(folded(tuple(name.split("/"))) for name in named))

    def around(self, path: VaultPath) -> VaultPath | None:
        """The one of the folders that `path` is or lies in, spelled as in `path`; None when there is none."""
        for folder in self.folders:
            if len(path.parts) >= len(folder) and folded(path.parts[: len(folder)]) == folder:
                while len(path.parts) > len(folder):
                    path = path.parent
                return path
        return None

    def holds(self, path: VaultPath) -> bool:
        """Whether `path` is such a folder, or lies in one."""
        return self.around(path) is not None

    def names_in(self, folder: VaultPath) -> frozenset[str]:
        """The folded names of those of the folders that would lie directly in `folder`."""
        parts = folded(folder.parts)
        return frozenset(one[-1] for one in self.folders if one[:-1] == parts)


LowTrust: TypeAlias = Folders
"""Those of STRONGROOM_LOW_TRUST."""

ALL_TRUSTED: Final = LowTrust()
NONE: Final = Folders()


def folded(parts: tuple[str, ...]) -> tuple[str, ...]:
    """The parts of a path as they are compared: without regard to case or to how letters are composed."""
    return tuple(
        part.casefold()
        if part.isascii()
        else unicodedata.normalize("NFC", unicodedata.normalize("NFC", part).casefold())
        for part in parts
    )
