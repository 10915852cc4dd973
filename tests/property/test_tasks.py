"""Reading tasks out of any text, and changing one of any note: nothing else changes, and it reads as it was meant to."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from dateutil import rrule
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from service.errors import HiddenContent
from service.guards import outgoing
from service.store.files import version_of
from service.vault import recurrence, task_changes
from service.vault.parts import tasks
from service.vault.parts.task_fields import Kind
from service.vault.parts.tasks import Task
from service.vault.recurrence import Nth, Rule, Unit
from tests.support.desk import NOTE, Desk, desk_in
from tests.support.markdown_fragments import FRAGMENTS

DAYS = st.dates(date(2000, 1, 1), date(2099, 12, 31))
DATE = st.one_of(DAYS.map(str), st.sampled_from(["2026-02-30", "2026-13-01"]))
BLANKS = st.sampled_from([" ", " ", "  ", "\t", "\u00a0"])
SELECTOR = st.sampled_from(["", "", "\ufe0f"])
DATED = st.builds(
    "{}{}{}{}".format, st.sampled_from("📅📆🗓⏳⌛🛫➕❌✅"), SELECTOR, st.sampled_from(["", " ", "  "]), DATE
)
DATAVIEW = st.builds(
    "{0[0]}{1}::{2}{3}{0[1]}".format,
    st.sampled_from(["[]", "()"]),
    st.sampled_from(["due", "scheduled", "start", "created", "completion", "k"]),
    st.sampled_from(["", " ", "  "]),
    DATE,
)
RULES = st.sampled_from(
    ["every day", "every month when done", "every 2 weeks on Friday", "every other week", "every May"]
)
OTHER = st.sampled_from(
    [
        "a",
        "é 👍",
        "#tag",
        "#a/b",
        "🔺",
        "⏬\ufe0f",
        "🆔 q-1",
        "⛔ a, b",
        "🏁 keep",
        "[k:: v]",
        "%%id%%",
        "`x`",
        "[[l]]",
        "<!-- h -->",
    ]
)
FIELD = st.one_of(DATED, DATAVIEW, OTHER, st.builds("🔁 {}".format, RULES))
BODY = st.lists(st.tuples(BLANKS, FIELD), max_size=7).map(lambda parts: "".join(blank + part for blank, part in parts))
MARK = st.sampled_from(["- ", "* ", "+ ", "1. ", "2) ", "> - ", "  - ", "- a\n    - ", "> > * "])
BOX = st.sampled_from([" ", " ", "/", "x", "-", ">"])
END = st.sampled_from(["", "", " ^id-1", "  ", " %%c%% ^b"])
TASK = st.builds("{}[{}] t{}{}".format, MARK, BOX, BODY, END)
LINE = st.one_of(
    TASK, TASK, st.sampled_from(["", "text", "# h", "```", "<!-- x -->", "- item", "  more", "%%", "    code"])
)


@st.composite
def notes(draw: st.DrawFn) -> str:
    """A note of a few lines with line ends of either kind, often with tasks."""
    lines = draw(st.lists(LINE, min_size=1, max_size=6))
    ends = draw(st.lists(st.sampled_from(["\n", "\n", "\r\n"]), min_size=len(lines), max_size=len(lines)))
    text = "".join(line.replace("\n", end) + end for line, end in zip(lines, ends, strict=True))
    return text if draw(st.booleans()) else text.removesuffix("\n").removesuffix("\r")


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """One desk for all examples: each lays its note out anew."""
    return desk_in(tmp_path_factory.mktemp("desk"))


def seen(desk: Desk) -> str:
    return outgoing.view(desk.bytes_of("n.md").decode()).text


def said(task: Task) -> dict[Kind, str | None]:
    return {kind: task.value(kind) for kind in Kind}


def lines(text: str) -> list[str]:
    return text.split("\n")


@given(st.lists(st.one_of(st.sampled_from(FRAGMENTS), TASK, st.text(max_size=6)), max_size=25).map("".join))
@settings(max_examples=120, deadline=None)
def test_any_text_has_its_tasks_where_they_say(text: str) -> None:
    """Places are exact: what is written goes where they say."""
    last = 0
    for task in tasks.of(text):
        line = lines(text)[task.line - 1]
        assert task.line > last
        assert text[task.start : task.end] == line.removesuffix("\r")
        assert text[task.symbol_at - 1 : task.symbol_at + 2] == f"[{task.symbol}]"
        assert task.symbol_at + 2 <= task.tail <= task.block_id[0] <= task.end
        assert tasks.may_hold(text.encode("utf-8", "replace"))
        for field in task.fields:
            assert task.symbol_at < field.start < field.end <= task.end
            assert field.kind is Kind.PRIORITY or text[slice(*field.value_span)] == field.value
        last = task.line


@given(notes(), st.integers(0, 5))
@settings(max_examples=30, deadline=None)
def test_completing_changes_that_line_and_puts_in_the_next_one(desk: Desk, text: str, which: int) -> None:
    """The issue: everything else in the file is byte-identical; read again it has the same dates; again is a no-op."""
    desk.put({"n.md": text})
    desk.told.clear()
    before = desk.bytes_of("n.md")
    open_tasks = [task for task in tasks.of(outgoing.view(text).text) if task.symbol not in "xX-"]
    assume(open_tasks)
    task = open_tasks[which % len(open_tasks)]
    version = version_of(before)
    try:
        changed = task_changes.complete(desk.vault, desk.actor, NOTE, task.line, expected_hash=version)
    except HiddenContent:
        assert desk.bytes_of("n.md") == before
        return
    new = desk.bytes_of("n.md")
    kept = lines(new.decode())
    done = kept.pop(changed.line - 1)
    if changed.next_line:
        following = kept.pop(changed.next_line - 1)
        has_end = task.line < len(lines(text))  # its line end is taken, or else that of most lines
        of_most = text.count("\r\n") * 2 > text.count("\n")
        assert following.endswith("\r") == (lines(text)[task.line - 1].endswith("\r") if has_end else of_most)
    old = lines(text)
    old.pop(task.line - 1)
    assert kept == old
    assert done.endswith("\r") == lines(text)[task.line - 1].endswith("\r")
    [after] = [one for one in tasks.of(seen(desk)) if one.line == changed.line]
    assert after.symbol == "x"
    assert said(after) == said(task) | {Kind.DONE: "2026-03-01"}
    if (
        task.value(Kind.DONE) is None
    ):  # else its old date is lost, and a second call cannot be told from another's change
        assert task_changes.complete(desk.vault, desk.actor, NOTE, task.line, expected_hash=version).is_repeat
    assert desk.bytes_of("n.md") == new


@given(notes(), DAYS, st.integers(0, 5))
@settings(max_examples=30, deadline=None)
def test_postponing_changes_the_due_date_and_nothing_else(desk: Desk, text: str, day: date, which: int) -> None:
    """contract.md, postpone_task."""
    desk.put({"n.md": text})
    desk.told.clear()
    before = desk.bytes_of("n.md")
    found = tasks.of(outgoing.view(text).text)
    assume(found)
    task = found[which % len(found)]
    try:
        task_changes.postpone(desk.vault, desk.actor, NOTE, task.line, expected_hash=version_of(before), day=day)
    except HiddenContent:
        assert desk.bytes_of("n.md") == before
        return
    now, old = lines(desk.bytes_of("n.md").decode()), lines(text)
    now.pop(task.line - 1)
    old.pop(task.line - 1)
    assert now == old
    [after] = [one for one in tasks.of(seen(desk)) if one.line == task.line]
    assert said(after) == said(task) | {Kind.DUE: str(day)}
    due = task.field(Kind.DUE)
    assert after.symbol == task.symbol
    assert after.words == task.words or (
        due is not None and not due.is_trailing
    )  # a field among the words is one of them


WEEKDAYS: tuple[Nth, ...] = tuple((nth, day) for nth in (0, 1, 2, 5, -1, -2) for day in range(7))
NAMED = st.fixed_dictionaries(
    {},
    optional={
        "months": st.lists(st.integers(1, 12), min_size=1, max_size=3).map(tuple),
        "month_days": st.lists(st.sampled_from([1, 2, 15, 28, 29, 30, 31, -1, -2, -31]), min_size=1, max_size=2).map(
            tuple
        ),
        "weekdays": st.lists(st.sampled_from(WEEKDAYS), min_size=1, max_size=3).map(tuple),
    },
)
FREQUENCIES = {Unit.DAY: rrule.DAILY, Unit.WEEK: rrule.WEEKLY, Unit.MONTH: rrule.MONTHLY, Unit.YEAR: rrule.YEARLY}


@given(st.sampled_from(list(FREQUENCIES)), st.integers(1, 5), NAMED, DAYS)
@settings(max_examples=120, deadline=None)
def test_days_are_those_of_python_dateutil_from_which_rrule_js_descends(
    unit: Unit, interval: int, named: dict[str, tuple[int, ...]], first: date
) -> None:
    """RFC 5545; but for rules without a day of their own, which the plugin takes back to the end of a shorter month."""
    rule = Rule(unit, interval, **named)  # type: ignore[arg-type]
    assume(rule.names_its_day or unit in (Unit.DAY, Unit.WEEK))
    oracle = rrule.rrule(
        FREQUENCIES[unit],
        dtstart=rrule.datetime.datetime(first.year, first.month, first.day),
        interval=interval,
        until=rrule.datetime.datetime(first.year + 30, 1, 1),
        bymonth=rule.months or None,
        bymonthday=rule.month_days or None,
        byweekday=[rrule.weekday(day, nth or None) for nth, day in rule.weekdays] or None,
    )
    expected = oracle.after(rrule.datetime.datetime(first.year, first.month, first.day))
    ours = recurrence.next_day(rule, first)
    if expected is None:
        assert ours is None or ours >= date(first.year + 30, 1, 1)
    else:
        assert ours == expected.date()


@given(DAYS, st.integers(1, 40), st.sampled_from([Unit.MONTH, Unit.YEAR]))
def test_a_month_without_the_day_has_its_last_one(first: date, interval: int, unit: Unit) -> None:
    """Plugin's help, "Next recurrence is on non-existent date"."""
    then = recurrence.next_day(Rule(unit, interval), first)
    assert then is not None
    months = (then.year - first.year) * 12 + then.month - first.month
    assert months == interval * (12 if unit is Unit.YEAR else 1)
    assert then.day == first.day or (then.day < first.day and (then + timedelta(1)).day == 1)
