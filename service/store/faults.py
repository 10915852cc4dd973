"""What a failed system call means to whoever asked: by its number alone, never by its text.

Sentences name the owner, the mode and who we are, because that is what mends them; they never name a path of the host.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from service.errors import (
    AppError,
    DiskFault,
    NoSpace,
    NoteNotFound,
    PathRefused,
    Unavailable,
    VaultDenied,
    VaultMissing,
)


@contextmanager
def spoken(path: str, folder: int | None = None) -> Iterator[None]:
    """Turn what the disk says inside into an `AppError`; what we have no words for passes as it is.

    Args:
        path: the vault-relative path that the caller asked for.
        folder: the open folder it lies in, to name its owner and mode; None when there is none.
    """
    try:
        yield
    except OSError as error:
        said = in_our_words(error, path, folder)
        if said is None:
            raise
        raise said from error


def in_our_words(error: OSError, path: str, folder: int | None) -> AppError | None:
    """The `AppError` that `error` stands for, or None when it means a bug."""
    said: AppError | None = None
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            said = NoSpace("vault")
        case errno.EROFS:
            said = VaultDenied(path, f"the vault is mounted read-only ({_who(folder)})", "mount it writable")
        case errno.EACCES | errno.EPERM:
            way_out = f"on the machine that holds it, give the folder to {os.geteuid()}:{os.getegid()} or let it write"
            said = VaultDenied(path, f"the file system does not let us ({_who(folder)})", way_out)
        case errno.ESTALE | errno.ENOTCONN | errno.ENODEV | errno.ESHUTDOWN | errno.EHOSTDOWN:
            said = VaultMissing("the vault's file system does not answer any more; mount it again.")
        case errno.ENOENT:
            said = NoteNotFound(path)
        case errno.EIO:
            said = DiskFault(path)
        case errno.EMFILE | errno.ENFILE | errno.ENOMEM:
            said = Unavailable("the machine is out of memory or open files; try again in a moment.")
        case errno.ELOOP:
            said = PathRefused(
                "OUTSIDE_VAULT", "that path is a symbolic link, which is not followed; use the real path."
            )
        case errno.ENAMETOOLONG:
            said = PathRefused("INVALID_PATH", "the path is too long for this file system; use a shorter name.")
        case _:
            pass
    return said


def _who(folder: int | None) -> str:
    us = f"we run as {os.geteuid()}:{os.getegid()}"
    if folder is None:
        return us
    found = os.fstat(folder)
    return f"{us}; the folder belongs to {found.st_uid}:{found.st_gid}, mode {stat.S_IMODE(found.st_mode):04o}"
