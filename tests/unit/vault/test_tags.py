"""Counting tags over the vault and in one note."""

from __future__ import annotations

from service.guards import limits, paths
from service.vault import tags
from service.vault.tags import TagCount
from tests.support.desk import Desk


def counted(desk: Desk) -> list[tuple[str, int, int, int]]:
    page = tags.count(desk.vault, limit=100).page
    return [(one.name, one.count, one.own, one.notes) for one in page.items]


def test_tags_are_counted_over_the_vault_and_a_nested_one_counts_for_those_above_it(desk: Desk) -> None:
    """contract.md, list_tags: counts over the vault (nested, Unicode)."""
    desk.put(
        {
            "a.md": "---\ntags: [work/sub, 日本]\n---\n#work #work/sub",
            "F/b.markdown": "#work/other text #日本\n\n`#code` https://x/#url",
            "c.txt": "#txt",
            ".hidden/d.md": "#hidden",
            ".trash/e.md": "#trash",
        }
    )
    assert counted(desk) == [
        ("work", 4, 1, 2), ("work/sub", 2, 2, 1), ("日本", 2, 2, 2), ("work/other", 1, 1, 1),
    ]  # fmt: skip


def test_a_tag_that_is_only_used_by_those_below_it_is_listed(desk: Desk) -> None:
    desk.put({"a.md": "#A/b/c #a/d"})
    assert counted(desk) == [("A", 2, 0, 1), ("A/b", 1, 0, 1), ("A/b/c", 1, 1, 1), ("a/d", 1, 1, 1)]


def test_letter_case_and_encoding_do_not_part_tags_and_the_most_used_spelling_is_shown(desk: Desk) -> None:
    desk.put({"a.md": "#Project #Project #project #PROJECT/", "b.md": "#cafe\u0301", "c.md": "#Café #Café"})
    assert counted(desk) == [("Project", 4, 4, 1), ("Café", 3, 3, 2)]


def test_low_trust_folders_and_notes_that_cannot_be_looked_at_are_left_out_and_told(desk: Desk) -> None:
    desk.put({"a.md": "#mine", "Clippings/b.md": "#theirs", "c.md": b"#odd \xff #bytes"})
    desk.put({"d.md": b"#big ".ljust(limits.MAX_SEARCHED_BYTES + 1)})
    found = tags.count(desk.vault, limit=10)
    assert [one.name for one in found.page.items] == ["bytes", "mine", "odd"]
    assert [str(folder) for folder in found.left_out] == ["Clippings"]
    assert found.skipped == 1


def test_pages_enumerate_every_tag_once(desk: Desk) -> None:
    """complaints.md 8."""
    desk.put({"a.md": " ".join(f"#t{number}" for number in range(639)).replace("#t638", "#t638 #t638")})
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = tags.count(desk.vault, limit=100, offset=offset).page
        assert page.total == 639
        seen += [one.name for one in page.items]
        offset = page.next_offset
    assert seen[0] == "t638"
    assert sorted(seen) == sorted(f"t{number}" for number in range(639))


def test_one_notes_tags_come_with_their_lines(desk: Desk) -> None:
    desk.put({"a.md": "---\ntags:\n  - x/y\n---\n#x and #X/Y\n#x #z <!-- #no -->\n"})
    note, page = tags.of_note(desk.vault, paths.markdown("a.md"), limit=10)
    assert str(note.path) == "a.md"
    assert page.items == (
        TagCount("x", 4, 2, 1, (3, 5, 6)),
        TagCount("X/Y", 2, 2, 1, (3, 5)),
        TagCount("z", 1, 1, 1, (6,)),
    )


def test_a_changed_note_is_counted_anew(desk: Desk) -> None:
    """What is remembered is never older than the note."""
    desk.put({"a.md": "#old"})
    assert counted(desk) == [("old", 1, 1, 1)]
    desk.put({"a.md": "#new"})
    assert counted(desk) == [("new", 1, 1, 1)]
