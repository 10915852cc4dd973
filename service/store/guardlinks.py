"""A second name for a version that somebody else wrote, kept for a moment after we gave it its place back.

While our text stood there, a program may have read it, and it may now save what it made of it over the version we just
put back. So that version keeps a second name for a second: dropped when the note still is that version, kept as a
conflict copy when it is not. After a kill the sweep finds the name and does the same.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import Final

import structlog

from service.guards.paths import VaultPath
from service.store import names, placing, reading, staging
from service.store.syscalls import Folder

HOLD_S: Final = 1.0

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class _Guard:
    folder: Folder
    name: str
    note: VaultPath
    due_s: float


class GuardLinks:
    """The guard links of this process, and the thread that judges each when its time has come."""

    def __init__(self, hold_s: float = HOLD_S) -> None:
        self._hold_s = hold_s
        self._pending: deque[_Guard] = deque()
        self._changing = threading.Condition()
        self._in_haste = False
        self._thread: threading.Thread | None = None

    def add(self, folder: Folder, name: str, note: VaultPath) -> None:
        """Guard the version that is now called `name` in the open `folder` and belongs to `note`."""
        guard = staging.guard_name()
        try:
            folder.kernel.link(folder.fd, name, folder.fd, guard)
        except OSError:
            return  # no hard links here, or no file: weaker, as doctor says
        with self._changing:
            self._pending.append(
                _Guard(Folder(folder.kernel, os.dup(folder.fd)), guard, note, time.monotonic() + self._hold_s)
            )
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="guard-links", daemon=True)
                self._thread.start()

    def settle(self) -> None:
        """Judge all of them now, and wait for it."""
        with self._changing:
            self._in_haste = True
            self._changing.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join()
        self._in_haste = False

    def _run(self) -> None:
        while True:
            with self._changing:
                if not self._pending:
                    self._thread = None
                    return
                guard = self._pending[0]
                while not self._in_haste and (left_s := guard.due_s - time.monotonic()) > 0:
                    self._changing.wait(left_s)
                self._pending.popleft()
            try:
                self._judge(guard)
            except OSError:
                log.warning("note.guard_stayed", path=str(guard.note))
            finally:
                os.close(guard.folder.fd)

    def _judge(self, guard: _Guard) -> None:
        mine, note = names.exists(guard.folder.fd, guard.name), names.exists(guard.folder.fd, guard.note.name)
        if mine is None:
            return
        is_same_file = note is not None and (mine.st_dev, mine.st_ino) == (note.st_dev, note.st_ino)
        if is_same_file or self._is_same_text(guard):
            guard.folder.kernel.unlink(guard.folder.fd, guard.name)
            return
        mark = f"conflict {reading.version_at(guard.folder.fd, guard.name)}"
        copy = placing.keep_copy(guard.folder, guard.name, guard.note.name, mark)
        log.warning("note.conflict_kept", path=str(guard.note.parent.child(copy)))

    def _is_same_text(self, guard: _Guard) -> bool:
        there = reading.version_at(guard.folder.fd, guard.note.name)
        return there != reading.NO_VERSION and there == reading.version_at(guard.folder.fd, guard.name)
