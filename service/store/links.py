"""Symbolic links that stay inside the vault, for owners who ask for it (STRONGROOM_SYMLINKS=inside).

A link is never followed by the kernel. Its words are read and put in its place in the path, and the path that results is
judged like any other and opened without following anything: a link swapped in between leads nowhere, and one into a
hidden folder or to another type of file is refused. Only relative links are followed, since an absolute one names a
place of one machine (a container sees the vault elsewhere).
"""

from __future__ import annotations

import os
from typing import Final

from service.errors import PathRefused
from service.guards import paths
from service.guards.paths import VaultPath

_MAX_LINKS: Final = 40
"""Links followed for one path: Linux follows as many."""


class Trail:
    """The way along one path: parts still to be taken, and how many links were followed.

    Args:
        path: as it was asked for.
    """

    def __init__(self, path: VaultPath) -> None:
        self.ahead = list(reversed(path.parts))
        self._suffix = next((suffix for suffix in paths.READABLE_SUFFIXES if path.has_suffix((suffix,))), "")
        self._followed = 0

    def follow(self, words: str, here: VaultPath) -> VaultPath:
        """Take what a link in the folder `here` says in the place of its name; the folder to go on from.

        Raises:
            PathRefused: OUTSIDE_VAULT when it leads out, is absolute, or leads in circles; NOT_A_NOTE when it leads to
                another type of file; as `paths.parse` when it leads to where no path may.
        """
        self._followed += 1
        parts = words.split("/")
        if words.startswith("/") or self._followed > _MAX_LINKS:
            raise _leads_out()
        while parts and parts[0] in (".", "", ".."):
            if parts.pop(0) == "..":
                if not here.parts:
                    raise _leads_out()
                here = here.parent
        if ".." in parts:  # behind a name: where it leads depends on what that name is
            raise _leads_out()
        parts = [part for part in parts if part not in ("", ".")]
        if not self.ahead and not (parts and parts[-1].lower().endswith(self._suffix)) and self._suffix:
            raise PathRefused("NOT_A_NOTE", "that path is a link to another type of file; use the real path.")
        self.ahead += reversed(parts)
        whole = "/".join([*here.parts, *reversed(self.ahead)])
        if whole:
            paths.parse(whole)
        return here


def words_of(folder: int, name: str) -> str | None:
    """What the link `name` in an open folder says; None when it is no link, or cannot be read."""
    try:
        return os.readlink(name, dir_fd=folder)
    except OSError:
        return None


def _leads_out() -> PathRefused:
    return PathRefused(
        "OUTSIDE_VAULT",
        "that path goes through a symbolic link that leads out of the vault, is absolute or leads in circles; use the real "
        "path, or ask the owner.",
    )
