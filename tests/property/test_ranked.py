"""Ranked search by counts in the block equals counting and scoring every note by itself."""

from __future__ import annotations

import re
import shutil
import unicodedata
from bisect import bisect_right
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.guards.paths import folder
from service.search import counting, ranking, scoring, spelling
from service.search.asked import Mode, Order, Query
from service.search.query import search
from service.vault import words
from tests.support.desk import Desk, desk_in

PIECES = st.sampled_from(
    [
        *"aAéÉßſﬁıİσςжЖ系統会議กำカﾞ학교👍’–_-#.,1",
        " ",
        " ",
        "\n",
        "\r\n",
        "e\u0301",
        "naïve",
        "driver",
        "drivers",
        "io",
        "STATUS_BUSY",
        "\u200d",
        "\xa0",
    ]
)
TEXT = st.lists(PIECES, max_size=40).map("".join)
QUESTION = st.lists(PIECES, min_size=1, max_size=5).map("".join)
NAMES = ["a.md", "É/naïve driver.md", "c/io.md", "c/系統.txt"]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """One desk for all examples: each lays its notes out anew."""
    return desk_in(tmp_path_factory.mktemp("desk"))


def laid_out(desk: Desk, notes: dict[str, str]) -> None:
    for left in desk.folder.iterdir():
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    desk.put(notes)


def count_slowly(text: str, term: bytes) -> int:
    """How often a word stands in a text, by its words one after the other."""
    wanted = term.decode()
    plain = unicodedata.normalize("NFC", words.folded(text.casefold()))
    if not wanted.startswith(" "):
        return len(re.findall(re.escape(wanted), plain))
    stands_alone = wanted.endswith(" ")
    found = words.spread(plain.encode()).decode().split()
    return sum(word == wanted.strip() if stands_alone else word.startswith(wanted.strip()) for word in found)


@given(TEXT)
@settings(max_examples=500, deadline=None)
def test_each_word_of_a_text_stands_in_its_bytes_or_among_the_others(text: str) -> None:
    """words.others: every word is found by its bytes in one of the two, whatever is written around it."""
    shown = text.casefold().encode()
    bare = b" " + shown.translate(words.BARE) + b" " + words.others(shown) + b" "
    for term in ranking.question(shown.decode()).terms:
        assert term in bare


@given(st.dictionaries(st.sampled_from(NAMES), TEXT, min_size=1), QUESTION)
@settings(max_examples=150, deadline=None)
def test_the_counts_are_those_of_each_note_by_itself(desk: Desk, notes: dict[str, str], asked: str) -> None:
    """counting.py: the same count for each note and word, however the notes lie in the block."""
    laid_out(desk, notes)
    question = ranking.question(asked)
    moment = desk.vault.picture.now()
    for (_, counts), segment in zip(
        counting.Memory().of(moment.segments, question.terms, lambda: None), moment.segments, strict=True
    ):
        for term, count in zip(question.terms, counts, strict=True):
            for index, note in enumerate(segment.notes):
                if note is None:
                    continue
                read = note.read()
                assert read is not None
                slow = count_slowly(read[1].decode(), term)
                fast = count.text[index] if count.text else 0
                assert bool(fast) is bool(slow)
                is_as_compared = words.folded(shown := read[1].decode().casefold()) == shown
                if term.endswith(b" "):  # neighbours share a blank
                    assert fast <= slow
                elif is_as_compared:
                    assert fast == slow
                else:  # words.others: a beginning may stand in both
                    assert slow <= fast <= 2 * slow


COUNTS = st.lists(st.integers(0, 40), min_size=6, max_size=6).map(bytes)


@given(
    st.lists(st.tuples(COUNTS, COUNTS, COUNTS), min_size=1, max_size=4),
    st.lists(st.integers(0, 100_000), min_size=6, max_size=6),
    st.lists(st.booleans(), min_size=6, max_size=6),
    st.integers(1, 7),
)
@settings(max_examples=500, deadline=None)
def test_looking_at_few_notes_gives_the_page_of_looking_at_all(
    counts: list[tuple[bytes, bytes, bytes]], sizes: list[int], asked: list[bool], count: int
) -> None:
    """scoring.Table.best: bounds leave out only what cannot reach the page."""
    table = a_table(counts, sizes, asked)
    held = table.held()
    scores = sorted(((table.score(note), -note) for note in range(6) if held[note]), reverse=True)
    best = [(score, -note) for score, note in table.best(count)]
    assert best[: min(count, len(scores))] == scores[:count]
    assert set(best) <= set(scores)
    assert table.count_held() == len(scores)


def a_table(counts: list[tuple[bytes, bytes, bytes]], sizes: list[int], asked: list[bool]) -> scoring.Table:
    """A table of six notes; a word in a title or heading counts in the text as well."""
    texts, titles, headings = zip(*counts, strict=True)
    whole = tuple(bytes(map(max, *three)) for three in zip(texts, titles, headings, strict=True))
    mask = bytes(counting.IN if one else 0 for one in asked)
    return scoring.Table(
        mask,
        scoring.array("I", sizes),
        bytes(bisect_right(counting.SIZE_BOUNDS, size) - 1 << 4 for size in sizes),
        whole,
        tuple(titles),
        tuple(headings),
        tuple(1.0 + index for index in range(len(counts))),
        max(sum(sizes) / 6, 1),
    )


@given(
    st.lists(st.tuples(st.sampled_from(NAMES), TEXT | st.none()), min_size=1, max_size=6),
    st.just("naive driver io 系統"),
)
@settings(max_examples=60, deadline=None)
def test_after_every_change_the_answer_is_that_of_one_who_never_asked_before(
    desk: Desk, changes: list[tuple[str, str | None]], asked: str
) -> None:
    """Issue 6, never stale: what is remembered of words goes with the bytes it was counted in."""
    laid_out(desk, dict.fromkeys(NAMES, "a naïve driver\n# io\n"))
    for name, text in changes:
        if text is None:
            (desk.folder / name).unlink(missing_ok=True)
        else:
            desk.put({name: text})
        remembered = search(desk.vault, Query(asked, Mode.RANKED))
        counting._MEMORIES.clear()
        assert search(desk.vault, Query(asked, Mode.RANKED)) == remembered


@given(st.dictionaries(st.sampled_from(NAMES), TEXT, min_size=1), QUESTION)
@settings(max_examples=60, deadline=None)
def test_a_limited_search_is_that_of_a_vault_with_nothing_else(desk: Desk, notes: dict[str, str], asked: str) -> None:
    """Issue 5: not even counts; here scores, which depend on the number and length of all notes that are seen."""
    laid_out(desk, notes)
    one = folder("c")
    if not (desk.folder / "c").exists():
        return
    within = search(desk.vault, Query(asked, Mode.RANKED, folder=one))
    laid_out(desk, {name: text for name, text in notes.items() if name.startswith("c/")})
    assert search(desk.vault, Query(asked, Mode.RANKED, folder=one)) == within
    assert search(desk.vault, Query(asked, Mode.RANKED)) == within


LETTERS = st.text(st.sampled_from("abé"), max_size=6)


@given(LETTERS, LETTERS)
@settings(max_examples=500, deadline=None)
def test_slips_are_counted_as_by_the_definition(one: str, other: str) -> None:
    """spelling.slips: Damerau's four, each letter touched once (optimal string alignment)."""

    def slowly(left: str, right: str) -> int:
        if not left or not right:
            return len(left) + len(right)
        least = min(
            slowly(left[1:], right) + 1,
            slowly(left, right[1:]) + 1,
            slowly(left[1:], right[1:]) + (left[0] != right[0]),
        )
        if left[:2] == right[1::-1] and len(left) > 1 < len(right):
            least = min(least, slowly(left[2:], right[2:]) + 1)
        return least

    assert spelling.slips(one, other, 2) == min(slowly(one, other), 3)


def test_equal_notes_come_by_their_paths(desk: Desk) -> None:
    """contract.md, search_notes: equal scores in the order of paths, page after page."""
    laid_out(desk, {f"{name}.md": "one quince" for name in "dbeac"})
    found = [
        str(hit.path)
        for offset in (0, 2, 4)
        for hit in search(desk.vault, Query("quince", Mode.RANKED, limit=2, offset=offset)).page.items
    ]
    assert found == ["a.md", "b.md", "c.md", "d.md", "e.md"]
    by_path = search(desk.vault, Query("quince", Mode.RANKED, order=Order.PATH))
    assert [str(hit.path) for hit in by_path.page.items] == found


def test_many_who_ask_at_once_get_the_answers_of_one(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """counting.Memory: with no room to remember anything, threads neither fail nor mix up their counts."""
    monkeypatch.setattr(counting, "MAX_REMEMBERED_BYTES", 0)
    laid_out(desk, {f"{number}.md": f"word{number} " * (number + 1) + "driver" for number in range(20)})
    moment = desk.vault.picture.now()
    terms = [(f" word{number}".encode(), b" driver") for number in range(20)]
    memory = counting.Memory()
    alone = [[counts for _, counts in counting.Memory().of(moment.segments, asked, lambda: None)] for asked in terms]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            together = pool.map(lambda asked: memory.of(moment.segments, asked, lambda: None), terms)
            assert [[counts for _, counts in answer] for answer in together] == alone
