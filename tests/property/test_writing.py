"""Appending and editing keep every byte outside the change."""

from __future__ import annotations

import hashlib
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.errors import AppError, MatchAmbiguous, NoMatch
from service.vault import daily, editing, notes
from service.vault.editing import Edit
from service.vault.notes import Edited
from service.vault.text import NoteText
from tests.support.desk import NOTE, Desk, desk_in
from tests.support.vaults import BOM

LETTERS = st.sampled_from([*"aab \n\n.$\\é統\u00a0", "\r\n", "\r\n", "👍"])
TEXT = st.lists(LETTERS, max_size=30).map("".join)
WORDS = st.lists(LETTERS, min_size=1, max_size=4).map("".join)
EDITS = st.lists(st.builds(Edit, WORDS, TEXT, st.booleans()), min_size=1, max_size=4)
MARK = st.sampled_from([b"", BOM])


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """One desk for all examples: each lays its note out anew."""
    return desk_in(tmp_path_factory.mktemp("desk"))


def lf(text: str) -> str:
    return text.replace("\r\n", "\n")


@given(MARK, TEXT, TEXT.filter(bool))
@settings(max_examples=80, deadline=None)
def test_appending_keeps_what_was_there_and_adds_just_the_lines(
    desk: Desk, mark: bytes, before: str, added: str
) -> None:
    """contract.md, append_to_note; complaint 29."""
    old = mark + before.encode()
    desk.put({"n.md": old})
    written = notes.append(desk.vault, desk.actor, NOTE, added)
    new = desk.bytes_of("n.md")
    assert new.startswith(old)
    assert written.version == hashlib.sha256(new).hexdigest()[:12]
    between = "" if not before or before.endswith("\n") else "\n"
    assert lf(new[len(old) :].decode()) == between + lf(added) + ("" if added.endswith("\n") else "\n")
    endings = new[len(old) :].count(b"\r\n"), new[len(old) :].count(b"\n")
    assert endings[0] == (endings[1] if NoteText(before).line_end == "\r\n" else 0)


@given(MARK, TEXT, EDITS)
@settings(max_examples=100, deadline=None)
def test_a_trial_and_the_edit_itself_come_to_the_same(desk: Desk, mark: bytes, before: str, edits: list[Edit]) -> None:
    """contract.md, dry_run; all or nothing."""
    old = mark + before.encode()
    desk.put({"n.md": old})
    tried = _outcome(desk, edits, is_trial=True)
    assert desk.bytes_of("n.md") == old
    done = _outcome(desk, edits, is_trial=False)
    new = desk.bytes_of("n.md")
    assert done == tried
    if isinstance(done, Edited):
        assert done.written.version == hashlib.sha256(new).hexdigest()[:12]
        assert new != old
        assert new.startswith(mark)
    else:
        assert new == old


def _outcome(desk: Desk, edits: list[Edit], *, is_trial: bool) -> Edited | tuple[str, str]:
    try:
        return notes.edit(desk.vault, desk.actor, NOTE, edits, is_trial=is_trial)
    except AppError as error:
        return error.code, str(error)


@given(TEXT, st.integers(0, 30), st.integers(0, 4), TEXT)
@settings(max_examples=500, deadline=None)
def test_an_edit_touches_nothing_outside_its_place(before: str, start: int, length: int, new: str) -> None:
    """Complaint 29: bytes before and after the place are the same, line ends of the note's own style in between."""
    view = lf(before)
    old = view[start : start + length]
    if not old:
        return
    note = NoteText(before)
    try:
        after, outcome = editing.apply(note, [Edit(old, new)])
    except MatchAmbiguous:
        assert view.count(old) > 1 or view.find(old, view.find(old) + 1) != -1
        return
    assert outcome.replaced == 1
    assert lf(after.text) == view[:start] + lf(new) + view[start + length :]
    head = _raw_length(before, start)
    tail = len(before) - _raw_length(before, start + length)
    assert after.text[:head] == before[:head]
    assert after.text[len(after.text) - tail :] == before[len(before) - tail :]


def _raw_length(raw: str, view_length: int) -> int:
    """How much of `raw` makes `view_length` characters once each CRLF is one character."""
    characters = re.findall(r"\r\n|[\s\S]", raw)
    return len("".join(characters[:view_length]))


@given(TEXT, WORDS, TEXT)
@settings(max_examples=500, deadline=None)
def test_replacing_everywhere_is_what_str_replace_does(before: str, old: str, new: str) -> None:
    """contract.md, replace_all."""
    try:
        after, outcome = editing.apply(NoteText(before), [Edit(old, new, everywhere=True)])
    except NoMatch:
        assert lf(old) not in lf(before)
        return
    assert lf(after.text) == lf(before).replace(lf(old), lf(new))
    assert outcome.replaced == lf(before).count(lf(old))


@given(TEXT, TEXT.filter(str.strip))
@settings(max_examples=60, deadline=None)
def test_a_line_of_the_day_is_one_list_item_behind_what_was_there(desk: Desk, before: str, words: str) -> None:
    """contract.md, append_daily_note."""
    desk.put({"2026-03-01.md": before})
    done = daily.append(desk.vault, desk.actor, words, daily.place(desk.vault, daily.day(desk.vault, "")))
    new = desk.bytes_of("2026-03-01.md").decode()
    assert new.startswith(before)
    lines = lf(new).split("\n")
    assert lines[done.line_number - 1] == done.line
    assert re.match(r"(?:[-*+]|\d+[.)]) (?:\[.\] )?12:00", done.line)
    more = [line for line in lines[done.line_number :] if line.strip(" ")]
    assert all(line[0] in " \t" or re.match(r"(?:[-*+]|\d+[.)])[ \t]", line) for line in more)
    assert new.endswith("\n")
