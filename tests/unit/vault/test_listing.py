"""What notes there are."""

from __future__ import annotations

import os

import pytest

from service.errors import NoteNotFound, Unavailable
from service.guards import paths
from service.store.files import Entry
from service.vault import listing
from service.vault.model import Page
from tests.support.desk import Desk


def names(page: Page[Entry]) -> list[str]:
    return [str(entry.path) for entry in page.items]


@pytest.fixture
def dated(desk: Desk) -> Desk:
    """Four notes, changed at 1, 2 and 3 seconds after 1970 (two at 2), and what is no note."""
    desk.put(
        {
            "old.md": "",
            "a/new.txt": "12",
            "a/b.md": "",
            "a.md": "",
            ".obsidian/x.md": "",
            ".trash/y.md": "",
            "p.png": "",
        }
    )
    desk.put({"node_modules/z.md": "", "a/.git/c.md": ""})
    for second, name in ((1, "old.md"), (3, "a/new.txt"), (2, "a/b.md"), (2, "a.md")):
        os.utime(desk.folder / name, (second, second))
    (desk.folder / "link.md").symlink_to(desk.folder / "old.md")
    (desk.folder / "linked").symlink_to(desk.folder / "a")
    return desk


def test_notes_are_listed_newest_first_and_equal_times_by_path(dated: Desk) -> None:
    """contract.md, list_notes; hidden names, links and other files never (complaints 33, 39)."""
    assert names(listing.newest(dated.vault, limit=10).page) == ["a/new.txt", "a/b.md", "a.md", "old.md"]


def test_a_folder_is_a_folder_and_no_beginning_of_a_name(dated: Desk) -> None:
    """ancestors.md 1.2.5: prefix, not substring."""
    assert names(listing.newest(dated.vault, paths.folder("a"), limit=10).page) == ["a/new.txt", "a/b.md"]


def test_pages_join_to_the_whole_list(desk: Desk) -> None:
    """Complaint 8: all 639 notes can be enumerated, and the total is true."""
    desk.put({f"{number % 7}/{number}.md": "" for number in range(639)})
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = listing.newest(desk.vault, limit=100, offset=offset).page
        assert page.total == 639
        seen += names(page)
        offset = page.next_offset
    assert sorted(seen) == sorted(f"{number % 7}/{number}.md" for number in range(639))


def test_a_missing_folder_names_the_nearest(dated: Desk) -> None:
    """contract.md, not found."""
    dated.put({"Projects/Garden/x.md": ""})
    with pytest.raises(NoteNotFound) as refused:
        listing.newest(dated.vault, paths.folder("Project"), limit=10)
    assert refused.value.nearest[0] == "Projects"


def test_the_tree_has_every_folder_with_its_direct_and_total_count(dated: Desk) -> None:
    """contract.md, get_vault_tree; ancestors of notes and empty folders are there too."""
    dated.put({"a/deep/er/n.md": "", "empty/picture.png": ""})
    page = listing.tree(dated.vault, depth=100, limit=100)
    assert [(str(folder.path), folder.notes, folder.total_notes) for folder in page.items] == [
        ("", 2, 5),
        ("a", 2, 3),
        ("a/deep", 0, 1),
        ("a/deep/er", 1, 1),
        ("empty", 0, 0),
    ]


def test_the_tree_ends_at_the_asked_depth_but_counts_what_is_below(dated: Desk) -> None:
    """contract.md, get_vault_tree."""
    dated.put({"a/deep/er/n.md": ""})
    page = listing.tree(dated.vault, depth=1, limit=100)
    assert [(str(folder.path), folder.total_notes) for folder in page.items] == [("", 5), ("a", 3)]


def test_the_tree_is_paged(dated: Desk) -> None:
    """contract.md, limits."""
    dated.put({f"f{number}/n.md": "" for number in range(5)})
    first = listing.tree(dated.vault, depth=9, limit=4)
    assert (first.total, first.next_offset) == (7, 4)
    assert listing.tree(dated.vault, depth=9, limit=4, offset=4).next_offset is None


def test_a_listing_that_takes_too_long_is_stopped_and_says_what_to_do(
    dated: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """guards.md 6, 62: bounded by time, whatever the vault holds."""
    monkeypatch.setattr(listing, "DEADLINE_S", -1.0)
    for look in (
        lambda: listing.newest(dated.vault, limit=10),
        lambda: listing.by_path(dated.vault),
        lambda: listing.tree(dated.vault, depth=3, limit=10),
    ):
        with pytest.raises(Unavailable, match="name a smaller folder"):
            look()
