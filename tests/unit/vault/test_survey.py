"""One look at every note."""

from __future__ import annotations

from pathlib import Path

from service.guards import paths
from service.vault import survey
from service.vault.survey import Survey
from tests.support.desk import Desk


def _all(notes: Survey) -> tuple[list[tuple[str, bytes]], int, list[str]]:
    seen = sorted((str(one.path), one.shown) for one in notes)
    return seen, notes.skipped, [str(path) for path in notes.left_out]


def test_a_survey_sees_the_view_of_each_note_and_counts_what_it_could_not_see(desk: Desk) -> None:
    """guards.md 4: what is not shown does not come out in answers either."""
    desk.put({"a.md": "\ufeffx <!-- y --> z\n", "b/c.md": b"\xff", "Clippings/d.md": "e", ".obsidian/f.md": "g"})
    Path(desk.folder / "link.md").symlink_to("a.md")
    assert survey.make(desk.vault, _all) == ([("a.md", b"x  z\n"), ("b/c.md", b"\xff")], 0, ["Clippings"])


def test_a_folder_or_all_of_low_trust_can_be_asked_for(desk: Desk) -> None:
    """decisions.md 15."""
    desk.put({"a.md": "x", "Clippings/d.md": "e", "b/c.md": "y"})
    within = survey.make(desk.vault, _all, paths.folder("Clippings"))
    everything = survey.make(desk.vault, _all, include_low_trust=True)
    assert within == ([("Clippings/d.md", b"e")], 0, [])
    assert [path for path, _ in everything[0]] == ["Clippings/d.md", "a.md", "b/c.md"]


def test_what_is_excluded_is_not_looked_into(desk: Desk) -> None:
    """Our decision: an excluded folder is left out whole."""
    desk.put({"a.md": "x", "b/c.md": "y"})
    seen, skipped, left_out = survey.make(desk.vault, _all, is_excluded=lambda path: path.parts == ("b",))
    assert (seen, skipped, left_out) == ([("a.md", b"x")], 0, [])
