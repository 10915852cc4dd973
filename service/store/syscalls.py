"""The system calls whose support differs between kernels and file systems, and those Python has no door to.

`Kernel` is one object so that a test can hand in one that refuses a call, or lets another program act between two.
Every call takes an open folder and one component, never a path; names that hold NUL are refused here, because C
would cut them there.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import functools
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

_SYS_OPENAT2: Final = 437  # the same number on x86-64 and arm64
_RENAME_NOREPLACE: Final = 1
_RENAME_EXCHANGE: Final = 2

NO_SUCH_CALL: Final = frozenset({errno.ENOSYS, errno.EPERM, errno.EINVAL, errno.EOPNOTSUPP, errno.E2BIG})
"""What a kernel, a seccomp profile or a file system answers to a call or flag that it does not have."""

NO_LINKS: Final = NO_SUCH_CALL | {errno.EIO, errno.EXDEV, errno.EMLINK}
"""What link(2) was seen to answer where hard links do not work (shared folders of macOS hosts, FAT, two mounts)."""

NO_UNNAMED: Final = NO_SUCH_CALL | {errno.EISDIR}
"""What open(2) answers to O_TMPFILE where it does not exist (EISDIR: kernels that take it for O_DIRECTORY)."""

NO_LEASES: Final = NO_SUCH_CALL | {errno.EACCES, errno.ENOLCK}
"""What F_SETLEASE answers where there are none, or to who is not the file's owner (EACCES)."""


class OpenHow(ctypes.Structure):
    """openat2(2)'s argument."""

    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


class Kernel:
    """Calls of one component below an open folder. All raise OSError."""

    def open_unnamed(self, folder: int) -> int:
        """A file without a name in the folder's file system (O_TMPFILE), for writing and reading."""
        return os.open(".", os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600, dir_fd=folder)

    def open_new(self, folder: int, name: str) -> int:
        """A new, empty file; FileExistsError when the name is taken."""
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(name, flags, 0o600, dir_fd=folder)

    def link_unnamed(self, descriptor: int, folder: int, name: str) -> None:
        """Give an unnamed file its first name; FileExistsError when it is taken."""
        repeated(lambda: os.link(f"/proc/self/fd/{descriptor}", name, dst_dir_fd=folder, follow_symlinks=True))

    def link(self, source: int, name: str, target: int, new_name: str) -> None:
        """A second name for a file; FileExistsError when it is taken."""
        repeated(lambda: os.link(name, new_name, src_dir_fd=source, dst_dir_fd=target, follow_symlinks=False))

    def rename_free(self, source: int, name: str, target: int, new_name: str) -> None:
        """Rename to a free name (RENAME_NOREPLACE); FileExistsError when it is taken."""
        _renameat2(source, name, target, new_name, _RENAME_NOREPLACE)

    def exchange(self, folder: int, name: str, other: str) -> None:
        """Let two names in one folder change places at once (RENAME_EXCHANGE)."""
        _renameat2(folder, name, folder, other, _RENAME_EXCHANGE)

    def rename(self, source: int, name: str, target: int, new_name: str) -> None:
        """Plain rename, which replaces."""
        repeated(lambda: os.rename(name, new_name, src_dir_fd=source, dst_dir_fd=target))

    def unlink(self, folder: int, name: str) -> None:
        """Remove one name of a file."""
        repeated(lambda: os.unlink(name, dir_fd=folder))

    def make_folder(self, folder: int, name: str) -> None:
        """A new, empty folder that only we can enter; FileExistsError when the name is taken."""
        repeated(lambda: os.mkdir(name, 0o700, dir_fd=folder))

    def remove_folder(self, folder: int, name: str) -> None:
        """Remove an empty folder."""
        repeated(lambda: os.rmdir(name, dir_fd=folder))

    def write(self, descriptor: int, data: bytes) -> None:
        """Write all of `data`."""
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]

    def sync(self, descriptor: int) -> None:
        """fsync a file. Never to be repeated after a failure: the kernel may have dropped what it could not write."""
        os.fsync(descriptor)

    def sync_folder(self, folder: int) -> None:
        """fsync a folder, so that the names in it survive a power cut; file systems that cannot are passed over."""
        descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno not in NO_SUCH_CALL:
                raise
        finally:
            os.close(descriptor)

    def take_lease(self, descriptor: int) -> None:
        """Take a read lease: BlockingIOError (EAGAIN) while anybody has the file open for writing.

        Whoever opens it for writing later waits until the lease is broken. The kernel tells us by a signal, SIGIO by
        default, which would kill the process; SIGURG is ignored by default, so no handler has to be set.
        """
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)

    def has_lease(self, descriptor: int) -> bool:
        """Whether the lease still stands: nobody asked to open the file for writing."""
        return fcntl.fcntl(descriptor, fcntl.F_GETLEASE) == fcntl.F_RDLCK


@dataclass(frozen=True, slots=True)
class Folder:
    """An open folder (`fd`, kept open by who made it) and the kernel to ask about it."""

    kernel: Kernel
    fd: int


def openat2(folder: int, name: bytes, how: OpenHow) -> int:
    """openat2(2) (Linux 5.6).

    Raises:
        OSError: ENOSYS or EPERM where the kernel or a seccomp profile does not have it.
    """
    descriptor: int = libc().syscall(
        ctypes.c_long(_SYS_OPENAT2),
        ctypes.c_int(folder),
        ctypes.c_char_p(_whole(name)),
        ctypes.byref(how),
        ctypes.c_size_t(ctypes.sizeof(how)),
    )
    if descriptor < 0:
        raise failed()
    return descriptor


def _renameat2(source: int, name: str, target: int, new_name: str, flags: int) -> None:
    old, new = _whole(os.fsencode(name)), _whole(os.fsencode(new_name))
    try:
        call = libc().renameat2
    except AttributeError:  # a C library older than glibc 2.28
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS)) from None
    call.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)

    def rename() -> None:
        if call(source, old, target, new, flags) != 0:
            raise failed()

    repeated(rename)


def repeated(call: Callable[[], None]) -> None:
    """Do it again when a signal came between (EINTR); Python itself does so for reading and writing only (PEP 475)."""
    while True:
        try:
            return call()
        except InterruptedError:
            continue


def _whole(name: bytes) -> bytes:
    if b"\0" in name:
        raise OSError(errno.EINVAL, "NUL in a name")
    return name


def failed() -> OSError:
    """What the last call of the C library failed with."""
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number))


@functools.cache
def libc() -> ctypes.CDLL:
    """The C library; opening it anew for each call would cost more than the call."""
    return ctypes.CDLL(None, use_errno=True)
