"""Searching a vault."""

from __future__ import annotations

import os
import random
from collections.abc import Callable

import pytest

from service.errors import BadArgument, NoteNotFound, Unavailable
from service.guards import limits, paths
from service.search import literal
from service.search.query import Found, Mode, Order, Part, Query, search
from service.store import looking
from service.vault import survey, tags
from service.vault.picture import picture
from service.vault.picture.note import Note
from service.vault.picture.picture import Moment, Picture
from tests.support.desk import Desk


def places(found: Found) -> list[tuple[str, int]]:
    return [(str(hit.path), hit.line) for hit in found.page.items]


def test_relevance_is_matching_lines_and_ten_for_the_name_then_path_then_line(desk: Desk) -> None:
    """contract.md, search_notes; ancestors.md 1.1."""
    desk.put(
        {
            "many.md": "word\nword word\nx\nword\n",
            "b/one.md": "word",
            "a/one.md": "x\nword",
            "My Word list.md": "first line\nword\n",
            "Only words.md": "  the first line  \n",
            "none.md": "nothing",
        }
    )
    found = search(desk.vault, Query("word"))
    assert [(str(hit.path), hit.line, hit.score, hit.snippet) for hit in found.page.items] == [
        ("My Word list.md", 2, 11, "word"),
        ("Only words.md", 1, 10, "the first line"),
        ("many.md", 1, 3, "word"),
        ("many.md", 2, 3, "word word"),
        ("many.md", 4, 3, "word"),
        ("a/one.md", 2, 1, "word"),
        ("b/one.md", 1, 1, "word"),
    ]
    assert (found.page.total, found.notes, found.skipped) == (7, 5, 0)


def test_the_suffix_is_no_part_of_a_name(desk: Desk) -> None:
    """Our decision: or `md` would find every note."""
    desk.put({"a.md": "x", "md list.txt": "y"})
    assert places(search(desk.vault, Query("md"))) == [("md list.txt", 1)]


def test_an_empty_note_is_found_by_its_name(desk: Desk) -> None:
    """contract.md: a name-only match is one hit on line 1."""
    desk.put({"Garden.md": "", "Cafe\u0301.md": ""})
    assert places(search(desk.vault, Query("garden"))) == [("Garden.md", 1)]
    assert places(search(desk.vault, Query("caf\u00e9"))) == [("Cafe\u0301.md", 1)]


def test_hits_can_be_sorted_by_path_or_by_the_last_change(desk: Desk) -> None:
    """contract.md, sort_by."""
    desk.put({"a.md": "word", "b.md": "word\nword", "c.md": "word"})
    for second, name in ((1, "a.md"), (3, "b.md"), (2, "c.md")):
        os.utime(desk.folder / name, (second, second))
    assert places(search(desk.vault, Query("word", order=Order.PATH))) == [
        ("a.md", 1),
        ("b.md", 1),
        ("b.md", 2),
        ("c.md", 1),
    ]
    assert places(search(desk.vault, Query("word", order=Order.MODIFIED))) == [
        ("b.md", 1), ("b.md", 2), ("c.md", 1), ("a.md", 1),
    ]  # fmt: skip


def test_a_folder_is_searched_as_a_folder(desk: Desk) -> None:
    """ancestors.md 1.2.5: `5-journal` is not `5-journal-old`."""
    desk.put({"5-journal/a.md": "word", "5-journal-old/b.md": "word", "5-journal/sub/c.md": "word", "d.md": "word"})
    found = search(desk.vault, Query("word", folder=paths.folder("5-journal/")))
    assert places(found) == [("5-journal/a.md", 1), ("5-journal/sub/c.md", 1)]


def test_folders_and_notes_can_be_left_out(desk: Desk) -> None:
    """contract.md, exclude_paths."""
    desk.put({"a/x.md": "word", "a/y.md": "word", "ab/x.md": "word", "b/deep/x.md": "word"})
    excluded = (paths.folder("a/x.md"), paths.folder("b"), paths.folder("nowhere"))
    assert places(search(desk.vault, Query("word", excluded=excluded))) == [("a/y.md", 1), ("ab/x.md", 1)]


def test_a_missing_folder_names_the_nearest(desk: Desk) -> None:
    """Our decision: no hits from a misspelled folder would be believed."""
    desk.put({"Projects/x.md": "word"})
    with pytest.raises(NoteNotFound, match="Projects"):
        search(desk.vault, Query("word", folder=paths.folder("Project")))


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (Part.BOTH, [("Word.md", 2), ("Word.md", 4), ("plain.txt", 2)]),
        (Part.FRONTMATTER, [("Word.md", 2)]),
        (Part.CONTENT, [("Word.md", 4), ("plain.txt", 2)]),
    ],
)
def test_properties_and_text_can_be_searched_apart(desk: Desk, part: Part, expected: list[tuple[str, int]]) -> None:
    """contract.md, in: a name is neither, so it finds nothing by itself there."""
    desk.put({"Word.md": "---\r\ntitle: word\r\n---\r\nword\r\n", "plain.txt": "---\nword\n---\n", "words.md": "x"})
    found = search(desk.vault, Query("word", part=part))
    assert [place for place in places(found) if place[0] != "words.md"] == expected
    assert (("words.md", 1) in places(found)) is (part is Part.BOTH)


def test_hidden_names_links_and_other_files_are_never_searched(desk: Desk) -> None:
    """Complaints 33, 35 and 39: the trash too."""
    desk.put(
        dict.fromkeys(
            (".obsidian/a.md", ".trash/b.md", ".hidden.md", "node_modules/c.md", ".GIT/d.md", "e.png"), "word"
        )
    )
    (desk.folder / "f.md").symlink_to(desk.folder / ".hidden.md")
    (desk.folder / "g").symlink_to(desk.folder / ".trash")
    os.mkfifo(desk.folder / "h.md")
    assert search(desk.vault, Query("word")).page.total == 0


def test_one_bad_file_neither_stops_a_search_nor_goes_uncounted(desk: Desk) -> None:
    """Complaint 20; contract.md: what was left out is counted."""
    desk.put({"a.md": "word", "latin.md": b"caf\xe9 word", "z.md": "word"})
    with (desk.folder / "huge.md").open("wb") as huge:
        huge.truncate(limits.MAX_SEARCHED_BYTES + 1)
    found = search(desk.vault, Query("word"))
    assert places(found) == [("a.md", 1), ("latin.md", 1), ("z.md", 1)]
    assert found.skipped == 1


def test_a_terabyte_of_nothing_is_passed_over(desk: Desk) -> None:
    """guards.md test 24."""
    with (desk.folder / "sparse.md").open("wb") as sparse:
        sparse.truncate(1 << 40)
    assert search(desk.vault, Query("word")).skipped == 1


def test_pages_join_to_all_hits_in_order(desk: Desk) -> None:
    """contract.md, limits."""
    desk.put({f"{number}.md": "word\nx\nword\nword\n" for number in range(7)})
    whole = places(search(desk.vault, Query("word", limit=1000)))
    assert len(whole) == 21
    for limit in (1, 2, 4, 50):
        seen: list[tuple[str, int]] = []
        offset: int | None = 0
        while offset is not None:
            page = search(desk.vault, Query("word", limit=limit, offset=offset)).page
            assert page.total == 21
            seen += [(str(hit.path), hit.line) for hit in page.items]
            offset = page.next_offset
        assert seen == whole


def test_beyond_the_end_there_is_nothing(desk: Desk) -> None:
    """contract.md, limits."""
    desk.put({"a.md": "word"})
    page = search(desk.vault, Query("word", offset=5)).page
    assert (page.items, page.total, page.next_offset) == ((), 1, None)


def test_a_note_that_goes_while_it_is_being_found_is_left_out(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Our decision: the others are still given."""
    desk.put({"a.md": "word\nword", "b.md": "word"})
    now = Picture.now

    def now_then_lose(picture: Picture, check: Callable[[], None]) -> Moment:
        moment = now(picture, check)
        (desk.folder / "a.md").unlink()
        return moment

    monkeypatch.setattr(Picture, "now", now_then_lose)
    assert places(search(desk.vault, Query("word"))) == [("b.md", 1)]


def test_a_hit_that_goes_while_it_is_being_found_is_left_out(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 6, never stale: a line, its number and the score are those of the bytes that were read."""
    desk.put({"a.md": "word\nword 2\nx", "b.md": "word", "Word.md": "word"})
    now = Picture.now

    def now_then_write(picture: Picture, check: Callable[[], None]) -> Moment:
        moment = now(picture, check)
        desk.put({"a.md": "new\nnew\nnew\na word", "b.md": "gone", "Word.md": "first"})
        return moment

    monkeypatch.setattr(Picture, "now", now_then_write)
    found = search(desk.vault, Query("word"))
    assert [(str(hit.path), hit.line, hit.snippet, hit.score) for hit in found.page.items] == [
        ("Word.md", 1, "first", 10),
        ("a.md", 4, "a word", 1),
    ]


def test_only_the_notes_of_the_page_are_read(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 6: every question is answered from memory."""
    desk.put({f"{number}.md": "---\ntitle: word\n---\nword\n" for number in range(30)})
    for path in desk.folder.iterdir():
        os.utime(path, (1, 1))
    search(desk.vault, Query("word"))
    moment = desk.vault.picture.now()
    monkeypatch.setattr(Picture, "now", lambda picture, check: moment)
    read: list[Note] = []
    bytes_of = Note._bytes_in

    def counted(note: Note, folder: int) -> bytes | None:
        read.append(note)
        return bytes_of(note, folder)

    monkeypatch.setattr(Note, "_bytes_in", counted)
    for part, pages in ((Part.BOTH, 2), (Part.CONTENT, 4), (Part.FRONTMATTER, 4)):
        read.clear()
        assert search(desk.vault, Query("word", part=part, limit=4)).notes == 30
        assert len(read) == pages
    read.clear()
    assert search(desk.vault, Query("none")).page.total == 0
    assert read == []


@pytest.mark.parametrize("order", Order)
def test_of_very_many_hits_the_page_is_exact_and_the_total_a_least_one(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, order: Order
) -> None:
    """Issue 6: only what can be on the page is counted; contract.md: an answer says what it leaves out."""
    some = random.Random(6)
    desk.put(
        {
            f"{number}{' word' * (number % 7 == 0)}.md": "\n".join(
                some.choice(("word", "word word", "x")) for _ in range(some.randrange(1, 40))
            )
            for number in range(120)
        }
    )
    exact = search(desk.vault, Query("word", order=order, limit=5000))
    assert exact.is_total_exact
    assert exact.page.total == len(exact.page.items)
    monkeypatch.setattr(literal, "MAX_COUNTED", 50)
    for offset in (0, 1, 40, 700):
        found = search(desk.vault, Query("word", order=order, limit=9, offset=offset))
        assert found.page.items == exact.page.items[offset : offset + 9]
        assert (found.notes, found.is_total_exact) == (exact.notes, False)
        assert offset + 9 < found.page.total < exact.page.total
        assert found.page.next_offset == offset + 9
    assert search(desk.vault, Query("word", order=order, limit=5000)).is_total_exact


def test_of_equals_the_first_by_path_come_first_however_many_there_are(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """contract.md, search_notes: then path; also where not all are counted."""
    monkeypatch.setattr(literal, "MAX_COUNTED", 10)
    desk.put({f"{number:03}.md": "word" for number in range(200)})
    for offset in (0, 50):
        found = search(desk.vault, Query("word", limit=5, offset=offset))
        assert places(found) == [(f"{number:03}.md", 1) for number in range(offset, offset + 5)]


def test_what_is_asked_for_is_not_left_out_by_its_own_name(desk: Desk) -> None:
    """Our decision: exclude_paths names what is left out of the folder that is searched."""
    desk.put({"c/a.md": "word", "c/b/a.md": "word"})
    excluded = (paths.folder("c"), paths.folder("c/b"))
    assert places(search(desk.vault, Query("word", folder=paths.folder("c"), excluded=excluded))) == [("c/a.md", 1)]


def test_a_note_that_has_gone_from_among_many_is_not_found(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 6: its place in the block is dead, though the block is not written anew for it."""
    monkeypatch.setattr(looking, "UNSURE_NS", 0)
    desk.put({f"{number}.md": "word" for number in range(40)})
    assert search(desk.vault, Query("word")).notes == 40
    (desk.folder / "7.md").unlink()
    desk.put({"8.md": "another one"})
    found = search(desk.vault, Query("word", limit=50))
    assert {path for path, _ in places(found)} == {f"{number}.md" for number in range(40) if number not in (7, 8)}
    assert any(segment.dead_bytes for segment in desk.vault.picture.now().segments)
    assert places(search(desk.vault, Query("another"))) == [("8.md", 1)]


def test_a_search_that_takes_too_long_ends_with_a_way_out(desk: Desk) -> None:
    """style.md, Async and threads: long scans look at their deadline."""
    desk.put({f"{number}.md": "word" for number in range(5)})
    moments = iter([0.0, 1.0, survey.DEADLINE_S - 1, survey.DEADLINE_S + 1])
    with pytest.raises(Unavailable, match=r"stopped after 45 s\. What was found so far is remembered: try again"):
        search(desk.vault, Query("word"), now=lambda: next(moments))


def test_a_folder_of_notes_that_take_long_to_look_at_does_not_keep_a_search_from_ending(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """guards.md 6, 60 and 62: once looking took its time, long notes that may hide something are skipped and counted."""
    long = "word <!-- hidden -->\n" + "more\n" * 5_000
    assert len(long) > picture.MAX_LATE_BYTES
    desk.put({"long.md": long, "plain.md": "word\n" * 10 + "more\n" * 5_000, "short.md": "word <!-- hidden -->\n"})
    with monkeypatch.context() as patch:
        patch.setattr(picture, "LOOKING_S", 0.0)
        found = search(desk.vault, Query("word"))
        assert {path for path, _ in places(found)} == {"plain.md", "short.md"}
        assert (found.notes, found.skipped) == (2, 1)
    again = search(desk.vault, Query("word"))
    assert (again.notes, again.skipped) == (3, 0)
    with monkeypatch.context() as patch:
        patch.setattr(picture, "LOOKING_S", 0.0)
        assert search(desk.vault, Query("word")).notes == 3  # what was looked at once is known


def tagged(desk: Desk, tag: str, **more: object) -> list[str]:
    found = search(desk.vault, Query("x", tag=tags.asked(tag), order=Order.PATH, **more))  # type: ignore[arg-type]
    return [str(hit.path) for hit in found.page.items]


def test_a_search_can_be_for_notes_with_a_tag(desk: Desk) -> None:
    """contract.md, tag; ancestors.md 1.2.8, 11: never `https://x/#work`, `foo#work`, `#workshop`, `#workção`, nor code."""
    desk.put(
        {
            "front.md": "---\ntags: [Work]\n---\nx",
            "inline.markdown": "x #work",
            "nested.md": "x #work/sub",
            "deep.md": "---\ntags: work/sub/deep\n---\nx",
            "url.md": "x https://x/#work foo#work",
            "longer.md": "x #workshop #workção #work-out",
            "code.md": "x `#work`\n\n```\n#work\n```\n<!-- #work -->",
            "text.txt": "x #work",
            "other.md": "no match #work",
        }
    )
    assert tagged(desk, "work") == ["deep.md", "front.md", "inline.markdown", "nested.md"]
    assert tagged(desk, "#WORK/sub/") == ["deep.md", "nested.md"]
    assert tagged(desk, "work", mode=Mode.RANKED) == ["deep.md", "front.md", "inline.markdown", "nested.md"]
    assert tagged(desk, "none") == []


@pytest.mark.parametrize("tag", ["#", " ", "a b", "12", "/"])
def test_what_is_no_tag_is_refused(tag: str) -> None:
    with pytest.raises(BadArgument, match="list_tags"):
        tags.asked(tag)
