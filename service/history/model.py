"""The values that history takes and gives.

Object ids are 40 hex digits as `str`; a path is the vault-relative text with `/`, bytes that are no UTF-8 carried as
surrogate escapes (PEP 383). Moments are aware datetimes in UTC.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, StrEnum
from pathlib import Path
from typing import Final, NamedTuple, NewType

from service.settings import Settings

FILE_MODE: Final = 0o100644
PROGRAM_MODE: Final = 0o100755
FOLDER_MODE: Final = 0o040000
LINK_MODE: Final = 0o120000
NESTED_REPOSITORY_MODE: Final = 0o160000
OUR_GIT_DIR: Final = "history.git"

NOTE_SUFFIXES: Final = (".md", ".markdown", ".txt", ".canvas", ".base")
"""What history counts as a note: never hidden by .gitignore, and counted by the deletion guard."""


class Blob(NamedTuple):
    """What a tree holds at a path: git's mode and the object's id."""

    mode: int
    id: str


Look = NewType("Look", bytes)
"""What says that a file is still the one we hashed, packed: mtime and ctime (ns), size, inode, mode."""

LOOK: Final = struct.Struct("<qqqQI")


def look_of(seen: os.stat_result) -> Look:
    """The look of a file, from a stat result."""
    return Look(LOOK.pack(seen.st_mtime_ns, seen.st_ctime_ns, seen.st_size, seen.st_ino, seen.st_mode))


def git_mode(mode: int) -> int:
    """Git's mode for a regular file of that mode: only the owner's execute bit counts."""
    return PROGRAM_MODE if mode & 0o100 else FILE_MODE


@dataclass(frozen=True, slots=True)
class Setup:
    """The settings history works by, small enough to hand to a child process. `max_file_bytes` is per file."""

    vault: Path
    state: Path
    history_dir: str
    author: str
    message: str
    max_file_bytes: int

    @classmethod
    def of(cls, settings: Settings) -> Setup:
        """History's part of the settings."""
        return cls(
            settings.vault,
            settings.state,
            settings.history_dir,
            settings.author,
            settings.commit_message,
            settings.max_file_bytes,
        )


class Deletions(StrEnum):
    """What a commit does when suspiciously much is gone at once."""

    GUARD = "guard"
    """Commit nothing and raise HistoryHeld: more likely a lost mount than a wish."""
    ACCEPT = "accept"
    """The owner said so."""
    KEEP = "keep"
    """Commit what was added and changed; what is gone stays in the tree. Restores do this."""


class Trouble(Enum):
    """Why a file is not in a commit as it is on disk; the value is a sentence's end."""

    UNREADABLE = "cannot be read; check its owner and mode"
    TOO_LARGE = "is larger than STRONGROOM_MAX_FILE_SIZE"
    CHANGING = "kept changing while it was read; the next commit takes it"
    VANISHED = "was moved or removed while it was read; the next commit settles it"
    LINK = "is a symbolic link, and links are not committed"
    SPECIAL = "is no regular file (a FIFO, socket or device)"
    GIT_NAME = "has a name that git keeps for itself"
    TOO_DEEP = "lies in too many nested folders"


@dataclass(frozen=True, slots=True)
class Problem:
    """One path that a commit left at its previous version, and why."""

    trouble: Trouble
    path: str

    def __str__(self) -> str:
        return f"{shown(self.path)} {self.trouble.value}"


@dataclass(frozen=True, slots=True)
class CommitReport:
    """What a commit did.

    Args:
        commits: the new revisions, oldest first; empty when nothing had changed.
        problems: files left at their previous version.
        healed: what was put right first, as sentences.
        emptied: notes that had text and have none now.
        held_back: suspicious deletions that were not committed (`Deletions.KEEP`).
    """

    commits: tuple[str, ...]
    added: int
    changed: int
    removed: int
    problems: tuple[Problem, ...]
    healed: tuple[str, ...]
    emptied: tuple[str, ...] = ()
    held_back: int = 0


@dataclass(frozen=True, slots=True)
class Pending:
    """Journalled tool writes that are in no commit yet."""

    oldest: datetime
    newest: datetime
    count: int


class Action(StrEnum):
    """What a commit did to a file."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"
    RENAMED = "renamed"


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file in one commit; `old_path` is set for an exact rename."""

    action: Action
    path: str
    old_path: str | None = None


@dataclass(frozen=True, slots=True)
class Revision:
    """One commit as its header and trailers tell it. `grant` is the token's label, None for what came from outside."""

    id: str
    time: datetime
    author: str
    subject: str
    reason: str | None
    grant: str | None


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """One commit and the files it changed (the first `files`; the counts are of all of them)."""

    revision: Revision
    added: int
    changed: int
    removed: int
    files: tuple[FileChange, ...]


@dataclass(frozen=True, slots=True)
class Version:
    """One version of one note. `path` is its name after that commit; `size_bytes` is None once it is removed, or unreadable."""

    revision: Revision
    action: Action
    path: str
    old_path: str | None
    blob: str | None
    size_bytes: int | None


@dataclass(frozen=True, slots=True)
class OldFile:
    """A file as a commit held it."""

    revision: Revision
    path: str
    data: bytes
    mode: int


def is_note(path: str) -> bool:
    """Whether history counts `path` as a note."""
    return path.lower().endswith(NOTE_SUFFIXES)


def shown(path: str) -> str:
    """`path` on one line for people and commit messages: controls and bytes that are no UTF-8 as escapes."""
    return "".join(char if char.isprintable() or char in " \u200d\ufe0f" else _escaped(char) for char in path)


def _escaped(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return char.encode("unicode_escape").decode("ascii")
