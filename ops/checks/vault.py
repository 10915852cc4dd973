"""The vault: there, readable, writable, and what in it will surprise its owner."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ops.checks.finding import Finding, Patient, fail, ok, warn
from ops.checks.survey import LEFTOVER_S
from service.errors import AppError
from service.store import journal, mounts

_SHOWN = 3


def is_there(patient: Patient) -> Finding:
    """A folder, at the path that the settings name, with something in it."""
    path = patient.settings.vault
    if not path.is_dir():
        return fail(
            f"there is no folder {path}",
            "a lost mount, or a wrong STRONGROOM_VAULT; nothing is committed meanwhile",
            "mount the folder of notes there, or name it with STRONGROOM_VAULT",
        )
    survey = patient.survey
    if survey.notes == 0:
        means = "right for a new vault; with a cloud drive it means that its files are not on this machine"
        return warn(f"{path} holds no notes ({survey.files} other files)", means, "put notes there, or check the mount")
    return ok(f"{path}: {survey.notes:,} notes, {survey.files:,} files")


def is_readable(patient: Patient) -> Finding:
    """Every file and folder can be read by this user."""
    unreadable = patient.survey.unreadable
    if unreadable:
        return fail(
            f"{_counted(unreadable)} cannot be read by this user",
            "they are not found, not committed, and not in a backup",
            "give them to the user that the service runs as (chown), or run it as their owner (--user UID:GID)",
        )
    return ok("every file and folder can be read")


def is_writable(patient: Patient) -> Finding:
    """A file can be made in the vault, unless writing is switched off."""
    settings = patient.settings
    try:
        mounts.check_vault(settings.vault, is_read_only=settings.is_read_only)
    except AppError as error:
        sentence, _, way_out = str(error).rpartition("; ")
        return fail(
            sentence, "tools that write are refused", way_out or "run as its owner, or set STRONGROOM_READ_ONLY=1"
        )
    return ok("not tried: STRONGROOM_READ_ONLY is set" if settings.is_read_only else "a file could be made and removed")


def leftovers(patient: Patient) -> Finding:
    """Nothing lies about that a killed write left behind."""
    written_at = journal.left_at(patient.settings.state)
    if written_at is not None and patient.clock.now().timestamp() - written_at > LEFTOVER_S:
        return fail(
            "a change of several files (a move with its links) was cut short and could not be taken back yet",
            "some notes may name the new place of something that has not moved",
            "restart the server: at start it puts back what nobody has changed since, and its log names the rest",
        )
    found = patient.survey.leftovers
    if found:
        return fail(
            f"{_counted(found)} left behind by a write that was killed",
            "one of them may hold a version that exists nowhere else",
            "restart the server: at start it settles them, and keeps what is found nowhere else as a visible copy",
        )
    return ok("no write was cut short")


def links(patient: Patient) -> Finding:
    """No links or special files, which tools do not follow and history does not keep."""
    survey = patient.survey
    kinds = (
        ("symbolic links", survey.symbolic_links),
        ("hard links", survey.hard_links),
        ("special files", survey.special),
    )
    found = [f"{_counted(paths)} ({kind})" for kind, paths in kinds if paths]
    if found:
        return warn(
            "; ".join(found),
            "symbolic links and special files are not listed, committed or backed up; a hard link is cut by the first write",
            "put the files themselves into the vault; paths may go through relative links that stay inside it with "
            "STRONGROOM_SYMLINKS=inside",
        )
    return ok("no links and no special files")


def owners(patient: Patient) -> Finding:
    """Every file is ours, or we may take a lease on those that are not: only then is a slow writer noticed."""
    foreign = patient.survey.foreign
    if foreign and not patient.settings.is_read_only and not _may_lease_anything():
        return warn(
            f"{len(foreign):,} of {patient.survey.files:,} files belong to another user than {os.geteuid()}: {_counted(foreign)}",
            "a program that keeps such a file open while it writes is not noticed, so what it writes late may be lost; a "
            "file that we replace becomes ours",
            "run the service as their owner (--user UID:GID), or give them to it (chown)",
        )
    return ok(
        "every file belongs to us" if not foreign else "files of others, on which we may take leases all the same"
    )


def _may_lease_anything() -> bool:
    """Whether we hold CAP_LEASE (capabilities(7), number 28)."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return os.geteuid() == 0
    held = next((line.split()[1] for line in status.splitlines() if line.startswith("CapEff:")), "0")
    return bool(int(held, 16) >> 28 & 1)


def sync(patient: Patient) -> Finding:
    """No traces of a sync that is not done."""
    survey = patient.survey
    kinds = (("iCloud placeholders", survey.placeholders), ("conflict copies", survey.conflicts))
    found = [f"{_counted(paths)} ({kind})" for kind, paths in kinds if paths]
    if found:
        return warn(
            "; ".join(found),
            "a placeholder is a note that is not on this machine; a conflict copy is a version nobody has merged",
            "let the sync fetch the notes (keep them downloaded); merge the copies and delete them",
        )
    return ok("no placeholders and no conflict copies")


def repositories(patient: Patient) -> Finding:
    """No git repository inside the vault, save the one that history was told to use."""
    found = patient.survey.repositories
    if patient.settings.history_dir in (".git", str(patient.settings.vault / ".git")):
        found = [path for path in found if path != ".git"]
    if found:
        return warn(
            f"{_counted(found)} in the vault",
            "it stays untouched; but a sync that copies a .git folder damages it sooner or later",
            "leave .git out of the sync (.stignore and the like), or name it with STRONGROOM_HISTORY_DIR=.git",
        )
    return ok("no git repository that we do not use")


def names(patient: Patient) -> Finding:
    """Every name can be used on every device, and is the only one of its kind."""
    survey = patient.survey
    kinds = (
        ("the same name as another but for case or encoding", survey.twins),
        ("not UTF-8", survey.undecodable),
        ("a backslash or an invisible character in the name", survey.unseen),
        ("larger than STRONGROOM_MAX_FILE_SIZE", survey.too_large),
    )
    found = [f"{_counted(paths)} ({kind})" for kind, paths in kinds if paths]
    if found:
        return warn(
            "; ".join(found),
            "twins are refused as ambiguous and collide on other devices; tools pass over what is not UTF-8 or "
            "has a name that could carry a message; what is too large gets no history",
            "rename the files, or raise STRONGROOM_MAX_FILE_SIZE",
        )
    return ok("every name is plain and its own")


def _counted(found: Sequence[str]) -> str:
    shown = ", ".join(repr(path) for path in found[:_SHOWN])
    more = f" and {len(found) - _SHOWN:,} more" if len(found) > _SHOWN else ""
    return f"{shown}{more}"
