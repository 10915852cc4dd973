"""The block: what is put in is there, what is taken out is not, and what was given out stays as it is."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.guards.paths import VaultPath
from service.store.root import Root
from service.vault.picture import block
from service.vault.picture.block import BEHIND_NAME, BEHIND_TEXT, BORDER, Block, Segment, folded, folded_name
from service.vault.picture.note import Note


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Root:
    return Root(tmp_path_factory.mktemp("vault"))


def note(root: Root, name: str) -> Note:
    return Note(root, VaultPath((name,)), 0, 0, 0)


Chunk = tuple[bytes, bytes, bytes]


def held(segments: tuple[Segment, ...]) -> dict[Note, Chunk]:
    """What stands in segments, each part read by the segment's own offsets."""
    found: dict[Note, Chunk] = {}
    for segment in segments:
        assert (
            len(segment.starts) == len(segment.texts) == len(segment.ends) == len(segment.lines) == len(segment.notes)
        )
        for index, of in enumerate(segment.notes):
            start, text, end = segment.starts[index], segment.texts[index], segment.ends[index]
            behind = segment.following(index)
            assert {segment.at(offset) for offset in range(start, behind)} == {index}
            name, mark = segment.data[start : text - 1], segment.data[text - 1 : text]
            rest, border = segment.data[end : behind - 1], segment.data[behind - 1 : behind]
            assert (mark, rest[:1], border) == (BEHIND_NAME, BEHIND_TEXT, BORDER)
            assert segment.data.count(b"\n", text, end) == segment.lines[index]
            if of is not None:
                assert of not in found
                found[of] = (name, segment.data[text:end], rest[1:])
    return found


WORDS = st.text("aß\n系", max_size=30).map(str.encode)
ADD = st.tuples(WORDS, WORDS, WORDS)
STEPS = st.lists(st.one_of(ADD, st.integers(0, 30), st.just("look")), max_size=80)


@given(STEPS, st.sampled_from([1, 60, 400, 4_000_000]))
@settings(max_examples=300, deadline=None)
def test_a_block_holds_what_was_put_in_and_not_taken_out(
    root: Root, steps: list[Chunk | int | str], full_bytes: int
) -> None:
    """search.md 7: immutable segments; a question that is going on sees what it was given, whatever happens meanwhile."""
    kept, block.FULL_BYTES = block.FULL_BYTES, full_bytes  # type: ignore[misc]
    try:
        made, expected = Block(), dict[Note, Chunk]()
        given_out: list[tuple[tuple[Segment, ...], dict[Note, Chunk]]] = []
        for number, step in enumerate(steps):
            if isinstance(step, tuple):
                new = note(root, f"{number}.md")
                made.add(new, *step)
                expected[new] = step
            elif isinstance(step, int) and expected:
                old = list(expected)[step % len(expected)]
                made.remove(old)
                made.remove(old)
                del expected[old]
            elif step == "look":
                given_out.append((made.segments(), dict(expected)))
        given_out.append((made.segments(), expected))
        for segments, then in given_out:
            assert held(segments) == then
            live = sum(len(b"".join(chunk)) + 3 for chunk in then.values())
            assert sum(len(segment.data) for segment in segments) <= live / (1 - 1 / block._DEAD_PART)
    finally:
        block.FULL_BYTES = kept  # type: ignore[misc]


def test_a_storm_of_changes_copies_each_byte_a_few_times(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    """issue 6, storms: a question after each of 2,000 changes; what is copied grows with the logarithm, not with the vault."""
    copied: list[int] = []
    joined = block._joined

    def counted(segments: Iterable[Segment]) -> Segment:
        made = joined(segments)
        copied.append(len(made.data))
        return made

    monkeypatch.setattr(block, "_joined", counted)
    monkeypatch.setattr(block, "FULL_BYTES", 100_000)
    made, notes = Block(), [note(root, f"{number}.md") for number in range(1000)]
    for one in notes:
        made.add(one, b"name", b"x" * 1000)
    made.segments()
    copied.clear()
    for one in notes:
        made.remove(one)
        made.add(note(root, str(one.path)), b"name", b"y" * 1000)
        made.segments()
    assert sum(copied) <= 30 * 1000 * 1000
    assert len(made.segments()) <= 6 * 10  # a storm leaves some half full; ten would do


def test_a_name_is_folded_as_text_is(root: Root) -> None:
    """contract.md, search_notes: the name counts by what it says, however it is written; without its suffix."""
    assert folded_name(note(root, "STRASSE.md")) == folded_name(note(root, "Straße.txt")) == folded(b"STRASSE")
    assert folded_name(note(root, "Cafe\u0301.md")) == "café".encode()
    assert folded_name(note(root, "v1.2.md")) == b"v1.2"


def test_bytes_that_are_no_utf8_are_folded_as_they_are_shown() -> None:
    """Our decision: what read_note shows can be searched; no byte of a text can be taken for a border."""
    assert folded(b"Caf\xe9 \xfe\xff") == "caf\ufffd \ufffd\ufffd".encode()
    assert folded("İΣß".encode()) == "i\u0307σss".encode()
