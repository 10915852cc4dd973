"""Whether the two folders we are given can be used, said in one sentence with the command that mends it.

The state folder is made when missing and kept private. The vault is never made: a folder that is not there is more likely
a mount that failed than a vault to begin.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from pathlib import Path
from typing import Final

from service.errors import BadMount, NoSpace

_PRIVATE: Final = 0o700


def prepare_state(state: Path) -> None:
    """Make the state folder if it is missing, keep others out of it, and see that it can be written.

    Raises:
        BadMount: it is a link, no folder, open to everybody's writing, or not writable for us.
        NoSpace: the disk is full.
    """
    try:
        state.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        found = state.lstat()
    except FileExistsError:
        raise BadMount(f"the state {str(state)!r} is no folder; name one with STRONGROOM_STATE.") from None
    except OSError as error:
        raise BadMount(_refused("state", state, error)) from error
    if stat.S_ISLNK(found.st_mode):
        raise BadMount(f"the state {str(state)!r} is a symbolic link; name the folder itself with STRONGROOM_STATE.")
    if found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) & 0o077:
        os.chmod(state, _PRIVATE)
    elif found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX:
        # With the sticky bit, as on a volume that an engine has just made for any --user, nobody can take away what is ours.
        raise BadMount(f"everybody may write to the state {str(state)!r}; on the host: chmod o-rwx {str(state)!r}")
    _try_writing("state", state)


def check_vault(vault: Path, *, is_read_only: bool) -> None:
    """See that the vault can be listed, and written unless writing is switched off.

    Raises:
        BadMount: it is not there, is no folder, or refuses us.
        NoSpace: the disk is full.
    """
    try:
        with os.scandir(vault):
            pass
    except FileNotFoundError:
        raise BadMount(
            f"the vault {str(vault)!r} is not there; mount the folder of notes at that path, or name it with STRONGROOM_VAULT."
        ) from None
    except OSError as error:
        raise BadMount(_refused("vault", vault, error)) from error
    if not is_read_only:
        _try_writing("vault", vault)


def _try_writing(what: str, folder: Path) -> None:
    # Asking os.access is not enough: it knows nothing of read-only mounts of some kinds, quotas and mapped users.
    trial = folder / f".syncthing.strongroom-{secrets.token_hex(8)}.tmp"
    try:
        os.close(os.open(trial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
        os.unlink(trial)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise NoSpace(what) from error
        raise BadMount(_refused(what, folder, error)) from error


def _refused(what: str, folder: Path, error: OSError) -> str:
    us = f"{os.geteuid()}:{os.getegid()}"
    if error.errno == errno.EROFS:
        way_out = "mount it writable" + (", or set STRONGROOM_READ_ONLY=1." if what == "vault" else ".")
        return f"the {what} {str(folder)!r} is mounted read-only; {way_out}"
    owner, place = "", folder
    while not owner and place != place.parent:
        try:
            seen = place.stat()
            owner = f" (it belongs to {seen.st_uid}:{seen.st_gid}, mode {stat.S_IMODE(seen.st_mode):04o})"
        except OSError:
            place = place.parent
    return (
        f"the {what} {str(folder)!r} cannot be used by user {us}{owner}: {error.strerror}; "
        f"run as its owner (--user UID:GID), or on the host: chown -R {us} THAT_FOLDER"
    )
