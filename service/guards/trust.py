"""Folders whose notes come from outside: clippings, imported mail, what others share into the vault.

What stands there was written by nobody knows whom, so it is left out of searches and lists unless asked for, labelled
when read, and reading it limits what the same grant may write afterwards (`service.auth.budget`).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from service.guards.paths import VaultPath


@dataclass(frozen=True, slots=True)
class LowTrust:
    """The folders of STRONGROOM_LOW_TRUST, matched without regard to case or to how letters are composed.

    `folders` holds the parts of each, folded; a folder of one part lies at the vault's root.
    """

    folders: tuple[tuple[str, ...], ...] = ()

    @staticmethod
    def of(named: Sequence[str]) -> LowTrust:
        """The folders by their vault-relative names."""
        return LowTrust(tuple(_folded(tuple(name.split("/"))) for name in named))

    def around(self, path: VaultPath) -> VaultPath | None:
        """The low-trust folder that `path` is or lies in, spelled as in `path`; None when there is none."""
        for folder in self.folders:
            if len(path.parts) >= len(folder) and _folded(path.parts[: len(folder)]) == folder:
                while len(path.parts) > len(folder):
                    path = path.parent
                return path
        return None

    def holds(self, path: VaultPath) -> bool:
        """Whether `path` is such a folder, or lies in one."""
        return self.around(path) is not None


ALL_TRUSTED: Final = LowTrust()


def _folded(parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(
        part.casefold()
        if part.isascii()
        else unicodedata.normalize("NFC", unicodedata.normalize("NFC", part).casefold())
        for part in parts
    )
