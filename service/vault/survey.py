"""One look at every note, for questions about the whole vault: search, tags, tasks, links.

A plain sweep of the disk, so that an answer is never older than the question. What is looked at is what is shown of a note;
only what was found by content is kept between surveys (`views`, `remembered`). Low-trust folders are left out unless they
are asked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeVar

from service.guards import limits, paths
from service.guards.paths import ROOT, VaultPath
from service.store import scan
from service.vault import patience
from service.vault.model import Vault
from service.vault.patience import Deadline

DEADLINE_S: Final = 45.0
"""Seconds a survey may take, below the minute that clients commonly wait."""

LOOKING_S: Final = 10.0
"""Seconds of the processor that a survey spends on views in all.

After them, long notes that may hide something and were never looked at are skipped, and counted: a folder of hostile notes
must not keep every question from being answered. The next survey goes on with them."""

MAX_LATE_BYTES: Final = 20_000
"""Bytes of a note that is looked at even then: it takes a few hundredths of a second."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Seen:
    """One note: the bytes of its file, and those of its view (without a byte order mark). `mtime_ns` counts from 1970."""

    path: VaultPath
    mtime_ns: int
    data: bytes
    shown: bytes


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

    def __iter__(self) -> Iterator[Seen]:
        """Raises Unavailable when the deadline has passed, NoteNotFound when there is no such folder."""
        looked_s = 0.0
        trusts_all = self.include_low_trust or self.vault.low_trust.holds(self.folder)
        for found in scan.scan(
            self.vault.files,
            self.folder,
            max_bytes=limits.MAX_SEARCHED_BYTES,
            is_wanted=lambda path: self._is_wanted(path, trusts_all=trusts_all),
            suffixes=self.suffixes,
        ):
            began = time.thread_time()
            max_new_bytes = MAX_LATE_BYTES if looked_s >= LOOKING_S else None
            shown = None if found.data is None else self.vault.views.shown(found.data, max_new_bytes)
            looked_s += time.thread_time() - began
            if found.data is None or shown is None:
                self.skipped += 1
            else:
                yield Seen(found.path, found.mtime_ns, found.data, shown)

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
