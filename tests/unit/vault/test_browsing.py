"""One folder, the vault in numbers, facts of notes."""

from __future__ import annotations

import hashlib
import os

import pytest

from service.errors import NoteNotFound, PathRefused
from service.guards import paths
from service.guards.paths import ROOT, VaultPath
from service.store.files import Entry
from service.vault import browsing
from service.vault.model import Page
from tests.support.desk import Desk


def shown(page: Page[Entry | VaultPath]) -> list[str]:
    return [f"{one.path}:{one.size_bytes}" if isinstance(one, Entry) else f"{one}/" for one in page.items]


def test_a_folder_shows_its_folders_then_its_files_of_every_type(desk: Desk) -> None:
    """contract.md, list_directory."""
    desk.put(
        {
            "b.md": "12",
            "a.png": b"123",
            "Z/x.md": "",
            "y/z/x.pdf": "",
            "No suffix": "",
            ".hidden": "",
            ".obsidian/a": "",
        }
    )
    (desk.folder / "link.md").symlink_to(desk.folder / "b.md")
    (desk.folder / "linked").symlink_to(desk.folder / "Z")
    os.mkfifo(desk.folder / "pipe.md")
    (desk.folder / "node_modules").mkdir()
    page = browsing.directory(desk.vault, ROOT, limit=100)
    assert shown(page) == ["Z/", "y/", "No suffix:0", "a.png:3", "b.md:2"]
    assert page.total == 5
    assert shown(browsing.directory(desk.vault, paths.folder("y"), limit=100)) == ["y/z/"]


def test_pages_of_a_folder_join_to_the_whole(desk: Desk) -> None:
    """Complaint 8: the total is told, and paging enumerates everything."""
    desk.put({f"{number:03}.md": "" for number in range(639)} | {"sub/x.md": ""})
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = browsing.directory(desk.vault, ROOT, limit=100, offset=offset)
        assert page.total == 640
        seen += shown(page)
        offset = page.next_offset
    assert seen == ["sub/", *(f"{number:03}.md:0" for number in range(639))]


@pytest.mark.parametrize(("folder", "error"), [("no", NoteNotFound), ("a.md", PathRefused), ("linked", PathRefused)])
def test_what_is_no_folder_is_refused(desk: Desk, folder: str, error: type[Exception]) -> None:
    """contract.md, refused paths; complaint 33."""
    desk.put({"a.md": "", "Z/x.md": ""})
    (desk.folder / "linked").symlink_to(desk.folder / "Z")
    with pytest.raises(error):
        browsing.directory(desk.vault, paths.folder(folder), limit=10)


def test_the_vault_is_counted(desk: Desk) -> None:
    """contract.md, get_vault_stats; ancestors.md 1.3: notes, folders, size, recent."""
    desk.put(
        {
            "a.md": "12345",
            "b/c.txt": "123",
            "b/d/p.png": b"1234",
            "b/x.canvas": "{}",
            ".trash/t.md": "1",
            "Clippings/w.md": "12",
        }
    )
    for second, name in ((9, "Clippings/w.md"), (2, "a.md"), (3, "b/c.txt")):
        os.utime(desk.folder / name, (second, second))
    found = browsing.stats(desk.vault, 1)
    assert (found.notes, found.note_bytes, found.attachments, found.attachment_bytes, found.folders) == (3, 10, 2, 6, 3)
    assert [str(entry.path) for entry in found.recent] == ["b/c.txt"]
    assert [str(folder) for folder in found.left_out] == ["Clippings"]


def test_an_empty_vault_is_counted_too(desk: Desk) -> None:
    """Our decision."""
    found = browsing.stats(desk.vault, 5)
    assert (found.notes, found.folders, found.attachments, found.recent) == (0, 0, 0, ())


@pytest.mark.parametrize(
    ("name", "data", "has_frontmatter"),
    [
        ("a.md", b"---\na: 1\n---\nx", True),
        ("a.md", b"\xef\xbb\xbf---\r\na: 1\r\n---\r\n", True),
        ("a.md", b"---\nnever closed", False),
        ("a.txt", b"---\na: 1\n---\n", False),
        ("a.canvas", b"{}", False),
    ],
)
def test_facts_of_a_note_are_those_of_its_file(desk: Desk, name: str, data: bytes, has_frontmatter: bool) -> None:
    """contract.md, get_notes_info; complaint 19: a byte order mark hides no front matter."""
    desk.put({name: data})
    found = browsing.info(desk.vault, paths.note(name))
    assert (found.size_bytes, found.version) == (len(data), hashlib.sha256(data).hexdigest()[:12])
    assert found.mtime_ns == (desk.folder / name).stat().st_mtime_ns
    assert found.has_frontmatter is has_frontmatter
