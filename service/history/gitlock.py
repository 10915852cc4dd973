"""Git's own lock files (`x.lock`, then a rename over `x`), taken so that a leftover of ours can be told from a stranger's.

The lock is a hard link to a twin of ours beside it (`strongroom-<random>.twin`): if we are killed, the two share an inode,
and the next one of us, holding the history lock, removes both. Where the file system has no hard links the lock is made
directly, and a leftover counts as foreign.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from service.history.objects import sync_folder

_TWIN_PREFIX: Final = "strongroom-"
_TWIN_SUFFIX: Final = ".twin"
_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_LINKS: Final = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV)


class ForeignLock(Exception):
    """Somebody else's git is at work (or died) on this file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(str(path))


class GitLock:
    """Hold `target`'s lock; `put` replaces the target with new content, leaving without it changes nothing.

    Args:
        git_dir: where the twin goes.
        target: the file, whose folder exists.

    Raises:
        ForeignLock: on entering, when the lock is held.
    """

    def __init__(self, git_dir: Path, target: Path) -> None:
        self._target = target
        self._lock = target.with_name(target.name + ".lock")
        self._twin = git_dir / f"{_TWIN_PREFIX}{secrets.token_hex(8)}{_TWIN_SUFFIX}"
        self._descriptor = -1
        self._is_held = False

    def __enter__(self) -> Self:
        self._descriptor = os.open(self._twin, _FLAGS, 0o644)
        try:
            self._take()
        except BaseException:
            self._leave()
            raise
        self._is_held = True
        return self

    def put(self, content: bytes) -> None:
        """Replace the target, durably."""
        os.ftruncate(self._descriptor, 0)
        written = 0
        while written < len(content):
            written += os.pwrite(self._descriptor, content[written:], written)
        os.fsync(self._descriptor)
        os.rename(self._lock, self._target)
        self._is_held = False
        sync_folder(self._target.parent)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    def _take(self) -> None:
        try:
            os.link(self._twin, self._lock, follow_symlinks=False)
        except FileExistsError as error:
            raise ForeignLock(self._lock) from error
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            os.close(self._descriptor)
            self._descriptor = -1
            try:
                self._descriptor = os.open(self._lock, _FLAGS, 0o644)
            except FileExistsError as taken:
                raise ForeignLock(self._lock) from taken

    def _leave(self) -> None:
        if self._is_held:
            with suppress(FileNotFoundError):
                os.unlink(self._lock)
            self._is_held = False
        with suppress(FileNotFoundError):
            os.unlink(self._twin)
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def locks(git_dir: Path) -> list[Path]:
    """Every lock file that could stop a commit: beside HEAD and index, and below refs."""
    found = [path for path in git_dir.glob("*.lock") if path.name != "gc.pid.lock"]
    for folder, _, names in os.walk(git_dir / "refs", followlinks=False):
        found += [Path(folder) / name for name in names if name.endswith(".lock")]
    return found


def remove_ours(git_dir: Path) -> list[Path]:
    """Remove what a killed one of us left; the caller holds the history lock. Returns the locks removed."""
    twins = {
        _inode(path): path
        for path in git_dir.glob(f"{_TWIN_PREFIX}*{_TWIN_SUFFIX}")
        if stat.S_ISREG(path.lstat().st_mode)
    }
    removed = []
    if twins:
        for path in locks(git_dir):
            if _inode(path) in twins:
                path.unlink()
                removed.append(path)
    for twin in twins.values():
        twin.unlink()
    return removed


def _inode(path: Path) -> tuple[int, int]:
    seen = path.lstat()
    return seen.st_dev, seen.st_ino
