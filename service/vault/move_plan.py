"""What a move would do: what moves where, and what becomes of each note whose links would lead elsewhere.

Writes nothing, and reads what will be rewritten: which notes those are is known from the map of links. Raw text is
rewritten, what is hidden included: these are the owner's links, and nothing of it is shown. What cannot be rewritten (no
UTF-8, too large) is left as it is and named. What a `.base` file names is not known to be a link, so it is left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from service.errors import AppError, BadArgument, NoteExists, TooLarge, Unavailable
from service.guards.paths import VaultPath
from service.store.listings import Folders
from service.store.together import Move, Rewrite
from service.vault import linking, move_asked, patience, relinking, text
from service.vault.model import Vault
from service.vault.move_asked import Asked
from service.vault.parts.linkuse import LinkKind, LinkUse
from service.vault.patience import Deadline
from service.vault.picture import changes
from service.vault.picture.note import Note
from service.vault.relinking import Relinked, Renaming
from service.vault.text import NoteText

MAX_REWRITTEN: Final = 1_000
"""Notes that one move may rewrite: some twenty seconds on a slow disk, in which nobody else writes."""

MAX_REWRITTEN_BYTES: Final = 50_000_000
"""Bytes of those notes before and after, since the journal holds them."""

DEADLINE_S: Final = 45.0
"""Seconds that planning may take, below the minute that clients commonly wait."""


@dataclass(frozen=True, slots=True)
class Left:
    """A note that holds links that now lead elsewhere or nowhere, and why they were not rewritten."""

    path: VaultPath
    why: str


@dataclass(slots=True)
class Plan:
    """A move as it was worked out, and what of the vault it was worked out on."""

    asked: Asked
    move: Move
    to_trash: Move | None
    renaming: Renaming
    seen: Folders[Note]
    rewrites: list[Rewrite] = field(default_factory=list)
    counts: dict[VaultPath, int] = field(default_factory=dict)
    left: list[Left] = field(default_factory=list)
    unread: int = 0
    is_cut_short: bool = False


def make(vault: Vault, asked: Asked) -> Plan:
    """Work out a move.

    Raises:
        NoteNotFound, PathAmbiguous, PathRefused, NoteExists, NoteChanged, BadArgument, TooLarge: as `moving.move`.
        Unavailable: it took longer than DEADLINE_S.
    """
    try:
        return patience.within(DEADLINE_S, lambda deadline: _planned(vault, asked, deadline))
    except _TooSlow:
        raise Unavailable(
            f"finding the links took longer than {DEADLINE_S:g} s; try again in a moment (what was read is remembered), or "
            "move without update_links."
        ) from None


class _TooSlow(Exception):
    """The deadline passed."""


def _planned(vault: Vault, asked: Asked, deadline: Deadline) -> Plan:
    source, old = move_asked.found(vault, asked)
    target = vault.files.free_place(asked.target, source, may_be_taken=asked.overwrites)
    if target == source:
        raise NoteExists(str(target))
    if asked.is_folder and target.is_inside(source):
        raise BadArgument("a folder cannot be moved into itself; choose another place.")
    if not asked.is_folder:
        move_asked.check_type(vault, source, target, old)
    to_trash = move_asked.room_for(vault, asked, target)
    seen = vault.picture.folders()
    with vault.picture.links(vault.low_trust).named(seen, _never) as names:
        before = names.copy()
    moved = {path: _moved_path(path, source, target) for path in before if path.is_inside(source)}
    plan = Plan(asked, Move(source, target, old), to_trash, Renaming.of(before, moved), seen)
    try:
        for note in _concerned(vault, plan, lambda: _check(deadline)):
            _check(deadline)
            _look_at(vault, plan, note)
    except _TooSlow:
        if asked.updates_links:
            raise
        plan.is_cut_short = True  # nothing depends on it but what the answer tells
    plan.rewrites.sort(key=lambda one: one.old.path.parts)
    plan.left.sort(key=lambda one: one.path.parts)
    _check_size(plan)
    return plan


def is_unchanged(vault: Vault, plan: Plan) -> bool:
    """Whether every visible file still has the size and time that it had: what links can reach, and what they say."""
    return all(
        before is not None
        and after is not None
        and (before.size_bytes, before.mtime_ns) == (after.size_bytes, after.mtime_ns)
        for before, after in changes.between(plan.seen, vault.picture.folders())
    )


def _never() -> None:
    """Names alone are quick."""


def _check(deadline: Deadline) -> None:
    if deadline.now() > deadline.at:
        raise _TooSlow


def _moved_path(path: VaultPath, source: VaultPath, target: VaultPath) -> VaultPath:
    for part in path.parts[len(source.parts) :]:
        target = target.child(part)
    return target


def _concerned(vault: Vault, plan: Plan, check: Callable[[], None]) -> Iterable[Note]:
    """The files that have to be looked at: what moves, what looks for one of the names, and what the map of links does not
    know all links of."""
    moment = vault.picture.now(check)
    with vault.picture.links(vault.low_trust).at(moment.folders, check) as known:
        found = {path: one.note for path, one in known.looking_for(plan.renaming.keys).items()}
        found.update((note.path, note) for note in known.obscure())
    for path in plan.renaming.moved:
        if path.has_suffix(linking.LINKED_SUFFIXES):
            note = _note(moment.folders, path)
            if note is not None:  # else it has gone meanwhile
                found[path] = note
    if plan.to_trash is not None:
        found.pop(plan.to_trash.source, None)
    return found.values()


def _note(folders: Folders[Note], path: VaultPath) -> Note | None:
    around = folders.get(path.parent)
    return None if around is None else around.files.get(path.name)


def size_of(plan: Plan, path: VaultPath) -> int:
    """Bytes of a file when the plan was made; 0 when there was none."""
    note = _note(plan.seen, path)
    return 0 if note is None else note.size_bytes


def _look_at(vault: Vault, plan: Plan, note: Note) -> None:
    """Work out what becomes of one note or canvas; it is read when something does, or when nothing is known of it."""
    path = note.path
    is_known = note.is_shown and note.size_bytes <= linking.MAX_LINKED_BYTES
    uses = linking.written_in(note) if is_known else ()
    result = relinking.relink(uses, path, plan.renaming)
    if is_known and not _changes(result):
        return
    try:
        old = vault.files.read_tracked(path)
    except AppError:
        plan.unread += 1
        return
    read = text.decode(old.data)
    if not is_known or old.version != note.version:
        uses = linking.written_in_text(path, read.text)
        result = relinking.relink(uses, path, plan.renaming)
    if _changes(result):
        data, why = _rewritten(plan, path, read, uses, result)
        if why:
            plan.left.append(Left(plan.renaming.now(path), why))
        if data is not None and data != old.data:
            plan.rewrites.append(Rewrite(old, data))
            plan.counts[path] = len(result.pieces)


def _changes(result: Relinked) -> bool:
    return bool(result.pieces or result.unwritable)


def _rewritten(
    plan: Plan, path: VaultPath, note: NoteText, uses: Sequence[LinkUse], result: Relinked
) -> tuple[bytes | None, str]:
    """The new bytes of a note, or None; and why some or all of its links stay as they are, or nothing."""
    if not plan.asked.updates_links:
        return None, "links are not updated, as asked"
    if not note.is_exact:
        return None, "not UTF-8 text"
    new = result.applied(note.text)
    if not _leads_alike(path, uses, new, plan.renaming, result):
        return None, "its links cannot be told apart for certain"
    try:
        data = text.encode(note.with_text(new), str(path))
    except TooLarge:
        return None, "it would grow too large"
    return data, f"{result.unwritable} of its links cannot name the new place" if result.unwritable else ""


def _leads_alike(path: VaultPath, was: Sequence[LinkUse], after: str, renaming: Renaming, result: Relinked) -> bool:
    """Read the new text again: the same links, and those that were rewritten lead where they led."""
    now = linking.written_in_text(path, after)
    if len(was) != len(now):
        return False
    there = renaming.now(path)
    starts = {piece.start for piece in result.pieces}
    for old, new in zip(was, now, strict=True):
        if (old.kind, old.subpath, old.is_embed) != (new.kind, new.subpath, new.is_embed):
            return False
        if old.alias != new.alias and "[" not in old.alias:  # a link may be shown by another one
            return False
        if old.target_span[0] not in starts or old.kind is LinkKind.REFERENCE:
            continue
        if old.kind is LinkKind.CANVAS:
            led, leads = renaming.before.at(old.target), renaming.after.at(new.target)
        else:
            led, leads = renaming.before.first(old.target, path), renaming.after.first(new.target, there)
        if led is None or renaming.now(led) != leads:
            return False
    return True


def _check_size(plan: Plan) -> None:
    way_out = "Move smaller pieces, ask the owner to move it in Obsidian, or move without update_links."
    if len(plan.rewrites) > MAX_REWRITTEN:
        raise TooLarge("the change of links", len(plan.rewrites), MAX_REWRITTEN, unit="notes", way_out=way_out)
    size = sum(len(one.old.data) + len(one.data) for one in plan.rewrites)
    if size > MAX_REWRITTEN_BYTES:
        raise TooLarge("the change of links", size, MAX_REWRITTEN_BYTES, way_out=way_out)
