"""Whether the folders that somebody names are in the vault. For the owner, who may know it."""

from __future__ import annotations

from collections.abc import Sequence

from service.errors import AppError, Unavailable
from service.guards import folders as folders_
from service.store.files import VaultFiles


def missing(files: VaultFiles, names: Sequence[str]) -> Sequence[str]:
    """Those of `names` that are no folder in the vault now, by whatever spelling the disk takes for the name.

    Raises:
        Unavailable: the vault cannot be read.
        BadArgument: a name that `guards.folders.parse` would not have given.
    """
    return [name for name in names if not _is_folder(files, name)]


def _is_folder(files: VaultFiles, name: str) -> bool:
    (path,) = folders_.paths_of((name,))
    try:
        files.open_folder(path)
    except Unavailable:
        raise
    except AppError:  # not there, a file, a link, or two that differ in their letters' case
        return False
    return True
