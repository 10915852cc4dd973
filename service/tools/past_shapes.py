"""What the tools of history answer with. Times are ISO 8601 in the owner's zone; revisions the first 12 digits of a commit's id."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Final
from zoneinfo import ZoneInfo

from pydantic import Field

from service.guards import paths
from service.history.model import Action, ChangeSet, FileChange, Pending, Revision, Version
from service.history.restore import RestoredNote
from service.history.undelete import Undeleted
from service.store.files import version_of
from service.tools.notices import plain
from service.tools.shapes import NextOffset, NoteWritten, Notice, Shape, fitting
from service.tools.shapes import Version as HashVersion
from service.vault.model import Page

REVISION_DIGITS: Final = 12
MAX_FILES: Final = 400
"""Files named in one answer, shared out among its commits; each commit's counts are of all of them."""

By = Annotated[str, Field(description="Whose token; empty for what came from outside.")]


class FileChanged(Shape):
    action: Action
    path: str
    old_path: str | None = None


class ChangeListed(Shape):
    revision: str
    time: str
    by: By
    author: str
    subject: str
    added: int
    changed: int
    removed: int
    files: Annotated[list[FileChanged], Field(description="The first of them; hidden ones are only counted.")]


class ChangesListed(Shape):
    changes: list[ChangeListed]
    total: int
    next_offset: NextOffset
    uncommitted: Annotated[int, Field(description="Writes of tools that are not recorded yet.")]

    @staticmethod
    def of(page: Page[ChangeSet], zone: ZoneInfo, limit: int, pending: Pending | None) -> ChangesListed:
        changes, next_offset = fitting(page, lambda change: _change(change, zone, MAX_FILES // limit))
        return ChangesListed(
            changes=changes,
            total=page.total,
            next_offset=next_offset,
            uncommitted=0 if pending is None else pending.count,
        )


class VersionListed(Shape):
    revision: Annotated[str, Field(description="Give it to restore_note.")]
    time: str
    by: By
    action: Action
    path: Annotated[str, Field(description="Its name then.")]
    version: Annotated[str | None, Field(description="As read_note reports it; null once removed.")]
    bytes: int | None


class VersionsListed(Shape):
    versions: list[VersionListed]
    total: int
    next_offset: NextOffset

    @staticmethod
    def of(page: Page[Version], zone: ZoneInfo, read: Callable[[str], bytes]) -> VersionsListed:
        versions, next_offset = fitting(page, lambda version: _version(version, zone, read))
        return VersionsListed(
            versions=versions,
            total=page.total,
            next_offset=next_offset,
        )


class NoteRestored(Shape):
    path: str
    version: HashVersion
    bytes: int
    from_revision: str
    from_time: str
    commit: Annotated[str | None, Field(description="The commit that did it; null if the note was like this already.")]
    notice: Notice

    @staticmethod
    def of(restored: RestoredNote, zone: ZoneInfo) -> NoteRestored:
        return NoteRestored(
            path=str(restored.path),
            version=restored.version,
            bytes=restored.size_bytes,
            from_revision=short(restored.source),
            from_time=local(restored.source.time, zone),
            commit=None if restored.commit is None else restored.commit[:REVISION_DIGITS],
            notice=restored.caution,
        )


class NoteUndeleted(NoteWritten):
    source: Annotated[str, Field(description="trash, or the revision and the time that it came from.")]

    @staticmethod
    def back(back: Undeleted, zone: ZoneInfo) -> NoteUndeleted:
        source = "trash" if back.revision is None else f"{short(back.revision)} {local(back.revision.time, zone)}"
        return NoteUndeleted(**dict(NoteWritten.of(back.written)), source=source)


def _change(change: ChangeSet, zone: ZoneInfo, max_files: int) -> ChangeListed:
    revision = change.revision
    shown = [told for told in map(_file, change.files) if told is not None]
    return ChangeListed(
        revision=short(revision),
        time=local(revision.time, zone),
        by=plain(revision.grant or ""),
        author=plain(revision.author),
        subject=plain(revision.subject),
        added=change.added,
        changed=change.changed,
        removed=change.removed,
        files=shown[:max_files],
    )


def _file(change: FileChange) -> FileChanged | None:
    """A change as tools may see it: what came out of or went into a hidden place was added or removed."""
    is_visible = _is_visible(change.path)
    if change.old_path is None:
        return FileChanged(action=change.action, path=change.path) if is_visible else None
    if not _is_visible(change.old_path):
        return FileChanged(action=Action.ADDED, path=change.path) if is_visible else None
    if not is_visible:
        return FileChanged(action=Action.REMOVED, path=change.old_path)
    return FileChanged(action=change.action, path=change.path, old_path=change.old_path)


def _version(version: Version, zone: ZoneInfo, read: Callable[[str], bytes]) -> VersionListed:
    moved_away = not _is_visible(version.path)
    is_unreadable = version.size_bytes is None  # removed, or damaged in the history
    data = None if version.blob is None or is_unreadable or moved_away else read(version.blob)
    return VersionListed(
        revision=short(version.revision),
        time=local(version.revision.time, zone),
        by=plain(version.revision.grant or ""),
        action=Action.REMOVED if moved_away else version.action,
        path=version.old_path or "" if moved_away else version.path,
        version=None if data is None else version_of(data),
        bytes=None if data is None else len(data),
    )


def _is_visible(path: str) -> bool:
    return paths.from_disk(path) is not None


def short(revision: Revision) -> str:
    """A revision as tools name it."""
    return revision.id[:REVISION_DIGITS]


def local(moment: datetime, zone: ZoneInfo) -> str:
    """A moment on the owner's wall clock."""
    return moment.astimezone(zone).isoformat(timespec="seconds")
