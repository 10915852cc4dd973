"""What never gets into history: machinery, temporary files, and what the owner's `.strongroomignore` names.

`.strongroomignore` (at the vault's root, git's pattern language) is the owner's word and holds for everything. The built-in
list and `.gitignore` files hold only for files that history does not know yet, and `.gitignore` never for a note: a line
in it must not be able to hide a note from history.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from dulwich.ignore import IgnoreFilter, read_ignore_patterns

from service.guards import paths
from service.history.model import is_note

OWN_FILE: Final = ".strongroomignore"
GIT_FILE: Final = ".gitignore"
MAX_IGNORE_BYTES: Final = 65_536
_MAX_STARS: Final = 8
"""Wildcards in one pattern; more could take a matcher hours."""

_MACHINERY: Final = frozenset(
    {
        "node_modules", "__pycache__", ".cache", ".venv", ".ds_store", "thumbs.db", "desktop.ini", "lost+found",
        "$recycle.bin", "system volume information", "@eadir", ".trashes", ".spotlight-v100", ".fseventsd",
        ".temporaryitems", ".documentrevisions-v100", ".stfolder", ".stversions", ".sync", ".dropbox", ".dropbox.attr",
        ".dropbox.cache", ".nextcloudsync.log", ".owncloudsync.log", ".tmp.driveupload", ".tmp.drivedownload",
    }
)  # fmt: skip
_TEMPORARY: Final = re.compile(
    r"""(?ix)
    \.syncthing\..*\.tmp | ~syncthing~.*\.tmp | .*\.!sync | \._?sync_.*\.db.* | \.goutputstream-.* | \.fuse_hidden.*
    | \.nfs[0-9a-f]{8,} | \.\#.* | \..*\.sw[a-p] | ~\$.* | \.~lock\..*\# | .*~ | \.strongroom-.* | .*\.(crdownload|partial|part)
    """
)
_OBSIDIAN: Final = re.compile(r"(?i)(^|/)\.obsidian[^/]*/(workspace[^/]*|cache|plugins/[^/]+/data\.json)$")
_SUSPECT: Final = frozenset({".gi", "git", "gi7"})
_GIT_MINDS: Final = re.compile(r"(?i)\.gitmodules|gitmod~[1-4]|gi7eba~[1-9]")


@dataclass(frozen=True)
class GitIgnore:
    """One folder's `.gitignore`; patterns are compiled when first asked for."""

    folder: str
    data: bytes = field(repr=False)

    @cached_property
    def patterns(self) -> IgnoreFilter:
        return compiled(self.data)

    def says(self, path: str) -> bool | None:
        """Whether the file hides `path` (True), shows it again (False), or has nothing to say."""
        return self.patterns.is_ignored(path[len(self.folder) :])


@dataclass(frozen=True)
class OwnIgnore:
    """The vault's `.strongroomignore`, empty when there is none."""

    data: bytes = field(repr=False)

    @cached_property
    def patterns(self) -> IgnoreFilter | None:
        return compiled(self.data) if self.data.strip() else None

    @cached_property
    def digest(self) -> str:
        """Changes with its text."""
        return hashlib.sha256(self.data).hexdigest()

    def hides(self, path: str) -> bool:
        """Whether the owner keeps `path` out of history."""
        return self.patterns is not None and self.patterns.is_ignored(path) is True

    def hides_folder(self, path: str) -> bool:
        """Whether nothing below the folder can be meant for history."""
        return self.patterns is not None and self.patterns.may_prune_directory(path + "/")


def compiled(data: bytes) -> IgnoreFilter:
    """Patterns of an ignore file, without those that could take a matcher too long."""
    patterns = read_ignore_patterns(io.BytesIO(data))
    return IgnoreFilter(pattern for pattern in patterns if pattern.count(b"*") <= _MAX_STARS)


def is_machinery(name: str) -> bool:
    """Whether a file or folder of this name belongs to programs, not to the owner."""
    return name.casefold() in _MACHINERY


def is_temporary(path: str, name: str) -> bool:
    """Whether a file is a program's scratch, window layout or key store. A note is none of these, but `._` twins are."""
    if name.startswith("._"):
        return True
    if is_note(name):
        return False
    return _TEMPORARY.fullmatch(name) is not None or _OBSIDIAN.search(path) is not None


def is_gits(name: str) -> bool:
    """Whether git gives `name` a meaning, on some system, that makes a tree holding it unsafe (`git fsck --strict`)."""
    if name.isascii() and name[:3].lower() not in _SUSPECT and "\\" not in name:
        return False  # nearly every name
    return any(paths.is_git_alias(part) or _GIT_MINDS.fullmatch(part) is not None for part in name.split("\\"))


def is_ignored_by_git(path: str, chain: Sequence[GitIgnore]) -> bool:
    """Whether the `.gitignore` files from the root to the folder hide a file; never so for a note."""
    if is_note(path):
        return False
    for file in reversed(chain):
        verdict = file.says(path)
        if verdict is not None:
            return verdict
    return False
