"""Locks that hold between threads and between processes.

Three files in the state folder: `writer.lock` for every change of the vault, `history.lock` for every change of the
history, `server.lock` held for life by the one server. flock(2) is released by the kernel when its holder dies, so
there is nothing to heal. Order, where two are needed: history first, then writer.
"""

from __future__ import annotations

import errno
import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from service.errors import Busy

_POLL_S: Final = 0.01


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

    @contextmanager
    def writing(self, timeout_s: float | None = None) -> Iterator[None]:
        """Hold the lock. Nothing slow or remote belongs inside.

        Raises:
            Busy: when another thread or process kept it longer than the timeout (seconds).
        """
        limit_s = self._timeout_s if timeout_s is None else timeout_s
        deadline = time.monotonic() + limit_s
        if not self._thread_lock.acquire(timeout=limit_s):
            raise Busy(self._what, limit_s)
        try:
            if self._depth == 0:
                self._descriptor = self._hold_file(deadline, limit_s)
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if self._depth == 0:
                    os.close(self._descriptor)
        finally:
            self._thread_lock.release()

    def _hold_file(self, deadline: float, limit_s: float) -> int:
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            while True:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError as error:
                    if error.errno not in (errno.EWOULDBLOCK, errno.EINTR):
                        raise
                    if time.monotonic() >= deadline:
                        raise Busy(self._what, limit_s) from error
                    time.sleep(_POLL_S)
                else:
                    return descriptor
        except BaseException:
            os.close(descriptor)
            raise
