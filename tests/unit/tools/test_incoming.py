"""What the writing tools write of what a model gives them: the disk and the answer, through a client."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from service.tools import daily, past, writing
from tests.support.calling import Caller, calling
from tests.support.desk import Desk, desk_in
from tests.support.rooms import room_for, settings_for
from tests.support.vectors import cases

pytestmark = pytest.mark.anyio

SPECS = [*writing.SPECS, *daily.SPECS, *past.SPECS]
IMAGE = "![a](https://evil.example/x)"
LINK = "[a](https://evil.example/x)"
ONE_IMAGE = "1 remote image was made a link."


@pytest.fixture
async def caller(desk: Desk) -> AsyncIterator[Caller]:
    async with calling(desk.room, SPECS) as caller:
        yield caller


async def test_every_vector_given_to_create_note_stands_on_the_disk_as_expected(caller: Caller, desk: Desk) -> None:
    """guards.md 6, 53, through the real tool."""
    for case in cases("in", "guard_cases", "guard_incoming_cases"):
        answer = await caller.facts("create_note", path=f"{case.id}.md", content=case.input)
        assert desk.bytes_of(f"{case.id}.md").decode() == case.expected, case.id
        assert bool(answer["notice"]) == (case.is_attack or "<!--" in case.input), case.id


async def test_each_way_of_writing_makes_harmless_and_says_so(caller: Caller, desk: Desk) -> None:
    """Every write of model-given text."""
    desk.put({"n.md": "one\r\n"})
    told = [
        await caller.facts("create_note", path="c.md", content=IMAGE),
        await caller.facts("append_to_note", path="n.md", content=IMAGE),
        await caller.facts("edit_note", path="n.md", edits=[{"old_string": "one", "new_string": f"1 {IMAGE}"}]),
        await caller.facts("append_daily_note", text=IMAGE),
        await caller.facts("append_daily_note", text=f"again {IMAGE}"),
    ]
    assert [answer["notice"] for answer in told] == [ONE_IMAGE] * 5
    assert desk.bytes_of("c.md").decode() == LINK
    assert desk.bytes_of("n.md").decode() == f"1 {LINK}\r\n{LINK}\r\n"
    assert desk.bytes_of("2026-03-01.md").decode() == f"- 12:00 {LINK}\n- 12:00 again {LINK}\n"
    assert [answer["line"] for answer in told[3:]] == [f"- 12:00 {LINK}", f"- 12:00 again {LINK}"]
    assert IMAGE not in str(told)


async def test_a_dry_run_shows_what_would_be_written(caller: Caller, desk: Desk) -> None:
    """The diff is of what is written, not of what was asked."""
    desk.put({"n.md": "one\n"})
    edits = [{"old_string": "one", "new_string": IMAGE}]
    tried = await caller.facts("edit_note", path="n.md", edits=edits, dry_run=True)
    assert desk.bytes_of("n.md") == b"one\n"
    done = await caller.facts("edit_note", path="n.md", edits=edits)
    assert tried == {**done, "dry_run": True}
    assert tried["diff"] == f"@@ -1 +1 @@\n-one\n+{LINK}"
    assert tried["notice"] == ONE_IMAGE


async def test_replacing_in_many_places_makes_each_harmless(caller: Caller, desk: Desk) -> None:
    """Several spans in one edit."""
    desk.put({"n.md": "x one\ny one\nz one\n"})
    edits = [{"old_string": "one", "new_string": IMAGE, "replace_all": True}]
    answer = await caller.facts("edit_note", path="n.md", edits=edits)
    assert desk.bytes_of("n.md").decode() == f"x {LINK}\ny {LINK}\nz {LINK}\n"
    assert answer["notice"] == "3 remote images were made links."


@pytest.mark.parametrize("dry_run", [False, True])
async def test_bringing_old_text_to_life_is_refused_and_changes_nothing(
    caller: Caller, desk: Desk, dry_run: bool
) -> None:
    """guards.md 6, 56."""
    before = f"```dataview\nLIST\n```\n\nsee {LINK}\n"
    desk.put({"n.md": before})
    for old, new in [("dataview", "dataviewjs"), ("see ", "see !")]:
        edits = [{"old_string": old, "new_string": new}]
        refusal = await caller.refusal("edit_note", path="n.md", edits=edits, dry_run=dry_run)
        assert refusal.startswith("UNSAFE_CONTENT: ")
    assert (await caller.refusal("edit_note", path="n.md", edits=[
        {"old_string": LINK, "new_string": f"!{LINK}"}])).startswith("UNSAFE_CONTENT: ")  # fmt: skip
    assert desk.bytes_of("n.md").decode() == before


async def test_what_the_owner_has_stays_through_all_of_it(caller: Caller, desk: Desk) -> None:
    """Owner's own text is never touched."""
    owners = f"{IMAGE}\n\n<iframe src=https://mine.example></iframe>\n\n```dataviewjs\nx\n```\n\n<% tp.x %>\n"
    desk.put({"n.md": owners + "\nend\n"})
    await caller.facts("append_to_note", path="n.md", content="more")
    await caller.facts("edit_note", path="n.md", edits=[{"old_string": "end", "new_string": "the end"}])
    assert desk.bytes_of("n.md").decode() == owners + "\nthe end\nmore\n"


async def test_a_restore_brings_back_the_owners_bytes(caller: Caller, desk: Desk) -> None:
    """A restore is no write of a model's text."""
    owners = f"{IMAGE}\n<% tp.x %>\n".encode()
    desk.put({"n.md": owners})
    desk.room.history.commit("test")
    await caller.facts("edit_note", path="n.md", edits=[{"old_string": "![a]", "new_string": "[a]"}])
    desk.room.history.commit("test")
    await caller.text("restore_note", path="n.md")
    assert desk.bytes_of("n.md") == owners


async def test_invisible_characters_are_left_out_of_every_write(caller: Caller, desk: Desk) -> None:
    """guards.md 4.4: the model must not plant them; those of the note stay."""
    desk.put({"n.md": "a\u200bb end\n"})
    answer = await caller.facts(
        "edit_note", path="n.md", edits=[{"old_string": "end", "new_string": "t\u200bhe\u00ad end"}]
    )
    assert answer["notice"] == "2 invisible characters were left out."
    await caller.facts("append_to_note", path="n.md", content="m\U000e0041ore")
    assert desk.bytes_of("n.md").decode() == "a\u200bb the end\nmore\n"


@pytest.mark.parametrize(
    ("path", "is_let_through"),
    [
        ("Templates/n.md", True),
        ("templates/deep/n.md", True),
        ("Vorlagen für/n.md", True),
        ("Vorlagen fu\u0308r/n.md", True),
        ("Templates2/n.md", False),
        ("x/Templates/n.md", False),
        ("n.md", False),
    ],
)
async def test_in_named_folders_things_may_run(tmp_path: Path, path: str, is_let_through: bool) -> None:
    """STRONGROOM_ALLOW_ACTIVE, matched as STRONGROOM_LOW_TRUST is."""
    desk = desk_in(tmp_path)
    desk.put({path: "end\n"})
    room = room_for(settings_for(tmp_path, ALLOW_ACTIVE="TEMPLATES, Vorlagen für/"), desk.clock)
    async with calling(room, SPECS) as caller:
        spelled = path if path != "Vorlagen fu\u0308r/n.md" else "Vorlagen für/n.md"
        answer = await caller.facts("append_to_note", path=spelled, content=f"<% x %> {IMAGE}")
    written = desk.bytes_of(path).decode()
    assert written == ("end\n" + (f"<% x %> {IMAGE}" if is_let_through else f"<\\% x %> {LINK}") + "\n")
    assert bool(answer["notice"]) != is_let_through


async def test_no_folder_is_named_unless_somebody_does(desk: Desk) -> None:
    """Safe by default."""
    assert desk.room.settings.allow_active == ()
    assert desk.vault.may_be_active.folders == ()
