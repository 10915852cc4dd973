"""What a kill leaves, and what the sweep makes of it: nothing that anybody wrote goes."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from service.guards import paths
from service.store import staging
from service.store.files import VaultFiles, version_of
from service.store.root import Root
from tests.support.disk import allow, at, texts
from tests.support.kernels import RefusingKernel

OLD, NEW, OTHER = b"old", b"new", b"somebody else's"


@pytest.mark.parametrize("held", [OLD, NEW])
@pytest.mark.parametrize("folder", ["", "a/b/", ".obsidian/", ".trash/"])
def test_a_leftover_with_one_of_the_two_versions_is_dropped(
    files: VaultFiles, vault: Path, held: bytes, folder: str
) -> None:
    (vault / folder).mkdir(parents=True, exist_ok=True)
    (vault / folder / staging.aside_name(OLD, NEW)).write_bytes(held)
    assert [str(path.parent) + "/" for path in files.leftovers()] == [folder or "/"]
    swept = files.sweep()
    assert (swept.dropped, swept.recovered) == (1, ())
    assert texts(vault) == {}


@pytest.mark.parametrize(
    "name",
    [staging.aside_name(OLD, NEW), staging.guard_name(), staging.PREFIX + "unknown.tmp"],
    ids=["aside", "guard", "unknown"],  # the names hold chance
)
def test_a_leftover_with_anything_else_becomes_a_visible_copy(files: VaultFiles, vault: Path, name: str) -> None:
    (vault / "a").mkdir()
    (vault / "a" / name).write_bytes(OTHER)
    swept = files.sweep()
    copy = f"a/Recovered by Strongroom ({version_of(OTHER)}).md"
    assert (swept.dropped, [str(path) for path in swept.recovered]) == (0, [copy])
    assert texts(vault) == {copy: OTHER}


def test_two_leftovers_with_the_same_text_are_both_kept(files: VaultFiles, vault: Path) -> None:
    for _ in range(2):
        (vault / staging.guard_name()).write_bytes(OTHER)
    assert len(files.sweep().recovered) == 2
    assert list(texts(vault).values()) == [OTHER, OTHER]


def test_a_guard_link_whose_version_is_still_there_is_dropped(files: VaultFiles, vault: Path) -> None:
    (vault / "Note.md").write_bytes(OTHER)
    os.link(vault / "Note.md", vault / staging.guard_name())
    assert files.sweep().dropped == 1
    assert texts(vault) == {"Note.md": OTHER}


def test_a_part_file_is_dropped_and_other_programs_temporary_files_are_left(files: VaultFiles, vault: Path) -> None:
    (vault / staging.part_name()).write_bytes(b"half a no")
    for name in (".syncthing.Note.md.tmp", ".Note.md.swp", ".syncthing.strongroom.md.tmp"):
        (vault / name).write_bytes(b"")
    assert files.sweep().dropped == 1
    assert sorted(texts(vault)) == [".Note.md.swp", ".syncthing.Note.md.tmp", ".syncthing.strongroom.md.tmp"]


KILLED = """
import os, signal, sys
from pathlib import Path
from service.guards import paths
from service.store.files import VaultFiles
from service.store.root import Root
from service.store.syscalls import Kernel

vault, call, when, weaker = sys.argv[1:]

class Killing(Kernel):
    def open_unnamed(self, folder):
        if weaker == "yes":
            raise OSError(95, "no O_TMPFILE")
        return super().open_unnamed(folder)

def deadly(name):
    real = getattr(Killing, name)
    def act(self, *args):
        if when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = real(self, *args)
        os.kill(os.getpid(), signal.SIGKILL)
        return result
    return act

setattr(Killing, call, deadly(call))
files = VaultFiles(Root(Path(vault)), Killing())
note = files.read(paths.note("Note.md"))
files.replace(note, b"new", lambda: None)
files.create(paths.note("Made.md"), b"made", lambda: None)
files.trash(files.read(paths.note("Made.md")), lambda: None)
"""
CALLS = ["write", "sync", "link_unnamed", "exchange", "unlink", "sync_folder", "rename_free", "take_lease"]


@pytest.mark.parametrize("weaker", ["no", "yes"])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("call", CALLS)
def test_a_kill_at_any_call_leaves_the_old_note_or_the_new_and_the_sweep_leaves_nothing_else(
    root: Root, vault: Path, call: str, when: str, weaker: str
) -> None:
    """Bar 1 and 2, as a short matrix; the long one injects at every system call."""
    (vault / "Note.md").write_bytes(OLD)
    done = subprocess.run([sys.executable, "-c", KILLED, str(vault), call, when, weaker], timeout=30, check=False)
    assert done.returncode == (0 if (call, weaker) == ("link_unnamed", "yes") else -9)
    assert VaultFiles(root).sweep().recovered == ()
    found = texts(vault)
    assert found.pop("Note.md") in (OLD, NEW)
    assert [(name.removeprefix(".trash/"), text) for name, text in found.items()] in ([], [("Made.md", b"made")])


def test_a_kill_while_somebody_elses_version_is_aside_recovers_it(root: Root, vault: Path) -> None:
    (vault / "Note.md").write_bytes(NEW)
    (vault / staging.aside_name(OLD, NEW)).write_bytes(OTHER)
    files = VaultFiles(root)
    assert len(files.sweep().recovered) == 1
    assert [str(entry.path) for entry in files.walk()].count("Note.md") == 1
    assert OTHER in texts(vault).values()


def test_a_leftover_that_cannot_be_removed_does_not_stop_the_start(root: Root, vault: Path) -> None:
    (vault / staging.part_name()).write_bytes(b"")
    swept = VaultFiles(root, RefusingKernel({"unlink": errno.EACCES})).sweep()
    assert (swept.dropped, swept.recovered) == (0, ())


def test_writing_leaves_no_temporary_file(files: VaultFiles, vault: Path) -> None:
    made = files.create(paths.new_note("Note.md"), OLD, allow)
    made = files.replace(made, NEW, allow)
    made = files.move(made, at("Moved.md"), allow)
    files.remove(made, allow)
    assert list(files.leftovers()) == []
    assert texts(vault) == {}
