"""What is a task in a text, and what it says."""

from __future__ import annotations

import time

import pytest

from service.vault.parts import tasks
from service.vault.parts.task_fields import Kind, Style
from service.vault.parts.tasks import Task


def _one(text: str) -> Task:
    [task] = tasks.of(text)
    return task


def _says(task: Task) -> dict[str, str]:
    return {kind.value: value for kind in Kind if (value := task.value(kind)) is not None}


@pytest.mark.parametrize(
    "line",
    [
        "- [ ] a",
        "* [ ] a",
        "+ [ ] a",
        "1. [ ] a",
        "12) [ ] a",
        "  - [ ] a",
        "-   [ ] a",
        "-\t[ ]\ta",
        "> - [ ] a",
        "> [!todo] A callout\n> - [ ] a",
        "> > 1. [ ] a",
        "- b\n    - [ ] a",
        "- b\n\t- [ ] a",
        "text\n- [ ] a",
        "- [x] a",
        "- [X] a",
        "- [-] a",
        "- [/] a",
        "- [>] a",
        "- [é] a",
        "- [💡] a",
        "- [ ] a\r",
    ],
)
def test_a_box_behind_the_mark_of_a_list_item_is_a_task(line: str) -> None:
    """contract.md, tasks; the issue: nested and numbered lists, callouts, status symbols beyond x."""
    assert _one(line).words == "a"
    assert tasks.may_hold(line.encode())


@pytest.mark.parametrize(
    "text",
    [
        "```\n- [ ] a\n```",
        "~~~~\n- [ ] a\n```\n~~~\n- [ ] b\n~~~~",
        "> ```\n> - [ ] a\n> ```",
        "    - [ ] a",
        "text\n\n\t- [ ] a",
        "-      [ ] a",
        "<div>\n- [ ] a\n</div>",
        "---\nlist: |\n  - [ ] a\n- [ ] b\n---\n",
        "%%\n- [ ] a\n%%",
        "%% x\n- [ ] a",
        "- %%[ ] a%%",
        "- [ ]a",
        "- [x](https://example.org)",
        "- [x]: https://example.org",
        "- [] a",
        "- [xx] a",
        "-[ ] a",
        "[ ] a",
        "# - [ ] a",
        "a - [ ] b",
        "- a\n  [ ] b",
        "2. a\ntext\n\n\\- [ ] b",
    ],
)
def test_what_only_looks_like_one_is_none(text: str) -> None:
    """ancestors.md 1.2.8, 6: none in code, comments and front matter."""
    assert tasks.of(text) == ()


@pytest.mark.parametrize(
    ("sign", "kind"),
    [
        ("📅", "due"),
        ("📆", "due"),
        ("🗓", "due"),
        ("⏳", "scheduled"),
        ("⌛", "scheduled"),
        ("🛫", "start"),
        ("✅", "done"),
        ("➕", "created"),
        ("❌", "cancelled"),
    ],
)
@pytest.mark.parametrize("selector", ["", "\ufe0f"])
@pytest.mark.parametrize("blanks", ["", " ", "  "])
def test_a_sign_and_a_day_are_a_date(sign: str, kind: str, selector: str, blanks: str) -> None:
    """obsidian-tasks, DefaultTaskSerializer.ts; ancestors.md 1.2.8, 3; complaint 45."""
    task = _one(f"- [ ] a {sign}{selector}{blanks}2026-01-02")
    assert _says(task) == {kind: "2026-01-02"}
    assert task.words == "a"


@pytest.mark.parametrize("selector", ["", "\ufe0f"])
def test_the_other_signs_are_read_too(selector: str) -> None:
    """Priority, recurrence, id, dependsOn, on completion."""
    v = selector
    task = _one(f"- [ ] a 🆔{v} a-1_b ⛔{v} c, d ⏫{v} 🔁{v}  every 2 weeks on Friday 🏁{v} delete")
    assert _says(task) == {
        "id": "a-1_b",
        "depends on": "c, d",
        "priority": "high",
        "recurrence": "every 2 weeks on Friday",
        "on completion": "delete",
    }


@pytest.mark.parametrize(
    ("sign", "name"), [("🔺", "highest"), ("⏫", "high"), ("🔼", "medium"), ("🔽", "low"), ("⏬", "lowest")]
)
def test_priorities(sign: str, name: str) -> None:
    """contract.md."""
    assert _one(f"- [ ] a {sign} 📅 2026-01-02").value(Kind.PRIORITY) == name


def test_what_follows_a_recurrence_rule_is_not_part_of_it() -> None:
    """ancestors.md 1.2.8, 4: tags and block ids behind the rule stay tags and block ids."""
    task = _one("- [ ] water 🔁 every week #home ^abc")
    assert task.value(Kind.RECURRENCE) == "every week"
    assert task.words == "water #home"


@pytest.mark.parametrize(
    "body",
    [
        "a 📅 2026-01-02 ⏳ 2026-01-01 ^id-1",
        "a 📅 2026-01-02 #tag ⏳ 2026-01-01 #other/tag",
        "a 📅 2026-01-02 [k:: v] ⏳ 2026-01-01",
        "a 📅 2026-01-02 [k:: [[v]] w] ⏳ 2026-01-01 (k:: v)",
        "a %%id%% 📅 2026-01-02 %%[todoist:: 1]%% ⏳ 2026-01-01 %%x%%",
        "a 📅 2026-01-02 ⏳ 2026-01-01 %% open to the end",
        "a 📅 2026-01-02⏳ 2026-01-01",
        "a  📅  2026-01-02   ⏳  2026-01-01  ",
        "a [due:: 2026-01-02]  [scheduled:: 2026-01-01]",
        "a (due::2026-01-02), (scheduled:: 2026-01-01 )",
        "[due:: 2026-01-02] a [scheduled:: 2026-01-01] b",
    ],
)
def test_dates_are_read_whatever_stands_around_them(body: str) -> None:
    """Complaint 45: extra spaces, Dataview fields, `%%id%%` around signs; complaint 44: block ids and comments behind them."""
    task = _one(f"- [ ] {body}\n")
    assert (task.value(Kind.DUE), task.value(Kind.SCHEDULED)) == ("2026-01-02", "2026-01-01")


@pytest.mark.parametrize(
    "body",
    [
        "📅 2026-01-02 call Ann",
        "a 📅 2026-01-02 (note)",
        "a `📅 2026-01-02`",
        "a `[due:: 2026-01-02]` b",
        "a [[b|📅 2026-01-02]]",
        "a 📅 2026-01-02#tag",
        "a 📅 2026-1-2",
        "a 📅 2026-01-023",
        "a [due:: soon]",
        "a [due: 2026-01-02]",
    ],
)
def test_what_is_not_at_the_end_is_text(body: str) -> None:
    """The plugin reads from the end of the line and stops at what it does not know."""
    task = _one(f"- [ ] {body}")
    assert task.value(Kind.DUE) is None
    assert task.words == body


def test_of_two_dates_of_a_kind_the_left_one_counts() -> None:
    """The plugin reads from the right, and what it reads last stays."""
    assert _one("- [ ] a 📅 2026-01-02 📅 2026-01-03").value(Kind.DUE) == "2026-01-02"
    assert _one("- [ ] a [due:: 2026-01-01] 📅 2026-01-03").value(Kind.DUE) == "2026-01-03"


def test_a_day_that_is_on_no_calendar_is_no_day() -> None:
    """The plugin shows `Invalid date`; the sign does not hide what stands before it."""
    task = _one("- [ ] a ⏳ 2026-01-02 📅 2026-02-30")
    assert task.day(Kind.DUE) is None
    assert task.value(Kind.DUE) == "2026-02-30"
    assert task.value(Kind.SCHEDULED) == "2026-01-02"


def test_dataview_fields_have_the_names_of_the_plugin() -> None:
    """DataviewTaskSerializer.ts."""
    body = "[priority:: low] [repeat:: every day] [start:: 2026-01-01] [created:: 2026-01-02] [completion:: 2026-01-03]"
    task = _one(f"- [x] a {body} [cancelled:: 2026-01-04] [id:: q] [dependsOn:: r,s] [onCompletion:: keep]")
    assert _says(task) == {
        "priority": "low",
        "recurrence": "every day",
        "start": "2026-01-01",
        "created": "2026-01-02",
        "done": "2026-01-03",
        "cancelled": "2026-01-04",
        "id": "q",
        "depends on": "r,s",
        "on completion": "keep",
    }
    assert {field.style for field in task.fields} == {Style.DATAVIEW}
    assert task.words == "a"


def test_lines_are_those_of_the_file() -> None:
    """Only LF and CRLF end a line; front matter, code and blank lines count."""
    text = "---\na: 1\n---\r\n\r\n- [ ] one\r\n\x85- [ ] no\u2028\n\n- [x] two"
    assert [(task.line, task.symbol) for task in tasks.of(text)] == [(5, " "), (8, "x")]


def test_a_task_knows_whether_more_belongs_to_it() -> None:
    """Text on further lines, or items in it."""
    text = "- [ ] a\n- [ ] b\n  more\n- [ ] c\n  - d\n- [ ] e\n\n  para\n\ntext\n"
    assert [task.has_more for task in tasks.of(text)] == [False, True, True, True]


@pytest.mark.parametrize(
    "piece",
    [
        "📅 2026-01-02 ",
        "#a ",
        "%%a%%",
        "[k:: v]",
        "[",
        "(a::",
        "🔁 a ",
        "🔁  ",
        "⛔ a,",
        "`a` ",
        "- [ ] ",
        "[a::[[",
        " ",
        "^a ",
    ],
)
def test_a_hostile_line_is_read_at_once(piece: str) -> None:
    """A note from outside may hold anything on one line; processor time is measured, so that other work does not count."""
    line = "- [ ] " + piece * (64 * 1024 // len(piece))
    begun = time.process_time()
    tasks.of(line)
    assert time.process_time() - begun < 1.5
