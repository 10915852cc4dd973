"""One look at every note, for questions about the whole vault: search, tags, tasks, links.

A loop over the picture, which is never older than the question. What is looked at is what is shown of a note. Low-trust
folders are left out unless they are asked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from service.guards import paths
from service.guards.paths import ROOT, VaultPath
from service.vault import patience, reach
from service.vault.model import Vault
from service.vault.patience import Deadline
from service.vault.picture.kept import Check
from service.vault.picture.note import Note
from service.vault.reach import Reach

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
        for note in self._wanted():
            self.deadline.check()
            if note.is_shown:
                yield note
            else:
                self.skipped += 1

    def parts(self, work: Callable[[Sequence[Note], Check], T]) -> Iterator[T]:
        """What `work` makes of the Markdown notes of each folder, those that cannot be looked at among them; what it made of
        a folder in which nothing has changed is given again. As iterating, of a survey without exclusions."""
        for listing in self._reach().listings:
            self.deadline.check()
            yield self.vault.picture.kept.of_notes(listing, work, self.deadline.check)

    def _reach(self) -> Reach:
        folders = self.vault.picture.now(self.deadline.check).folders
        found = reach.of(self.vault, folders, self.folder, include_low_trust=self.include_low_trust)
        self.left_out += found.left_out
        return found

    def _wanted(self) -> Iterator[Note]:
        is_excluded = self.is_excluded or (lambda _: False)
        excluded: set[VaultPath] = set()
        for listing in self._reach().listings:
            if listing.path != self.folder and (is_excluded(listing.path) or listing.path.parent in excluded):
                excluded.add(listing.path)
                continue
            for note in listing.files.values():
                if note.path.has_suffix(self.suffixes) and not is_excluded(note.path):
                    yield note


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
