"""One look at every note."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from service.errors import Unavailable
from service.guards import outgoing, paths
from service.guards.outgoing import View
from service.vault import survey, tasks
from service.vault.parts import tasks as parts
from service.vault.parts.tasks import Task
from service.vault.picture.note import Note
from service.vault.survey import Survey
from tests.support.desk import Desk


def _all(notes: Survey) -> tuple[list[tuple[str, bytes]], int, list[str]]:
    seen = sorted((str(one.path), read[1]) for one in notes if (read := one.read()))
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


def test_a_survey_that_was_stopped_goes_on_where_it_was_when_it_is_asked_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Complaint 5: a vault that is too large for one question's time is read after a few, each note looked at once."""
    desk.put({f"{number}.md": f"- [ ] task {number} <!-- hidden -->\n" for number in range(20)})
    seen: list[str] = []
    found: list[str] = []
    look, find = outgoing.view, parts.of

    def looked(raw: str) -> View:
        seen.append(raw)
        return look(raw)

    def of(text: str) -> Sequence[Task]:
        found.append(text)
        return find(text)

    monkeypatch.setattr(outgoing, "view", looked)
    monkeypatch.setattr(Note.tasks, "_find", of)

    answers: list[tasks.Listed | None] = []
    while len(answers) < 10 and not any(answers):
        answers.append(None)
        with suppress(Unavailable):
            answers[-1] = tasks.find(desk.vault, tasks.Query(limit=50), now=_ending_after(6, found))

    last = answers.pop()
    assert answers == [None, None, None]
    assert last is not None
    assert last.page.total == 20
    assert (len(seen), len(set(seen)), len(found), len(set(found))) == (20, 20, 20, 20)


def _ending_after(count: int, found: list[str]) -> Callable[[], float]:
    """A clock for which the time of a survey is over when `count` more notes were read."""
    most = len(found) + count
    return lambda: survey.DEADLINE_S + 1 if len(found) >= most else 0.0
