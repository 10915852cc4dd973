"""Changing properties keeps every byte that was not asked for, and what is read afterwards is what was asked.

The issue, "a person's bytes"; complaints 13 to 19. What is read is judged by a YAML library's own loaders, one that reads as YAML
1.2 has it and one as YAML 1.1, not by the code that wrote.
"""

from __future__ import annotations

import re
import warnings
from datetime import date, datetime
from typing import Any

import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML
from ruamel.yaml.error import ReusedAnchorWarning

from service.errors import FrontmatterKept, InvalidFrontmatter
from service.vault.parts import property_edits
from service.vault.parts.property_edits import Wanted
from service.vault.parts.yaml import Value
from tests.support import front_matters
from tests.support.front_matters import NAMES, Made

TRICKY = (
    "on",
    "Yes",
    "n",
    "null",
    "~",
    "22:30",
    "1.10",
    "010",
    "0x1f",
    "1_000",
    "1e3",
    ".5",
    "+1",
    "-",
    "- a",
    "2026-03-16",
    "2026-02-30",
    "2026-03-16T10:00:00",
    "2026-3-1",
    "[[A]]",
    "{{x}}",
    "#tag",
    "@at",
    "`c`",
    "%d",
    "*a",
    "&a",
    "!a",
    "|",
    ">",
    "? a",
    ": a",
    "a: b",
    "a:",
    "a #b",
    "a#b",
    " a",
    "a ",
    "a\tb",
    "it's",
    'say "x"',
    "back\\slash",
    "both ' and \" \\",
    "two\nlines",
    "two\nlines\n",
    "\nfirst",
    "a\n\n",
    "---",
    "...",
    "a\n---\nb",
    "=",
    "<<",
    "",
    "日本",
    "📥 Inbox",
    "\u00a0x",
    "a\u0085b",
    "a\u2028b",
    "https://x.org/a?b",
    "C:\\x",
    "a, b",
    "x]",
    "true",
    "y",
    "<b>",
)
TEXTS = st.sampled_from(TRICKY) | st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**15) + 1, 10**15 - 1)
    | st.floats(allow_nan=False, allow_infinity=False, min_value=-1e90, max_value=1e90).filter(
        lambda number: number == 0 or abs(number) > 1e-90
    )
    | TEXTS
)
KEYS = st.sampled_from([*NAMES, *TRICKY]).filter(lambda name: name.isprintable() and bool(name.strip()))
ANY: st.SearchStrategy[Value] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)
SETS = st.dictionaries(st.sampled_from([*map(front_matters._bare, NAMES), "new", "on", "a: b"]), ANY, max_size=3)


def loaded(inner: str, version: tuple[int, int]) -> dict[str, Any]:
    """What a library reads between the fences (which knows no tabs and no tags of others)."""
    inner = inner.replace("\t", " ").replace(": !other x", ": x")
    yaml = YAML(typ="safe", pure=True)
    yaml.version = version
    yaml.allow_duplicate_keys = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReusedAnchorWarning)  # which YAML allows
        return yaml.load(inner) or {}


def meant(value: Any) -> Any:
    """A loaded value as JSON would have it: days and times as text."""
    match value:
        case datetime() | date():
            return value.isoformat()
        case dict():
            return {meant(key): meant(item) for key, item in value.items()}
        case list():
            return [meant(item) for item in value]
        case _:
            return value


def alike(one: Any, other: Any) -> bool:
    match one, other:
        case (bool(), _) | (_, bool()):
            return one is other
        case (int() | float(), int() | float()):
            return one == other
        case list(), list():
            return len(one) == len(other) and all(map(alike, one, other))
        case dict(), dict():
            return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
        case _:
            return type(one) is type(other) and one == other


def inner_of(text: str) -> str:
    found = re.match(r"---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", text, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def kept_but(made: Made, named: set[str]) -> re.Pattern[str]:
    """What the note must look like: every byte of every other property, of remarks and of blank lines in its place."""
    parts = [re.escape(piece.text) if piece.name not in named else "(?:.*?)" for piece in made.pieces]
    return re.compile(re.escape(made.head) + "".join(parts) + "(?:.*?)" + re.escape(made.tail), re.DOTALL)


@given(front_matters.notes(), SETS, st.sets(st.sampled_from([*map(front_matters._bare, NAMES), "refers"]), max_size=2))
@settings(max_examples=300)
def test_only_the_named_properties_change_and_they_say_what_was_asked(
    made: Made, values: dict[str, Value], gone: set[str]
) -> None:
    """The issue: every other byte identical, and the parsed result is what was asked; else it is refused."""
    gone -= values.keys()
    assume(values or gone)
    end = "\r\n" if "\r\n" in made.text else "\n"
    was = loaded(inner_of(made.text), (1, 2))
    try:
        change = property_edits.plan(made.text, Wanted(values, frozenset(gone)), end)
    except FrontmatterKept as error:
        event(f"refused: {str(error)[:90]}")
        assert may_be_refused(made, values, gone)
        return
    after = property_edits.applied(made.text, change.pieces)
    event("changed" if change.pieces else "as it was")
    assert kept_but(made, {*values, *gone}).fullmatch(after)
    inner = inner_of(after)
    now = loaded(inner, (1, 2))
    assert {name: now[name] for name in now if name not in values} == {
        name: was[name] for name in was if name not in values and name not in gone
    }
    for name, value in values.items():
        assert alike(meant(now[name]), value), (inner, value)
    written = {name: values[name] for name in change.changed if name in values and not isinstance(was.get(name), list)}
    assert_a_reader_of_1_1_agrees(inner, written)
    assert inner.count("\n") - inner.count("\r\n") in ((0,) if end == "\r\n" else (inner.count("\n"),))
    again = property_edits.plan(after, Wanted(values, frozenset(gone)), end)
    assert again.pieces == ()


def may_be_refused(made: Made, values: dict[str, Value], gone: set[str]) -> bool:
    """Whether a note has something to be careful about: a name twice, an anchor that is used, kept blank lines at an end."""
    named = {*values, *gone}
    is_twice = any(made.names.count(name) > 1 for name in named)
    return is_twice or "*name" in made.text or "|+" in made.text


def assert_a_reader_of_1_1_agrees(inner: str, values: dict[str, Value]) -> None:
    """What is newly written means the same where `on` is a truth and 22:30 a number (names that were there stay as they are)."""
    now = meant(loaded(inner, (1, 1)))
    for name, value in values.items():
        assert alike(now[name if name in now else {"on": True, "22": 22}[name]], value), (inner, value)


@given(st.sampled_from(["", "body\n", "# H\r\n\r\ntext\r\n", "text", "--\n", "\n\ntext"]), SETS.filter(bool))
def test_a_note_without_properties_gets_them_above_its_first_line(note: str, values: dict[str, Value]) -> None:
    """Contract: a new block at the top; not a byte of the note changes."""
    end = "\r\n" if "\r\n" in note else "\n"
    after = property_edits.applied(note, property_edits.plan(note, Wanted(values), end).pieces)
    assert after.endswith(note)
    inner = inner_of(after)
    assert after == f"---{end}{inner}---{end}{note}"
    for version in ((1, 2), (1, 1)):
        assert alike(meant(loaded(inner, version)), values)


@given(front_matters.notes(), st.integers(0, 10_000), st.sampled_from("[]{}:#-&*'\"|>%@`\n ,x"))
@settings(max_examples=150)
def test_whatever_the_yaml_it_is_changed_as_asked_or_refused(made: Made, place: int, char: str) -> None:
    """Complaint 17: malformed front matter is refused, never given a second block."""
    at = len(made.head) + place % (len(made.inner) + 1)
    text = made.text[:at] + char + made.text[at:]
    end = "\r\n" if "\r\n" in text else "\n"
    try:
        change = property_edits.plan(text, Wanted({"title": ["a", "b"], "neu": "1.10"}), end)
    except InvalidFrontmatter as error:
        event(type(error).__name__)
        return
    after = property_edits.applied(text, change.pieces)
    now = loaded(inner_of(after), (1, 2))
    assert (now["title"], now["neu"]) == (["a", "b"], "1.10")
    before = loaded(inner_of(text), (1, 2))
    assert {name: now[name] for name in before if name not in ("title", "neu")} == {
        name: before[name] for name in before if name not in ("title", "neu")
    }


@pytest.mark.long
@pytest.mark.timeout(1200)
@given(front_matters.notes(), SETS, st.sets(st.sampled_from([*map(front_matters._bare, NAMES), "refers"]), max_size=2))
@settings(max_examples=6_000)
def test_only_the_named_properties_change_at_length(made: Made, values: dict[str, Value], gone: set[str]) -> None:
    """The same, many times."""
    test_only_the_named_properties_change_and_they_say_what_was_asked.hypothesis.inner_test(made, values, gone)
