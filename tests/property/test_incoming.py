"""The input guard against documents nobody thought of, judged by parsers that share nothing with it (guards.md 6, 55)."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from service.errors import UnsafeContent
from service.guards import incoming, verifying
from tests.support import active_oracle, nasty

SEED = 20261130
DOCUMENTS = 1500
LONG_DOCUMENTS = 16_000
MAX_REFUSED_WHOLE = 0.01
"""Of documents written as new notes: nothing of the owner's is at stake, so nearly all must come through."""


def change(chance: random.Random, number: int) -> tuple[str, str, tuple[int, int]]:
    """A note as it was, what is put into it, and where: a new one, an append, an insertion, a replacement, in turn."""
    before = nasty.document(chance, 8) if number % 4 else ""
    new = nasty.document(chance, 10)
    start = chance.randint(0, len(before)) if number % 4 > 1 else len(before)
    end = min(len(before), start + chance.randint(0, 10)) if number % 4 == 3 else start
    return before, new, (start, end)


def try_documents(seed: int, count: int, step: int = 1) -> Counter[str]:
    """Put nasty documents through the guard; fails on the first that is not as it must be, and shows it."""
    seen: Counter[str] = Counter()
    for number in range(0, count, step):
        before, new, (start, end) = change(random.Random(seed * 1_000_003 + number), number)
        after = before[:start] + new + before[end:]
        seen["active"] += bool(active_oracle.active(after) - active_oracle.active(before))
        try:
            written = incoming.guard(before, after, [(start, start + len(new))])
        except UnsafeContent:
            seen["refused whole" if not before else "refused"] += 1
            continue
        seen["fallback"] += incoming.ESCAPED in written.counts
        what = f"seed {seed}, number {number}: {before!r} with {new!r} at {start}:{end} became {written.text!r}"
        assert not active_oracle.active(written.text) - active_oracle.active(before), what
        assert written.text.startswith(before[:start]), what
        assert written.text.endswith(before[end:]), what
        if not before:
            again = incoming.guard("", written.text, [(0, len(written.text))])
            assert (again.text, dict(again.counts)) == (written.text, {}), what
    return seen


@pytest.mark.timeout(400)  # 15 s of one core, if it is not shared
def test_no_document_of_nasty_pieces_comes_through_active() -> None:
    """0 active, the owner's bytes as they were, idempotent; and the pieces are nasty enough for this to mean something."""
    seen = try_documents(SEED, DOCUMENTS)
    assert seen["active"] > DOCUMENTS // 2
    assert seen["refused whole"] <= DOCUMENTS // 4 * MAX_REFUSED_WHOLE


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_none_of_many_with_a_fresh_seed_does() -> None:
    """As above, with another seed each time; it is printed when one fails."""
    seed = random.SystemRandom().randrange(1_000_000)
    print(f"seed {seed}")
    seen = try_documents(seed, LONG_DOCUMENTS)
    print(dict(seen))
    assert seen["refused whole"] <= LONG_DOCUMENTS // 4 * MAX_REFUSED_WHOLE


@pytest.mark.parametrize(("whole_chars", "step"), [(verifying.WHOLE_CHARS, 1), (0, 4)])
def test_the_second_look_holds_alone(whole_chars: int, step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A scanner that finds nothing: what it missed is escaped or refused, and still nothing comes through.

    Once more for new notes in parts, as long ones are looked at, where what is harmless however it is read is left out.
    """
    monkeypatch.setattr(verifying, "WHOLE_CHARS", whole_chars)
    monkeypatch.setattr(incoming, "_fresh", lambda *_: [])
    seen = try_documents(SEED, 400 * step, step)
    assert seen["refused"] + seen["refused whole"] + seen["fallback"] > 100


def test_a_guard_that_sees_nothing_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Control: without both looks the same harness fails, or it would prove nothing."""
    monkeypatch.setattr(incoming, "_fresh", lambda *_: [])
    monkeypatch.setattr(incoming.verifying, "is_as_harmless", lambda *_: True)
    with pytest.raises(AssertionError, match="seed"):
        try_documents(SEED, 400)


def test_plain_notes_come_through_as_they_are() -> None:
    """Benign text unchanged, with nothing to say about it."""
    chance = random.Random(SEED)
    for _ in range(400):
        text = nasty.benign(chance)
        written = incoming.guard("", text, [(0, len(text))])
        assert (written.text, dict(written.counts), written.warnings) == (text, {}, ())


def test_plain_edits_of_any_note_are_never_refused() -> None:
    """What the owner has, however nasty, is no reason to refuse a line of plain words under it, unless it swallows them."""
    chance = random.Random(SEED)
    for _ in range(300):
        before = nasty.document(chance, 8) + "\n\n"
        after = before + "A plain line.\n"
        try:
            written = incoming.guard(before, after, [(len(before), len(after))])
        except UnsafeContent:  # it goes on in something unfinished that is active: then it belongs to that
            assert active_oracle.active(after) != active_oracle.active(before) or "<" in before or "```" in before
        else:
            assert written.text == after


def test_nothing_that_trips_the_other_parser_is_a_fault_of_ours() -> None:
    """markdown-it-py 4.3 raises IndexError on HTML in a numbered item of a quote that ends in an empty line of it."""
    text = "![a](https://example.com/x)\n\n>1. <?\n> "
    assert incoming.guard("", text, [(0, len(text))]).text == text.removeprefix("!")
