"""Making a task done and putting one off: what is written, to the byte, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date

import pytest

from service.errors import AppError, BadArgument, HiddenContent, NotATask, NoteChanged, NotText
from service.store.files import version_of
from service.vault import task_changes
from service.vault.task_changes import Changed
from service.vault.task_settings import SETTINGS
from tests.support.desk import NOTE, Desk

DONE = "✅ 2026-03-01"
"""The desk's day."""


def _version(desk: Desk) -> str:
    return version_of(desk.bytes_of("n.md"))


def _complete(desk: Desk, text: str | bytes, line: int = 1, done_on: date | None = None) -> Changed:
    desk.put({"n.md": text})
    return task_changes.complete(desk.vault, desk.actor, NOTE, line, expected_hash=_version(desk), done_on=done_on)


def _postpone(desk: Desk, text: str | bytes, line: int = 1, day: str = "2026-04-05") -> Changed:
    desk.put({"n.md": text})
    day_ = date.fromisoformat(day)
    return task_changes.postpone(desk.vault, desk.actor, NOTE, line, expected_hash=_version(desk), day=day_)


def _set(desk: Desk, settings: Mapping[str, object]) -> None:
    desk.put({SETTINGS: json.dumps(settings)})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("- [ ] a", f"- [x] a {DONE}"),
        ("- [ ] a\n", f"- [x] a {DONE}\n"),
        ("- [ ] a\r\n- [ ] b\r\n", f"- [x] a {DONE}\r\n- [ ] b\r\n"),
        ("- [ ] a ^abc\n", f"- [x] a {DONE} ^abc\n"),
        ("- [ ] a 📅 2026-02-01  ^abc \r\n", f"- [x] a 📅 2026-02-01 {DONE}  ^abc \r\n"),
        ("- [ ] a %%id%%\n", f"- [x] a {DONE} %%id%%\n"),
        ("- [ ] a %%x%% 📅 2026-02-01 %%y%% %%z%% ^b\n", f"- [x] a %%x%% 📅 2026-02-01 {DONE} %%y%% %%z%% ^b\n"),
        ("- [ ] a <!-- x -->\n", f"- [x] a {DONE} <!-- x -->\n"),
        ("- [ ] a <!-- x --> ^b\n", f"- [x] a {DONE} <!-- x --> ^b\n"),
        ("- [ ] a #tag [k:: v]  \n", f"- [x] a #tag [k:: v] {DONE}  \n"),
        ("- [/] a\n", f"- [x] a {DONE}\n"),
        ("- [>] a\n", f"- [x] a {DONE}\n"),
        ("> * [ ]\ta\n", f"> * [x]\ta {DONE}\n"),
        ("1. [ ] a\n", f"1. [x] a {DONE}\n"),
        ("> [!todo]\n> - [ ] a\n", f"> [!todo]\n> - [x] a {DONE}\n"),
        ("- [ ]\n", f"- [x] {DONE}\n"),
        ("- [ ] a ✅ 2020-01-01 ^b\n", f"- [x] a {DONE} ^b\n"),
        ("- [ ] a [due:: 2026-01-01]\n", f"- [x] a [due:: 2026-01-01] {DONE}\n"),
        ("\ufeff- [ ] a\r\n", f"\ufeff- [x] a {DONE}\r\n"),
        ("- [ ] 📅 2026-01-01 a\n", f"- [x] 📅 2026-01-01 a {DONE}\n"),
    ],
)
def test_a_task_is_ticked_and_dated_and_nothing_else_of_it_changes(desk: Desk, before: str, after: str) -> None:
    """contract.md, complete_task; complaints 15, 44, 45; ancestors.md 1.2.8, 1 and 2."""
    line = next((number for number, text in enumerate(before.split("\n"), 1) if "[" in text and "[!" not in text), 1)
    if before == after:  # indented like code
        with pytest.raises(NotATask):
            _complete(desk, before, line)
    else:
        changed = _complete(desk, before, line)
        assert changed.line == line
        assert changed.words == after.removeprefix("\ufeff").split("\n")[line - 1].rstrip("\r").replace(
            "<!-- x -->", ""
        )
    assert desk.bytes_of("n.md").decode() == after


def test_the_day_it_was_done_may_be_another(desk: Desk) -> None:
    """contract.md: done_date."""
    _complete(desk, "- [ ] a\n", done_on=date(2026, 2, 3))
    assert desk.bytes_of("n.md") == "- [x] a ✅ 2026-02-03\n".encode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "- [ ] take out the trash 🔁 every Sunday 📅 2021-04-25\n",
            "- [ ] take out the trash 🔁 every Sunday 📅 2021-05-02\n"
            f"- [x] take out the trash 🔁 every Sunday 📅 2021-04-25 {DONE}\n",
        ),
        (
            "a\r\n- [ ] b 🔁 every day 📅 2026-03-01 ^b-1",
            f"a\r\n- [ ] b 🔁 every day 📅 2026-03-02\r\n- [x] b 🔁 every day 📅 2026-03-01 {DONE} ^b-1",
        ),
        (
            "  > 2) [/] b 🆔 q ⛔ r 🔺 🔁 every week 🛫 2026-01-01 ⏳ 2026-01-02 📅️ 2026-01-03 #t\n".replace(
                "  > ", "> "
            ),
            "> 2) [ ] b 🔺 🔁 every week 🛫 2026-01-08 ⏳ 2026-01-09 📅️ 2026-01-10 #t\n"
            f"> 2) [x] b 🆔 q ⛔ r 🔺 🔁 every week 🛫 2026-01-01 ⏳ 2026-01-02 📅️ 2026-01-03 #t {DONE}\n",
        ),
        (
            "- [ ] b 🔁 every week when done 📅 2026-01-03 ➕ 2025-12-01 ❌ 2025-12-02\n",
            "- [ ] b 🔁 every week when done 📅 2026-03-08\n"
            f"- [x] b 🔁 every week when done 📅 2026-01-03 ➕ 2025-12-01 ❌ 2025-12-02 {DONE}\n",
        ),
        ("- [ ] b 🔁 every day\n", f"- [ ] b 🔁 every day\n- [x] b 🔁 every day {DONE}\n"),
        (
            "- [ ] b [repeat:: every day]  [due:: 2026-03-01]\n",
            f"- [ ] b [repeat:: every day]  [due:: 2026-03-02]\n- [x] b [repeat:: every day]  [due:: 2026-03-01] {DONE}\n",
        ),
        (
            "- [ ] b <!-- x --> 🔁 every day 📅 2026-03-01\n  - [ ] c\n",
            f"- [ ] b  🔁 every day 📅 2026-03-02\n- [x] b <!-- x --> 🔁 every day 📅 2026-03-01 {DONE}\n  - [ ] c\n",
        ),
        (
            "- [ ] b 🔁 every day 📅 2026-03-01 📅 2026-04-01\n",
            f"- [ ] b 🔁 every day 📅 2026-03-02\n- [x] b 🔁 every day 📅 2026-03-01 📅 2026-04-01 {DONE}\n",
        ),
    ],
)
def test_a_recurring_task_gets_the_next_one_on_the_line_above(desk: Desk, before: str, after: str) -> None:
    """Plugin's help, "Recurring Tasks": without done and created date, id, dependencies and block link (Task.ts)."""
    line = next(number for number, text in enumerate(before.split("\n"), 1) if "🔁" in text or "repeat" in text)
    changed = _complete(desk, before, line)
    assert desk.bytes_of("n.md").decode() == after
    assert (changed.line, changed.next_line) == (line + 1, line)
    assert changed.next_words == after.split("\n")[line - 1].rstrip("\r")


def test_the_vaults_settings_say_where_the_next_one_goes_and_what_it_has(desk: Desk) -> None:
    """recurrenceOnNextLine, setCreatedDate (help, "Recurring Tasks": the created date stands before the others)."""
    _set(desk, {"recurrenceOnNextLine": True, "setCreatedDate": True, "removeScheduledDateOnRecurrence": True})
    changed = _complete(desk, "- [ ] b 🔁 every Sunday ⏳ 2021-04-24 📅 2021-04-25 ^b", done_on=date(2023, 3, 10))
    done = "- [x] b 🔁 every Sunday ⏳ 2021-04-24 📅 2021-04-25 ✅ 2023-03-10 ^b"
    assert desk.bytes_of("n.md").decode() == f"{done}\n- [ ] b 🔁 every Sunday ➕ 2026-03-01 📅 2021-05-02"
    assert (changed.line, changed.next_line) == (1, 2)


def test_the_created_date_takes_the_place_of_the_old_one(desk: Desk) -> None:
    """Task.ts, createNextOccurrence."""
    _set(desk, {"setCreatedDate": True})
    _complete(desk, "- [ ] b ➕ 2020-01-01 🔁 every day\n- [ ] c 🔁 every day ^c\n")
    assert desk.bytes_of("n.md").decode().startswith("- [ ] b ➕ 2026-03-01 🔁 every day\n")
    _complete(desk, "- [ ] c 🔁 every day ^c\n")
    assert desk.bytes_of("n.md").decode().startswith("- [ ] c 🔁 every day ➕ 2026-03-01\n")


def test_a_vault_of_dataview_fields_gets_dataview_fields(desk: Desk) -> None:
    """taskFormat; DataviewTaskSerializer.ts writes two blanks in front."""
    _set(desk, {"taskFormat": "dataview", "setCreatedDate": True})
    _complete(desk, "- [ ] b  [repeat:: every day]  [due:: 2026-03-01]\n")
    assert desk.bytes_of("n.md").decode() == (
        "- [ ] b  [repeat:: every day]  [created:: 2026-03-01]  [due:: 2026-03-02]\n"
        "- [x] b  [repeat:: every day]  [due:: 2026-03-01]  [completion:: 2026-03-01]\n"
    )
    _postpone(desk, "- [ ] b\n")
    assert desk.bytes_of("n.md").decode() == "- [ ] b  [due:: 2026-04-05]\n"


def test_a_done_date_is_only_put_where_the_settings_want_one_or_the_call_names_one(desk: Desk) -> None:
    """setDoneDate."""
    _set(desk, {"setDoneDate": False})
    _complete(desk, "- [ ] a\n")
    assert desk.bytes_of("n.md") == b"- [x] a\n"
    _complete(desk, "- [ ] a\n", done_on=date(2026, 2, 3))
    assert desk.bytes_of("n.md") == "- [x] a ✅ 2026-02-03\n".encode()


def test_a_box_that_the_plugin_takes_for_no_task_is_only_ticked(desk: Desk) -> None:
    """globalFilter: outside of it Obsidian itself ticks the box, without date and next one."""
    _set(desk, {"globalFilter": "#task"})
    _complete(desk, "- [ ] milk 🔁 every day\n")
    assert desk.bytes_of("n.md").decode() == "- [x] milk 🔁 every day\n"
    _complete(desk, "- [ ] mow #task\n")
    assert desk.bytes_of("n.md").decode() == f"- [x] mow #task {DONE}\n"


def test_boxes_mean_what_the_vaults_settings_say(desk: Desk) -> None:
    """Custom statuses: done and open ones, those that are no tasks, and which one a next task gets."""
    custom = [
        {"symbol": "d", "name": "Dropped", "nextStatusSymbol": " ", "type": "DONE"},
        {"symbol": "i", "name": "Info", "nextStatusSymbol": " ", "type": "NON_TASK"},
        {"symbol": "t", "name": "To do", "nextStatusSymbol": "x", "type": "TODO"},
    ]
    core = [
        {"symbol": " ", "name": "Todo", "nextStatusSymbol": "x", "type": "TODO"},
        {"symbol": "x", "name": "Done", "nextStatusSymbol": "t", "type": "DONE"},
    ]
    _set(desk, {"statusSettings": {"coreStatuses": core, "customStatuses": custom}})
    assert _complete(desk, "- [d] a\n").is_repeat
    with pytest.raises(NotATask):
        _complete(desk, "- [i] a\n")
    _complete(desk, "- [ ] a 🔁 every day\n")
    assert desk.bytes_of("n.md").decode().startswith("- [t] a 🔁 every day\n")


@pytest.mark.parametrize("rule", ["every other week", "now and then", "every month on the 6th Friday"])
def test_a_rule_that_gives_no_next_task_is_told(desk: Desk, rule: str) -> None:
    """The plugin takes the task for one that does not recur; the rule stays where it is."""
    changed = _complete(desk, f"- [ ] a 🔁 {rule} 📅 2026-03-01\n")
    assert desk.bytes_of("n.md").decode() == f"- [x] a 🔁 {rule} 📅 2026-03-01 {DONE}\n"
    assert "no next task was made" in changed.remark
    assert changed.next_line == 0


def test_a_date_that_is_on_no_calendar_gives_no_next_task(desk: Desk) -> None:
    """Help, "Recurrence rule lost if highest priority date is invalid": ours is told and not lost."""
    changed = _complete(desk, "- [ ] a 🔁 every year ⏳ 2024-02-28 📅 2024-02-30\n")
    assert desk.bytes_of("n.md").decode() == f"- [x] a 🔁 every year ⏳ 2024-02-28 📅 2024-02-30 {DONE}\n"
    assert "due date is on no calendar" in changed.remark


@pytest.mark.parametrize(
    ("before", "line", "after"),
    [
        ("- [ ] a 🏁 delete\n", 1, ""),
        ("b\r\n- [ ] a 🏁 Delete", 2, "b"),
        ("b\n- [ ] a 🏁 delete\n\nc\n", 2, "b\n\nc\n"),
        (
            "- [ ] a 🔁 every day when done 📅 2021-05-20 🏁 delete\n",
            1,
            "- [ ] a 🔁 every day when done 📅 2026-03-02 🏁 delete\n",
        ),
        ("- [ ] a [onCompletion:: delete]\n- b\n", 1, "- b\n"),
        ("- [ ] a 🏁 keep\n", 1, f"- [x] a 🏁 keep {DONE}\n"),
    ],
)
def test_a_task_that_says_so_goes_once_it_is_done(desk: Desk, before: str, line: int, after: str) -> None:
    """Plugin's help, "On Completion"."""
    changed = _complete(desk, before, line)
    assert desk.bytes_of("n.md").decode() == after
    assert ("its line was removed" in changed.remark) == ("keep" not in before)


@pytest.mark.parametrize("below", ["  - [ ] b\n", "  b\n", "b\n", "\n  b\n"])
def test_a_task_does_not_go_when_more_belongs_to_it(desk: Desk, below: str) -> None:
    """The same page: never put it on a task that has nested items."""
    with pytest.raises(BadArgument, match="takes itself away"):
        _complete(desk, f"- [ ] a 🏁 delete\n{below}")
    assert desk.bytes_of("n.md").decode() == f"- [ ] a 🏁 delete\n{below}"


@pytest.mark.parametrize(
    "text",
    [
        "- [ ] a\n",
        "x\r\n- [/] a 📅 2026-01-01 %%id%% ^b\r\n",
        "- [ ] a 🔁 every day 📅 2026-03-01 ^b\n- [ ] c\n",
        "- [ ] a 🔁 every day",
        "\ufeff- [ ] a <!-- x -->\n",
    ],
)
@pytest.mark.parametrize(
    "settings", [{}, {"recurrenceOnNextLine": True}, {"taskFormat": "dataview"}, {"setDoneDate": False}]
)
def test_the_same_call_twice_is_one(desk: Desk, text: str, settings: Mapping[str, object]) -> None:
    """Complaint 58: with the version of the first call, which is not that of the note any more."""
    _set(desk, settings)
    line = next(number for number, words in enumerate(text.split("\n"), 1) if "- [" in words)
    desk.put({"n.md": text})
    version = _version(desk)
    first = task_changes.complete(desk.vault, desk.actor, NOTE, line, expected_hash=version)
    written = desk.bytes_of("n.md")
    told = len(desk.told)
    again = task_changes.complete(desk.vault, desk.actor, NOTE, line, expected_hash=version)
    assert desk.bytes_of("n.md") == written
    assert len(desk.told) == told
    assert again.is_repeat
    assert not first.is_repeat
    assert (again.line, again.words, again.next_line, again.next_words) == (
        first.line,
        first.words,
        first.next_line,
        first.next_words,
    )
    assert again.written.version == first.written.version


def test_a_task_that_is_done_stays_as_it_is(desk: Desk) -> None:
    """contract.md: a repeat is a no-op. The day it was done is not changed either."""
    changed = _complete(desk, "- [x] a ✅ 2020-01-01\n", done_on=date(2026, 2, 3))
    assert changed.is_repeat
    assert desk.bytes_of("n.md") == "- [x] a ✅ 2020-01-01\n".encode()
    assert desk.told == []


def test_an_old_version_of_another_change_is_a_conflict_though_the_line_is_done(desk: Desk) -> None:
    """Lines may have moved: that a done task stands there does not mean that it is the one that was meant."""
    desk.put({"n.md": "- [ ] a\n- [ ] b\n"})
    version = _version(desk)
    desk.put({"n.md": "- [x] z ✅ 2026-03-01\n- [ ] a\n- [ ] b\n"})
    with pytest.raises(NoteChanged):
        task_changes.complete(desk.vault, desk.actor, NOTE, 1, expected_hash=version)
    with pytest.raises(NoteChanged):
        task_changes.postpone(desk.vault, desk.actor, NOTE, 1, expected_hash=version, day=date(2026, 1, 1))


def test_the_next_task_is_completed_by_its_own_version_only(desk: Desk) -> None:
    """The next one stands where the old one stood; a call that was meant for the old one must not do it."""
    desk.put({"n.md": "- [ ] a 🔁 every day 📅 2026-03-01\n"})
    for day in ("2026-03-02", "2026-03-03"):
        task_changes.complete(desk.vault, desk.actor, NOTE, 1, expected_hash=_version(desk))
        assert desk.bytes_of("n.md").decode().startswith(f"- [ ] a 🔁 every day 📅 {day}\n")
    assert desk.bytes_of("n.md").count(b"\n") == 3


@pytest.mark.parametrize(
    ("text", "line", "what", "nearest"),
    [
        ("# a\n\n- [ ] b\n", 1, "a heading", "line 3"),
        ("# a\n\n- [ ] b\n", 2, "nothing is shown", "line 3"),
        ("a\n\n- [ ] b\n", 1, "no task but text", "line 3"),
        ("```\n- [ ] a\n```\n", 2, "code", "no tasks"),
        ("\n    - [ ] a\n", 2, "indented", "no tasks"),
        ("---\na: 1\n---\n- [ ] b\n", 2, "front matter", "line 4"),
        ("%%\n- [ ] a\n%%\n", 2, "a comment", "no tasks"),
        ("<div>\n- [ ] a\n</div>\n", 2, "HTML", "no tasks"),
        ("- a\n  b\n- [ ] c\n", 1, "a list item without a box", "line 3"),
        ("- [ ] a\n  b\n", 2, "further text of a list item", "line 1"),
        ("- [ ] a\n", 2, "beyond the end of the note, which has 1 line", "line 1"),
        ("a\n- [ ] b\n- [ ] c\n- [ ] d\n- [ ] e\n", 9, "which has 5 lines", "lines 3, 4 and 5"),
        ("***\n- \n", 1, "a rule", "no tasks"),
        ("***\n- \n", 2, "shown|empty list item", "no tasks"),
        ("[a]: b\n[a]\n", 1, "a link definition", "no tasks"),
        ("", 1, "beyond the end of the note, which has 0 lines", "no tasks"),
        ("- [-] a\n", 1, "cancelled", "edit_note"),
    ],
)
def test_a_line_without_an_open_task_is_named_in_kind(
    desk: Desk, text: str, line: int, what: str, nearest: str
) -> None:
    """contract.md: NOT_A_TASK; what stands there is never quoted."""
    with pytest.raises(NotATask, match=what) as refused:
        _complete(desk, text, line)
    assert nearest in str(refused.value)
    assert desk.bytes_of("n.md").decode() == text


def test_no_version_is_no_version(desk: Desk) -> None:
    """contract.md: expected_hash is required."""
    desk.put({"n.md": "- [ ] a\n"})
    with pytest.raises(BadArgument, match="expected_hash"):
        task_changes.complete(desk.vault, desk.actor, NOTE, 1, expected_hash=" ")
    with pytest.raises(BadArgument, match="expected_hash"):
        task_changes.postpone(desk.vault, desk.actor, NOTE, 1, expected_hash="", day=date(2026, 1, 1))
    with pytest.raises(BadArgument, match="hex"):
        task_changes.complete(desk.vault, desk.actor, NOTE, 1, expected_hash="soon")


@pytest.mark.parametrize(
    ("text", "error"), [(b"- [ ] a \xff\n", NotText), (b"- [ <!-- x --> ] a\n- [ ] b\n<!--\n", AppError)]
)
def test_what_cannot_be_changed_without_damage_is_not(desk: Desk, text: bytes, error: type[AppError]) -> None:
    """Complaint 20; guards.md 4.5."""
    with pytest.raises(error):
        _complete(desk, text)
    assert desk.bytes_of("n.md") == text


def test_a_date_with_something_hidden_in_it_is_not_replaced(desk: Desk) -> None:
    """guards.md 4.5: what is hidden is neither lost nor moved."""
    with pytest.raises(HiddenContent):
        _postpone(desk, "- [ ] a 📅 2026-<!-- x -->03-01\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("- [ ] a 📅 2026-01-01\r\n", "- [ ] a 📅 2026-04-05\r\n"),
        ("- [ ] a 📅\ufe0f 2026-01-01 ^b\n", "- [ ] a 📅\ufe0f 2026-04-05 ^b\n"),
        ("- [ ] a 🗓  2026-01-01 🔁 every day\n", "- [ ] a 🗓  2026-04-05 🔁 every day\n"),
        ("- [ ] a\n", "- [ ] a 📅 2026-04-05\n"),
        ("- [ ] a #t ^b\r\n", "- [ ] a #t 📅 2026-04-05 ^b\r\n"),
        ("- [ ] a %%x%% <!-- y -->\n", "- [ ] a 📅 2026-04-05 %%x%% <!-- y -->\n"),
        ("- [ ] a [due:: 2026-01-01] b\n", "- [ ] a [due:: 2026-04-05] b\n"),
        ("- [ ] a (due::2026-01-01)\n", "- [ ] a (due::2026-04-05)\n"),
        ("- [ ] a 📅 2026-02-30\n", "- [ ] a 📅 2026-04-05\n"),
        ("- [ ] a 📅 2026-01-01 📅 2026-01-02\n", "- [ ] a 📅 2026-04-05 📅 2026-01-02\n"),
        ("- [ ] 📅 2026-01-01 a\n", "- [ ] 📅 2026-01-01 a 📅 2026-04-05\n"),
        ("- [x] a ✅ 2026-01-01\n", "- [x] a ✅ 2026-01-01 📅 2026-04-05\n"),
    ],
)
def test_a_due_date_is_changed_or_set_and_nothing_else_of_the_line(desk: Desk, before: str, after: str) -> None:
    """contract.md, postpone_task; complaints 15, 44, 45; ancestors.md 1.2.8, 2 and 3."""
    changed = _postpone(desk, before)
    assert desk.bytes_of("n.md").decode() == after
    assert changed.line == 1
    assert _postpone(desk, after).is_repeat


def test_the_writes_are_told_to_history(desk: Desk) -> None:
    """Like every other write: history knows the bytes before and after."""
    _complete(desk, "- [ ] a\n")
    [change] = desk.told
    assert (change.before, change.after) == (b"- [ ] a\n", f"- [x] a {DONE}\n".encode())
