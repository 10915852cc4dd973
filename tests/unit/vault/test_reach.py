"""Which folders a question looks into."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.errors import NoteNotFound
from service.guards import paths
from service.guards.paths import ROOT
from service.guards.trust import LowTrust
from service.vault import reach
from tests.support.desk import Desk

FILES = {"a.md": "", "x/b.md": "", "x/mail/c.md": "", "x/mail/d/e.md": "", "clippings/f.md": "", "z/Clippings/g.md": ""}


def reached(desk: Desk, folder: str = "", *, include_low_trust: bool = False) -> tuple[list[str], list[str]]:
    vault = replace(desk.vault, low_trust=LowTrust.of(["Clippings", "X/Mail", "x/b.md"]))
    found = reach.of(
        vault,
        vault.picture.folders(),
        paths.folder(folder) if folder else ROOT,
        include_low_trust=include_low_trust,
    )
    files = [str(file.path) for listing in found.listings for file in listing.files.values()]
    return sorted(files), sorted(map(str, found.left_out))


def test_low_trust_folders_and_notes_are_left_out_and_named(desk: Desk) -> None:
    """decisions.md 15; the setting names folders without regard to case, at that place only, and may name a note."""
    desk.put(FILES)
    assert reached(desk) == (["a.md", "z/Clippings/g.md"], ["clippings", "x/b.md", "x/mail"])


def test_they_are_looked_into_when_they_are_included_or_asked_for(desk: Desk) -> None:
    """decisions.md 15."""
    desk.put(FILES)
    assert reached(desk, include_low_trust=True) == (sorted(FILES), [])
    assert reached(desk, "x/mail/d") == (["x/mail/d/e.md"], [])
    assert reached(desk, "x") == ([], ["x/b.md", "x/mail"])


def test_a_missing_folder_is_said(desk: Desk) -> None:
    """contract.md, not found."""
    desk.put(FILES)
    with pytest.raises(NoteNotFound):
        reached(desk, "y")
