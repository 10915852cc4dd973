"""One walk over the vault: which files look other than history knows them, which are gone, which cannot be taken.

Names come from `scandir` on descriptors opened one component at a time without following links, from the vault's root. The
walk reads no note; what is a candidate is read afterwards (contents.py). Whatever cannot be looked at keeps its previous
version: an unreadable folder is no deleted folder.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from service.errors import VaultMissing
from service.history import exclusions
from service.history.exclusions import GitIgnore, OwnIgnore
from service.history.model import LINK_MODE, LOOK, NESTED_REPOSITORY_MODE, Look, Problem, Trouble
from service.history.seen import Seen
from service.store.root import Root

MAX_DEPTH: Final = 100
"""Folders within folders; each costs a descriptor while the walk is inside it."""
MAX_PROBLEMS: Final = 1_000
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

KeepGoing = Callable[[], None]
"""Called now and then; raises when there is no time left."""


@dataclass(slots=True)
class Scan:
    """What the walk found. `candidates` come folder by folder; `kept` are paths and `folder/` prefixes left as they were."""

    own: OwnIgnore
    candidates: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    kept: set[str] = field(default_factory=set)
    kept_folders: list[str] = field(default_factory=list)
    size_bytes: int = 0
    is_over_limit: bool = False

    def trouble(self, trouble: Trouble, path: str) -> None:
        """Note why a path is left as it was."""
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(trouble, path))

    def keep(self, trouble: Trouble, path: str) -> None:
        """Leave a file at its previous version."""
        self.kept.add(path)
        self.trouble(trouble, path)


class Limit(NamedTuple):
    """How much a walk may find before it gives up: files, and bytes to be read."""

    files: int
    size_bytes: int


def scan(root: Root, seen: Seen, keep_going: KeepGoing, *, is_owners: bool, limit: Limit | None = None) -> Scan:
    """Walk the whole vault.

    Args:
        seen: what is committed, and how it looked.
        is_owners: the repository is the owner's own, so links and names that git already holds there stay.
        limit: end the walk early, with `is_over_limit`, when there is more to read than this.

    Raises:
        VaultMissing: the root itself cannot be listed.
    """
    try:
        top = os.open(".", _FOLDER, dir_fd=root.fd)
    except OSError as error:
        raise VaultMissing(f"the vault cannot be read ({error.strerror}); check that it is mounted.") from error
    try:
        own = OwnIgnore(_ignore_file(top, exclusions.OWN_FILE))
        walk = _Walk(seen, own, keep_going, is_owners, limit)
        walk.folder(top, "", (), 0, takes_new=True)
    except _OverLimit:
        return Scan(own, is_over_limit=True)
    finally:
        os.close(top)
    return walk.finished()


def own_ignores(root: Root) -> OwnIgnore:
    """The vault's `.strongroomignore` as it is now."""
    return OwnIgnore(_ignore_file(root.fd, exclusions.OWN_FILE))


class _OverLimit(Exception):
    pass


class _Walk:
    def __init__(self, seen: Seen, own: OwnIgnore, keep_going: KeepGoing, is_owners: bool, limit: Limit | None) -> None:
        self._seen, self._own, self._keep_going, self._is_owners = seen, own, keep_going, is_owners
        self._limit = limit
        self._rules_changed = own.digest != seen.ignore_digest
        self._tracked: set[str] = set()  # known files that do not look as they did, and are there
        self._clean: dict[str, Iterable[str]] = {}  # known files that do, by folder
        self._clean_count = 0
        self._found = Scan(own)

    def folder(
        self, descriptor: int, prefix: str, chain: tuple[GitIgnore, ...], depth: int, *, takes_new: bool
    ) -> None:
        """Walk one open folder; `prefix` ends in `/` or is empty. Without `takes_new` only known files count."""
        self._keep_going()
        folders, others = self._list(descriptor, prefix)
        if exclusions.GIT_FILE in self._seen.looks.get(prefix, ()) or any(
            entry.name == exclusions.GIT_FILE for entry in others
        ):
            chain = (*chain, GitIgnore(prefix, _ignore_file(descriptor, exclusions.GIT_FILE)))
        for entry in others:
            path = prefix + entry.name
            if path in self._seen.committed:
                self._file(entry, path, is_tracked=True)
            elif takes_new and not self._is_out(path, entry.name, chain):
                self._file(entry, path, is_tracked=False)
        for name in folders:
            self._enter(descriptor, name, prefix + name, chain, depth=depth, takes_new=takes_new)

    def _list(self, descriptor: int, prefix: str) -> tuple[list[str], list[os.DirEntry[str]]]:
        """The folders of a folder, and the files that do not look as they did.

        This is what a check of an unchanged vault spends its time in.
        """
        known: Mapping[str, Look] = {} if self._rules_changed else self._seen.looks.get(prefix, {})
        pack = LOOK.pack
        folders: list[str] = []
        others: list[os.DirEntry[str]] = []
        clean: list[str] = []
        try:
            with os.scandir(descriptor) as listing:
                for entry in listing:
                    name = entry.name
                    look = known.get(name)
                    if look is not None:
                        try:
                            now = entry.stat(follow_symlinks=False)
                        except OSError:
                            others.append(entry)
                            continue
                        if look == pack(now.st_mtime_ns, now.st_ctime_ns, now.st_size, now.st_ino, now.st_mode):
                            clean.append(name)
                            continue
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(name)
                    else:
                        others.append(entry)
        except OSError as error:
            self._unlistable(prefix, error)
        self._clean[prefix] = known if len(clean) == len(known) else clean  # names kept alive cost more than the rest
        self._clean_count += len(clean)
        return folders, others

    def finished(self) -> Scan:
        """The result, with what is gone worked out."""
        found, committed = self._found, self._seen.committed
        if self._clean_count + len(self._tracked) < len(committed):
            self._tracked.update(prefix + name for prefix, names in self._clean.items() for name in names)
            for path in committed.keys() - self._tracked - found.kept:
                if not path.startswith(tuple(found.kept_folders)):
                    found.gone.append(path)
        return found

    def _file(self, entry: os.DirEntry[str], path: str, *, is_tracked: bool) -> None:
        if self._own.hides(path):
            return
        try:
            seen = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            self._found.keep(Trouble.VANISHED, path)
            return
        except OSError:
            self._found.keep(Trouble.UNREADABLE, path)
            return
        if stat.S_ISREG(seen.st_mode):
            if is_tracked:
                self._tracked.add(path)
            self._candidate(path, seen.st_size)
        elif stat.S_ISLNK(seen.st_mode):
            if is_tracked and self._seen.committed[path].mode == LINK_MODE:
                self._tracked.add(path)
            else:
                self._found.trouble(Trouble.LINK, path)
        else:
            self._found.keep(Trouble.SPECIAL, path)

    def _candidate(self, path: str, size: int) -> None:
        found = self._found
        found.candidates.append(path)
        found.size_bytes += size
        if self._limit and (len(found.candidates) > self._limit.files or found.size_bytes > self._limit.size_bytes):
            raise _OverLimit

    def _is_out(self, path: str, name: str, chain: tuple[GitIgnore, ...]) -> bool:
        if exclusions.is_gits(name):
            if name != ".git":
                self._found.trouble(Trouble.GIT_NAME, path)
            return not (self._is_owners and name == ".gitmodules")
        return (
            exclusions.is_machinery(name)
            or exclusions.is_temporary(path, name)
            or (bool(chain) and exclusions.is_ignored_by_git(path, chain))
        )

    def _enter(
        self, parent: int, name: str, path: str, chain: tuple[GitIgnore, ...], *, depth: int, takes_new: bool
    ) -> None:
        if exclusions.is_gits(name):
            if name != ".git":
                self._found.trouble(Trouble.GIT_NAME, path)
            return
        if self._own.hides_folder(path):
            return
        if exclusions.is_machinery(name):
            if not self._holds_tracked(path):
                return
            takes_new = False
        if path in self._seen.committed and self._seen.committed[path].mode == NESTED_REPOSITORY_MODE:
            self._tracked.add(path)
            return
        if depth >= MAX_DEPTH:
            self._leave_folder(Trouble.TOO_DEEP, path)
            return
        try:
            descriptor = os.open(name, _FOLDER, dir_fd=parent)
        except OSError as error:
            self._unlistable(path + "/", error)
            return
        try:
            self.folder(descriptor, path + "/", chain, depth + 1, takes_new=takes_new)
        finally:
            os.close(descriptor)

    def _holds_tracked(self, folder: str) -> bool:
        return any(path.startswith(folder + "/") for path in self._seen.committed)

    def _unlistable(self, prefix: str, error: OSError) -> None:
        if not prefix:
            raise VaultMissing(f"the vault cannot be read ({error.strerror}); check that it is mounted.") from error
        is_gone = error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
        self._leave_folder(Trouble.VANISHED if is_gone else Trouble.UNREADABLE, prefix.removesuffix("/"))

    def _leave_folder(self, trouble: Trouble, path: str) -> None:
        self._found.kept_folders.append(path + "/")
        self._found.trouble(trouble, path)


def _ignore_file(folder: int, name: str) -> bytes:
    try:
        descriptor = os.open(name, _FILE, dir_fd=folder)
    except OSError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return b""
        return file.read(exclusions.MAX_IGNORE_BYTES)
