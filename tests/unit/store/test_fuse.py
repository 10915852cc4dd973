"""A real weak file system: bindfs, which knows neither nameless files, nor exchange, nor a rename that keeps from replacing.

guards.md 3.2 and 6, 77; where it cannot be mounted, the kernels that refuse calls (tests/support/kernels.py) stand for it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.errors import NoteChanged, NoteExists
from service.store.files import VaultFiles
from service.store.root import Root
from tests.support.disk import allow, at, texts


@pytest.fixture
def fuse(tmp_path: Path) -> Iterator[Path]:
    if shutil.which("bindfs") is None or not Path("/dev/fuse").exists() or os.geteuid() != 0:
        pytest.skip("there is no bindfs here, or we may not mount")
    below, place = tmp_path / "below", tmp_path / "fuse"
    below.mkdir()
    place.mkdir()
    if subprocess.run(["bindfs", str(below), str(place)], capture_output=True, check=False).returncode != 0:
        pytest.skip("this machine does not let us mount with FUSE")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


@pytest.fixture
def files(fuse: Path) -> Iterator[VaultFiles]:
    root = Root(fuse)
    made = VaultFiles(root)
    yield made
    made.close()
    root.close()


def test_it_is_as_weak_as_the_study_found(files: VaultFiles, fuse: Path) -> None:
    """guards.md 3.2; and trying it leaves no trace."""
    assert {"unnamed_files", "exchange", "free_rename"} <= set(files.capabilities().missing)
    assert list(fuse.iterdir()) == []


def test_everything_works_and_keeps_mode_and_time(files: VaultFiles, fuse: Path) -> None:
    made = files.create(at("a/b/Note.md"), b"one", allow)
    (fuse / "a/b/Note.md").chmod(0o640)
    made = files.replace(files.read(at("a/b/Note.md")), b"two", allow)
    assert made.mode == 0o640
    os.utime(fuse / "a/b/Note.md", ns=(10**18, 10**18))
    moved = files.move(files.read(at("a/b/Note.md")), at("c/Moved.md"), allow)
    assert (fuse / "c/Moved.md").stat().st_mtime_ns == 10**18
    gone = files.trash(moved, allow)
    assert texts(fuse) == {".trash/c/Moved.md": b"two"}
    files.move(files.read_tracked(gone), at("Back.md"), allow)
    assert texts(fuse) == {"Back.md": b"two"}
    assert list(files.leftovers()) == []


def test_nothing_is_ever_overwritten(files: VaultFiles, fuse: Path) -> None:
    (fuse / "Mine.md").write_bytes(b"mine")
    note = files.create(at("Note.md"), b"text", allow)
    with pytest.raises(NoteExists):
        files.create(at("Mine.md"), b"theirs", allow)
    with pytest.raises(NoteExists):
        files.move(note, at("Mine.md"), allow)
    (fuse / "Note.md").write_bytes(b"changed")
    for change in (
        lambda: files.replace(note, b"ours", allow),
        lambda: files.move(note, at("Moved.md"), allow),
        lambda: files.trash(note, allow),
        lambda: files.remove(note, allow),
    ):
        with pytest.raises(NoteChanged):
            change()
    assert texts(fuse) == {"Mine.md": b"mine", "Note.md": b"changed"}


def test_the_mount_that_is_lost_is_noticed(files: VaultFiles, fuse: Path) -> None:
    """Bar 30: a FUSE daemon that goes leaves an empty folder, or one that does not answer."""
    files.create(at("Note.md"), b"text", allow)
    subprocess.run(["umount", "--lazy", fuse], check=True)
    with pytest.raises(Exception, match="not there") as caught:
        files.create(at("New.md"), b"text", allow)
    assert type(caught.value).__name__ == "VaultMissing"
    assert list(fuse.iterdir()) == []
    subprocess.run(["mount", "-t", "tmpfs", "strongroom-test", str(fuse)], check=True)  # for the fixture to take away
