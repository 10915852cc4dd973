"""What a move would do: what moves where, and what becomes of each note whose links would lead elsewhere.

Reads the whole vault, writes nothing. Raw text is rewritten, what is hidden included: these are the owner's links, and
nothing of it is shown. What cannot be rewritten (no UTF-8, too large) is left as it is and named.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from service.errors import BadArgument, NoteChanged, NoteExists, TooLarge, Unavailable
from service.guards import limits, paths
from service.guards.paths import ROOT, VaultPath
from service.store import scan
from service.store.files import FileContent, version_of
from service.store.scan import Scanned
from service.store.together import Move, Rewrite
from service.vault import move_asked, patience, relinking, text
from service.vault.model import Vault
from service.vault.move_asked import Asked
from service.vault.parts import canvas, links
from service.vault.parts.linkuse import LinkKind, LinkUse
from service.vault.patience import Deadline
from service.vault.relinking import Relinked, Renaming
from service.vault.text import NoteText

MAX_REWRITTEN: Final = 1_000
"""Notes that one move may rewrite: some twenty seconds on a slow disk, in which nobody else writes."""

MAX_REWRITTEN_BYTES: Final = 50_000_000
"""Bytes of those notes before and after, since the journal holds them."""

DEADLINE_S: Final = 45.0
"""Seconds that planning may take, below the minute that clients commonly wait."""

LINKING_SUFFIXES: Final = (*paths.MARKDOWN_SUFFIXES, ".canvas")
"""Files that hold links which follow a move. What a `.base` file names is not known to be a link, so it is left alone."""

_ALL: Final = ("",)


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
    seen: Mapping[VaultPath, tuple[int, int]]
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
    seen = files_seen(vault)
    moved = {path: _moved_path(path, source, target) for path in seen if path.is_inside(source)}
    plan = Plan(asked, Move(source, target, old), to_trash, Renaming.of(seen, moved), seen)
    try:
        for found in scan.scan(
            vault.files,
            max_bytes=limits.MAX_NOTE_BYTES,
            is_wanted=lambda _: _goes_on(deadline),
            suffixes=LINKING_SUFFIXES,
        ):
            _look_at(vault, plan, found)
    except _TooSlow:
        if asked.updates_links:
            raise
        plan.is_cut_short = True  # nothing depends on it but what the answer tells
    plan.rewrites.sort(key=lambda one: one.old.path.parts)
    plan.left.sort(key=lambda one: one.path.parts)
    _check_size(plan)
    return plan


def files_seen(vault: Vault) -> dict[VaultPath, tuple[int, int]]:
    """Every visible file with its size and time: what links can reach, and whether anything has changed since."""
    return {entry.path: (entry.size_bytes, entry.mtime_ns) for entry in vault.files.walk(ROOT, _ALL)}


def _moved_path(path: VaultPath, source: VaultPath, target: VaultPath) -> VaultPath:
    for part in path.parts[len(source.parts) :]:
        target = target.child(part)
    return target


def _goes_on(deadline: Deadline) -> bool:
    if deadline.now() > deadline.at:
        raise _TooSlow
    return True


def _look_at(vault: Vault, plan: Plan, found: Scanned) -> None:
    """Work out what becomes of one note or canvas."""
    path = found.path
    if plan.to_trash is not None and path == plan.to_trash.source:
        return
    if found.data is None:
        plan.unread += 1
        return
    note = text.decode(found.data)
    is_canvas = path.has_suffix((".canvas",))
    if not (is_canvas or path in plan.renaming.moved or relinking.may_concern(note.text, plan.renaming)):
        return
    raw = found.data.removeprefix(codecs.BOM_UTF8)
    result = relinking.relink(_uses(path, note.text) if is_canvas else vault.facts.links.of(raw), path, plan.renaming)
    if result.pieces or result.unwritable:
        data, why = _rewritten(plan, path, note, result)
        if why:
            plan.left.append(Left(plan.renaming.now(path), why))
        if data not in (None, found.data):
            plan.rewrites.append(Rewrite(_still(vault, found), data))
            plan.counts[path] = len(result.pieces)


def _rewritten(plan: Plan, path: VaultPath, note: NoteText, result: Relinked) -> tuple[bytes | None, str]:
    """The new bytes of a note, or None; and why some or all of its links stay as they are, or nothing."""
    if not plan.asked.updates_links:
        return None, "links are not updated, as asked"
    if not note.is_exact:
        return None, "not UTF-8 text"
    new = result.applied(note.text)
    if not _leads_alike(path, note.text, new, plan.renaming, result):
        return None, "its links cannot be told apart for certain"
    try:
        data = text.encode(note.with_text(new), str(path))
    except TooLarge:
        return None, "it would grow too large"
    return data, f"{result.unwritable} of its links cannot name the new place" if result.unwritable else ""


def _still(vault: Vault, found: Scanned) -> FileContent:
    """The file once more, which must not have changed since it was scanned."""
    old = vault.files.read_tracked(found.path)
    if found.data != old.data:
        raise NoteChanged(str(found.path), version_of(found.data or b""), old.version)
    return old


def _uses(path: VaultPath, raw: str) -> Sequence[LinkUse]:
    if path.has_suffix((".canvas",)):
        read = canvas.of(raw)
        return read.links if read else ()
    return links.of(raw)


def _leads_alike(path: VaultPath, before: str, after: str, renaming: Renaming, result: Relinked) -> bool:
    """Read the new text again: the same links, and those that were rewritten lead where they led."""
    was, now = _uses(path, before), _uses(path, after)
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
