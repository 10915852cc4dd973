"""Which folders on the disk a limited grant means, right now.

A grant keeps names, as the owner wrote them. A name means the folder that has exactly this name; where there is none, the one
folder whose name has the same letters, composed otherwise (a person cannot type the difference, and macOS makes it). It never
means one that differs in case: on most disks of servers that is another folder, with other notes in it, and a permission that
was given for `Projects` must not open `projects` when `Projects` is renamed. Where the disk itself takes both for one name, the
folder is meant that it opens, spelled as it lists it.

Nothing is kept between calls, so a folder that is made, renamed or moved counts from the next call on, and a permission stays
with the name: it does not follow a folder that is moved away.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Sequence

from service.errors import AppError
from service.guards.folders import Scope, composed
from service.guards.paths import ROOT, VaultPath
from service.store import names
from service.store.root import Root


def scope_of(root: Root, folders: Sequence[VaultPath]) -> Scope:
    """The scope of a grant for `folders`, as the disk spells them. A few system calls each.

    What is not there is spelled as it would be made: with its letters composed.
    """
    return Scope.of([_spelled(root.whole, folder) for folder in folders])


def _spelled(root: Root, folder: VaultPath) -> VaultPath:
    here = ROOT
    for part in folder.parts:
        name = _name(root, here, part)
        here = here.child(composed(part) if name is None else name)
    return here


def _name(root: Root, folder: VaultPath, part: str) -> str | None:
    """How an open folder spells one name; None when it has none that is meant, or cannot be looked into."""
    try:
        descriptor = root.open_folder(folder)
    except (AppError, OSError):
        return None
    try:
        if (there := names.exists(descriptor, part)) is not None:
            return _as_listed(descriptor, part, there)
        alike = [name for name in names.listed(descriptor) if composed(name) == composed(part)]
        return alike[0] if len(alike) == 1 else None
    finally:
        os.close(descriptor)


def _as_listed(folder: int, part: str, there: os.stat_result) -> str:
    """How a name that opens is listed: as it is, save where the disk ignores case or how letters are composed."""
    others = {part.swapcase(), unicodedata.normalize("NFC", part), unicodedata.normalize("NFD", part)} - {part}
    if not any(_is_same(there, names.exists(folder, other)) for other in others):
        return part
    listed = names.listed(folder)
    if part in listed:
        return part
    same = (name for name in listed if names.are_twins(name, part) and _is_same(there, names.exists(folder, name)))
    return next(same, part)


def _is_same(one: os.stat_result, other: os.stat_result | None) -> bool:
    return other is not None and os.path.samestat(one, other)
