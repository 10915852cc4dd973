"""Exact replacement: what matches, what is kept, what is told."""

from __future__ import annotations

import hashlib
import tracemalloc

import pytest

from service.errors import MatchAmbiguous, NoMatch, NoteChanged, NotText, TooLarge
from service.guards import limits
from service.vault import diffs, notes
from service.vault.editing import Edit
from service.vault.model import Change
from tests.support.desk import NOTE, Desk
from tests.support.vaults import BOM


def edited(desk: Desk, before: str | bytes, *edits: Edit) -> bytes:
    desk.put({"n.md": before})
    notes.edit(desk.vault, desk.actor, NOTE, edits)
    return desk.bytes_of("n.md")


@pytest.mark.parametrize("new", ["$1 $& $' $`", r"\1 \g<0> \n", "%s {0}", "[[a|b]]"])
def test_new_text_lands_literally(desk: Desk, new: str) -> None:
    """Complaint 22."""
    assert edited(desk, "one two three\n", Edit("two", new)) == f"one {new} three\n".encode()


@pytest.mark.parametrize("old", ["a.c", "(x)*", "[y]", "^z$", "**Notes:**\n\n- one", "| a | `b` |"])
def test_old_text_is_no_pattern(desk: Desk, old: str) -> None:
    """Complaints 22, 27 and 30: multi-line Markdown and what would be a pattern are plain text."""
    assert edited(desk, f"abc xx\n{old}\ny z\n", Edit(old, "new")) == b"abc xx\nnew\ny z\n"


def test_text_can_be_taken_away(desk: Desk) -> None:
    """contract.md, edit_note."""
    assert edited(desk, "one two\n", Edit(" two", "")) == b"one\n"


def test_edits_are_applied_in_order_to_what_the_earlier_ones_made(desk: Desk) -> None:
    """contract.md, edit_note."""
    assert edited(desk, "one\n", Edit("one", "two"), Edit("two", "three\nfour"), Edit("four", "4")) == b"three\n4\n"


def test_when_one_edit_fails_none_is_written(desk: Desk) -> None:
    """contract.md, edit_note: all or nothing."""
    with pytest.raises(NoMatch, match=r"^edit 2 of 2 does not occur"):
        edited(desk, "one\n", Edit("one", "two"), Edit("missing", "x"))
    assert desk.bytes_of("n.md") == b"one\n"
    assert desk.told == []


@pytest.mark.parametrize("old", ["one\ntwo", "one\r\ntwo"])
def test_lf_and_crlf_match_each_other_and_the_note_keeps_its_own(desk: Desk, old: str) -> None:
    """Complaints 15 and 16; contract.md, content."""
    assert edited(desk, "0\r\none\r\ntwo\r\n3\r\n", Edit(old, "1\n2\n2b")) == b"0\r\n1\r\n2\r\n2b\r\n3\r\n"
    assert edited(desk, "0\none\ntwo\n3\n", Edit(old, "1\r\n2")) == b"0\n1\n2\n3\n"


def test_line_ends_that_old_and_new_text_share_are_not_touched(desk: Desk) -> None:
    """Complaint 29: a mixed note keeps every byte outside the smallest change."""
    mixed = b"a\r\nb\nc\r\nd\r\n"
    assert edited(desk, mixed, Edit("a\nb\nc\nd", "a\nb\nX\nd")) == b"a\r\nb\nX\r\nd\r\n"


def test_joining_two_lines_takes_the_whole_line_end_away(desk: Desk) -> None:
    """Complaint 15: no stray CR stays behind."""
    assert edited(desk, "a\r\nb\r\n", Edit("a\nb", "ab")) == b"ab\r\n"


def test_a_lone_carriage_return_is_a_character_like_any_other(desk: Desk) -> None:
    """guards.md test 65."""
    assert edited(desk, b"a\rb\r\r\nc", Edit("\rb", "\rB")) == b"a\rB\r\r\nc"


def test_byte_order_mark_and_odd_characters_stay(desk: Desk) -> None:
    """Complaints 19 and 23."""
    before = BOM + "می‌روم 👨‍👩‍👧 x\u2028y\n".encode()
    assert edited(desk, before, Edit("x", "z")) == BOM + "می‌روم 👨‍👩‍👧 z\u2028y\n".encode()


def test_everywhere_replaces_each_place_once(desk: Desk) -> None:
    """contract.md, replace_all: what was put in is not looked at again."""
    desk.put({"n.md": "a\r\na a\r\naa\r\n"})
    done = notes.edit(desk.vault, desk.actor, NOTE, [Edit("a", "aa", everywhere=True)])
    assert desk.bytes_of("n.md") == b"aa\r\naa aa\r\naaaa\r\n"
    assert done.replaced == 5


def test_text_that_occurs_more_than_once_is_refused_with_its_lines_and_a_way_out(desk: Desk) -> None:
    """contract.md, AMBIGUOUS_MATCH."""
    with pytest.raises(MatchAmbiguous) as refused:
        edited(desk, "secret x\n\nsecret x\r\nsecret x", Edit("secret x", "y"))
    assert str(refused.value) == (
        "old_string occurs 3 times (in lines 1, 3, 4); add text around it so that it is found once, or set replace_all. "
        "Nothing was changed."
    )


def test_places_that_overlap_are_ambiguous_too(desk: Desk) -> None:
    """Our decision: `aa` in `aaa` could be either."""
    with pytest.raises(MatchAmbiguous, match=r"occurs 2 times \(in line 1\)"):
        edited(desk, "aaa", Edit("aa", "b"))


def test_many_places_name_the_first_lines_only(desk: Desk) -> None:
    """contract.md, limits: every list is bounded."""
    with pytest.raises(MatchAmbiguous, match=r"occurs 500 times \(in lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and more\)"):
        edited(desk, "x\n" * 500, Edit("x", "y"))


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_letter_that_stands_in_millions_of_places_costs_no_memory_and_no_long_look_for_each(
    desk: Desk, line_end: str
) -> None:
    """guards.md tests 61 and 64: a large note is no way to bring the service down; 1 MB here."""
    desk.put({"n.md": "x" * 1_000_000 + line_end})
    tracemalloc.start()
    try:
        with pytest.raises(MatchAmbiguous, match=r"occurs 1000000 times \(in line 1 and more\)"):
            notes.edit(desk.vault, desk.actor, NOTE, [Edit("x", "y")])
        assert notes.edit(desk.vault, desk.actor, NOTE, [Edit("x", "y", everywhere=True)]).replaced == 1_000_000
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
    finally:
        tracemalloc.stop()
    assert desk.bytes_of("n.md") == b"y" * 1_000_000 + line_end.encode()


@pytest.mark.parametrize(
    ("note", "old", "hint"),
    [
        ("a\nSecret Words\n", "secret words", "line 2 differs only in upper and lower case"),
        ("a\n\nsecret   words\nmore\n", "secret words more", "line 3 differs only in white space or line breaks"),
        ("\tsecret words\n", "secret words \n", "line 1 differs only in white space or line breaks"),
        ("a\ncafe\u0301\n", "caf\u00e9", "line 2 has the same letters, encoded differently"),
        ("a\n", "secret", "read the note again and copy the text exactly"),
    ],
)
def test_text_that_does_not_occur_is_refused_with_the_likeliest_reason(
    desk: Desk, note: str, old: str, hint: str
) -> None:
    """contract.md, NO_MATCH: a way out, and no word of the note."""
    with pytest.raises(NoMatch) as refused:
        edited(desk, note, Edit(old, "y"))
    assert hint in str(refused.value)
    assert "secret" not in str(refused.value).lower()


def test_text_that_an_earlier_edit_took_away_is_told_as_such(desk: Desk) -> None:
    """contract.md, NO_MATCH."""
    with pytest.raises(
        NoMatch, match="edit 2 of 2 does not occur in the note; an edit before it has changed that text"
    ):
        edited(desk, "one\n", Edit("one", "two"), Edit("one", "three"))


@pytest.mark.parametrize("edits", [[Edit("one", "one")], [Edit("one", "two"), Edit("two", "one")]])
def test_edits_that_change_nothing_are_refused(desk: Desk, edits: list[Edit]) -> None:
    """Complaint 28: a success always changes the file."""
    with pytest.raises(NoMatch, match="would stay as it is"):
        edited(desk, "one\n", *edits)


def test_a_note_that_is_no_utf8_is_never_edited(desk: Desk) -> None:
    """Complaint 20."""
    with pytest.raises(NotText):
        edited(desk, b"one caf\xe9\n", Edit("one", "two"))
    assert desk.bytes_of("n.md") == b"one caf\xe9\n"


def test_another_version_is_a_conflict(desk: Desk) -> None:
    """Complaint 32."""
    desk.put({"n.md": "one\n"})
    for is_trial in (True, False):
        with pytest.raises(NoteChanged):
            notes.edit(desk.vault, desk.actor, NOTE, [Edit("one", "two")], "ffff", is_trial=is_trial)
    assert desk.bytes_of("n.md") == b"one\n"


def test_a_note_that_would_become_too_large_is_refused_before_it_is_made(desk: Desk) -> None:
    """Our decision: twenty doublings must not fill the memory."""
    doubling = [Edit("x", "x" * 1000, everywhere=True)] * 3
    with pytest.raises(TooLarge, match="edit 3 of 3"):
        edited(desk, "x\n" * 5, *doubling)


def test_the_new_text_of_all_edits_together_is_bounded(desk: Desk) -> None:
    """contract.md, content."""
    half = "y" * (limits.MAX_WRITE_CHARS // 2 + 1)
    with pytest.raises(TooLarge, match="all edits together"):
        edited(desk, "a b\n", Edit("a", half), Edit("b", half))


def test_a_trial_says_what_would_come_out_and_writes_nothing(desk: Desk) -> None:
    """contract.md, dry_run."""
    desk.put({"n.md": "one\r\ntwo\r\n"})
    tried = notes.edit(desk.vault, desk.actor, NOTE, [Edit("two", "2")], is_trial=True)
    assert desk.bytes_of("n.md") == b"one\r\ntwo\r\n"
    assert desk.told == []
    done = notes.edit(desk.vault, desk.actor, NOTE, [Edit("two", "2")])
    assert done == tried
    assert done.written.version == hashlib.sha256(b"one\r\n2\r\n").hexdigest()[:12]
    assert desk.told == [Change(NOTE, b"one\r\ntwo\r\n", b"one\r\n2\r\n")]


# -- the diff --------------------------------------------------------------------------------------------------------------


def test_the_diff_shows_each_change_with_its_line_numbers_and_a_little_around_it() -> None:
    """contract.md, edit_note: a short diff."""
    before = "".join(f"line {number}\n" for number in range(1, 41))
    after = before.replace("line 10\n", "ten\n").replace("line 30\n", "")
    assert diffs.unified(before, after).split("\n") == [
        "@@ -8,5 +8,5 @@",
        " line 8",
        " line 9",
        "-line 10",
        "+ten",
        " line 11",
        " line 12",
        "@@ -28,5 +28,4 @@",
        " line 28",
        " line 29",
        "-line 30",
        " line 31",
        " line 32",
    ]


def test_the_diff_of_a_crlf_note_has_no_carriage_returns() -> None:
    """Our decision: line ends are the note's own business."""
    assert diffs.unified("a\r\nb\r\n", "a\r\nc\r\n") == "@@ -1,2 +1,2 @@\n a\n-b\n+c"


def test_a_line_end_added_at_the_end_is_seen() -> None:
    """Our decision."""
    assert diffs.unified("a", "a\n") == "@@ -1 +1,2 @@\n a\n+"


def test_a_long_diff_is_cut_and_says_by_how_much() -> None:
    """contract.md, limits."""
    shown = diffs.unified("a\n" * 100, "b" * 500 + "\n" + "c\n" * 99).split("\n")
    assert len(shown) == diffs.SHORT.lines + 1
    assert max(map(len, shown)) <= diffs.SHORT.line_chars
    assert shown[-1] == "... 141 more lines of diff are not shown"


def test_changes_far_apart_in_a_huge_note_are_summed_up() -> None:
    """Our decision: comparing many lines one by one takes too long."""
    before = "x\n" + "same\n" * 20_000 + "y\n"
    after = "X\n" + "same\n" * 20_000 + "Y\n"
    assert diffs.unified(before, after) == "@@ lines 1-20002 became lines 1-20002: too many to show @@"


def test_the_same_text_has_no_diff() -> None:
    """Our decision."""
    assert diffs.unified("a", "a") == ""
