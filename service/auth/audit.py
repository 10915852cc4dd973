"""The audit log: who signed in, what was given and taken back, what was refused. One JSON object a line, no secret in it.

A file of its own in the state folder, mode 0600, that the server and the commands append to; `strongroom auth log` reads it.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeAlias

import structlog

from service.clock import Clock

FILE_NAME: Final = "audit.jsonl"
MAX_BYTES: Final = 5_000_000
"""A fuller file becomes `audit.jsonl.1`, and what was that `audit.jsonl.2`; older lines are dropped."""

KEPT: Final = 2
_MAX_WORD_CHARS: Final = 300

Fact: TypeAlias = str | int | bool | None
_log = structlog.get_logger()


class Audit:
    """The log of one state folder. Threads and processes may share it."""

    def __init__(self, state: Path, clock: Clock) -> None:
        self._path, self._clock = state / FILE_NAME, clock

    def note(self, event: str, **facts: Fact) -> None:
        """Add a line: the time (UTC), the event, and its facts (ids, names, addresses; never a token, code or passphrase).

        Never fails what is going on: a disk that refuses is said in the service's own log.
        """
        line = {"at": self._clock.now().isoformat(timespec="seconds"), "event": event}
        line |= {name: _bounded(fact) for name, fact in facts.items() if fact is not None}  # type: ignore[misc]
        data = json.dumps(line, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
        try:
            self._append(data)
        except OSError as error:
            _log.error("audit.failed", error=error.strerror)

    def lines(self) -> Iterator[dict[str, Fact]]:
        """All lines that are kept, the oldest first; what is no line of ours is passed over."""
        for path in (*(self._old(number) for number in range(KEPT, 0, -1)), self._path):
            try:
                text = path.read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
            for line in text.splitlines():
                try:
                    found = json.loads(line)
                except ValueError:
                    continue
                if isinstance(found, dict):
                    yield found

    def _append(self, data: bytes) -> None:
        while True:
            descriptor = os.open(
                self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
            )
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                if not _is(self._path, descriptor):
                    continue  # another process has just put it aside
                if os.fstat(descriptor).st_size + len(data) > MAX_BYTES:
                    self._put_aside()
                    continue
                os.write(descriptor, data)
                return
            finally:
                os.close(descriptor)

    def _put_aside(self) -> None:
        for number in range(KEPT, 1, -1):
            if self._old(number - 1).exists():
                os.replace(self._old(number - 1), self._old(number))
        os.replace(self._path, self._old(1))

    def _old(self, number: int) -> Path:
        return self._path.with_name(f"{FILE_NAME}.{number}")


def _is(path: Path, descriptor: int) -> bool:
    try:
        there = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return False
    here = os.fstat(descriptor)
    return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)


def _bounded(fact: Fact) -> Fact:
    """A word from outside may be long or hold line ends; JSON escapes the latter."""
    return fact[:_MAX_WORD_CHARS] if isinstance(fact, str) else fact
