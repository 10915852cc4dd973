"""The folders that a grant is limited to: how their names are read, and which paths lie in them.

Read once, where they are given (the consent page, `tokens create --folder`), and kept as they were read. Which folder on the
disk a name means is found anew for each call (`service.store.within`); here all comparing is exact, letter by letter, since a
permission that is given for one name must never hold for another.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from service.errors import BadArgument, Forbidden, PathRefused
from service.guards import paths
from service.guards.paths import VaultPath

MAX_FOLDERS: Final = 20
"""Folders of one grant: more are no longer a limit that a person can keep in mind."""

_WHOLE_VAULT: Final = ("", ".", "/", "./")


def parse(words: Sequence[str]) -> tuple[str, ...]:
    """Read the names of the folders that a grant is to be limited to; none of them mean the whole vault.

    White space around a name and one `/` behind it do not count. What lies in another of them is left out, and so is what
    is named twice. The folders need not exist; nothing is looked up.

    Args:
        words: one name each, vault-relative, such as `Projects` or `Work/Clients`.

    Raises:
        BadArgument: a name is empty or means the whole vault (which must never come from a slip of the hand), cannot be the
            path of a folder, or there are more than MAX_FOLDERS.
    """
    if len(words) > MAX_FOLDERS:
        raise BadArgument(f"that are {len(words)} folders; name at most {MAX_FOLDERS}, or one that they all lie in.")
    read = dict.fromkeys(_folder(word.strip()) for word in words)
    return tuple(str(one) for one in read if not any(one != other and one.is_inside(other) for other in read))


def paths_of(folders: Sequence[str]) -> tuple[VaultPath, ...]:
    """The folders of a grant as paths.

    Raises:
        BadArgument: as `parse`. A grant that cannot be read grants nothing.
    """
    return tuple(_folder(folder) for folder in folders)


@dataclass(frozen=True, slots=True)
class Scope:
    """The folders that a grant is limited to, each spelled as the disk spells it. Everything else is as if it were not there.

    Args:
        folders: what was granted.
        everywhere: the same, and the folders in the trash that hold what is deleted from them.
    """

    folders: tuple[VaultPath, ...]
    everywhere: tuple[VaultPath, ...]

    @staticmethod
    def of(folders: Sequence[VaultPath]) -> Scope:
        """The scope of these folders, each named once."""
        named = tuple(dict.fromkeys(folders))
        return Scope(named, (*named, *(VaultPath((paths.TRASH, *folder.parts)) for folder in named)))

    def holds(self, path: VaultPath) -> bool:
        """Whether `path` is one of the folders or lies in one; exactly so, letter by letter."""
        return any(path.is_inside(folder) for folder in self.everywhere)

    def below(self, path: VaultPath) -> Iterator[VaultPath]:
        """Those of the folders that lie below `path`, which is none of them and in none of them."""
        return (folder for folder in self.everywhere if folder.is_inside(path) and folder != path)

    def entered(self, path: VaultPath) -> VaultPath | None:
        """`path` with the name of the folder it lies in spelled as here; None when it lies in none.

        The spelling may differ as in every path that a client gives: by how letters are composed, and by outer blanks.
        """
        if self.holds(path):
            return path
        around = [folder for folder in self.everywhere if _leads_into(path, folder)]
        return VaultPath(around[0].parts + path.parts[len(around[0].parts) :]) if len(around) == 1 else None

    def refusal(self) -> Forbidden:
        """The one answer to whoever would make something elsewhere, whatever there is."""
        return Forbidden(f"this token is limited to {self}; choose a path there. Nothing was changed.")

    def __str__(self) -> str:
        return ", ".join(f"{folder}/" for folder in self.folders)


def composed(name: str) -> str:
    """A name as names are compared: with its letters composed (NFC)."""
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def _leads_into(path: VaultPath, folder: VaultPath) -> bool:
    begins = path.parts[: len(folder.parts)]
    if len(begins) < len(folder.parts):
        return False
    pairs = zip(begins, folder.parts, strict=True)
    return all(composed(part) == composed(name) or composed(part.strip()) == composed(name) for part, name in pairs)


def _folder(word: str) -> VaultPath:
    if word in _WHOLE_VAULT:
        raise BadArgument(
            "a folder is named by nothing; give its vault-relative name, such as Projects, or no folder at all for the whole "
            "vault."
        )
    try:
        return paths.parse(word.removesuffix("/"))
    except PathRefused as error:
        raise BadArgument(f"that cannot be the name of a folder: {error}") from error
