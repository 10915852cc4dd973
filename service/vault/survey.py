"""One look at every note, for questions about the whole vault: search, tags, tasks, links.

A loop over the picture, which is never older than the question. What is looked at is what is shown of a note. Low-trust
folders are left out unless they are asked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeVar

from service.guards import paths
from service.guards.paths import ROOT, VaultPath
from service.vault import patience
from service.vault.model import Vault
from service.vault.patience import Deadline
from service.vault.picture.note import Note

DEADLINE_S: Final = 45.0
"""Seconds a survey may take, below the minute that clients commonly wait."""

T = TypeVar("T")


@dataclass(slots=True)
class Survey:
    """A sweep that is going on: iterate over it once, in no promised order; then read what it could not look at.

    Args:
        folder: where to look; low-trust folders are looked into when it is or lies in one.
        is_excluded: asked for each folder and each note; an excluded folder is left out whole.
        suffixes: of the files that are notes here.
        skipped: notes that are too large, cannot be read, or are withheld.
        left_out: low-trust folders that were not looked into.
    """

    vault: Vault
    deadline: Deadline
    folder: VaultPath = ROOT
    include_low_trust: bool = False
    is_excluded: Callable[[VaultPath], bool] | None = None
    suffixes: tuple[str, ...] = paths.SEARCHED_SUFFIXES
    skipped: int = 0
    left_out: list[VaultPath] = field(default_factory=list)

    def __iter__(self) -> Iterator[Note]:
        """Raises Unavailable when the deadline has passed, NoteNotFound when there is no such folder."""
        start = self.vault.files.open_folder(self.folder)
        folders = self.vault.picture.now(self.deadline.check).folders
        trusts_all = self.include_low_trust or self.vault.low_trust.holds(self.folder)
        pending = [start]
        while pending:
            here = folders.get(pending.pop())
            if here is None:
                continue
            below = (here.path.child(name) for name in here.folders)
            pending += [path for path in below if self._is_wanted(path, trusts_all=trusts_all)]
            for note in here.files.values():
                if note.path.has_suffix(self.suffixes) and self._is_wanted(note.path, trusts_all=trusts_all):
                    if note.is_shown:
                        yield note
                    else:
                        self.skipped += 1

    def _is_wanted(self, path: VaultPath, *, trusts_all: bool) -> bool:
        self.deadline.check()
        if self.is_excluded is not None and self.is_excluded(path):
            return False
        if trusts_all or not self.vault.low_trust.holds(path):
            return True
        self.left_out.append(path)  # such a folder itself: what it holds is not asked for
        return False


def make(
    vault: Vault,
    answer: Callable[[Survey], T],
    folder: VaultPath = ROOT,
    *,
    include_low_trust: bool = False,
    is_excluded: Callable[[VaultPath], bool] | None = None,
    suffixes: tuple[str, ...] = paths.SEARCHED_SUFFIXES,
    now: Callable[[], float] = time.monotonic,
) -> T:
    """What `answer` makes of a survey, in a thread that is waited for no longer than DEADLINE_S and some seconds.

    Raises:
        NoteNotFound: there is no such folder; names the nearest.
        Unavailable: it took too long, or the disk does not answer.
    """
    return patience.within(
        DEADLINE_S,
        lambda deadline: answer(Survey(vault, deadline, folder, include_low_trust, is_excluded, suffixes)),
        now,
    )
