"""No edit loses, moves, shows or adds to what is hidden.

guards.md 4.5; the issue: no hidden byte lost in edits. Stated with the view alone, so that it holds for whatever a view hides.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.errors import AppError, HiddenContent, MatchAmbiguous, NoMatch, UnsafeContent
from service.guards import outgoing
from service.vault import editing, harmless, through
from service.vault.editing import Edit
from service.vault.text import NoteText
from tests.support import view_places
from tests.support.desk import NOTE, Desk, desk_in

PIECES = [
    *"ab \n",
    "\n\n",
    "\r\n",
    "é統",
    "\u200b",
    "\u00ad",
    "\u2060\u200b",
    "<!-- x -->",
    "<!--",
    "-->",
    "<!-- a\nb -->",
    '<div style="display:none">',
    "<div>",
    "</div>",
    "<span hidden>x</span>",
    "```",
    "```\n",
    "> ",
    "- ",
    "    ",
    "`",
    "\\",
    '[r]: # "t"',
    "[r]",
    "&#8203;",
    "&",
    "<b>",
    "---\n",
    "<?x ?>",
    "👩\u200d👧",
    "می\u200cروم",
]
"""What hides, what opens and closes it, and plain text."""

RAW = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
NEW = st.lists(st.sampled_from([*"abc \n", "\r\n", "é", "<!--", "-->", "<b>", "</div>", "`"]), max_size=4).map("".join)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return desk_in(tmp_path_factory.mktemp("desk"))


def lf(text: str) -> str:
    return text.replace("\r\n", "\n")


def smallest_change(raw: str, view: outgoing.View, old: str, new: str) -> tuple[int, int, str]:
    """The changed stretch of `raw`, character by character: (start, end) and what is hidden in the middle of it.

    Where something is only put in: what is hidden at that place, on either side of which it may stand.

    An oracle that shares nothing with the code: each visible character is a cell that knows where it stands.
    """
    hidden = {at for start, end in view.removed for at in range(start, end)}
    cells: list[tuple[str, int, int]] = []
    at = 0
    while at < len(raw):
        if at in hidden:
            at += 1
            continue
        after = next((later for later in range(at + 1, len(raw)) if later not in hidden), len(raw))
        if raw[at] == "\r" and raw[after : after + 1] == "\n":
            cells.append(("\n", at, after + 1))
            at = after + 1
        else:
            cells.append((raw[at], at, at + 1))
            at += 1
    text = "".join(cell[0] for cell in cells)
    place = text.index(old)
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    inside = cells[place + head : place + len(old) - tail]
    if not inside:
        before = cells[place + head - 1][2] if place + head else 0
        return before, cells[place + head][1] if place + head < len(cells) else len(raw), ""
    start, end = inside[0][1], inside[-1][2]
    return start, end, "".join(raw[at] for at in range(start, end) if at in hidden)


def check(raw: str, start: int, length: int, new: str) -> str:
    """Edit the piece of the view at `start`; returns how that ended, once everything that must hold did."""
    view = outgoing.view(raw)
    shown = lf(view.text)
    old = shown[start : start + length]
    if not old or lf(old) == lf(new) or view.withheld:
        return "nothing to do"
    try:
        after, _ = editing.apply(NoteText(raw), [Edit(old, new)])
    except MatchAmbiguous:
        assert shown.find(old) != shown.rfind(old)
        return "ambiguous"
    except HiddenContent:
        assert not view.is_whole or not outgoing.view(lf(raw).replace(old, lf(new))).is_whole
        return "refused"
    seen = outgoing.view(after.text)
    assert lf(seen.text) == shown[:start] + lf(new) + shown[start + len(old) :]
    assert hidden_text(seen) == hidden_text(view)
    first, last, inside = smallest_change(raw, view, old, lf(new))
    assert not inside
    assert after.text.startswith(raw[:first])
    assert after.text.endswith(raw[last:])
    return "done"


def hidden_text(view: outgoing.View) -> str:
    return "".join(view.raw[start:end] for start, end in view.removed)


@given(RAW, st.integers(0, 40), st.integers(1, 6), NEW)
@settings(max_examples=600, deadline=None)
def test_an_edit_changes_what_is_shown_as_asked_and_nothing_that_is_hidden(
    raw: str, start: int, length: int, new: str
) -> None:
    """guards.md 4.5, steps 1 to 4."""
    check(raw, start, length, new)


def test_so_it_is_for_many_random_notes() -> None:
    """guards.md 6, 54: a fixed seed here; most edits must go through, or this would prove nothing."""
    chance = random.Random(20261130)
    ends = dict.fromkeys(("nothing to do", "ambiguous", "refused", "done"), 0)
    for _ in range(4000):
        raw = "".join(chance.choices(PIECES, k=chance.randint(1, 16)))
        new = "".join(chance.choices([*"xyz \n", "<!--", "-->", "**"], k=chance.randint(0, 3)))
        ends[check(raw, chance.randint(0, 30), chance.randint(1, 6), new)] += 1
    assert ends["done"] > 500, ends
    assert ends["refused"] > 20, ends


@pytest.mark.parametrize(
    ("raw", "start", "length"), [("ab <!-- x --><!--", 1, 2), ("a&`\n<!-- x --><?x ?><!--<!--", 1, 3)]
)
def test_new_words_never_take_the_place_of_hidden_ones(raw: str, start: int, length: int) -> None:
    """A long run found it: the same marks, put in before, would be hidden, and the hidden ones shown, as if nothing were."""
    marks = raw[raw.rindex(">") + 1 :]
    assert check(raw, start, length, marks) == "refused"


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_so_it_is_for_fifty_thousand_more() -> None:
    """guards.md 6, 54 and 55: another seed each time; it is in the message of whatever fails."""
    seed = random.SystemRandom().randrange(1 << 32)
    chance = random.Random(seed)
    for _ in range(50_000):
        raw = "".join(chance.choices(PIECES, k=chance.randint(1, 24)))
        new = "".join(chance.choices([*"xyz \n", "<!--", "-->", "**"], k=chance.randint(0, 3)))
        start, length = chance.randint(0, 60), chance.randint(1, 8)
        try:
            check(raw, start, length, new)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {raw!r} at {start}, {length} characters, new {new!r}") from error


ACTIVE = ["![x](https://e.example/a.png)", "<script>", "`$= x`", "<%", "<!-- x -->", "\u200b", "word", " ", "\n"]
"""What the input guard changes, and what it leaves."""


def test_with_the_input_guard_behind_it_nothing_hidden_is_lost_either(desk: Desk) -> None:
    """guards.md 4.4 and 4.5 together, with a fixed seed: what is written is made harmless, what is hidden stays."""
    chance = random.Random(4711)
    done = 0
    for _ in range(1500):
        raw = "".join(chance.choices(PIECES, k=chance.randint(1, 14)))
        view = outgoing.view(raw)
        shown = lf(view.text)
        start = chance.randint(0, 20)
        old = shown[start : start + chance.randint(1, 6)]
        new = "".join(chance.choices(ACTIVE, k=chance.randint(0, 2)))
        if not old or view.withheld:
            continue
        try:
            after, outcome = harmless.edited(desk.vault, NOTE, NoteText(raw), [Edit(old, new)])
        except (MatchAmbiguous, HiddenContent, UnsafeContent, NoMatch):
            continue
        seen = outgoing.view(after.text)
        assert hidden_text(seen) == hidden_text(view), (raw, old, new)
        if not outcome.notice and old != new:
            assert lf(seen.text) == shown.replace(old, new), (raw, old, new)
        done += 1
    assert done > 200


@given(RAW, st.sampled_from(["a", "b", " ", "\n", "ab"]), NEW)
@settings(max_examples=300, deadline=None)
def test_replacing_everywhere_keeps_what_is_hidden_too(raw: str, old: str, new: str) -> None:
    """guards.md 4.5, for each place."""
    view = outgoing.view(raw)
    try:
        after, outcome = editing.apply(NoteText(raw), [Edit(old, new, everywhere=True)])
    except NoMatch:
        assert old not in lf(view.text)
        return
    except HiddenContent:
        return
    seen = outgoing.view(after.text)
    assert lf(seen.text) == lf(view.text).replace(old, lf(new))
    assert outcome.replaced == lf(view.text).count(old)
    assert hidden_text(seen) == hidden_text(view)


@given(RAW, NEW)
@settings(max_examples=300, deadline=None)
def test_what_is_appended_is_seen_and_changes_nothing_that_was(raw: str, added: str) -> None:
    """The issue: an append after an unclosed comment must not be swallowed."""
    view = outgoing.view(raw)
    try:
        after = through.appended(raw, raw + added)
    except HiddenContent:
        assert outgoing.view(raw + added).text != view.text + added or view.withheld
        return
    assert after == raw + added
    assert outgoing.view(after).text == view.text + added


@given(RAW, st.lists(st.tuples(st.integers(0, 30), st.integers(0, 4)), max_size=6))
@settings(max_examples=300, deadline=None)
def test_rising_offsets_lead_where_the_letters_stand(raw: str, wanted: list[tuple[int, int]]) -> None:
    """guards.md 4.5, 3: what stands there is the same text, with nothing hidden within."""
    view = outgoing.view(raw)
    walk, at = through.RawOffsets(view), 0
    for gap, length in wanted:
        start = at + gap
        end = start + length
        if end > len(view.text):
            return
        expected = view_places.raw_span(view, start, end)
        if view_places.hides_in(view, *expected):
            with pytest.raises(HiddenContent):
                walk.span(start, end)
            return
        assert walk.span(start, end) == expected
        assert raw[slice(*expected)] == view.text[start:end]
        at = end + 1


def test_every_refusal_is_an_error_with_a_code() -> None:
    """contract.md, errors."""
    with pytest.raises(AppError) as caught:
        editing.apply(NoteText("a\u200bb"), [Edit("ab", "c")])
    assert caught.value.code == "HIDDEN_CONTENT"
