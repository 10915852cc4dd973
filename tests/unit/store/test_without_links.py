"""A file system that refuses hard links, as each of those in complaint 40 does, and one that is full."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from service.errors import NoSpace, NoteExists
from service.store import faults
from service.store.files import FileContent, VaultFiles
from service.store.root import Root
from tests.support.disk import allow, at, texts
from tests.support.kernels import RefusingKernel

REFUSALS = (errno.EPERM, errno.EIO, errno.EINVAL, errno.ENOTSUP)
Change = Callable[[VaultFiles, FileContent], object]
CHANGES: dict[str, tuple[Change, dict[str, bytes]]] = {
    "create": (lambda files, _: files.create(at("b/New.md"), b"new", allow), {"a/Note.md": b"old", "b/New.md": b"new"}),
    "move": (lambda files, old: files.move(old, at("b/New.md"), allow), {"b/New.md": b"old"}),
    "trash": (lambda files, old: files.trash(old, allow), {".trash/a/Note.md": b"old"}),
}


@pytest.fixture
def note(vault: Path) -> Path:
    (vault / "a").mkdir()
    (vault / "a" / "Note.md").write_bytes(b"old")
    return vault / "a" / "Note.md"


@pytest.mark.parametrize("number", REFUSALS, ids=errno.errorcode.get)
@pytest.mark.parametrize("name", CHANGES)
def test_notes_are_made_moved_and_trashed_where_hard_links_fail(
    vault: Path, root: Root, note: Path, name: str, number: int
) -> None:
    """Complaint 40: create, move and trash work with link() patched to each errno."""
    change, after = CHANGES[name]
    files = VaultFiles(root, RefusingKernel({"link": number, "link_unnamed": number}))
    change(files, files.read(at("a/Note.md")))
    files.close()
    assert texts(vault) == after


@pytest.mark.parametrize("number", REFUSALS, ids=errno.errorcode.get)
@pytest.mark.parametrize("name", ["create", "move"])
def test_nothing_is_overwritten_where_hard_links_fail(
    vault: Path, root: Root, note: Path, name: str, number: int
) -> None:
    """Complaint 40: and still never clobber; the name was taken, also by another case."""
    (vault / "b").mkdir()
    (vault / "b" / "New.md").write_bytes(b"taken")
    change, _ = CHANGES[name]
    files = VaultFiles(root, RefusingKernel({"link": number, "link_unnamed": number}))
    with pytest.raises(NoteExists):
        change(files, files.read(at("a/Note.md")))
    files.close()
    assert texts(vault) == {"a/Note.md": b"old", "b/New.md": b"taken"}


@pytest.mark.parametrize("number", sorted(errno.errorcode), ids=errno.errorcode.get)
@pytest.mark.parametrize("text", ["No space left on device", "disk full", "Permission denied", ""])
def test_an_error_is_classed_by_its_number_whatever_its_text_says(number: int, text: str) -> None:
    """Complaint 41: "disk full" came from a word in a message."""
    said = faults.in_our_words(OSError(number, text), "no space left/disk full.md", None)
    assert isinstance(said, NoSpace) is (number in (errno.ENOSPC, errno.EDQUOT))


@pytest.mark.parametrize("call", ["write", "sync", "open_unnamed"])
def test_a_full_disk_leaves_the_note_and_no_temporary_file(vault: Path, root: Root, note: Path, call: str) -> None:
    """Complaint 41: ENOSPC leaves note and no temp; and is said as what it is."""
    files = VaultFiles(root, RefusingKernel({call: errno.ENOSPC}))
    with pytest.raises(NoSpace):
        files.replace(files.read(at("a/Note.md")), b"new", allow)
    files.close()
    assert [path.name for path in sorted(vault.rglob("*"))] == ["a", "Note.md"]
    assert note.read_bytes() == b"old"
