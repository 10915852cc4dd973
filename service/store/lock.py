"""Locks that hold between threads and between processes.

Three files in the state folder: `writer.lock` for every change of the vault, `history.lock` for every change of the
history, `server.lock` held for life by the one server. flock(2) is released by the kernel when its holder dies, so
there is nothing to heal. Order, where two are needed: history first, then writer.

Waiting is fair between processes: whoever waits stands at a gate (a second file) that each must pass, so a busy server
cannot take the lock again and again while a command waits for it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from service.errors import Busy, Misconfigured

_FIRST_PAUSE_S: Final = 0.0005
_LONGEST_PAUSE_S: Final = 0.01
_GATE_SUFFIX: Final = ".next"
_HELD_ELSEWHERE: Final = frozenset({errno.EWOULDBLOCK, errno.EACCES})  # EACCES: flock on NFS


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a lock for life: its process id (in its own container) and since when, as it wrote them."""

    pid: int
    since: str

    def __str__(self) -> str:
        return f"process {self.pid}, started {self.since}" if self.pid else "another process"


class Lock:
    """One lock file. Re-entrant within a thread.

    Args:
        path: the lock file; made 0600 when missing.
        what: what it protects, for the sentence of `Busy`.
        timeout_s: how long `writing` waits.
    """

    def __init__(self, path: Path, what: str, timeout_s: float = 10.0) -> None:
        self._path, self._what, self._timeout_s = path, what, timeout_s
        self._thread_lock = threading.RLock()
        self._depth = 0
        self._descriptor = -1
        self._held_for_life = -1

    @contextmanager
    def writing(self, timeout_s: float | None = None) -> Iterator[None]:
        """Hold the lock. Nothing slow or remote belongs inside.

        Raises:
            Busy: when another thread or process kept it longer than the timeout (seconds).
            Misconfigured: the file system of the state folder has no locks.
        """
        limit_s = self._timeout_s if timeout_s is None else timeout_s
        deadline = time.monotonic() + limit_s
        if not self._thread_lock.acquire(timeout=max(limit_s, 0)):
            raise Busy(self._what, limit_s)
        try:
            if self._depth == 0:
                self._descriptor = self._wait(deadline, limit_s)
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if self._depth == 0:
                    _release(self._descriptor)
        finally:
            self._thread_lock.release()

    def try_hold(self) -> Holder | None:
        """Take the lock for the rest of this process's life, or say who has it. For `server.lock`.

        Returns:
            None when it is ours now.

        Raises:
            Misconfigured: the file system of the state folder has no locks.
        """
        if self._held_for_life >= 0:
            return None
        descriptor = self._open(self._path)
        if not self._try(descriptor):
            os.close(descriptor)
            return self._read_holder()
        since = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n{since}\n".encode(), 0)
        self._held_for_life = descriptor
        return None

    def holder(self) -> Holder | None:
        """Who holds the lock at this moment, or None for nobody. Takes it for an instant to find out."""
        if self._held_for_life >= 0:
            return self._read_holder()
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            return None
        if self._try(descriptor):
            _release(descriptor)
            return None
        os.close(descriptor)
        return self._read_holder()

    def release(self) -> None:
        """Let go of what `try_hold` took."""
        if self._held_for_life >= 0:
            os.ftruncate(self._held_for_life, 0)
            _release(self._held_for_life)
            self._held_for_life = -1

    def _wait(self, deadline: float, limit_s: float) -> int:
        gate = self._open(self._path.with_name(self._path.name + _GATE_SUFFIX))
        try:
            self._poll(gate, deadline, limit_s)
            descriptor = self._open(self._path)
            try:
                self._poll(descriptor, deadline, limit_s)
            except BaseException:
                os.close(descriptor)
                raise
            return descriptor
        finally:
            _release(gate)

    def _poll(self, descriptor: int, deadline: float, limit_s: float) -> None:
        pause_s = _FIRST_PAUSE_S
        while not self._try(descriptor):
            if time.monotonic() >= deadline:
                raise Busy(self._what, limit_s)
            time.sleep(pause_s)
            pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)

    def _try(self, descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _HELD_ELSEWHERE:
                return False
            raise Misconfigured(
                f"the file system of the state folder has no locks ({error.strerror}); keep the state on a local disk."
            ) from error
        return True

    def _open(self, path: Path) -> int:
        try:
            return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise Misconfigured(
                f"the lock {path.name!r} in the state folder cannot be opened ({error.strerror}); "
                f"make the state folder writable for {os.geteuid()}:{os.getegid()}."
            ) from error

    def _read_holder(self) -> Holder:
        with suppress(OSError, ValueError):
            pid, since = self._path.read_text(encoding="utf-8").splitlines()[:2]
            return Holder(int(pid), since)
        return Holder(0, "")


def _release(descriptor: int) -> None:
    """Unlock, then close: a child process that was forked meanwhile may hold a copy of the descriptor."""
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)
