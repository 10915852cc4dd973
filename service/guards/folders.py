"""The folders that a grant is limited to: how their names are read, and which paths lie in them.

Read once, where they are given (the consent page, `tokens create --folder`), and kept as they were read. Which folder on the
disk a name means is found anew for each call (`service.store.within`); here all comparing is exact, letter by letter, since a
permission that is given for one name must never hold for another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from service.errors import BadArgument, PathRefused
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
