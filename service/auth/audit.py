"""The audit log: who signed in, what was given and taken back, what was refused, what clients changed. No secret is in it.

JSON lines in the state folder, mode 0600, which the server and the commands append to; `strongroom auth log` reads them.
There are two files, each with its own limit. What only the owner's word can bring about goes into the first; what a
stranger, or a client at work, can bring about as often as it likes goes into the second, and cannot push out the first.
"""

from __future__ import annotations

import errno
import fcntl
import heapq
import json
import os
import stat
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias

import structlog

from service import logs
from service.clock import Clock

FILE_NAME: Final = "audit.jsonl"
TRAFFIC_NAME: Final = "audit-traffic.jsonl"
MAX_BYTES: Final = 5_000_000
"""A fuller file becomes `audit.jsonl.1`, and what was that `audit.jsonl.2`; older lines are dropped."""

KEPT: Final = 2
OWNERS: Final = frozenset(
    (
        "login_ok",
        "grant",
        "token_created",
        "revoke",
        "approve_cli",
        "passphrase_changed",
        "passkey_code_made",
        "passkey_added",
        "passkey_removed",
        "passkey_copied",
        "passkey_copied",
        "client_added",
        "client_removed",
        "registration_opened",
        "lockdown",
        "refresh_reuse",
        "code_replay",
        "pkce_fail",
        "stream_killed",
    )
)
"""Events that take the owner, or a token or code that the owner gave: they stay for years. All others are traffic."""

_MAX_WORD_CHARS: Final = 300
_LOCK_WITHIN_S: Final = 0.5
"""Whoever holds the file longer is stopped or hangs; the line is given up rather than the request."""

Fact: TypeAlias = str | int | bool | None
Line: TypeAlias = Mapping[str, Fact]
_log = structlog.get_logger()


class Audit:
    """The log of one state folder. Threads and processes may share it."""

    def __init__(self, state: Path, clock: Clock) -> None:
        self._clock = clock
        self._owners, self._traffic = _Series(state / FILE_NAME), _Series(state / TRAFFIC_NAME)

    def note(self, event: str, **facts: Fact) -> None:
        """Add a line: the time (UTC), the event, and its facts (ids, names, addresses; never a token, code or passphrase).

        Never fails what is going on: a disk that refuses is said in the service's own log.
        """
        series = self._owners if event in OWNERS else self._traffic
        try:
            series.append(self._line(event, facts))
        except OSError as error:
            _log.error("audit.failed", event_lost=event, error=error.strerror or type(error).__name__)

    def try_out(self) -> None:
        """See whether a line could be added to the files that are there, without adding one; for `doctor`.

        Raises:
            OSError: it could not.
        """
        for series in (self._owners, self._traffic):
            if series.is_there():
                series.append(b"")

    def lines(self) -> Iterator[Line]:
        """All lines that are kept, the oldest first; what is no line of ours is passed over."""
        yield from heapq.merge(self._owners.lines(), self._traffic.lines(), key=lambda line: str(line.get("at", "")))

    def _line(self, event: str, facts: Line) -> bytes:
        line: dict[str, Fact] = {"at": self._clock.now().isoformat(timespec="seconds"), "event": event}
        line.update({name: _bounded(fact) for name, fact in facts.items() if fact is not None})
        logs.redact(None, "note", line)  # a fence: nothing shaped like a token gets in by mistake
        return json.dumps(line, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


class _Series:
    """One file, and the older ones that it was."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def is_there(self) -> bool:
        return os.path.lexists(self._path)

    def append(self, line: bytes) -> None:
        """Add a line, all of it or nothing.

        Raises:
            OSError: the disk refuses, the name is a link or no file, or somebody keeps it locked.
        """
        while True:
            descriptor = _opened(self._path)
            try:
                _lock(descriptor)
                if not _is(self._path, descriptor):
                    continue  # another process has just put it aside
                size = os.fstat(descriptor).st_size
                if size and size + len(line) > MAX_BYTES:
                    self._put_aside()
                    continue
                _write(descriptor, size, line)
                return
            finally:
                os.close(descriptor)

    def lines(self) -> Iterator[Line]:
        for path in (*(self._old(number) for number in range(KEPT, 0, -1)), self._path):
            yield from _read(path)

    def _put_aside(self) -> None:
        for number in range(KEPT, 1, -1):
            if self._old(number - 1).exists():
                os.replace(self._old(number - 1), self._old(number))
        os.replace(self._path, self._old(1))

    def _old(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")


def _opened(path: Path) -> int:
    """The file, made if it is missing, for us alone; never through a link, and never waiting for a pipe's other end."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(path, flags, 0o600)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is no file")
        if found.st_uid == os.geteuid() and found.st_mode & 0o077:
            os.fchmod(descriptor, 0o600)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _lock(descriptor: int) -> None:
    deadline = time.monotonic() + _LOCK_WITHIN_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.005)
        else:
            return


def _write(descriptor: int, size: int, line: bytes) -> None:
    """Write at the end. What a full disk took only half of is taken back; half a line of a kill gets its end."""
    is_torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
    data = (b"\n" if is_torn else b"") + line
    try:
        if os.write(descriptor, data) < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    except OSError:
        os.ftruncate(descriptor, size)
        raise


def _is(path: Path, descriptor: int) -> bool:
    try:
        there = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return False
    here = os.fstat(descriptor)
    return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)


def _read(path: Path) -> Iterator[Line]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return
    with open(descriptor, "rb") as file:
        for raw in file:
            try:
                found = json.loads(raw)
            except (ValueError, RecursionError):
                continue
            if isinstance(found, dict):
                yield found


def _bounded(fact: Fact) -> Fact:
    """A word from outside may be long or hold line ends; JSON escapes the latter."""
    return fact[:_MAX_WORD_CHARS] if isinstance(fact, str) else fact
