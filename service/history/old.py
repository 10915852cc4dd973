"""A note as it was: what tools may read of history, under the same rules as of the vault.

A version that lay in a hidden place, was no note or was a link then is not there for them, whatever the note is called now.
"""

from __future__ import annotations

import re
import stat
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from service.errors import (
    BadArgument,
    Conflict,
    NoteNotFound,
    NotFound,
    PathRefused,
    Refused,
    RevisionNotFound,
    TooLarge,
)
from service.guards import limits, paths
from service.guards.paths import VaultPath
from service.history.history import History
from service.history.log import no_such
from service.history.model import FOLDER_MODE, Revision
from service.history.objects import BLOB, id_of
from service.vault import notes
from service.vault.model import Vault
from service.vault.notes import Note

_REVISION: Final = re.compile(r"(?i)(?:[0-9a-f]{4,40}|head|@|latest|main)?(?:~\d*|\^)*")


@dataclass(frozen=True, slots=True)
class Old:
    """One version of a note. `note.path` is its name then; `revision` is None for what the vault holds now."""

    note: Note
    revision: Revision | None


def is_revision(asked: str) -> bool:
    """Whether `asked` can only name a revision, not a time."""
    return bool(asked) and _REVISION.fullmatch(asked) is not None


def commit_of(history: History, *, at: datetime | None, revision: str) -> str:
    """The commit that a time (aware) or a revision means.

    Raises:
        BadArgument: both are given.
        RevisionNotFound: there is no such commit.
    """
    if at is not None and revision:
        raise BadArgument("give a revision (from note_history) or a time, not both.")
    return history.log.as_of(at) if at is not None else history.log.resolve(revision)


def latest(vault: Vault, history: History, path: VaultPath) -> str:
    """The newest commit in which the note was something else than it is now; the newest that holds it where there is none.

    Raises:
        RevisionNotFound: no commit ever held it.
    """
    try:
        now = id_of(BLOB, vault.files.read(path).data)
    except (NotFound, Refused, Conflict):
        now = ""
    told = [one for one in history.log.stories(history.log.named(str(path))) if one.blob is not None]
    if not told:
        raise no_such(str(path))
    return next((one.link.id for one in told if one.blob is not None and one.blob.id != now), told[0].link.id)


def read(vault: Vault, history: History, path: VaultPath, commit: str) -> Old:
    """The note at `path` as a commit held it; one that was renamed since is found under its name of then.

    Raises:
        RevisionNotFound: it was not there then.
        PathRefused: NOT_A_FILE, it was a folder or a link then.
        TooLarge: it was larger than what can be read.
        HistoryHeld: its content is damaged.
    """
    log = history.log
    asked, tree = log.named(str(path)), log.tree_of(commit)
    found = log.spelled(tree, asked)
    if found is None and (old_name := log.name_then(asked, commit)) is not None:
        found = log.spelled(tree, old_name)
    if found is None:
        raise _not_then(path)
    name, blob = found
    if blob.mode == FOLDER_MODE or not stat.S_ISREG(blob.mode):
        raise PathRefused(
            "NOT_A_FILE", f"{str(path)!r} was a folder or a link then, not a note; choose another version."
        )
    try:
        name_then = paths.note(name)
    except PathRefused as error:
        raise _not_then(path) from error
    data = log.blob(blob.id)
    if len(data) > limits.MAX_NOTE_BYTES:
        raise TooLarge(f"{str(path)!r} as it was then", len(data), limits.MAX_NOTE_BYTES)
    return Old(notes.of_bytes(vault, name_then, data), log.revision(commit))


def present(vault: Vault, path: VaultPath) -> Old:
    """The note as the vault holds it now.

    Raises:
        RevisionNotFound: it is not there now.
        PathRefused, PathAmbiguous, TooLarge: as `notes.read`.
    """
    try:
        return Old(notes.read(vault, path), None)
    except NoteNotFound as error:
        way_out = "It was deleted or renamed: give `to` as well, a revision from note_history."
        raise RevisionNotFound(f"{str(path)!r} as it is now", way_out) from error


def newest(vault: Vault, history: History, path: VaultPath) -> tuple[bytes, Revision]:
    """What the newest commit that held a file at exactly this path held there, and that commit.

    Raises:
        RevisionNotFound: none did.
        BadArgument: it was not deleted but given another name; names it, where tools may see it.
    """
    asked = history.log.named(str(path))
    told = next(iter(history.log.stories(asked)), None)
    if told is not None and told.old_path == asked and (new := paths.from_disk(told.path)) is not None:
        where = "" if vault.low_trust.holds(new) else f" to {str(new)!r}"
        raise BadArgument(f"{str(path)!r} was not deleted but renamed{where}; look for it there, or use move_note.")
    for commit, blob in history.log.states(asked):
        if blob is not None and stat.S_ISREG(blob.mode):
            return history.log.blob(blob.id), history.log.revision(commit)
    raise no_such(str(path))


def _not_then(path: VaultPath) -> RevisionNotFound:
    return RevisionNotFound(f"{str(path)!r} at that time", "note_history lists its versions, also under other names.")
