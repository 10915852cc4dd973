"""Find a name, read a file, walk the vault."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from pathlib import Path

import pytest

from service.errors import AppError, Busy, NoteNotFound, PathAmbiguous, PathRefused, TooLarge
from service.guards import paths
from service.store import reading
from service.store.files import VaultFiles
from tests.support.disk import at

NFC, NFD = "Caf\u00e9.md", "Cafe\u0301.md"


def write(vault: Path, *names: str) -> None:
    for name in names:
        (vault / name).parent.mkdir(parents=True, exist_ok=True)
        (vault / name).write_bytes(name.encode())


@pytest.mark.parametrize(
    ("stored", "asked"), [(NFC, NFC), (NFC, NFD), (NFD, NFC), (NFD, NFD), ("한.md", "\u1112\u1161\u11ab.md")]
)
def test_a_note_is_found_in_either_encoding(files: VaultFiles, vault: Path, stored: str, asked: str) -> None:
    """oflisback/obsidian-bridge.nvim#43; srid/neuron#611."""
    write(vault, f"{stored}-folder/{stored}")
    assert str(files.locate(at(f"{asked}-folder/{asked}"))) == f"{stored}-folder/{stored}"


def test_a_name_that_mixes_both_encodings_is_found(files: VaultFiles, vault: Path) -> None:
    write(vault, "\u00e9e\u0301.md")
    assert files.read(at("\u00e9\u00e9.md")).path.name == "\u00e9e\u0301.md"


@pytest.mark.parametrize("asked", [NFC, NFD])
def test_two_names_of_the_same_letters_are_ambiguous(files: VaultFiles, vault: Path, asked: str) -> None:
    """The tool contract, 'Unicode names'; bar 27."""
    write(vault, NFC, NFD)
    with pytest.raises(PathAmbiguous):
        files.read(at(asked))


def test_the_exact_name_wins_over_the_one_without_white_space(files: VaultFiles, vault: Path) -> None:
    """The tool contract, 'path'."""
    write(vault, "Note.md", " Note.md")
    assert str(files.locate(at(" Note.md"))) == " Note.md"
    assert str(files.locate(at("  Note.md "))) == "Note.md"


def test_a_missing_note_names_up_to_three_that_look_alike(files: VaultFiles, vault: Path) -> None:
    write(
        vault,
        "Inbox/Ideas.md",
        "Archive/2020/ideas.md",
        "Inbox/Idea.md",
        "Inbox/Ides.md",
        ".obsidian/Ideas.md",
        "Other.md",
    )
    with pytest.raises(NoteNotFound) as caught:
        files.read(at("Ideas.md"))
    assert caught.value.nearest[:2] == ("Archive/2020/ideas.md", "Inbox/Ideas.md")
    assert len(caught.value.nearest) == 3
    with pytest.raises(NoteNotFound) as caught:
        files.read(at("Inbxo/Idea.md"))
    assert "Inbox/Idea.md" in caught.value.nearest
    with pytest.raises(NoteNotFound) as caught:
        files.read(at("zzzzzzzz.md"))
    assert caught.value.nearest == ()


def test_looking_for_names_that_look_alike_is_bounded(files: VaultFiles, vault: Path) -> None:
    for number in range(6000):
        (vault / f"note number {number}.md").touch()
    with pytest.raises(NoteNotFound) as caught:
        files.read(at("note number x.md"))
    assert len(caught.value.nearest) == 3


def test_a_symbolic_link_is_never_followed(files: VaultFiles, vault: Path, tmp_path: Path) -> None:
    """bitbonsai/mcpvault#78: neither as the last part nor in the middle, inside or outside, file or folder."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.md").write_bytes(b"secret")
    write(vault, "real/Note.md")
    (vault / "link.md").symlink_to(tmp_path / "outside" / "secret.md")
    (vault / "inside.md").symlink_to("real/Note.md")
    (vault / "folder").symlink_to(tmp_path / "outside")
    (vault / "dangling.md").symlink_to("nowhere")
    for name in ("link.md", "inside.md", "folder/secret.md", "dangling.md"):
        with pytest.raises(PathRefused) as caught:
            files.read(at(name))
        assert caught.value.code == "OUTSIDE_VAULT"
    assert [str(entry.path) for entry in files.walk()] == ["real/Note.md"]


def test_what_is_no_regular_file_is_refused_at_once(files: VaultFiles, vault: Path) -> None:
    """Bar 23: an ordinary open of a FIFO would hang."""
    os.mkfifo(vault / "fifo.md")
    (vault / "folder.md").mkdir()
    with socket.socket(socket.AF_UNIX) as server, contextlib.chdir(vault):
        server.bind("socket.md")
        names = ["fifo.md", "folder.md", "socket.md"]
        if os.geteuid() == 0:
            os.mknod("device.md", 0o20644, os.makedev(1, 5))  # /dev/zero
            names.append("device.md")
        for name in names:
            with pytest.raises(PathRefused) as caught:
                files.read(at(name))
            assert caught.value.code == "NOT_A_FILE"
    assert list(files.walk()) == []


def test_a_huge_sparse_file_is_refused_by_its_size(files: VaultFiles, vault: Path) -> None:
    """Bar 24."""
    with (vault / "huge.md").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(TooLarge):
        files.read(at("huge.md"))


def test_the_limit_of_a_note_is_inclusive(files: VaultFiles, vault: Path) -> None:
    (vault / "a.md").write_bytes(b"12345")
    assert files.read(at("a.md"), 5).data == b"12345"
    with pytest.raises(TooLarge):
        files.read(at("a.md"), 4)


@pytest.mark.parametrize(
    "raw", ["a" * 300 + ".md", "a/" * 500 + "x.md", "\udcff.md", "no/such/folder/x.md", "Note.md/x.md", ":x", "é" * 128]
)
def test_an_odd_path_is_a_clean_refusal(files: VaultFiles, vault: Path, raw: str) -> None:
    """Bar 26: none of these may become an internal error."""
    write(vault, "Note.md")
    with pytest.raises(AppError):
        files.read(at(raw))


def test_a_name_that_is_no_utf8_can_be_read_as_history_names_it(files: VaultFiles, vault: Path) -> None:
    with open(os.fsencode(vault) + b"/\xff.md", "wb") as file:
        file.write(b"latin")
    assert files.read_tracked(at(os.fsdecode(b"\xff.md"))).data == b"latin"
    assert list(files.walk()) == []


class _Growing:
    """An os.pread that lets the file change under each reading."""

    def __init__(self, note: Path, times: int) -> None:
        self.note, self.left, self.real = note, times, os.pread

    def __call__(self, descriptor: int, length: int, offset: int) -> bytes:
        data = self.real(descriptor, length, offset)
        if offset == 0 and self.left:
            self.left -= 1
            with self.note.open("ab") as file:
                file.write(b"+")
        return data


def test_a_note_that_changes_while_it_is_read_is_read_again(
    files: VaultFiles, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(vault, "a.md")
    monkeypatch.setattr(reading.os, "pread", _Growing(vault / "a.md", 3))
    assert files.read(at("a.md")).data == b"a.md+++"


def test_a_note_that_never_holds_still_is_busy(files: VaultFiles, vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(vault, "a.md")
    monkeypatch.setattr(reading.os, "pread", _Growing(vault / "a.md", 10_000))
    started = time.monotonic()
    with pytest.raises(Busy):
        files.read(at("a.md"))
    assert time.monotonic() - started < 5


def test_walking_shows_what_paths_can_name_and_nothing_else(files: VaultFiles, vault: Path) -> None:
    seen = ["a.md", "B.MD", "c.markdown", "d.txt", "deep/er/e.md", "{}[]#^|.md", "日本.md", "100%.md", " x .md"]
    unseen = [
        ".h.md",
        ".obsidian/a.md",
        ".trash/a.md",
        "node_modules/a.md",
        "a\\b.md",
        "~x.md",
        "bidi\u202e.md",
        "p.png",
        "a\nb.md",
    ]
    write(vault, *seen, *unseen)
    found = sorted(str(entry.path) for entry in files.walk())
    assert found == sorted(seen)
    for raw in found:
        assert str(paths.parse(raw)) == raw


def test_walking_a_folder_stays_below_it(files: VaultFiles, vault: Path) -> None:
    write(vault, "a/x.md", "a/b/y.md", "ab/z.md")
    assert sorted(str(entry.path) for entry in files.walk(paths.folder("a"))) == ["a/b/y.md", "a/x.md"]


@pytest.mark.parametrize(("raw", "error"), [("missing", NoteNotFound), ("a.md", PathRefused)])
def test_walking_what_is_no_folder_is_refused_before_the_first_file(
    files: VaultFiles, vault: Path, raw: str, error: type[Exception]
) -> None:
    write(vault, "a.md")
    with pytest.raises(error):
        files.walk(paths.folder(raw))


def test_a_folder_that_vanishes_during_a_walk_is_passed_over(files: VaultFiles, vault: Path) -> None:
    write(vault, *(f"{folder}/x.md" for folder in "abc"))
    seen = []
    for entry in files.walk():
        seen.append(entry)
        for other in vault.iterdir():
            if other.name != entry.path.parts[0]:
                for file in other.iterdir():
                    file.unlink()
                other.rmdir()
    assert len(seen) == 1


def test_a_folder_that_may_not_be_read_is_passed_over(files: VaultFiles, vault: Path) -> None:
    write(vault, "open/x.md", "closed/y.md")
    expected = ["open/x.md"] if os.geteuid() else ["closed/y.md", "open/x.md"]  # root reads everything
    (vault / "closed").chmod(0)
    try:
        assert sorted(str(entry.path) for entry in files.walk()) == expected
    finally:
        (vault / "closed").chmod(0o755)
