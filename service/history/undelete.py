"""Bring back a note that was deleted: the newest from the vault's trash, else the last that history holds.

Unlike a restore it never touches a note that is there, and records nothing first: nothing is replaced.
"""

from __future__ import annotations

from dataclasses import dataclass

from service.errors import NoteExists, NoteNotFound, PathRefused
from service.guards.paths import VaultPath
from service.history import old
from service.history.history import History
from service.history.model import Revision
from service.store.files import FileContent
from service.vault import notes
from service.vault.model import Actor, Change, Vault
from service.vault.notes import Written


@dataclass(frozen=True, slots=True)
class Undeleted:
    """A note that is there again. `revision` is where it came from; None for the trash."""

    written: Written
    revision: Revision | None


def note(vault: Vault, history: History, actor: Actor, path: VaultPath) -> Undeleted:
    """Bring the note at `path` back to its place.

    Raises:
        NoteExists: a note is there, or one whose name is the same to many devices.
        RevisionNotFound: neither the trash nor history holds it.
        BadArgument: it was not deleted but renamed.
    """
    with vault.lock.writing():
        _refuse_present(vault, path)
        found = _in_trash(vault, history, path)
        if found is not None:
            back = vault.files.move(found, path, actor.permit)
            vault.on_change(actor, [Change(found.path, found.data, None), Change(back.path, None, back.data)])
            return Undeleted(notes.written(back), None)
    data, revision = old.newest(vault, history, path)
    with vault.lock.writing():
        made = vault.files.create(path, data, actor.permit)
        vault.on_change(actor, [Change(made.path, None, made.data)])
    return Undeleted(notes.written(made), revision)


def _refuse_present(vault: Vault, path: VaultPath) -> None:
    try:
        there = vault.files.locate(path)
    except NoteNotFound:
        return
    raise NoteExists(str(there))


def _in_trash(vault: Vault, history: History, path: VaultPath) -> FileContent | None:
    """What lies in the trash under this name. Obsidian puts a folder there without what it lay in, so a limited reader gets
    only what is known to have been here."""
    for trashed in vault.files.trashed(path):
        try:
            found = vault.files.read_tracked(trashed)
        except (NoteNotFound, PathRefused):  # a link or a folder of that name
            continue
        if not history.is_limited or history.was_at(path, found.data):
            return found
    return None
