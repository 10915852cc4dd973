"""Which tasks there are in a vault."""

from __future__ import annotations

import json
from datetime import date, timedelta

import pytest

from service.clock import today
from service.errors import BadArgument, NoteNotFound
from service.guards import paths
from service.vault import task_changes, tasks
from service.vault.parts.task_fields import Kind
from service.vault.task_settings import SETTINGS, Meaning
from service.vault.tasks import Query
from tests.support.clock import HeldClock
from tests.support.desk import NOTE, Desk, desk_in

NOTES = {
    "b.md": "- [ ] later 📅 2026-03-05\n- [ ] undated\n- [x] done 📅 2026-03-01 ✅ 2026-03-02\n",
    "a.md": "# A\n\n- [ ] first 📅 2026-03-01 #work/sub\n- [/] begun [due:: 2026-03-05] #home\n- [-] cancelled\n",
    "Deep/c.markdown": "> - [ ] quoted 📅 2026-03-03\n- [>] forwarded 📅 2026-02-30\n",
    "Deep/plain.txt": "- [ ] no Markdown\n",
    "Deep/board.canvas": '{"nodes":[]}',
    "clippings/web.md": "- [ ] from outside 📅 2026-01-01\n",
}


def _found(desk: Desk, **asked: object) -> list[str]:
    desk.put(NOTES)
    listed = tasks.find(desk.vault, Query(**asked))  # type: ignore[arg-type]
    return [one.task.words.split(" #")[0] for one in listed.page.items]


def test_open_tasks_come_by_due_date_undated_last_then_by_path_and_line(desk: Desk) -> None:
    """contract.md, list_tasks. A date that is on no calendar is none."""
    assert _found(desk) == ["first", "quoted", "begun", "later", "forwarded", "undated"]


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (Meaning.DONE, ["done"]),
        (Meaning.CANCELLED, ["cancelled"]),
        (None, ["first", "done", "quoted", "begun", "later", "forwarded", "cancelled", "undated"]),
    ],
)
def test_tasks_of_another_status_come_when_asked_for(desk: Desk, status: Meaning | None, expected: list[str]) -> None:
    """contract.md, status."""
    assert sorted(_found(desk, status=status)) == sorted(expected)


def test_bounds_include_their_day_and_leave_out_what_has_no_date(desk: Desk) -> None:
    """contract.md: due_before, due_after; ancestors.md 1.2.4."""
    day = date(2026, 3, 3)
    assert _found(desk, due_before=day) == ["first", "quoted"]
    assert _found(desk, due_after=day) == ["quoted", "begun", "later"]
    assert _found(desk, due_after=day, due_before=day) == ["quoted"]
    assert _found(desk, due_after=day + timedelta(1), due_before=day) == []


@pytest.mark.parametrize(
    ("tag", "expected"), [("work", ["first"]), ("#WORK/sub", ["first"]), ("home", ["begun"]), ("wor", []), ("sub", [])]
)
def test_a_tag_is_one_on_the_tasks_own_line_or_one_nested_in_it(desk: Desk, tag: str, expected: list[str]) -> None:
    """contract.md, tag; ancestors.md 1.2.8, 11."""
    assert _found(desk, tag=tag) == expected


def test_a_tag_in_front_matter_is_of_the_note_and_not_of_its_tasks(desk: Desk) -> None:
    """Obsidian Tasks has the tags of the line."""
    desk.put({"n.md": "---\ntags: [home]\n---\n- [ ] a\n- [ ] b #home\n- [ ] c `#home`\n"})
    listed = tasks.find(desk.vault, Query(tag="home"))
    assert [one.task.line for one in listed.page.items] == [5]


def test_a_folder_is_looked_into_and_not_one_whose_name_begins_alike(desk: Desk) -> None:
    """ancestors.md 1.2.5: a folder prefix."""
    desk.put({"Deeper/d.md": "- [ ] deeper\n"})
    assert _found(desk, folder=paths.folder("Deep")) == ["quoted", "forwarded"]
    with pytest.raises(NoteNotFound):
        _found(desk, folder=paths.folder("Nowhere"))


def test_low_trust_folders_are_left_out_unless_asked_for(desk: Desk) -> None:
    """decisions.md 15."""
    desk.put(NOTES)
    listed = tasks.find(desk.vault, Query())
    assert [str(path) for path in listed.left_out] == ["clippings"]
    assert _found(desk, include_low_trust=True)[0] == "from outside"
    assert _found(desk, folder=paths.folder("clippings")) == ["from outside"]


def test_pages_enumerate_all_of_them(desk: Desk) -> None:
    """Complaint 8."""
    desk.put({f"n{number:03}.md": "- [ ] a\n- [ ] b 📅 2026-01-01\n" for number in range(60)})
    seen, offset = [], 0
    while True:
        page = tasks.find(desk.vault, Query(limit=7, offset=offset)).page
        seen += [(str(one.path), one.task.line) for one in page.items]
        assert page.total == 120
        if page.next_offset is None:
            break
        offset = page.next_offset
    assert len(set(seen)) == len(seen) == 120


def test_a_note_that_is_no_utf_8_does_not_stop_the_list(desk: Desk) -> None:
    """Complaint 20."""
    desk.put({"odd.md": b"\xff\n- [ ] odd\n", "n.md": "- [ ] fine\n"})
    assert [one.task.words for one in tasks.find(desk.vault, Query()).page.items] == ["fine", "odd"]


def test_what_is_hidden_is_no_task_and_lines_stay_those_of_the_file(desk: Desk) -> None:
    """guards.md: a view leaves out, and never a line break."""
    desk.put({"n.md": "<!--\n- [ ] hidden\n-->\n- [ ] shown <!-- x --> 📅 2026-03-01\n"})
    [one] = tasks.find(desk.vault, Query()).page.items
    assert (one.task.line, one.task.words, one.task.value(Kind.DUE)) == (4, "shown", "2026-03-01")


def test_what_is_remembered_is_never_older_than_the_note(desk: Desk) -> None:
    """Tasks are remembered by the text they were found in."""
    for word in ("one", "two", "one"):
        desk.put({"n.md": f"- [ ] {word}\n"})
        assert [one.task.words for one in tasks.find(desk.vault, Query()).page.items] == [word]


def test_the_vaults_settings_say_which_boxes_are_tasks_and_what_they_mean(desk: Desk) -> None:
    """The plugin's data.json: global filter, custom statuses."""
    custom = [
        {"symbol": ">", "nextStatusSymbol": "x", "type": "CANCELLED"},
        {"symbol": "i", "nextStatusSymbol": "x", "type": "NON_TASK"},
        {"symbol": "h", "nextStatusSymbol": "x", "type": "ON_HOLD"},
    ]
    settings = {"globalFilter": "#task", "statusSettings": {"coreStatuses": [], "customStatuses": custom}}
    lines = ["- [ ] a #task", "- [ ] b", "- [>] c #task", "- [i] d #task", "- [h] e #task", "- [x] f #task"]
    desk.put({"n.md": "\n".join(lines), SETTINGS: json.dumps(settings)})
    for status, expected in ((Meaning.OPEN, "ae"), (Meaning.CANCELLED, "c"), (Meaning.DONE, "f"), (None, "acdef")):
        found = tasks.find(desk.vault, Query(status=status)).page.items
        assert "".join(one.task.words[0] for one in found) == expected


@pytest.mark.parametrize(
    "settings",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b"null",
        b'{"statusSettings": 1, "globalFilter": 2, "setDoneDate": "no", "taskFormat": []}',
        b'{"statusSettings": {"coreStatuses": [1, {"symbol": "xx"}, {"symbol": 3}], "customStatuses": {}}}',
        b"[" * 100_000,
    ],
)
def test_settings_that_cannot_be_read_are_those_of_the_plugin_itself(desk: Desk, settings: bytes) -> None:
    """As for the vault's other settings: what is no JSON, or of the wrong type, counts as not set."""
    desk.put({SETTINGS: settings, "n.md": "- [ ] a\n"})
    [one] = tasks.find(desk.vault, Query()).page.items
    task_changes.complete(desk.vault, desk.actor, NOTE, 1, expected_hash=one.version)
    assert desk.bytes_of("n.md") == "- [x] a ✅ 2026-03-01\n".encode()


def test_today_is_the_owners_day(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Complaint 43: with TZ=Asia/Tokyo at 23:30Z it is the next day."""
    desk = desk_in(tmp_path_factory.mktemp("tokyo"), HeldClock.at("2026-03-01T23:30:00", "Asia/Tokyo"))
    assert today(desk.vault.clock) == date(2026, 3, 2)
    desk.put({"n.md": "- [ ] a 🔁 every day when done 📅 2026-01-01\n"})
    [one] = tasks.find(desk.vault, Query()).page.items
    task_changes.complete(desk.vault, desk.actor, NOTE, 1, expected_hash=one.version)
    assert desk.bytes_of("n.md").decode() == (
        "- [ ] a 🔁 every day when done 📅 2026-03-03\n- [x] a 🔁 every day when done 📅 2026-01-01 ✅ 2026-03-02\n"
    )


def test_days_are_real_days(desk: Desk) -> None:
    """contract.md, day."""
    assert tasks.day(desk.vault, "") is None
    assert tasks.day(desk.vault, "2024-02-29") == date(2024, 2, 29)
    for raw in ("2026-02-29", "tomorrow", "2026-W01-1", "20260301"):
        with pytest.raises(BadArgument):
            tasks.day(desk.vault, raw)
    with pytest.raises(BadArgument, match="missing"):
        tasks.named_day(desk.vault, " ")
