"""Edits through the view, by vectors, as a function and through the real tool on the disk.

`tests/vectors/guard_edit_cases.json` came with the specification of the guards; `edit_through_view.json` is ours.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypedDict

import pytest

from service.errors import AppError
from service.guards import outgoing
from service.tools import writing
from service.vault import editing
from service.vault.editing import Edit
from service.vault.text import NoteText
from tests.support.calling import calling
from tests.support.desk import Desk

VECTORS = Path(__file__).resolve().parents[2] / "vectors"


class Case(TypedDict):
    """One vector: an edit of a note, and the note afterwards or the code of the refusal."""

    id: str
    raw: str
    old: str
    new: str
    expected: str | dict[str, str]
    why: str


def cases(name: str) -> list[Case]:
    found: list[Case] = json.loads((VECTORS / name).read_text(encoding="utf-8"))
    return found


GIVEN = cases("guard_edit_cases.json")
OURS = cases("edit_through_view.json")
ALL = [pytest.param(case, id=case["id"]) for case in (*GIVEN, *OURS)]


def test_ours_are_twice_as_many_as_those_given() -> None:
    """The issue: more vectors of the same kinds will be run."""
    assert len(OURS) >= 2 * len(GIVEN)
    assert len({case["id"] for case in (*GIVEN, *OURS)}) == len(ALL)


@pytest.mark.parametrize("case", ALL)
def test_an_edit_comes_out_as_its_vector_says(case: Case) -> None:
    """guards.md 4.5 and 6, 54."""
    edit = Edit(case["old"], case["new"])
    expected = case["expected"]
    if isinstance(expected, dict):
        with pytest.raises(AppError) as caught:
            editing.apply(NoteText(case["raw"]), [edit])
        assert caught.value.code == expected["error"], case["why"]
        return
    after, _ = editing.apply(NoteText(case["raw"]), [edit])
    assert after.text == expected, case["why"]
    before = outgoing.view(case["raw"]).text.replace("\r\n", "\n")
    old, new = (words.replace("\r\n", "\n") for words in (case["old"], case["new"]))
    assert outgoing.view(after.text).text.replace("\r\n", "\n") == before.replace(old, new)


@pytest.mark.anyio
async def test_so_it_does_through_the_tool_on_the_disk(desk: Desk) -> None:
    """One session and one note for all; a refusal leaves every byte."""
    async with calling(desk.room, writing.SPECS) as caller:
        for case in (*GIVEN, *OURS):
            desk.put({"n.md": case["raw"]})
            edit = {"old_string": case["old"], "new_string": case["new"]}
            if isinstance(case["expected"], dict):
                refusal = await caller.refusal("edit_note", path="n.md", edits=[edit])
                assert refusal.startswith(case["expected"]["error"] + ": "), case["id"]
                assert desk.bytes_of("n.md") == case["raw"].encode(), case["id"]
            else:
                await caller.facts("edit_note", path="n.md", edits=[edit])
                assert desk.bytes_of("n.md") == case["expected"].encode(), case["id"]
