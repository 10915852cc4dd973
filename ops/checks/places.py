"""The file systems under vault and state, and who can look into the state."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ops.checks import folders, public
from ops.checks.finding import Finding, Patient, fail, ok, warn
from service.store import db, mounts
from service.store.files import VaultFiles
from service.store.root import Root

LITTLE_BYTES: Final = 100_000_000
SCARCE_BYTES: Final = 1_000_000_000
_UNPROVEN: Final = (
    "nfs",
    "cifs",
    "smb",
    "9p",
    "virtiofs",
    "fuse",
    "vboxsf",
    "prl_fs",
    "grpcfuse",
    "fakeowner",
    "overlay",
)
_LACKS: Final = {
    "safe_open": "the kernel does not have openat2, or the engine forbids it: folders are opened one by one, which is slower",
    "unnamed_files": "a kill in the middle of a write leaves a hidden part file until the next start",
    "exchange": "weak conflict protection: what another program saves at the very moment of a write is lost",
    "free_rename": "a moved note has two names for a moment",
    "links": "weak conflict protection: no second look at notes that others write at the same moment",
    "leases": "weak conflict protection: a program that keeps a note open while it writes is not noticed",
}
"""What each capability that is missing means (docs/explanation/writes.md)."""


def file_systems(patient: Patient) -> Finding:
    """Locks exclude, renames are atomic, there is room, and the kinds of file system are ones we know."""
    settings = patient.settings
    for name, path in (("state", settings.state), ("vault", settings.vault)):
        free = os.statvfs(path)
        free_bytes = free.f_bavail * free.f_frsize
        if free_bytes < LITTLE_BYTES:
            return fail(
                f"only {free_bytes / 1e6:.0f} MB are free where the {name} is",
                "writes and commits fail soon; nothing is lost, since nothing is half written",
                "free some space: at least 1 GB",
            )
    if not _locks_exclude(settings.state):
        return fail(
            f"locks on {settings.state} do not exclude each other",
            "two processes could write at once, and lose one of two changes",
            "put the state on a local disk (a network share without locks will not do)",
        )
    return _weaknesses(patient)


def _weaknesses(patient: Patient) -> Finding:
    settings = patient.settings
    found, kinds = [], []
    for name, path in (("vault", settings.vault), ("state", settings.state)):
        kind = kind_of(path)
        kinds.append(f"{name} on {kind}")
        if kind == "overlay":
            found.append(f"the {name} lies in the container itself and goes with it: mount a folder or a volume there")
        elif kind.startswith(_UNPROVEN):
            found.append(f"the {name} is on {kind}, which is not proven here")
        free = os.statvfs(path)
        if free.f_bavail * free.f_frsize < SCARCE_BYTES:
            found.append(f"less than 1 GB is free where the {name} is")
    if not settings.is_read_only:
        found += [words for name, words in _LACKS.items() if name in _missing(settings.vault)]
    if found:
        return warn(
            "; ".join(found),
            "it works; notes stay safe by slower or weaker means",
            "where you can, put vault and state on a local disk (ext4, xfs, btrfs) with room",
        )
    return ok(f"{', '.join(kinds)}; locks exclude, renames are atomic")


def _missing(vault: Path) -> tuple[str, ...]:
    root = Root(vault)
    files = VaultFiles(root)
    try:
        return files.capabilities().missing
    finally:
        files.close()
        root.close()


def _locks_exclude(state: Path) -> bool:
    """Whether a second descriptor is kept out, as a second process would be."""
    path = state / f".lock-trial-{os.getpid()}.tmp"
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    with _closing(os.open(path, flags, 0o600)) as one, _closing(os.open(path, flags, 0o600)) as other:
        path.unlink()
        fcntl.flock(one, fcntl.LOCK_EX | fcntl.LOCK_NB)
        try:
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


@contextlib.contextmanager
def _closing(descriptor: int) -> Iterator[int]:
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def kind_of(path: Path) -> str:
    """The type of the file system under `path`, by /proc/self/mountinfo; `unknown` where there is none."""
    best, kind = "", "unknown"
    resolved = f"{path.resolve()}/"
    try:
        lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return kind
    for line in lines:
        before, _, after = line.partition(" - ")
        place = before.split()[4].replace("\\040", " ").rstrip("/") + "/"
        if resolved.startswith(place) and len(place) >= len(best):
            best, kind = place, after.split()[0]
    return kind


def is_private(patient: Patient) -> Finding:
    """Nobody else can look into the state, and its database is whole."""
    state = patient.settings.state
    try:
        status = state.lstat()
    except FileNotFoundError:
        return fail(
            f"there is no folder {state}",
            "no tokens, no history: nothing has run here yet, or a mount is lost",
            "start the server once, or mount the state folder there (STRONGROOM_STATE)",
        )
    if not stat.S_ISDIR(status.st_mode):
        return fail(
            f"{state} is no folder", "the server will not start", "name the folder itself with STRONGROOM_STATE"
        )
    told = mounts.privacy_warning(state)
    if told and status.st_uid == os.geteuid():
        sentence, _, way_out = told.partition("; on the host: ")
        return fail(
            sentence,
            "who reads the state can read every note ever written; the server does not start like that",
            f"{way_out or f'chmod 700 {state}'} (and new tokens, if others use that machine)",
        )
    if told and os.geteuid() != 0:
        return warn(told, "its owner can read and replace tokens and history", "run as the owner of the state")
    return _database(state, status)


def _database(state: Path, status: os.stat_result) -> Finding:
    path = state / db.FILE_NAME
    who = f"{state} belongs to {status.st_uid}:{status.st_gid}, mode {stat.S_IMODE(status.st_mode):04o}"
    if not path.exists():
        return warn(f"{who}; no database yet", "no token was ever made here", "strongroom tokens create --name laptop")
    try:
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5)
        try:
            answer = connection.execute("PRAGMA quick_check").fetchone()
        finally:
            connection.close()
    except sqlite3.Error as error:
        if not _is_damage(error):
            return fail(
                f"the database {path} cannot be read now ({error})",
                "tokens cannot be checked until it can be; this does not say that it is damaged",
                "free some space"
                if db.is_full(state)
                else "see that it and its folder belong to us, and look at the disk",
            )
        answer = (str(error),)
    if answer != ("ok",):
        return fail(
            f"the database {path} is damaged ({answer[0]})",
            "tokens cannot be checked, so nobody can sign in; notes and history are not touched by this",
            "stop the server and bring the state back: strongroom restore-backup FILE --to-state DIR",
        )
    return ok(f"{who}; the database is whole")


def _is_damage(error: sqlite3.Error) -> bool:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF  # the primary code
    return code not in (
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_PERM,
    )


def settings_fit(patient: Patient) -> Finding:
    """The settings can be read (or doctor would not be here) and hold no trap."""
    settings = patient.settings
    traps = []
    is_open = settings.host not in ("127.0.0.1", "::1", "localhost") and not settings.origin_secrets
    if is_open and (public.is_told_to_others(settings) or settings.allowed_hosts):
        traps.append(
            "it listens beyond this machine without STRONGROOM_ORIGIN_SECRET: publish the port on 127.0.0.1 only, or set the secret"
        )
    if not settings.commit_every_s:
        traps.append("STRONGROOM_COMMIT_EVERY is 0: only what tools write is committed by itself")
    traps += folders.traps(settings)
    if traps:
        return warn("; ".join(traps), "it works, but perhaps not as you think", "see docs/reference/settings.md")
    kind = " (read-only)" if settings.is_read_only else ""
    return ok(f"read, and without a trap{kind}" + ("; keep the port published on 127.0.0.1 only" if is_open else ""))
