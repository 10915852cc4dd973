"""Move and trash, on a file system that has everything and on each that lacks something."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.errors import BadArgument, NoteChanged, NoteExists, NoteNotFound, PathRefused
from service.guards import paths
from service.store.files import VaultFiles
from service.store.root import Root
from tests.support.disk import allow, at, texts
from tests.support.kernels import WEAKER, RefusingKernel


@pytest.fixture(params=WEAKER)
def any_files(request: pytest.FixtureRequest, root: Root) -> Iterator[VaultFiles]:
    made = VaultFiles(root, RefusingKernel(WEAKER[request.param]))
    yield made
    made.close()


@pytest.fixture
def note(vault: Path) -> Path:
    (vault / "Note.md").write_bytes(b"text")
    os.utime(vault / "Note.md", ns=(10**18, 10**18))
    return vault / "Note.md"


def test_moving_a_note_keeps_its_bytes_mode_and_time(any_files: VaultFiles, note: Path, vault: Path) -> None:
    note.chmod(0o640)
    before = note.stat()
    moved = any_files.move(any_files.read(at("Note.md")), paths.new_note("a/b/Moved.md"), allow)
    after = (vault / "a/b/Moved.md").stat()
    assert texts(vault) == {"a/b/Moved.md": b"text"}
    assert (after.st_mode, after.st_mtime_ns) == (before.st_mode, before.st_mtime_ns)
    assert moved == any_files.read(at("a/b/Moved.md"))


def test_moving_never_overwrites(any_files: VaultFiles, note: Path, vault: Path) -> None:
    (vault / "Taken.md").write_bytes(b"mine")
    with pytest.raises(NoteExists):
        any_files.move(any_files.read(at("Note.md")), at("Taken.md"), allow)
    assert texts(vault) == {"Note.md": b"text", "Taken.md": b"mine"}


def test_moving_refuses_another_version_than_expected(any_files: VaultFiles, note: Path, vault: Path) -> None:
    old = any_files.read(at("Note.md"))
    note.write_bytes(b"changed")
    with pytest.raises(NoteChanged):
        any_files.move(old, at("sub/Moved.md"), allow)
    assert texts(vault) == {"Note.md": b"changed"}
    assert not (vault / "sub").exists()


def test_a_note_may_change_only_the_case_of_its_name(any_files: VaultFiles, note: Path, vault: Path) -> None:
    any_files.move(any_files.read(at("Note.md")), at("NOTE.md"), allow)
    assert texts(vault) == {"NOTE.md": b"text"}


def test_case_twins_of_another_note_are_refused_on_move(files: VaultFiles, note: Path, vault: Path) -> None:
    """Bar 27."""
    (vault / "Café.md").write_bytes(b"")
    for taken, why in (("CAFÉ.md", "one name to many devices"), ("Cafe\u0301.md", "exists already")):
        with pytest.raises(NoteExists, match=why):
            files.move(files.read(at("Note.md")), at(taken), allow)
    assert list(texts(vault)) == ["Café.md", "Note.md"]


def test_trashing_keeps_the_folders_and_stamps_a_name_that_is_taken(any_files: VaultFiles, vault: Path) -> None:
    """Obsidian's own trash; bitbonsai/mcpvault#91."""
    for text in (b"one", b"two"):
        made = any_files.create(at("a/b/Note.v1.md"), text, allow)
        any_files.trash(made, allow)
    found = texts(vault)
    assert found.pop(".trash/a/b/Note.v1.md") == b"one"
    ((name, text),) = found.items()
    assert text == b"two"
    assert re.fullmatch(r"\.trash/a/b/Note\.v1 \d{8}T\d{6}Z-[0-9a-f]{4}\.md", name)


def test_trashing_the_longest_name_twice_works(files: VaultFiles, vault: Path) -> None:
    name = "é" * 126 + ".md"
    for _ in range(2):
        files.trash(files.create(at(name), b"", allow), allow)
    assert len(texts(vault)) == 2


def test_a_trash_folder_that_is_a_link_is_not_followed(
    files: VaultFiles, note: Path, vault: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (vault / ".trash").symlink_to(tmp_path / "outside")
    with pytest.raises(PathRefused) as caught:
        files.trash(files.read(at("Note.md")), allow)
    assert caught.value.code == "OUTSIDE_VAULT"
    assert list((tmp_path / "outside").iterdir()) == []
    assert note.exists()


def test_what_was_trashed_can_be_moved_back(files: VaultFiles, note: Path, vault: Path) -> None:
    gone = files.trash(files.read(at("Note.md")), allow)
    files.move(files.read_tracked(gone), at("Note.md"), allow)
    assert texts(vault) == {"Note.md": b"text"}


def test_moving_a_folder_takes_everything_in_it(any_files: VaultFiles, vault: Path) -> None:
    any_files.create(at("a/b/Note.md"), b"text", allow)
    (vault / "a/b/picture.png").write_bytes(b"png")
    assert any_files.move_unread(at("a/b"), at("c/d"), allow) == (at("c/d"), "")
    assert texts(vault) == {"c/d/Note.md": b"text", "c/d/picture.png": b"png"}


@pytest.mark.parametrize(
    ("source", "target", "error"),
    [
        ("a", "a/b/c", BadArgument),
        ("a", "a", BadArgument),
        ("", "b", BadArgument),
        ("missing", "b", NoteNotFound),
        ("a", "taken", NoteExists),
        ("a", "TAKEN", NoteExists),
        ("a", "note.md", NoteExists),
    ],
)
def test_a_folder_is_never_moved_over_another_or_into_itself(
    any_files: VaultFiles, vault: Path, source: str, target: str, error: type[Exception]
) -> None:
    (vault / "a" / "b").mkdir(parents=True)
    (vault / "taken").mkdir()
    (vault / "note.md").write_bytes(b"")
    before = sorted(vault.rglob("*"))
    with pytest.raises(error):
        any_files.move_unread(paths.folder(source), paths.folder(target), allow)
    assert sorted(vault.rglob("*")) == before
