"""Replace a file that other programs may change at the same moment, without losing what they wrote.

Look, stage the new text, look again, let the two files change places (RENAME_EXCHANGE), and only then judge the one that
came out: if it is what we expected, it goes; if not, the two change places back, and the caller hears of a conflict.
Up to the exchange an error means that nothing was changed; after it, that the write took place.

Two rules that hammering taught: the displaced file is judged under a lease, since a program may have had it open; and
the same two names never change places a third time, since each time shows readers a state that is withdrawn later.
Where the file system cannot exchange, a last look and a plain rename are all there is (docs/explanation/writes.md).
"""

from __future__ import annotations

import contextlib
import errno
import os
from dataclasses import dataclass
from typing import Final

import structlog

from service.errors import Busy, NoteChanged
from service.store import displaced, names, placing, reading, staging
from service.store.displaced import Verdict
from service.store.guardlinks import GuardLinks
from service.store.reading import FileContent
from service.store.staging import Dress, Permit, Staged
from service.store.syscalls import NO_SUCH_CALL, Folder

log = structlog.get_logger()

_NO_NOTE: Final = frozenset({errno.ENOENT, errno.ELOOP, errno.ENXIO, errno.ENODEV})
"""What open(2) answers when somebody took the note away, or put a link, a socket or a device in its place."""

_CLEANUP: Final = "written; a temporary file stayed behind and is removed at the next start"
_ASIDE: Final = "written; another program's version waits as a temporary file and is recovered at the next start"
_DURABILITY: Final = "written; the disk did not confirm that it would survive a power cut"


def replace(
    folder: Folder, guards: GuardLinks, old: FileContent, data: bytes, permit: Permit, *, mode: int | None = None
) -> FileContent:
    """Put `data` where `old` is, in the open `folder`.

    Raises:
        NoteChanged: the disk did not hold `old.data`, or stopped doing so; it holds what the other program wrote.
        Busy: another program keeps the file open for writing; its version stays.
        OSError: nothing was changed.
    """
    there = names.exists(folder.fd, old.path.name)
    if there is None or there.st_size != len(old.data):
        reading.require(folder.fd, old)  # has the words for it; the look that counts comes after the new text is staged
    with staging.staged(folder, data, _dress_of(folder, old, mode)) as new:
        displaced.wait_until_closed(folder, old.path)
        reading.require(folder.fd, old)
        aside = staging.aside_name(old.data, data)
        new.stand_beside(aside)
        permit()
        swap = _Swap(folder, guards, old, new, aside)
        if swap.exchange():
            return swap.judge()
        swap.rename_over(permit)
        return swap.written("")


def confirm(folder: Folder) -> str:
    """fsync the folder after a change took place; the caution to hand on when that fails."""
    try:
        folder.kernel.sync_folder(folder.fd)
    except OSError as error:
        log.error("vault.sync_failed", errno=errno.errorcode.get(error.errno or 0))
        return _DURABILITY
    return ""


@dataclass(frozen=True, slots=True)
class _Swap:
    """The note `old` and our text `new`, which is called `aside` until the two change places."""

    folder: Folder
    guards: GuardLinks
    old: FileContent
    new: Staged
    aside: str

    def exchange(self) -> bool:
        """Let the two change places; False where the file system cannot."""
        self.new.give_up_name()  # whatever stops us from here on, the name may stand for the other program's text
        try:
            self._exchange()
        except OSError as error:
            if self._is_in_place():
                return True  # reported as failed, but done
            self.new.name = self.aside
            if error.errno in NO_SUCH_CALL:
                return False
            if isinstance(error, FileNotFoundError):
                raise NoteChanged(str(self.old.path), self.old.version, reading.NO_VERSION) from error
            raise
        return True

    def rename_over(self, permit: Permit) -> None:
        """The weaker way: one more look, and a plain rename."""
        reading.require(self.folder.fd, self.old)
        permit()
        self.new.give_up_name()
        try:
            self.folder.kernel.rename(self.folder.fd, self.aside, self.folder.fd, self.old.path.name)
        except OSError:
            if not self._is_in_place():
                self.new.name = self.aside
                raise

    def judge(self) -> FileContent:
        """Look at what came out, and settle it."""
        verdict = displaced.drop_if_same(self.folder, self.aside, self.old.data)
        if verdict is Verdict.DROPPED:
            return self.written("")
        if verdict is Verdict.LEFT:
            log.warning("note.leftover_stayed", path=str(self.old.path))
            return self.written(_CLEANUP)
        if verdict is Verdict.UNREADABLE:
            return self.written(self._keep())
        found = reading.version_at(self.folder.fd, self.aside)
        self.guards.add(self.folder, self.aside, self.old.path)
        if not self._swap_back():
            return self.written(self._keep())
        self._take_back()
        confirm(self.folder)
        if verdict is Verdict.HELD_OPEN:
            raise Busy(repr(str(self.old.path)), displaced.MAX_WAIT_S)
        raise NoteChanged(str(self.old.path), self.old.version, found)

    def written(self, caution: str) -> FileContent:
        """Our text is in place."""
        return self.new.content(self.old.path, caution or confirm(self.folder))

    def _swap_back(self) -> bool:
        """Give the other program's version its place again; False when it has to stay aside."""
        try:
            self._exchange()
        except FileNotFoundError:  # our text was removed or moved meanwhile, so the place is free, or was
            with contextlib.suppress(FileExistsError):
                if placing.place(self.folder, self.aside, self.folder, self.old.path.name):
                    return True
            self._keep()
        except OSError:
            return False
        return True

    def _take_back(self) -> None:
        """Drop our own text, which was in place for a moment; keep whatever else came back instead."""
        verdict = displaced.drop_if_same(self.folder, self.aside, self.new.data, inode=self.new.found.st_ino)
        if verdict not in (Verdict.DROPPED, Verdict.LEFT) and names.exists(self.folder.fd, self.aside):
            self._keep()

    def _keep(self) -> str:
        """Keep a version that has no place as a conflict copy beside the note; the sentence that says so."""
        mark = f"conflict {reading.version_at(self.folder.fd, self.aside)}"
        try:
            copy = placing.keep_copy(self.folder, self.aside, self.old.path.name, mark)
        except OSError:
            log.error("note.conflict_left_aside", path=str(self.old.path))
            return _ASIDE
        log.warning("note.conflict_kept", path=str(self.old.path.parent.child(copy)))
        return f"written; another program changed the note at the same moment, and its version is kept as {copy!r}"

    def _exchange(self) -> None:
        self.folder.kernel.exchange(self.folder.fd, self.old.path.name, self.aside)

    def _is_in_place(self) -> bool:
        there = names.exists(self.folder.fd, self.old.path.name)
        return there is not None and os.path.samestat(there, self.new.found)


def _dress_of(folder: Folder, old: FileContent, mode: int | None) -> Dress:
    try:
        return Dress.of_file(folder.fd, old.path.name, mode)
    except OSError as error:
        if error.errno not in _NO_NOTE:
            raise
        raise NoteChanged(str(old.path), old.version, reading.NO_VERSION) from error
