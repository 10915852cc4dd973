"""How this vault is organised, for an assistant that has not seen it: the owner's own words, and a few facts.

The owner's words are a note at the root, STRONGROOM.md or else AGENTS.md, and go through the output guard like any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from service.clock import today
from service.errors import AppError, Conflict, NotFound, Refused
from service.guards import limits, paths
from service.guards.paths import ROOT
from service.vault import browsing, daily, excerpts, notes
from service.vault.excerpts import Span
from service.vault.model import Vault
from service.vault.notes import Note

NAMES: Final = ("STRONGROOM.md", "AGENTS.md")
"""The notes that are asked for, the first of which counts."""

_MAX_FOLDERS: Final = 40


@dataclass(frozen=True, slots=True)
class Guide:
    """A few facts, and the owner's words as far as they may be shown (`note` None: there are none)."""

    facts: Sequence[str]
    note: Note | None = None
    words: str = ""
    is_cut: bool = False


def of(vault: Vault) -> Guide:
    """The guide to a vault.

    Raises:
        Unavailable: counting took too long, or the vault is not there.
    """
    facts = tuple(_facts(vault))
    for name in NAMES:
        try:
            note = notes.read(vault, paths.note(name))
        except NotFound:
            continue
        except (Refused, Conflict) as error:  # a link, say: the facts are worth having all the same
            return Guide((*facts, f"{name} cannot be shown: {error}"))
        part = excerpts.excerpt(note.view.text, Span(), limits.MAX_GUIDE_CHARS)
        return Guide(facts, note, part.text, part.next_line is not None)
    return Guide(facts)


def _facts(vault: Vault) -> Iterator[str]:
    counted = browsing.stats(vault, 0)
    yield f"{counted.notes} notes and {counted.attachments} other files in {counted.folders} folders."
    page = browsing.directory(vault, ROOT, limit=_MAX_FOLDERS)
    if folders := browsing.folders_among(page.items):
        named = ", ".join(f"{path}/{' (low trust)' if vault.low_trust.holds(path) else ''}" for path in folders)
        yield f"Folders at the top: {named}."
    if where := _daily_note(vault):
        yield f"Today's daily note: {where}."


def _daily_note(vault: Vault) -> str:
    """Where the day's note belongs; empty when the vault's settings cannot be followed (the tools for it say why)."""
    try:
        return str(daily.place(vault, today(vault.clock)).path)
    except AppError:
        return ""
