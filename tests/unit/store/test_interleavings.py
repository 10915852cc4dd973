"""What another program does between two of our system calls, one moment after the other.

Every text that another program wrote must be found in the end: in the note, or in a copy beside it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from service.errors import Busy, NoteChanged
from service.guards import limits, paths
from service.guards.paths import VaultPath
from service.store.files import FileContent, VaultFiles
from service.store.root import Root
from service.store.syscalls import Kernel
from tests.support.disk import allow, texts
from tests.support.kernels import ActingKernel, RefusingKernel

OURS, OLD, THEIRS, LATER = b"ours", b"old", b"theirs", b"theirs, later"


def save(note: Path, text: bytes) -> None:
    """Save as Syncthing, Vim and most editors do: another file, renamed over the note."""
    other = note.parent.parent / "their-temporary"
    other.write_bytes(text)
    other.rename(note)


@pytest.fixture
def note(vault: Path) -> Path:
    (vault / "Note.md").write_bytes(OLD)
    return vault / "Note.md"


def replaced(root: Root, kernel: Kernel) -> Exception | None:
    """Replace the note with OURS while `kernel` interferes; what was raised, with every guard link judged."""
    files = VaultFiles(root, kernel)
    try:
        files.replace(files.read(paths.note("Note.md")), OURS, allow)
    except (NoteChanged, Busy) as error:
        return error
    finally:
        files.close()
    return None


MOMENTS = [("before", "open_unnamed"), ("before", "link_unnamed"), ("before", "exchange")]
"""Up to the exchange, their version wins and ours is refused."""


@pytest.mark.parametrize("how", [save, lambda note, text: note.write_bytes(text)], ids=["renamed over", "in place"])
@pytest.mark.parametrize(("when", "call"), MOMENTS)
def test_a_version_saved_before_the_exchange_stays(
    root: Root, note: Path, vault: Path, when: str, call: str, how: Callable[[Path, bytes], object]
) -> None:
    error = replaced(root, ActingKernel(**{when: {(call, 1): lambda: how(note, THEIRS)}}))
    assert isinstance(error, NoteChanged)
    assert texts(vault) == {"Note.md": THEIRS}


def test_a_version_saved_after_the_exchange_is_a_later_save_and_wins(root: Root, note: Path, vault: Path) -> None:
    assert replaced(root, ActingKernel(after={("exchange", 1): lambda: save(note, THEIRS)})) is None
    assert texts(vault) == {"Note.md": THEIRS}


def test_a_version_saved_between_exchange_and_swap_back_is_kept_beside_the_one_before(
    root: Root, note: Path, vault: Path
) -> None:
    kernel = ActingKernel(
        before={("exchange", 1): lambda: save(note, THEIRS), ("exchange", 2): lambda: save(note, LATER)}
    )
    assert isinstance(replaced(root, kernel), NoteChanged)
    found = texts(vault)
    assert found.pop("Note.md") == THEIRS
    assert list(found.values()) == [LATER]
    assert next(iter(found)).startswith("Note (conflict ")


def test_what_somebody_made_of_our_text_before_it_was_withdrawn_does_not_cost_the_version_put_back(
    root: Root, note: Path, vault: Path
) -> None:
    """A reader saw our text, we put theirs back, and the reader saves over it: the guard link has their version."""
    kernel = ActingKernel(
        before={("exchange", 1): lambda: save(note, THEIRS)},
        after={("exchange", 2): lambda: save(note, OURS + b" and more")},
    )
    assert isinstance(replaced(root, kernel), NoteChanged)
    found = texts(vault)
    assert found.pop("Note.md") == OURS + b" and more"
    assert list(found.values()) == [THEIRS]


def test_our_text_changed_in_place_before_it_was_withdrawn_is_kept(root: Root, note: Path, vault: Path) -> None:
    def append() -> None:
        with note.open("ab") as file:
            file.write(b" and more")

    kernel = ActingKernel(before={("exchange", 1): lambda: save(note, THEIRS), ("exchange", 2): append})
    assert isinstance(replaced(root, kernel), NoteChanged)
    found = texts(vault)
    assert found.pop("Note.md") == THEIRS
    assert list(found.values()) == [OURS + b" and more"]


def test_a_note_deleted_before_the_exchange_is_a_conflict(root: Root, note: Path, vault: Path) -> None:
    """Syncthing deletes, then renames."""
    assert isinstance(replaced(root, ActingKernel(before={("exchange", 1): note.unlink})), NoteChanged)
    assert texts(vault) == {}


def test_our_text_deleted_before_the_swap_back_gives_their_version_the_place(
    root: Root, note: Path, vault: Path
) -> None:
    kernel = ActingKernel(before={("exchange", 1): lambda: save(note, THEIRS), ("exchange", 2): note.unlink})
    assert isinstance(replaced(root, kernel), NoteChanged)
    assert texts(vault) == {"Note.md": THEIRS}


def test_a_folder_or_link_put_in_the_notes_place_gets_it_back(
    root: Root, note: Path, vault: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside.md").write_bytes(b"secret")

    def link() -> None:
        note.unlink()
        note.symlink_to(tmp_path / "outside.md")

    assert isinstance(replaced(root, ActingKernel(before={("exchange", 1): link})), NoteChanged)
    assert note.is_symlink()
    assert (tmp_path / "outside.md").read_bytes() == b"secret"
    assert [path.name for path in vault.iterdir()] == ["Note.md"]


@pytest.mark.parametrize("what", ["link", "FIFO", "folder", "nothing"])
def test_something_else_in_the_notes_place_before_our_text_is_staged_is_a_conflict(
    root: Root, note: Path, vault: Path, what: str
) -> None:
    """Found by racing every tool: opening the link to copy its mode was told as INTERNAL."""

    class Late(VaultFiles):
        """Another program acts right after the note was read."""

        def read(self, path: VaultPath, max_bytes: int = limits.MAX_NOTE_BYTES) -> FileContent:
            found = super().read(path, max_bytes)
            note.unlink()
            if what == "link":
                note.symlink_to("old")  # as long as the text was, so that the first look at the size is no help
            elif what == "FIFO":
                os.mkfifo(note)
            elif what == "folder":
                note.mkdir()
            return found

    files = Late(root)
    with pytest.raises(NoteChanged):
        files.replace(files.read(paths.note("Note.md")), OURS, allow)
    assert texts(vault) == {}


WRITER = """
import sys
file = open(sys.argv[1], "r+b")
print("open", flush=True)
sys.stdin.readline()
file.write(b"theirs")
file.close()
print("written", flush=True)
sys.stdin.readline()
"""


class Writer:
    """A program that opens a note for writing, and writes and closes when it is told."""

    def __init__(self, note: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(note)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._hear()

    def write(self) -> None:
        self._say()
        self._hear()

    def _say(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def _hear(self) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline()

    def close(self) -> None:
        self.process.communicate("\n\n", timeout=10)


def test_a_program_that_opened_the_note_before_and_writes_after_the_exchange_is_not_lost(
    root: Root, note: Path, vault: Path
) -> None:
    """The hole that only a lease closes: bytes compared, program still writing, file removed under it."""
    held: list[Writer] = []

    class Waiting(ActingKernel):
        def take_lease(self, descriptor: int) -> None:
            try:
                super().take_lease(descriptor)
            except BlockingIOError:
                held[0].write()  # while we wait for it to close
                raise

    kernel = Waiting(before={("exchange", 1): lambda: held.append(Writer(note))})
    try:
        error = replaced(root, kernel)
    finally:
        held[0].close()
    assert isinstance(error, NoteChanged)
    assert texts(vault) == {"Note.md": THEIRS}


def test_a_program_that_keeps_the_note_open_for_writing_is_left_alone(root: Root, note: Path, vault: Path) -> None:
    writer = Writer(note)
    try:
        kernel = ActingKernel()
        assert isinstance(replaced(root, kernel), Busy)
        assert "exchange" not in kernel.calls
        assert texts(vault) == {"Note.md": OLD}
    finally:
        writer.close()
    assert texts(vault) == {"Note.md": THEIRS}


def test_breaking_a_lease_does_not_kill_us(note: Path) -> None:
    """The kernel tells of a broken lease by SIGIO, which kills by default; ours comes as SIGURG, which does not."""
    program = (
        "import os, sys, subprocess\n"
        "from service.store.syscalls import Kernel\n"
        "fd = os.open(sys.argv[1], os.O_RDONLY)\n"
        "Kernel().take_lease(fd)\n"
        "other = subprocess.Popen([sys.executable, '-c', 'import sys; open(sys.argv[1], \"ab\").close()', sys.argv[1]])\n"
        "while Kernel().has_lease(fd): pass\n"
        "os.close(fd)\n"
        "sys.exit(other.wait())\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(note)], timeout=20, check=False)
    assert done.returncode == 0


def test_an_exchange_that_was_done_but_reported_as_failed_is_a_success(root: Root, note: Path, vault: Path) -> None:
    class Lying(Kernel):
        def exchange(self, folder: int, name: str, other: str) -> None:
            super().exchange(folder, name, other)
            raise OSError(5, os.strerror(5))

    assert replaced(root, Lying()) is None
    assert texts(vault) == {"Note.md": OURS}


def test_a_clean_up_that_fails_is_a_caution_and_the_sweep_finishes_it(root: Root, note: Path, vault: Path) -> None:
    files = VaultFiles(root, RefusingKernel({"unlink": 13}))
    written = files.replace(files.read(paths.note("Note.md")), OURS, allow)
    assert "next start" in written.caution
    assert len(texts(vault)) == 2
    assert VaultFiles(root).sweep().dropped == 1
    assert texts(vault) == {"Note.md": OURS}


WITHOUT_EXCHANGE: Mapping[str, int] = {"exchange": 22}


def test_where_files_cannot_be_exchanged_one_more_look_is_taken_right_before(
    root: Root, note: Path, vault: Path
) -> None:
    class Weak(RefusingKernel):
        def exchange(self, folder: int, name: str, other: str) -> None:
            save(note, THEIRS)
            super().exchange(folder, name, other)

    assert isinstance(replaced(root, Weak(WITHOUT_EXCHANGE)), NoteChanged)
    assert texts(vault) == {"Note.md": THEIRS}


def test_the_control_where_files_cannot_be_exchanged_the_last_moment_is_lost(
    root: Root, note: Path, vault: Path
) -> None:
    """Why the exchange is there at all: check-then-rename loses what is saved in between. This loss is documented."""

    class Weak(RefusingKernel):
        def rename(self, source: int, name: str, target: int, new_name: str) -> None:
            save(note, THEIRS)
            super().rename(source, name, target, new_name)

    assert replaced(root, Weak(WITHOUT_EXCHANGE)) is None
    assert texts(vault) == {"Note.md": OURS}


def test_moving_a_note_that_changed_in_the_last_moment_brings_it_back(root: Root, note: Path, vault: Path) -> None:
    files = VaultFiles(root, ActingKernel(before={("rename_free", 1): lambda: save(note, THEIRS)}))
    with pytest.raises(NoteChanged):
        files.move(files.read(paths.note("Note.md")), paths.new_note("new/Moved.md"), allow)
    assert texts(vault) == {"Note.md": THEIRS}
    assert not (vault / "new").exists()


def test_moving_never_replaces_a_file_that_appears_in_the_last_moment(root: Root, note: Path, vault: Path) -> None:
    target = vault / "Moved.md"
    for kernel in (
        ActingKernel(before={("rename_free", 1): lambda: save(target, THEIRS)}),
        _Appearing({"rename_free": 22}, "link", lambda: save(target, THEIRS)),
        _Appearing({"rename_free": 22, "link": 1, "link_unnamed": 1}, "open_new", lambda: save(target, THEIRS)),
    ):
        files = VaultFiles(root, kernel)
        with pytest.raises(Exception, match="exists already"):
            files.move(files.read(paths.note("Note.md")), paths.new_note("Moved.md"), allow)
        assert texts(vault) == {"Note.md": OLD, "Moved.md": THEIRS}
        target.unlink()


def test_removing_a_note_that_changed_in_the_last_moment_puts_it_back(root: Root, note: Path, vault: Path) -> None:
    files = VaultFiles(root, ActingKernel(before={("rename", 1): lambda: save(note, THEIRS)}))
    with pytest.raises(NoteChanged):
        files.remove(files.read(paths.note("Note.md")), allow)
    assert texts(vault) == {"Note.md": THEIRS}


def test_removing_a_note_that_changed_and_came_back_keeps_both(root: Root, note: Path, vault: Path) -> None:
    kernel = ActingKernel(
        before={("rename", 1): lambda: save(note, THEIRS)}, after={("rename", 1): lambda: save(note, LATER)}
    )
    files = VaultFiles(root, kernel)
    with pytest.raises(NoteChanged):
        files.remove(files.read(paths.note("Note.md")), allow)
    found = texts(vault)
    assert found.pop("Note.md") == LATER
    assert list(found.values()) == [THEIRS]


class _Appearing(RefusingKernel):
    """Lets another program act before the first call of a kind."""

    def __init__(self, refused: Mapping[str, int], call: str, act: Callable[[], object]) -> None:
        super().__init__(refused)
        self._call, self._act, self._done = call, act, False

    def link(self, source: int, name: str, target: int, new_name: str) -> None:
        self._interfere("link")
        super().link(source, name, target, new_name)

    def open_new(self, folder: int, name: str) -> int:
        self._interfere("open_new")
        return super().open_new(folder, name)

    def _interfere(self, call: str) -> None:
        if call == self._call and not self._done:
            self._done = True
            self._act()
