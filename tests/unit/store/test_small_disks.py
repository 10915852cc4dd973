"""Disks that are full, out of inodes, or turn read-only in the middle: real ones, small and mounted for the test.

guards.md 6, 9, 10 and 12: the note is intact, the error is clear, nothing is left over, and after freeing it works again.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from ops.checks import places
from ops.checks.finding import Patient, Verdict
from service.errors import AppError, NoSpace, VaultDenied
from service.guards import paths
from service.store.files import FileContent, VaultFiles
from service.store.root import Root
from service.vault import notes
from service.vault.model import Actor
from tests.support.clock import HeldClock
from tests.support.disk import allow, at, texts
from tests.support.loops import KINDS, fill, mounted
from tests.support.rooms import room_for, settings_for

BIG = b"new text\n" * 3000
OLD = b"old text\n" * 1000
BLOCK = 4096

KINDS_SHORT_AND_LONG = [
    pytest.param(kind, marks=[pytest.mark.long] if kind in ("xfs", "btrfs") else []) for kind in KINDS
]

Change = Callable[[VaultFiles, FileContent], object]
CHANGES: dict[str, Change] = {
    "create": lambda files, _: files.create(at("new/folder/New.md"), BIG, allow),
    "replace": lambda files, old: files.replace(old, BIG, allow),
    "append": lambda files, old: files.replace(old, old.data + b"one more line\n", allow),
    "move": lambda files, old: files.move(old, at("elsewhere/Moved.md"), allow),
    "trash": lambda files, old: files.trash(old, allow),
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("kind", KINDS_SHORT_AND_LONG)
def test_a_disk_that_fills_at_any_step_leaves_the_note_and_works_again(tmp_path: Path, kind: str, name: str) -> None:
    """Bar 9: no room at all, then a block more each time, until it gets through."""
    with mounted(kind, tmp_path / "small") as place:
        (place / "Note.md").write_bytes(OLD)
        root = Root(place)
        files = VaultFiles(root)
        refusals: list[str] = []
        for blocks in (0, 1, 2, 3, 4, 6, 8, 12, 64, 1024):
            filler = fill(place, blocks * BLOCK)
            before = visible(place)
            try:
                CHANGES[name](files, files.read(at("Note.md")))
            except NoSpace as error:
                refusals.append(str(error))
                assert visible(place) == before
                assert (
                    sorted(path.name for path in place.iterdir() if path.is_dir() and path.name != "lost+found") == []
                )
                assert list(files.leftovers()) == []
            else:
                break
            finally:
                filler.unlink()
        else:
            CHANGES[name](files, files.read(at("Note.md")))  # with the whole disk free
        assert visible(place) != before
        assert list(files.leftovers()) == []
        root.close()
    assert all("is full" in told for told in refusals)
    if kind == "tmpfs" and name in ("create", "replace", "append"):
        assert refusals


def visible(place: Path) -> dict[str, bytes]:
    return {name: text for name, text in texts(place).items() if name != ".filler"}


@pytest.mark.parametrize("name", CHANGES)
def test_a_disk_without_inodes_leaves_the_note_and_works_again(tmp_path: Path, name: str) -> None:
    """Bar 9: room, but no more files."""
    with mounted("tmpfs", tmp_path / "small", "size=4m,nr_inodes=40") as place:
        (place / "Note.md").write_bytes(OLD)
        made: list[Path] = []
        while os.statvfs(place).f_ffree:
            made.append(place / f".filler-{len(made)}")
            made[-1].touch()
        root = Root(place)
        files = VaultFiles(root)
        before = visible(place)
        with pytest.raises(NoSpace):
            CHANGES[name](files, files.read(at("Note.md")))
        assert visible(place) == before
        for path in made:
            path.unlink()
        CHANGES[name](files, files.read(at("Note.md")))
        root.close()


def test_a_disk_that_turns_read_only_in_the_middle_costs_no_note(tmp_path: Path) -> None:
    """Bar 12: while one writes without end; each answer is true, and it goes on when the disk can be written again."""
    with mounted("tmpfs", tmp_path / "small", "size=4m") as place:
        (place / "Note.md").write_bytes(b"")
        root = Root(place)
        files = VaultFiles(root)
        acknowledged: list[int] = []
        refusals: list[AppError] = []
        is_over, has_begun, was_refused, went_on = (threading.Event() for _ in range(4))

        def write() -> None:
            number = 0
            while not is_over.is_set():
                number += 1
                old = files.read(at("Note.md"))
                try:
                    files.replace(old, old.data + f"<{number}>".encode(), allow)
                except AppError as error:
                    refusals.append(error)
                    was_refused.set()
                    continue
                acknowledged.append(number)
                has_begun.set()
                if was_refused.is_set():
                    went_on.set()

        writer = threading.Thread(target=write)
        writer.start()
        try:
            assert has_begun.wait(10)
            _remount(place, "ro")
            assert was_refused.wait(10)
            assert files.read(at("Note.md")).data.endswith(f"<{acknowledged[-1]}>".encode())
            _remount(place, "rw")
            assert went_on.wait(10)
        finally:
            is_over.set()
            writer.join()
        assert all(isinstance(error, VaultDenied) and "read-only" in str(error) for error in refusals)
        files.sweep()  # one write may have had its text in place beside the note when nothing could be removed any more
        assert texts(place) == {"Note.md": b"".join(b"<%d>" % number for number in acknowledged)}
        root.close()


def _remount(place: Path, how: str) -> None:
    """Again and again, since a file that is open for writing at that moment forbids it."""
    for _ in range(1000):
        if subprocess.run(["mount", "-o", f"remount,{how}", place], capture_output=True, check=False).returncode == 0:
            return
    raise AssertionError(f"could not be remounted {how}")


def test_a_full_disk_under_the_state_stops_no_write_and_doctor_says_so(tmp_path: Path) -> None:
    """Bar 10: history waits, notes do not; it goes on by itself when there is room."""
    with mounted("tmpfs", tmp_path / "state", "size=16m,mode=0700") as place:
        settings = settings_for(tmp_path)
        clock = HeldClock.at("2026-03-01T12:00:00")
        room = room_for(settings, clock)
        (settings.vault / "Note.md").write_text("one\n")
        room.history.commit("start", may_use_child=False)
        filler = fill(place)
        actor = Actor("t1", "laptop", permit=lambda: None)
        for number in range(5):
            notes.append(room.vault, actor, paths.note("Note.md"), f"line {number} {'x' * 5000}")
        notes.create(room.vault, actor, paths.new_note("New.md"), "made\n" * 2000)
        notes.delete(room.vault, actor, paths.note("New.md"))
        with pytest.raises(NoSpace, match="is full"):
            room.history.commit("full", may_use_child=False)
        found = places.file_systems(Patient(settings, clock, {}))
        assert found.verdict is Verdict.FAIL
        assert "only 0 MB are free where the state is" in found.found
        filler.unlink()
        assert room.history.commit("freed", may_use_child=False).commits
        assert "only 0 MB" not in places.file_systems(Patient(settings, clock, {})).found
        room.history.close()
