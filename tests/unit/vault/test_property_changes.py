"""Changing properties and tags of a note on the disk: its bytes, both guards, and what is refused.

contract.md, update_frontmatter and update_tags; the issue, "a person's bytes".
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from service.errors import (
    AppError,
    BadArgument,
    FrontmatterKept,
    HiddenContent,
    InvalidFrontmatter,
    NoteChanged,
    NotText,
    TooLarge,
    UnsafeContent,
)
from service.vault import properties, property_changes
from service.vault.parts.property_edits import Wanted
from service.vault.parts.yaml import Value
from service.vault.property_changes import Tagged, Updated
from tests.support.desk import NOTE, Desk
from tests.support.vaults import BOM

GOLDEN = sorted((Path(__file__).parent / "fixtures" / "front_matter").iterdir())


def update(desk: Desk, note: str | bytes, values: dict[str, Value] | None = None, gone: Iterable[str] = ()) -> Updated:
    desk.put({"n.md": note})
    return property_changes.update(desk.vault, desk.actor, NOTE, Wanted(values or {}, frozenset(gone)))


def tag(desk: Desk, note: str | bytes, add: list[str], remove: list[str] | None = None) -> Tagged:
    desk.put({"n.md": note})
    return property_changes.update_tags(desk.vault, desk.actor, NOTE, add=add, remove=remove or [])


def text_of(desk: Desk) -> str:
    return desk.bytes_of("n.md").decode("utf-8")


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case.name)
def test_a_front_matter_by_hand_changes_in_just_these_lines(desk: Desk, case: Path) -> None:
    """Complaints 13 to 16 and 19: days, `22:30`, `1.10`, `on`, quotes, comments, flow lists, a line of 120 letters, CRLF, a mark.

    Each folder of fixtures/front_matter holds a note, what is asked, and the note afterwards, as looked at by a person.
    """
    asked = json.loads((case / "asked.json").read_text(encoding="utf-8"))
    done = update(desk, (case / "before.md").read_bytes(), asked.get("set"), asked.get("remove", ()))
    on_disk = desk.bytes_of("n.md")
    assert on_disk == (case / "after.md").read_bytes()
    assert (done.written.version, done.written.size_bytes) == (
        hashlib.sha256(on_disk).hexdigest()[:12],
        len(on_disk),
    )
    assert done.is_changed
    now = properties.read(desk.vault, NOTE).values
    assert {name: now[name] for name in asked.get("set", {})} == asked.get("set", {})
    assert not now.keys() & set(asked.get("remove", ()))


@pytest.mark.parametrize(
    ("note", "line"),
    [
        ("---\na: [1\n---\ntext\n", 3),
        ("---\na: 1\n b: 2\n---\n", 3),
        ("---\n- a\n---\n", 2),
        ("---\ntext\n---\n", 2),
        ("---\na: 1\ntext\n", 1),
        ("---\n", 1),
        ("---\na: *nothing\n---\n", 2),
        ("---\na: 1\n--- \nb: 2\n...\n---\n", 0),
    ],
)
def test_malformed_front_matter_is_refused_and_gets_no_second_block(desk: Desk, note: str, line: int) -> None:
    """Complaints 17 and 18."""
    if not line:  # closed by its second fence: what is below is text
        assert update(desk, note, {"new": 1}).is_changed
        assert text_of(desk) == "---\na: 1\nnew: 1\n--- \nb: 2\n...\n---\n"
        return
    with pytest.raises(InvalidFrontmatter, match="read_note") as caught:
        update(desk, note, {"new": 1})
    assert caught.value.line == line
    assert text_of(desk) == note


@pytest.mark.parametrize(
    ("note", "values", "gone"),
    [
        ("---\na: 1\na: 2\n---\n", {"a": 3}, ()),
        ("---\na: 1\na: 2\n---\n", {}, ["a"]),
        ("---\na: &x 1\nb: *x\n---\n", {"a": 2}, ()),
        ("---\na: [&x 1]\nb: {c: *x}\n---\n", {}, ["a"]),
        ("---\na: &x {k: 1}\n<<: *x\n---\n", {"<<": 1}, ()),
        ("---\na: &x {k: 1}\n<<: *x\n---\n", {}, ["k"]),
        ("---\na: &x {k: 1}\n<<: [*x]\nk: 2\n---\n", {}, ["k"]),
        ("---\n{a: 1}\n---\n", {"b": 1}, ()),
        ("---\n? a\n: 1\n---\n", {"a": 2}, ()),
        ("---\n&k a: 1\n---\n", {"a": 2}, ()),
        ("\n---\na: 1\n---\n", {"b": 1}, ()),
        ("---\na: |+\n  text\nb: 1\n\n---\n", {}, ["b"]),
    ],
)
def test_what_cannot_be_changed_line_by_line_is_refused_with_a_way_out(
    desk: Desk, note: str, values: dict[str, Value], gone: list[str]
) -> None:
    """The issue: named twice, named by another, merged, without lines of its own, out of Obsidian's sight."""
    with pytest.raises(FrontmatterKept, match="edit_note"):
        update(desk, note, values, gone)
    assert text_of(desk) == note


def test_empty_braces_are_called_what_they_are(desk: Desk) -> None:
    """Some programs write an empty front matter as {}."""
    desk.put({"n.md": "---\n{}\n---\n"})
    with pytest.raises(FrontmatterKept, match="in braces"):
        property_changes.update(desk.vault, desk.actor, NOTE, Wanted({"b": 1}))


@pytest.mark.parametrize(
    ("note", "values", "gone", "expected"),
    [
        ("---\na: 1\na: 2\nb: 3\n---\n", {"b": 4}, (), "---\na: 1\na: 2\nb: 4\n---\n"),
        ("---\na: &x 1\nb: *x\nc: 1\n---\n", {"c": 2}, (), "---\na: &x 1\nb: *x\nc: 2\n---\n"),
        ("---\na: &x 1\nb: *x\n---\n", {"b": 1}, (), "---\na: &x 1\nb: *x\n---\n"),
        ("---\na: &x 1\nb: *x\n---\n", {"b": 2}, (), "---\na: &x 1\nb: 2\n---\n"),
        ("---\na: &x 1\nb: *x\n---\n", {}, ["a", "b"], "---\n---\n"),
        ("---\na: &x {k: 1}\n<<: *x\nb: 1\n---\n", {"b": 2}, (), "---\na: &x {k: 1}\n<<: *x\nb: 2\n---\n"),
        ("---\n  a: 1\n---\n", {"b": 1}, (), "---\n  a: 1\n  b: 1\n---\n"),
        ("---\na: 1\n...\n---\n", {"b": 1}, (), "---\na: 1\nb: 1\n...\n---\n"),
        ("---\n# only a remark\n---\n", {"b": 1}, (), "---\n# only a remark\nb: 1\n---\n"),
        ("---\na:\n  - - x\n  - y\n---\n", {"a": [["x"], "z"]}, (), "---\na:\n  - - x\n  - z\n---\n"),
        ("---\na: [x, # one\n  y] # two\n---\n", {"a": ["x", "y", "z"]}, (), "---\na: [x, # one\n  y, z] # two\n---\n"),
        ("---\na: [x, # one\n  y] # two\n---\n", {"a": ["y"]}, (), '---\na: ["y"] # two\n---\n'),
        ("---\na: 1 # c\nb: 2\n---\n", {"a": None}, (), "---\na: # c\nb: 2\n---\n"),
    ],
)
def test_what_stands_beside_is_no_reason_to_refuse(
    desk: Desk, note: str, values: dict[str, Value], gone: list[str], expected: str
) -> None:
    """The issue: duplicate keys, anchors and the like in properties that nobody named."""
    update(desk, note, values, gone)
    assert text_of(desk) == expected


def test_the_same_again_changes_nothing_and_says_so(desk: Desk) -> None:
    """contract.md: every byte stays; our decision: a repeated call is no error."""
    note = "---\nv: 1.10\nd: '2026-03-16' # kept\nl: [a, \"b\"]\n---\n"
    done = update(desk, note, {"v": 1.1, "d": "2026-03-16", "l": ["a", "b"]}, ["nothing"])
    assert (done.is_changed, done.diff) == (False, "")
    assert done.written.notice == "Nothing had to be changed. 1 property that was to be removed is not there."
    assert done.written.version == hashlib.sha256(note.encode()).hexdigest()[:12]
    assert desk.told == []
    assert text_of(desk) == note


def test_a_name_that_differs_in_case_is_another_property_and_told_of(desk: Desk) -> None:
    """Obsidian shows both; whoever asked may not have meant it."""
    done = update(desk, "---\nstatus: a\n---\n", {"Status": "b"})
    assert text_of(desk) == "---\nstatus: a\nStatus: b\n---\n"
    assert done.written.notice == "1 new property differs from an old one only in case."


def test_the_version_is_checked_before_anything_else(desk: Desk) -> None:
    """contract.md, version."""
    desk.put({"n.md": "---\na: [1\n---\n"})
    with pytest.raises(NoteChanged):
        property_changes.update(desk.vault, desk.actor, NOTE, Wanted({"a": 1}), "abcd")
    with pytest.raises(NoteChanged):
        property_changes.update_tags(desk.vault, desk.actor, NOTE, "abcd", add=["a"], remove=[])


def test_bytes_that_are_no_text_are_not_changed(desk: Desk) -> None:
    """Complaint 20."""
    with pytest.raises(NotText):
        update(desk, b"---\na: 1\n---\n\xff\n", {"a": 2})
    with pytest.raises(NotText):
        tag(desk, b"---\na: 1\n---\n\xff\n", ["a"])
    assert desk.bytes_of("n.md") == b"---\na: 1\n---\n\xff\n"


@pytest.mark.parametrize(
    ("values", "gone", "error"),
    [
        ({}, (), BadArgument),
        ({"a": 1}, ["a"], BadArgument),
        ({"": 1}, (), BadArgument),
        ({" ": 1}, (), BadArgument),
        ({"a\nb": 1}, (), BadArgument),
        ({"x" * 201: 1}, (), BadArgument),
        ({"a\u200bb": 1}, (), BadArgument),
        ({"a": 10**15}, (), BadArgument),
        ({"a": float("nan")}, (), BadArgument),
        ({"a": [1e300]}, (), BadArgument),
        ({"a": {"b\n": 1}}, (), BadArgument),
        ({"a": "x" * 60_000}, (), TooLarge),
        ({"a": "x" * 1_000_001}, (), TooLarge),
        ({"a": "\ud800"}, (), AppError),
    ],
)
def test_a_value_that_cannot_be_kept_is_refused(
    desk: Desk, values: dict[str, Value], gone: list[str], error: type[AppError]
) -> None:
    """What could not be read again as it was sent."""
    for note in ("---\nb: 1\n---\n", "text\n"):
        with pytest.raises(error):
            update(desk, note, values, gone)
        assert text_of(desk) == note


def test_a_value_nested_too_deep_is_refused(desk: Desk) -> None:
    """As deep as what is read; and nothing runs out of stack before that."""
    deep: Value = 1
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(BadArgument, match="deep"):
        update(desk, "text\n", {"a": deep})
    nested: Value = 1
    for _ in range(30):
        nested = [nested]
    update(desk, "text\n", {"a": nested})
    assert properties.read(desk.vault, NOTE).values == {"a": nested}


# -- guards -----------------------------------------------------------------------------------------------------------


def test_characters_that_nobody_sees_are_left_out_of_values(desk: Desk) -> None:
    """guards.md 4.4; as an escape they would pass the guard of the text. Joiners with work to do stay: complaint 23."""
    done = update(
        desk, "text\n", {"a": "x\u200by\u2060", "b": ["\U000e0041z"], "c": {"k\u00ad": "می‌روم"}, "d": "a\nb\u200b\n"}
    )
    assert properties.read(desk.vault, NOTE).values == {"a": "xy", "b": ["z"], "c": {"k": "می‌روم"}, "d": "a\nb\n"}
    assert "\\u" not in text_of(desk)
    assert done.written.notice == "5 invisible characters were left out."


def test_what_would_run_is_made_harmless_in_a_value(desk: Desk) -> None:
    """guards.md 4.4: a template command, in each way in which a value is quoted."""
    done = update(desk, "text\n", {"a": "<% x %>", "b": ["it's <% y %>"], "c": "one <% z %>\ntwo"})
    assert properties.read(desk.vault, NOTE).values == {
        "a": "<\\% x %>",
        "b": ["it's <\\% y %>"],
        "c": "one <\\% z %>\ntwo",
    }
    assert done.written.notice == "3 template commands were made plain text."
    with pytest.raises(UnsafeContent, match="within the properties"):  # the backslash would break this way of quoting
        update(desk, "text\n", {"a": "\t<% x %>"})
    assert text_of(desk) == "text\n"


def test_a_property_that_a_plugin_runs_is_renamed(desk: Desk) -> None:
    """guards.md 4.4; docs/explanation/guards.md."""
    done = update(desk, "---\na: 1\n---\n", {"excalidraw-onload-script": "x"})
    assert text_of(desk) == "---\na: 1\ntext-excalidraw-onload-script: x\n---\n"
    assert done.written.notice == "1 property that makes a plugin run something was renamed."


def test_what_is_hidden_in_a_value_is_not_replaced_unseen(desk: Desk) -> None:
    """guards.md 4.5; decisions.md 13: the person's hidden characters stay or the change is refused."""
    note = "---\na: x\u200by\nb: z\u200b\n---\n<!-- c -->\n"
    with pytest.raises(HiddenContent):
        update(desk, note, {"a": "new"})
    assert text_of(desk) == note
    update(desk, note, {"c": 1})
    assert text_of(desk) == "---\na: x\u200by\nb: z\u200b\nc: 1\n---\n<!-- c -->\n"


def test_front_matter_that_obsidian_cannot_see_for_something_hidden_is_left_alone(desk: Desk) -> None:
    """The view begins with it, the file does not."""
    note = "\u200b---\na: 1\n---\n"
    with pytest.raises(FrontmatterKept, match="not shown"):
        update(desk, note, {"b": 1})
    assert text_of(desk) == note


# -- tags -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("note", "add", "remove", "expected"),
    [
        ("---\ntags:\n  - a # one\n---\n", ["#b", "A"], [], "---\ntags:\n  - a # one\n  - b\n---\n"),
        ("---\ntags: [a, 'b']\n---\n", ["c"], ["B"], "---\ntags: [a, c]\n---\n"),
        ("---\ntags: a, b\n---\n", ["c"], [], "---\ntags:\n  - a\n  - b\n  - c\n---\n"),
        ("---\ntags: a b\n---\n", ["#B"], [], "---\ntags: a b\n---\n"),
        ("---\ntags: '#a'\n---\n", ["a"], [], "---\ntags: '#a'\n---\n"),
        ("---\ntags:\n---\n", ["c"], [], "---\ntags:\n  - c\n---\n"),
        ("---\ntags: []\n---\n", ["c"], [], "---\ntags: [c]\n---\n"),
        ("---\ntag: a\nTags: [b]\n---\n", ["c"], ["a"], "---\ntag: []\nTags: [b, c]\n---\n"),
        ("---\nTAG: [a]\n---\n", ["b", "b", "B"], [], "---\nTAG: [a, b]\n---\n"),
        ("---\nx: 1\n---\n", ["a/b", "日本", "x_y-1"], [], "---\nx: 1\ntags:\n  - a/b\n  - 日本\n  - x_y-1\n---\n"),
        ("text #a\n", ["a"], [], "---\ntags:\n  - a\n---\ntext #a\n"),
        ("---\r\ntags:\r\n- a\r\n- b\r\n---\r\nx\r\n", ["c"], ["a"], "---\r\ntags:\r\n- b\r\n- c\r\n---\r\nx\r\n"),
        ("---\ntags: [a/b, a]\n---\n", [], ["a"], "---\ntags: [a/b]\n---\n"),
        ("---\ntags: [a]\n---\n", [], ["a"], "---\ntags: []\n---\n"),
        ("---\ntags: [2026, a]\n---\n", ["b"], [], "---\ntags: [2026, a, b]\n---\n"),
        ("---\ntags: [a]\n---\n", ["on", "y1"], [], "---\ntags: [a, \"on\", y1]\n---\n"),
    ],
)  # fmt: skip
def test_tags_come_and_go_in_the_front_matter(
    desk: Desk, note: str, add: list[str], remove: list[str], expected: str
) -> None:
    """contract.md, update_tags; complaint 15: on CRLF no tag becomes `a\\r`."""
    done = tag(desk, note, add, remove)
    assert text_of(desk) == expected
    assert done.updated.is_changed == (note != expected)
    assert not any("\r" in name for name in done.tags)


def test_a_mark_at_the_beginning_stays_and_hides_no_tags(desk: Desk) -> None:
    """Complaint 19."""
    done = tag(desk, BOM + b"---\ntags: [a]\n---\n", ["b"])
    assert desk.bytes_of("n.md") == BOM + b"---\ntags: [a, b]\n---\n"
    assert done.tags == ("a", "b")
    tag(desk, BOM + b"text\n", ["b"])
    assert desk.bytes_of("n.md") == BOM + b"---\ntags:\n  - b\n---\ntext\n"


def test_tags_in_the_text_are_told_and_stay(desk: Desk) -> None:
    """contract.md; C moved them, with colours and code among them (ancestors.md 1.3)."""
    note = "---\ntags: [Top]\n---\n#in/side and #Top, `#code`, color: #ff00ff\n"
    done = tag(desk, note, [], ["in/side", "top"])
    assert text_of(desk) == note.replace("[Top]", "[]")
    assert (done.tags, done.inline) == ((), ("in/side", "Top"))
    assert done.updated.written.notice == (
        "2 of the removed also in the note's text, where this leaves them; edit_note changes that."
    )
    again = tag(desk, text_of(desk), [], ["x"])
    assert (again.updated.is_changed, again.tags, again.inline) == (False, (), ("in/side", "Top"))


@pytest.mark.parametrize(
    "name", ["12", "a b", "a,b", "", "#", "##a", "a#b", "a.b", "a:b", "a//b", "/a", "a/", "x\u200by"]
)
def test_what_is_no_tag_is_refused(desk: Desk, name: str) -> None:
    """Obsidian help, Tags: letters, digits, `_`, `-` and `/`, and not only digits."""
    for add, remove in (([name], []), (["x"], [name])):
        with pytest.raises(BadArgument, match="is no tag"):
            tag(desk, "text\n", add, remove)
    assert text_of(desk) == "text\n"


@pytest.mark.parametrize(
    "note", ["---\ntags: {a: b}\n---\n", "---\ntags: [a]\ntags: [b]\n---\n", "---\ntags: [a\n---\n"]
)
def test_tags_that_are_no_list_are_left_alone(desk: Desk, note: str) -> None:
    """Whatever somebody meant by that."""
    with pytest.raises(InvalidFrontmatter):
        tag(desk, note, ["x"])
    assert text_of(desk) == note


def test_a_tag_cannot_come_and_go_at_once(desk: Desk) -> None:
    """Equal whatever the case."""
    with pytest.raises(BadArgument, match="both"):
        tag(desk, "x\n", ["a"], ["#A"])
    with pytest.raises(BadArgument, match="nothing to do"):
        tag(desk, "x\n", [])
