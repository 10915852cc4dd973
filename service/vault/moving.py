"""Move a note, a folder or any file, and let every link lead where it led: planned first, then done, all or nothing.

The plan is made without the lock, since it may read many notes. Under the lock it is made sure that nothing has changed
since; then the notes are rewritten and the move comes last (`store.together`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from service.errors import AppError, NoteChanged
from service.guards import limits
from service.guards.paths import VaultPath
from service.store import together
from service.store.files import version_of
from service.vault import linking, move_plan
from service.vault.model import Actor, Change, Vault
from service.vault.move_asked import Asked
from service.vault.move_plan import Left, Plan

MAX_TOLD_BYTES: Final = 50_000_000
"""Bytes of moved files that history is told of as this grant's; the rest it finds by itself, as coming from outside."""

_ATTEMPTS: Final = 3


@dataclass(frozen=True, slots=True)
class Relinking:
    """A note whose links change: its path afterwards, how many of them, and its new version."""

    path: VaultPath
    links: int
    version: str


@dataclass(frozen=True, slots=True)
class Moved:
    """What a move did or, when tried only, would do.

    `version` and `size_bytes` are those of the moved note afterwards; of a folder they are empty and 0. `changed` and `left`
    are sorted by path and without notes in low-trust folders, which are only counted. `files` counts what moved, `unread`
    notes that could not be looked into; `is_cut_short` says that there was no time for all (and no link was to be updated).
    """

    source: VaultPath
    path: VaultPath
    is_folder: bool
    files: int
    version: str
    size_bytes: int
    changed: tuple[Relinking, ...]
    changed_low_trust: int
    left: tuple[Left, ...]
    left_low_trust: int
    unread: int
    is_cut_short: bool
    trashed_to: VaultPath | None
    caution: str = ""


def move(vault: Vault, actor: Actor, asked: Asked, *, is_trial: bool = False) -> Moved:
    """Move a note, a folder or a file, links and all.

    Args:
        is_trial: say what would come out and write nothing.

    Raises:
        NoteNotFound, PathAmbiguous, PathRefused: there is no such thing, or not of that kind.
        NoteExists: the new name is taken.
        NoteChanged: it is not the expected version, or other programs kept changing notes while they were rewritten.
        BadArgument: it would move onto or into itself, or become another type of file.
        UnsafeContent: plain text would begin to run or load something as Markdown.
        TooLarge: more notes would change than one move may touch.
        ChangeUnfinished, Unavailable: as `together.apply`, or planning took too long.
    """
    for attempt in range(_ATTEMPTS):
        is_last = attempt == _ATTEMPTS - 1
        try:
            if is_trial:
                return _outcome(vault, move_plan.make(vault, asked))
            if is_last:
                with vault.lock.writing():
                    return _done(vault, actor, move_plan.make(vault, asked))
            plan = move_plan.make(vault, asked)
            with vault.lock.writing():
                if move_plan.is_unchanged(vault, plan):
                    return _done(vault, actor, plan)
        except NoteChanged:
            if is_last:
                raise
    raise AssertionError  # the last attempt returns or raises


def _done(vault: Vault, actor: Actor, plan: Plan) -> Moved:
    moved = _contents(vault, plan)
    done = together.apply(vault.files, vault.journal, plan.rewrites, plan.move, actor.permit, to_trash=plan.to_trash)
    new = {one.path: one.data for one in done.rewritten}
    changes = [
        Change(one.old.path, one.old.data, one.data) for one in plan.rewrites if one.old.path not in plan.renaming.moved
    ]
    if plan.to_trash is not None and plan.to_trash.old is not None:
        changes.append(Change(plan.to_trash.source, plan.to_trash.old.data, None))
        changes.append(Change(plan.to_trash.target, None, plan.to_trash.old.data))
    for path, data in moved.items():
        changes.append(Change(path, data, None))
        changes.append(Change(plan.renaming.now(path), None, new.get(path, data)))
    vault.on_change(actor, changes)
    return replace(_outcome(vault, plan), caution=done.caution)


def _contents(vault: Vault, plan: Plan) -> Mapping[VaultPath, bytes]:
    """What the moved files hold, for history; as much as may be told."""
    if plan.move.old is not None:
        return {plan.move.source: plan.move.old.data}
    found: dict[VaultPath, bytes] = {}
    left = MAX_TOLD_BYTES
    for path in sorted(
        plan.renaming.moved, key=lambda path: (not path.has_suffix(linking.LINKED_SUFFIXES), path.parts)
    ):
        size = move_plan.size_of(plan, path)
        if size <= min(left, limits.MAX_NOTE_BYTES):
            try:
                found[path] = vault.files.read_tracked(path).data
            except AppError:
                continue
            left -= size
    return found


def _outcome(vault: Vault, plan: Plan) -> Moved:
    source, target = plan.move.source, plan.move.target
    changed = [
        Relinking(plan.renaming.now(one.old.path), plan.counts[one.old.path], version_of(one.data))
        for one in plan.rewrites
        if one.old.path != source
    ]
    own = next((one.data for one in plan.rewrites if one.old.path == source), None)
    if own is None and plan.move.old is not None:
        own = plan.move.old.data
    trusted = [one for one in changed if not vault.low_trust.holds(one.path)]
    left = [one for one in plan.left if not vault.low_trust.holds(one.path)]
    size_bytes = move_plan.size_of(plan, source) if own is None else len(own)
    return Moved(
        source,
        target,
        plan.asked.is_folder,
        len(plan.renaming.moved),
        "" if own is None else version_of(own),
        size_bytes,
        tuple(sorted(trusted, key=lambda one: one.path.parts)),
        len(changed) - len(trusted),
        tuple(left),
        len(plan.left) - len(left),
        plan.unread,
        plan.is_cut_short,
        None if plan.to_trash is None else plan.to_trash.target,
    )
