"""How the server keeps up with what other programs do to the vault."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

from ops.checks.finding import Finding, Patient, ok, warn
from service.settings import Settings
from service.store import fresh
from service.store.census import Census
from service.store.fresh import LOCAL, Choice, Mode, Mounts
from service.store.listings import File
from service.store.root import Root

_LIMIT: Final = Path("/proc/sys/fs/inotify/max_user_watches")


def seen(patient: Patient) -> Finding:
    """What the server does to answer from the vault as it is, and whether the kernel watches as many folders as that takes."""
    settings = patient.settings
    choice, folders = _chosen(settings)
    if choice.mode is Mode.EVENTS and settings.freshness == "events" and "although" in choice.why:
        return warn(
            f"changes by other programs are told by the kernel ({choice.why})",
            "what another machine, or the host of a virtual machine, changes may not be found until the server restarts",
            f"set STRONGROOM_FRESHNESS=auto, unless the vault is on one of: {', '.join(sorted(LOCAL))}",
        )
    if choice.mode is Mode.WALK:
        said = f"each question looks at every file's times ({choice.why})"
        if settings.freshness == "walk":
            return ok(said)
        return warn(
            said, "answers are as true as elsewhere, and slower with many notes", "keep the vault on a local disk"
        )
    limit = _limit()
    if limit is not None and limit < folders:
        return warn(
            f"the kernel watches {limit:,} folders for a user, and the vault has {folders:,}",
            "each question looks at every file's times instead: as true, and slower",
            f"on the host: sysctl fs.inotify.max_user_watches={max(2 * folders, 65_536)}",
        )
    if (kept_from := _kept_from(settings)) is not None:
        return warn(
            f"the kernel would tell of changes by other programs, but watching does not work now: {kept_from}",
            "each question looks at every file's times instead: as true, and slower",
            "raise that limit on the host (sysctl, and a file in /etc/sysctl.d to keep it), or end what else watches folders",
        )
    return ok(f"the kernel tells of changes by other programs in {folders:,} folders ({choice.why})")


def _chosen(settings: Settings) -> tuple[Choice, int]:
    """What the server would choose here, and how many folders there are."""
    with contextlib.ExitStack() as stack:
        root = Root(settings.vault)
        stack.callback(root.close)
        census = Census[File](root, File, lambda *_changed: None, Mode.WALK.value)
        stack.callback(census.close)
        folders = len(census.now())
        try:
            mounts = Mounts()
        except OSError:
            return Choice(Mode.WALK, "/proc is not there"), folders
        stack.callback(mounts.close)
        place = os.path.realpath(settings.vault)
        return fresh.choose(settings.freshness, mounts.text(), fresh.mount_id(root.fd), place), folders


def _kept_from(settings: Settings) -> str | None:
    """Why the vault cannot be watched just now, tried out beside the server and whoever else watches; None when it can."""
    with contextlib.ExitStack() as stack:
        root = Root(settings.vault)
        stack.callback(root.close)
        census = Census[File](root, File, lambda *_changed: None, settings.freshness)
        stack.callback(census.close)
        census.now()
        choice = census.state().choice
        return choice.why if choice.mode is Mode.WALK else None


def _limit() -> int | None:
    try:
        return int(_LIMIT.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
