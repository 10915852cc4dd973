"""One walk over the vault that notes what several checks want to know. It reads no file and follows no link."""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from service.guards import paths
from service.settings import Settings
from service.store import staging

FUTURE_S: Final = 86_400
"""A file dated more than a day ahead says that some clock is wrong."""
LEFTOVER_S: Final = 60
"""A temporary file of ours older than this belongs to no write that still runs."""
_CONFLICT: Final = re.compile(
    r"\.sync-conflict-\d{8}-\d{6}|\((?:[^()]* )?conflicted copy\b|\bconflict[- ]\d{4}-\d{2}-\d{2}|\.orig\.md$"
    r"|\(conflict [0-9a-f]{12}(?: \d+)?\)|^Recovered by Strongroom \(",
    re.IGNORECASE,
)
"""Syncthing; Dropbox, Nextcloud and Obsidian Sync; iCloud and git; our own copies and what a start recovered."""


@dataclass
class Survey:
    """Vault-relative paths, in the order in which they were met; `notes` and `files` are counts."""

    notes: int = 0
    files: int = 0
    unreadable: list[str] = field(default_factory=list)
    symbolic_links: list[str] = field(default_factory=list)
    hard_links: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    special: list[str] = field(default_factory=list)
    placeholders: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    repositories: list[str] = field(default_factory=list)
    twins: list[str] = field(default_factory=list)
    undecodable: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    too_large: list[str] = field(default_factory=list)
    from_the_future: list[str] = field(default_factory=list)
    leftovers: list[str] = field(default_factory=list)


def of(settings: Settings, now: datetime) -> Survey:
    """Walk the vault as this process sees it."""
    survey = Survey()
    root = str(settings.vault.resolve())

    def note(error: OSError) -> None:
        name = error.filename if isinstance(error.filename, str) else root
        survey.unreadable.append(os.path.relpath(name, root) if os.path.isabs(name) else name)

    for place, folders, files, folder in os.fwalk(root, onerror=note, follow_symlinks=False):
        inside = os.path.relpath(place, root)
        prefix = "" if inside == "." else f"{inside}/"
        _note_names(survey, prefix, [*folders, *files])
        for name in [*folders, *files]:
            try:
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            except FileNotFoundError:
                continue
            if stat.S_ISDIR(status.st_mode):
                if not os.access(name, os.R_OK | os.X_OK, dir_fd=folder, effective_ids=True):
                    survey.unreadable.append(prefix + name)
                continue
            _note_file(survey, prefix + name, status, settings, now)
            if stat.S_ISREG(status.st_mode) and not os.access(name, os.R_OK, dir_fd=folder, effective_ids=True):
                survey.unreadable.append(prefix + name)
        folders[:] = [name for name in folders if name != ".git" and prefix + name not in survey.unreadable]
    return survey


def _note_names(survey: Survey, prefix: str, names: list[str]) -> None:
    seen: dict[str, str] = {}
    for name in sorted(names):
        if name == ".git":
            survey.repositories.append(prefix + name)
        if _is_undecodable(name):
            survey.undecodable.append(prefix + name)
            continue
        if not paths.is_hidden(name) and not paths.is_visible(name):
            survey.unseen.append(prefix + name)
        other = seen.setdefault(unicodedata.normalize("NFC", name).casefold(), name)
        if other != name:
            survey.twins.append(prefix + name)


def _note_file(survey: Survey, path: str, status: os.stat_result, settings: Settings, now: datetime) -> None:
    name = path.rpartition("/")[2]
    if stat.S_ISLNK(status.st_mode):
        survey.symbolic_links.append(path)
        return
    if not stat.S_ISREG(status.st_mode):
        survey.special.append(path)
        return
    if name.startswith(staging.PREFIX):
        if now.timestamp() - status.st_mtime > LEFTOVER_S:
            survey.leftovers.append(path)
        return
    survey.files += 1
    survey.notes += name.lower().endswith(paths.SEARCHED_SUFFIXES) and not name.startswith(".")
    noted = (
        (status.st_nlink > 1, survey.hard_links),
        (status.st_uid != os.geteuid(), survey.foreign),
        (name.startswith(".") and name.endswith(".icloud"), survey.placeholders),
        (_CONFLICT.search(name) is not None, survey.conflicts),
        (status.st_size > settings.max_file_bytes, survey.too_large),
        (status.st_mtime - now.timestamp() > FUTURE_S, survey.from_the_future),
    )
    for is_so, names in noted:
        if is_so:
            names.append(path)


def _is_undecodable(name: str) -> bool:
    return any("\udc80" <= char <= "\udcff" for char in name)
