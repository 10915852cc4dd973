"""What is worked out of a folder is kept as long as nothing in it changes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from service.guards import paths
from service.guards.paths import ROOT
from service.store import looking
from service.store.listings import Listing
from service.vault.picture.kept import Check, Kept
from service.vault.picture.note import Note
from tests.support.desk import Desk


class Work:
    """Names the files of a folder, and counts how often it was asked to."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, listing: Listing[Note]) -> list[str]:
        self.asked += 1
        return sorted(listing.files)

    def of_notes(self, notes: Sequence[Note], check: Check) -> list[str]:
        check()
        self.asked += 1
        return sorted(str(note.path) for note in notes)


def test_a_folder_is_worked_out_again_when_something_in_it_has_changed_and_no_other(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """issue 6: computed once per change."""
    monkeypatch.setattr(looking, "UNSURE_NS", 0)
    desk.put({"a.md": "", "b/c.md": ""})
    kept, work = Kept(), Work()

    def everything() -> dict[str, list[str]]:
        return {str(path): kept.of(listing, work) for path, listing in desk.vault.picture.folders().items()}

    assert [everything() for _ in range(2)] == [{"": ["a.md"], "b": ["c.md"]}] * 2
    assert work.asked == 2
    desk.put({"b/d.md": ""})
    assert everything() == {"": ["a.md"], "b": ["c.md", "d.md"]}
    assert work.asked == 3


def test_two_things_worked_out_of_one_folder_are_kept_apart(desk: Desk) -> None:
    """By what was worked out."""
    desk.put({"a.md": "12"})
    kept, listing = Kept(), desk.vault.picture.folders()[ROOT]
    assert (kept.of(listing, _count), kept.of(listing, _size), kept.of(listing, _count)) == (1, 2, 1)


def test_what_notes_hold_is_not_kept_while_one_could_not_be_looked_at(desk: Desk) -> None:
    """It would be wrong once that one can be."""
    desk.put({"a.md": "", "b.md": "", "p.png": ""})
    kept, work = Kept(), Work()
    listing = desk.vault.picture.now().folders[ROOT]
    listing.files["b.md"].version = ""
    for times in (1, 2):
        assert kept.of_notes(listing, work.of_notes, _never) == ["a.md", "b.md"]
        assert work.asked == times
    listing.files["b.md"].version = "0" * 12
    for _ in range(2):
        kept.of_notes(listing, work.of_notes, _never)
        assert work.asked == 3


def test_work_that_is_given_up_leaves_nothing_behind(desk: Desk) -> None:
    """A deadline in the middle must not leave half an answer."""
    desk.put({"a.md": ""})
    kept, work = Kept(), Work()
    listing = desk.vault.picture.now().folders[ROOT]
    with pytest.raises(TimeoutError):
        kept.of_notes(listing, work.of_notes, _ended)
    assert kept.of_notes(listing, work.of_notes, _never) == ["a.md"]


def test_a_folder_that_has_gone_is_forgotten(desk: Desk) -> None:
    """Memory does not grow with what was."""
    desk.put({"b/c.md": ""})
    kept, work = Kept(), Work()
    kept.of(desk.vault.picture.folders()[paths.folder("b")], work)
    assert len(kept._known) == 1
    (desk.folder / "b/c.md").unlink()
    (desk.folder / "b").rmdir()
    desk.vault.picture.folders()
    assert len(kept._known) == 0


def _count(listing: Listing[Note]) -> int:
    return len(listing.files)


def _size(listing: Listing[Note]) -> int:
    return sum(note.size_bytes for note in listing.files.values())


def _never() -> None:
    return


def _ended() -> None:
    raise TimeoutError
