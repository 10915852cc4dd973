"""Whether the two folders we are given can be used, said in one sentence with the command that mends it.

The state folder is made when missing and kept private. The vault is never made: a folder that is not there is more likely
a mount that failed than a vault to begin. Nothing is asked of the system that could be tried instead: permissions lie
on read-only mounts, quotas and mapped users.

Who may share a state folder: one that is ours and still fresh is closed (0700). One that already holds a state and was
opened to others since is refused, because what leaked must not be mended in silence. One that belongs to somebody else
is taken when nobody but that owner can remove what is ours (a volume of a cluster, owned by root and writable for its
group; a fresh volume with the sticky bit); doctor tells of it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import shlex
import stat
from pathlib import Path
from typing import Final

from service.errors import BadMount, NoSpace
from service.store import db, staging

_PRIVATE: Final = 0o700
_OTHERS: Final = 0o077
_TRIAL: Final = b"strongroom\n" * 400  # about a block: a full disk lets files be made, but not filled


def prepare_state(state: Path, vault: Path | None = None) -> None:
    """Make the state folder if it is missing, keep others out of it, and try it: write, fsync, rename, lock, delete.

    Args:
        vault: when given, neither folder may lie in the other, because a vault is synced and published.

    Raises:
        BadMount: it is a link, no folder, open to others, inside the vault, or does not work for us.
        NoSpace: the disk is full.
    """
    if vault is not None:
        _refuse_nesting(state, vault)
    try:
        state.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        found = state.lstat()
    except FileExistsError:
        raise BadMount(f"the state {str(state)!r} is no folder; name one with STRONGROOM_STATE.") from None
    except OSError as error:
        raise BadMount(_refused("state", state, error)) from error
    if stat.S_ISLNK(found.st_mode):
        raise BadMount(f"the state {str(state)!r} is a symbolic link; name the folder itself with STRONGROOM_STATE.")
    _make_private(state, found)
    _try("state", state, needs_lock=True)


def check_vault(vault: Path, *, is_read_only: bool) -> None:
    """See that the vault can be listed and, unless writing is switched off, written: write, fsync, rename, delete.

    Locks are not asked of it: ours are in the state folder.

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
        _try("vault", vault, needs_lock=False)


def privacy_warning(state: Path) -> str:
    """For doctor: a sentence when somebody else could look into the state folder or change it; empty when nobody can."""
    try:
        found = state.lstat()
    except OSError as error:
        return _refused("state", state, error)
    if stat.S_ISLNK(found.st_mode):
        return f"the state {str(state)!r} is a symbolic link; name the folder itself with STRONGROOM_STATE."
    mode = stat.S_IMODE(found.st_mode)
    if found.st_uid != os.geteuid():
        return (
            f"the state {str(state)!r} belongs to user {found.st_uid}, mode {mode:04o}, and we run as {os.geteuid()}; "
            f"that user can replace what is in it. On the host: {_give(state)}"
        )
    if mode & _OTHERS:
        return f"others can look into the state {str(state)!r}, mode {mode:04o}; on the host: {_close(state)}"
    return ""


def _make_private(state: Path, found: os.stat_result) -> None:
    if found.st_uid != os.geteuid():
        if found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX:
            raise BadMount(
                f"everybody may write to the state {str(state)!r}, and it is not ours; on the host: {_give(state)}"
            )
        return
    if not found.st_mode & _OTHERS:
        return
    if os.path.lexists(state / db.FILE_NAME):
        raise BadMount(
            f"others can look into the state {str(state)!r}: it belongs to {found.st_uid}:{found.st_gid}, mode "
            f"{stat.S_IMODE(found.st_mode):04o}. On the host: {_close(state)}; if others use that machine, make new tokens."
        )
    with contextlib.suppress(OSError):
        state.chmod(_PRIVATE)
    if state.stat().st_mode & _OTHERS:
        raise BadMount(
            f"the file system of the state {str(state)!r} cannot keep others out of it; keep the state on a local disk."
        )


def _refuse_nesting(state: Path, vault: Path) -> None:
    for inner, outer, said in (
        (state, vault, "state is inside the vault"),
        (vault, state, "vault is inside the state"),
    ):
        if any(_is_same(place, outer) for place in (inner.absolute(), *inner.resolve().parents, inner.resolve())):
            raise BadMount(
                f"the {said} ({str(state)!r}, {str(vault)!r}); a vault is synced and published, so keep the two apart "
                "with STRONGROOM_STATE."
            )


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return one == other.resolve()  # not there yet, and must not be made by making what lies in it


def _try(what: str, folder: Path, *, needs_lock: bool) -> None:
    """Write, fsync, rename, lock and delete a small hidden file."""
    first, second = (folder / f"{staging.PREFIX}probe-{secrets.token_hex(8)}.tmp" for _ in range(2))
    try:
        descriptor = os.open(first, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, _TRIAL)
            os.fsync(descriptor)
            first.rename(second)
            if needs_lock:
                _try_lock(descriptor)
        finally:
            os.close(descriptor)
        second.unlink()
    except OSError as error:
        for left in (first, second):
            with contextlib.suppress(OSError):
                left.unlink()
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise NoSpace(what) from error
        raise BadMount(_refused(what, folder, error)) from error


def _try_lock(descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise OSError(errno.ENOLCK, "its file system has no locks; keep the state on a local disk") from error


def _refused(what: str, folder: Path, error: OSError) -> str:
    us = f"{os.geteuid()}:{os.getegid()}"
    if error.errno == errno.EROFS:
        way_out = "mount it writable" + (", or set STRONGROOM_READ_ONLY=1." if what == "vault" else ".")
        return f"the {what} {str(folder)!r} is mounted read-only, so user {us} cannot write{_owner(folder)}; {way_out}"
    if error.errno == errno.ENOLCK:
        return f"the {what} {str(folder)!r} cannot be used by user {us}{_owner(folder)}: {error.strerror}."
    return (
        f"the {what} {str(folder)!r} cannot be used by user {us}{_owner(folder)}: {error.strerror}; "
        f"run as its owner (--user UID:GID), or on the host: chown -R {us} THAT_FOLDER"
    )


def _owner(folder: Path) -> str:
    """Whose it is, or whose the nearest folder above it is that exists."""
    for place in (folder, *folder.absolute().parents):
        with contextlib.suppress(OSError):
            seen = place.stat()
            return f" (it belongs to {seen.st_uid}:{seen.st_gid}, mode {stat.S_IMODE(seen.st_mode):04o})"
    return ""


def _close(state: Path) -> str:
    return f"chmod 700 {shlex.quote(str(state))}"


def _give(state: Path) -> str:
    quoted = shlex.quote(str(state))
    return f"chown -R {os.geteuid()}:{os.getegid()} {quoted} && chmod 700 {quoted}"
