"""The folders that settings name: whether they are there, and whether two settings want opposite things of one.

A folder that is named and is not in the vault protects nothing, and nobody would notice: a slip of the pen in
STRONGROOM_LOW_TRUST lets notes from outside through like the owner's own.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from pathlib import Path

from service.guards import trust
from service.settings import Settings
from service.settings.table import TABLE


def traps(settings: Settings) -> list[str]:
    """What is doubtful about the folders named, as sentences. The default says nothing: a vault needs no clippings."""
    found = []
    for name, field, folders in (
        ("STRONGROOM_LOW_TRUST", "low_trust", settings.low_trust),
        ("STRONGROOM_ALLOW_ACTIVE", "allow_active", settings.allow_active),
    ):
        default = next(row.default for row in TABLE if row.field == field)
        for folder in folders:
            if folder != default and (near := _nearest(settings.vault, folder)) is not None:
                hint = f" (is it {near}?)" if near else ""
                found.append(f"{name} names {folder}, which is no folder of the vault{hint}")
    if both := _both(settings.low_trust, settings.allow_active):
        found.append(
            f"{both} is in STRONGROOM_LOW_TRUST and in STRONGROOM_ALLOW_ACTIVE: what comes from outside may tell an "
            "assistant what to write where it runs"
        )
    return found


def _nearest(vault: Path, folder: str) -> str | None:
    """None if the vault has this folder; else the likely meant one, or nothing."""
    places = [(vault, "")]
    for part in folder.split("/"):
        inside = [(place / name, f"{shown}{name}") for place, shown in places for name in _folders(place)]
        wanted = trust.folded((part,))
        here = [(place, shown + "/") for place, shown in inside if trust.folded((place.name,)) == wanted]
        if not here:
            near = difflib.get_close_matches(part, [place.name for place, _ in inside], n=1)
            return next((shown for place, shown in inside if near and place.name == near[0]), "")
        places = here
    return None


def _folders(place: Path) -> list[str]:
    try:
        with os.scandir(place) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []  # the check of the vault says so


def _both(low_trust: Sequence[str], allow_active: Sequence[str]) -> str:
    """The folder that lies in one of each, or nothing."""
    for one in low_trust:
        for other in allow_active:
            first, second = (trust.folded(tuple(folder.split("/"))) for folder in (one, other))
            shorter = min(len(first), len(second))
            if first[:shorter] == second[:shorter]:
                return max(one, other, key=lambda folder: folder.count("/"))
    return ""
