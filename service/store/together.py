"""Change many files, all or none of them: rewrite some, then give one file or folder another name.

The journal is written first. Every rewrite looks at what it replaces, so a program that was faster is noticed at any file;
then, as after an error, what was done so far is taken back, file by file, and only where a file still holds what we wrote.
The last rename is the moment in which the change takes place: what a kill leaves before it is taken back at the next start.
Nothing is ever taken back over somebody else's words: such a file stays, and is named.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import structlog

from service.errors import AppError, ChangeUnfinished, NoteChanged, NoteExists, NoteNotFound, TooLarge
from service.guards import limits
from service.guards.paths import VaultPath
from service.store import journal
from service.store.files import FileContent, Permit, VaultFiles
from service.store.journal import Before, Journal, JournalDamaged, Record, Renamed

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Rewrite:
    """New bytes for a file that holds `old.data`."""

    old: FileContent
    data: bytes


@dataclass(frozen=True, slots=True)
class Move:
    """Give `source` the name `target`, both as the disk has them; a rewritten file moves with its new bytes.

    `old` is what a file holds that is to be compared once more; None for a folder, and for a file too large to be read.
    """

    source: VaultPath
    target: VaultPath
    old: FileContent | None = None


@dataclass(frozen=True, slots=True)
class Settled:
    """How a change that was cut short ended.

    `is_done`: it had taken place. Otherwise it was taken back: `left` names files that somebody else has changed meanwhile
    and that stay as they are, `stuck` those that could not be put back yet.
    """

    is_done: bool
    left: tuple[VaultPath, ...] = ()
    stuck: tuple[VaultPath, ...] = ()


@dataclass(frozen=True, slots=True)
class Done:
    """A change that took place: the rewritten files as they are now (under their old names), where the moved one is."""

    rewritten: tuple[FileContent, ...]
    moved_to: VaultPath
    caution: str = ""


def _allow() -> None:
    """Taking back is never refused."""


def apply(
    files: VaultFiles,
    kept: Journal,
    rewrites: Sequence[Rewrite],
    move: Move,
    permit: Permit,
    *,
    to_trash: Move | None = None,
) -> Done:
    """Do it all. The caller holds the writer lock.

    Args:
        to_trash: what makes room for the moved file before.

    Raises:
        NoteChanged, Busy: another program was faster; everything is as it was.
        NoteExists, NoSpace, DiskFault, Forbidden: everything is as it was.
        ChangeUnfinished: it failed, and so did taking it back; the next start, or the next such change, tries again.
    """
    recover(files.whole, kept)  # it may be another's change
    for rewrite in rewrites:
        _require(files, rewrite.old)
    permit()
    record = Record(
        tuple(Before(one.old.path, one.old.data, journal.digest(one.data)) for one in rewrites),
        tuple(Renamed(one.source, one.target) for one in (to_trash, move) if one),
    )
    is_journalled = bool(rewrites or to_trash)  # a single rename is all or nothing by itself
    if is_journalled:
        kept.write(record)
    try:
        written = [files.replace(one.old, one.data, permit) for one in rewrites]
        cautions = [one.caution for one in written]
        if to_trash:
            cautions.append(files.move_to_trash(to_trash.source, to_trash.target, permit))
        now = next((one for one in written if one.path == move.source), move.old)
        moved_to, caution = _moved(files, move, now, permit)
    except BaseException:
        if is_journalled:
            _take_back(files.whole, kept, record)
        raise
    cautions.append(caution)
    if is_journalled:
        cautions.append(_forget(kept))
    return Done(tuple(written), moved_to, next(filter(None, cautions), ""))


def recover(files: VaultFiles, kept: Journal) -> Settled | None:
    """Settle what a kill, or an error while taking back, has left; None when there is nothing. Under the writer lock.

    Raises:
        ChangeUnfinished: some of it cannot be put back now; nothing else was changed.
        OSError: the state folder cannot be read.
    """
    try:
        record = kept.read()
    except JournalDamaged:
        log.error("change.journal_damaged", kept_as=kept.set_aside())
        return None
    if record is None:
        kept.tidy()
        return None
    settled = _settle(files, record, after_kill=True)
    log.warning(
        "change.finished" if settled.is_done else "change.taken_back",
        files=len(record.rewritten),
        left=[str(path) for path in settled.left],
        stuck=[str(path) for path in settled.stuck],
    )
    if settled.stuck:
        raise ChangeUnfinished([str(path) for path in settled.stuck])
    kept.drop()
    return settled


def _take_back(files: VaultFiles, kept: Journal, record: Record) -> None:
    """After an error. What is left to do then is the next start's."""
    settled = _settle(files, record, after_kill=False)
    if settled.left:
        log.warning("change.left", left=[str(path) for path in settled.left])
    if settled.stuck:
        log.error("change.stuck", stuck=[str(path) for path in settled.stuck])
        raise ChangeUnfinished([str(path) for path in settled.stuck])
    _forget(kept)


def _forget(kept: Journal) -> str:
    """Drop the journal of a change that is complete; a caution when that fails, and the next start does it."""
    try:
        kept.drop()
    except OSError:
        log.error("change.journal_stayed")
        return _STAYED
    return ""


_STAYED: Final = "done; a journal stayed behind in the state folder and is removed at the next start"


def _moved(files: VaultFiles, move: Move, old: FileContent | None, permit: Permit) -> tuple[VaultPath, str]:
    if old is None:
        return files.move_unread(move.source, move.target, permit)
    moved = files.move(old, move.target, permit)
    return moved.path, moved.caution


def _require(files: VaultFiles, old: FileContent) -> None:
    """See that a file still holds what the change was planned on."""
    try:
        found = files.read_tracked(old.path, len(old.data) + 1)
    except (NoteNotFound, TooLarge) as error:
        raise NoteChanged(str(old.path), old.version, "none") from error
    if found.data != old.data:
        raise NoteChanged(str(old.path), old.version, found.version)


def _settle(files: VaultFiles, record: Record, *, after_kill: bool) -> Settled:
    """Leave a change that took place, take back another: in the reverse order, each step by itself."""
    left: list[VaultPath] = []
    stuck: list[VaultPath] = []

    def tried(path: VaultPath, step: Callable[[], bool]) -> None:
        try:
            if not step():
                left.append(path)
        except (AppError, OSError):
            stuck.append(path)

    *first, last = record.renamed
    if files.is_there(last.target, last.source) and not files.is_there(last.source, last.target):
        return Settled(is_done=True)
    if after_kill:  # where a rename is a second name and a removal; an error has cleared that away by itself
        tried(last.source, partial(_drop_second_name, files, last))
    for renamed in reversed(first):
        tried(renamed.source, partial(_unrename, files, renamed))
    for before in reversed(record.rewritten):
        tried(before.path, partial(_unwrite, files, before))
    return Settled(is_done=False, left=tuple(left), stuck=tuple(stuck))


def _drop_second_name(files: VaultFiles, renamed: Renamed) -> bool:
    if files.is_there(renamed.source) and files.is_there(renamed.target):
        files.drop_second_name(renamed.source, renamed.target)
    return True


def _unrename(files: VaultFiles, renamed: Renamed) -> bool:
    """Whether the thing has its old name; False when somebody else has it, or the thing is gone."""
    if files.is_there(renamed.source) and files.is_there(renamed.target):
        files.drop_second_name(renamed.source, renamed.target)
        return True
    if files.is_there(renamed.source):
        return True
    try:
        files.put_back(renamed.target, renamed.source)
    except (NoteExists, NoteNotFound):
        return False
    _drop_empty(files, renamed.target.parent)
    return True


def _drop_empty(files: VaultFiles, folder: VaultPath) -> None:
    """Remove the folders that were made in the trash; a failure is nobody's loss."""
    with contextlib.suppress(AppError, OSError):
        while folder.parts and files.drop_folder(folder):
            folder = folder.parent


def _unwrite(files: VaultFiles, before: Before) -> bool:
    """Whether the file holds its old bytes; False when it holds somebody else's."""
    try:
        found = files.read_tracked(before.path, limits.MAX_NOTE_BYTES)
    except (NoteNotFound, TooLarge):
        return False
    if found.data == before.data:
        return True
    if journal.digest(found.data) != before.new_digest:
        return False
    try:
        files.replace(found, before.data, _allow)
    except NoteChanged:
        return False
    return True
