"""The kernel's word of what changed in folders: inotify(7), through the C library.

The descriptor is ours and is emptied by whoever asks, in the thread that asks. The kernel puts an event into the queue within
the system call that changed the file, so all that had happened before an emptying began is among what it gives; no library
with a thread of its own in between can say that.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import struct
import sys
import termios
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from service.store.syscalls import failed, libc

MODIFY: Final = 0x2
ATTRIB: Final = 0x4
CLOSE_WRITE: Final = 0x8
MOVED_FROM: Final = 0x40
MOVED_TO: Final = 0x80
CREATE: Final = 0x100
DELETE: Final = 0x200
MOVE_SELF: Final = 0x800
UNMOUNT: Final = 0x2000
OVERFLOW: Final = 0x4000
IGNORED: Final = 0x8000
IS_FOLDER: Final = 0x4000_0000
_ONLY_FOLDERS: Final = 0x0100_0000

WATCHED: Final = MODIFY | ATTRIB | CLOSE_WRITE | MOVED_FROM | MOVED_TO | CREATE | DELETE | MOVE_SELF
"""MODIFY as well as CLOSE_WRITE: a program may keep a note open. ATTRIB: times set back, permissions, a second name."""

MAX_QUEUED: Final = 16_384
"""Events that a queue commonly holds; beyond them the kernel tells of an overflow and of nothing else."""

_HEAD: Final = struct.Struct("iIII")
_PIECE_BYTES: Final = 65_536


@dataclass(frozen=True, slots=True)
class Event:
    """What happened. `name` is that in the watched folder; empty when it happened to the folder itself."""

    watch: int
    mask: int
    cookie: int
    name: str


class Inotify:
    """One queue of events. Not thread-safe.

    Raises:
        OSError: EMFILE when the user has too many of them (fs.inotify.max_user_instances), ENOSYS.
    """

    def __init__(self) -> None:
        self.fd = libc().inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.fd < 0:
            raise failed()
        self._closing = weakref.finalize(self, os.close, self.fd)  # a user has few of them, so none may be forgotten

    def add(self, folder: int) -> int:
        """Watch an open folder (O_PATH will do); the number that its events bear.

        Raises:
            OSError: ENOSPC when the user watches too many (fs.inotify.max_user_watches), EACCES, ENOENT without /proc.
        """
        name = f"/proc/self/fd/{folder}".encode()
        number: int = libc().inotify_add_watch(self.fd, ctypes.c_char_p(name), ctypes.c_uint32(WATCHED | _ONLY_FOLDERS))
        if number < 0:
            raise failed()
        return number

    def events(self) -> Iterator[Event]:
        """What happened before this was called, in order; nothing is waited for."""
        waiting = struct.unpack("i", fcntl.ioctl(self.fd, termios.FIONREAD, b"\0" * 4))[0]
        while waiting > 0:
            data = os.read(self.fd, _PIECE_BYTES)
            waiting -= len(data)
            yield from _parsed(data)

    def close(self) -> None:
        """Give the queue back, and all its watches."""
        self._closing()


def _parsed(data: bytes) -> Iterator[Event]:
    at = 0
    while at < len(data):
        watch, mask, cookie, size = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        name = data[at : at + size].rstrip(b"\0")
        at += size
        yield Event(watch, mask, cookie, name.decode(sys.getfilesystemencoding(), "surrogateescape"))
