"""What the vault holds beside what history holds, after one walk: the difference is what came from outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from service.history.contents import Taken
from service.history.model import Blob
from service.history.scan import Scan
from service.history.seen import Seen
from service.history.steps import Step


@dataclass(frozen=True, slots=True)
class Meanwhile:
    """Files that tools changed since the walk began, looked at again: `taken` (None: gone), or left as they are."""

    taken: Mapping[str, Taken | None]
    left: frozenset[str]


@dataclass(frozen=True, slots=True)
class View:
    """One walk's result: what is `known`, what was `found`, what could be `taken`, what happened `meanwhile`."""

    known: Seen
    found: Scan
    taken: Mapping[str, Taken]
    meanwhile: Meanwhile

    def committed_after(self, steps: Sequence[Step]) -> Mapping[str, Blob]:
        """Every file history holds once `steps` are commits."""
        if not steps:
            return self.known.committed
        after = dict(self.known.committed)
        for step in steps:
            for path, blob in step.changes.items():
                if blob is None:
                    after.pop(path, None)
                else:
                    after[path] = blob
        return after

    def outside(self, committed: Mapping[str, Blob], steps: Sequence[Step]) -> dict[str, Blob | None]:
        """What the vault holds otherwise than `committed` (None: no longer); what could not be read is left out."""
        told = {path for step in steps for path in step.changes}
        gone = set(self.found.gone)
        changed: dict[str, Blob | None] = {}
        for path in (*self.taken, *gone, *told - gone - self.taken.keys(), *self.meanwhile.taken):
            if path in self.meanwhile.left or self._is_unread(path):
                continue
            holds = self._holds(path, gone)
            if holds != committed.get(path):
                changed[path] = holds
            else:
                changed.pop(path, None)
        return changed

    def read_now(self) -> dict[str, Taken]:
        """Every file that was read: what it holds, how it looked."""
        again = {path: taken for path, taken in self.meanwhile.taken.items() if taken is not None}
        return {**self.taken, **again}

    def _holds(self, path: str, gone: set[str]) -> Blob | None:
        if path in self.meanwhile.taken:
            again = self.meanwhile.taken[path]
            return None if again is None else again.blob
        if path in self.taken:
            return self.taken[path].blob
        return None if path in gone else self.known.committed.get(path)

    def _is_unread(self, path: str) -> bool:
        if path in self.meanwhile.taken:
            return False
        return path in self.found.kept or path.startswith(tuple(self.found.kept_folders))
