"""Create and replace, on a file system that has everything and on each that lacks something."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.errors import DiskFault, Forbidden, NoSpace, NoteChanged, NoteExists, PathRefused, VaultDenied
from service.guards import paths
from service.store.files import VaultFiles, version_of
from service.store.root import Root
from tests.support.disk import allow, at, texts
from tests.support.kernels import WEAKER, RefusingKernel


@pytest.fixture(params=WEAKER)
def any_files(request: pytest.FixtureRequest, root: Root) -> Iterator[VaultFiles]:
    made = VaultFiles(root, RefusingKernel(WEAKER[request.param]))
    yield made
    made.close()


def refuse() -> None:
    raise Forbidden("revoked")


def test_creating_a_note_makes_its_folders_and_returns_what_is_on_disk(any_files: VaultFiles, vault: Path) -> None:
    made = any_files.create(paths.new_note("a/b/Note.md"), b"text\r\n", allow)
    assert texts(vault) == {"a/b/Note.md": b"text\r\n"}
    assert made == any_files.read(paths.note("a/b/Note.md"))
    assert made.version == version_of(b"text\r\n")
    assert made.caution == ""


def test_creating_never_overwrites(any_files: VaultFiles, vault: Path) -> None:
    """docker/for-mac#5036, docker-machine#45, orbstack#1424: also where hard links do not work."""
    (vault / "Note.md").write_bytes(b"mine")
    with pytest.raises(NoteExists):
        any_files.create(paths.new_note("Note.md"), b"theirs", allow)
    assert texts(vault) == {"Note.md": b"mine"}


def test_replacing_a_note_puts_the_new_text_in_its_place(any_files: VaultFiles, vault: Path) -> None:
    (vault / "Note.md").write_bytes(b"one")
    old = any_files.read(paths.note("Note.md"))
    new = any_files.replace(old, b"two", allow)
    assert texts(vault) == {"Note.md": b"two"}
    assert new == any_files.read(paths.note("Note.md"))


def test_replacing_refuses_another_version_than_expected(any_files: VaultFiles, vault: Path) -> None:
    (vault / "Note.md").write_bytes(b"one")
    old = any_files.read(paths.note("Note.md"))
    (vault / "Note.md").write_bytes(b"another")
    with pytest.raises(NoteChanged) as caught:
        any_files.replace(old, b"two", allow)
    assert (caught.value.expected, caught.value.found) == (version_of(b"one"), version_of(b"another"))
    assert texts(vault) == {"Note.md": b"another"}


def test_replacing_a_note_that_was_deleted_is_a_conflict(any_files: VaultFiles, vault: Path) -> None:
    (vault / "Note.md").write_bytes(b"one")
    old = any_files.read(paths.note("Note.md"))
    (vault / "Note.md").unlink()
    with pytest.raises(NoteChanged):
        any_files.replace(old, b"two", allow)
    assert texts(vault) == {}


def test_a_revoked_permit_changes_nothing(any_files: VaultFiles, vault: Path) -> None:
    (vault / "Note.md").write_bytes(b"one")
    old = any_files.read(paths.note("Note.md"))
    for change in (
        lambda: any_files.create(paths.new_note("new folder/New.md"), b"two", refuse),
        lambda: any_files.replace(old, b"two", refuse),
        lambda: any_files.move(old, paths.new_note("other folder/Moved.md"), refuse),
        lambda: any_files.trash(old, refuse),
        lambda: any_files.remove(old, refuse),
    ):
        with pytest.raises(Forbidden):
            change()
        assert list(vault.rglob("*")) == [vault / "Note.md"]
        assert texts(vault) == {"Note.md": b"one"}


def test_a_new_file_may_be_read_by_whoever_may_read_its_folder(files: VaultFiles, vault: Path) -> None:
    for mode, expected in ((0o755, 0o644), (0o775, 0o664), (0o700, 0o600)):
        folder = vault / f"{mode:o}"
        folder.mkdir()
        folder.chmod(mode)
        files.create(at(f"{mode:o}/sub/Note.md"), b"", allow)
        assert stat.S_IMODE((folder / "sub").stat().st_mode) == mode
        assert stat.S_IMODE((folder / "sub" / "Note.md").stat().st_mode) == expected


def test_the_process_umask_does_not_matter(files: VaultFiles, vault: Path) -> None:
    vault.chmod(0o755)
    before = os.umask(0o077)
    try:
        made = files.create(at("sub/Note.md"), b"", allow)
    finally:
        os.umask(before)
    assert made.mode == 0o644
    assert stat.S_IMODE((vault / "sub").stat().st_mode) == 0o755


def test_replacing_keeps_mode_owner_and_attributes(any_files: VaultFiles, vault: Path) -> None:
    note = vault / "Note.md"
    note.write_bytes(b"one")
    note.chmod(0o640)
    os.setxattr(note, "user.colour", b"red")
    if os.geteuid() == 0:
        os.chown(note, 1234, 4321)
    before = note.stat()
    any_files.replace(any_files.read(paths.note("Note.md")), b"two", allow)
    after = note.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert os.getxattr(note, "user.colour") == b"red"


def test_a_restored_mode_wins_over_the_old_one(files: VaultFiles, vault: Path) -> None:
    (vault / "run.sh").write_bytes(b"one")
    files.put(at("run.sh"), b"two", 0o755, allow, files.read_tracked(at("run.sh")))
    assert stat.S_IMODE((vault / "run.sh").stat().st_mode) == 0o755


def test_writing_does_not_reach_the_other_name_of_a_hard_link(
    any_files: VaultFiles, vault: Path, tmp_path: Path
) -> None:
    """Bar 25."""
    outside = tmp_path / "outside.md"
    outside.write_bytes(b"one")
    os.link(outside, vault / "Note.md")
    any_files.replace(any_files.read(paths.note("Note.md")), b"two", allow)
    assert outside.read_bytes() == b"one"
    assert (vault / "Note.md").read_bytes() == b"two"


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.ENOSPC, NoSpace),
        (errno.EDQUOT, NoSpace),
        (errno.EIO, DiskFault),
        (errno.EROFS, VaultDenied),
        (errno.EACCES, VaultDenied),
    ],
)
@pytest.mark.parametrize("call", ["write", "sync"])
def test_a_disk_that_fails_leaves_the_note_and_no_temporary_file(
    root: Root, vault: Path, call: str, number: int, said: type[Exception]
) -> None:
    """bitbonsai/mcpvault#109: errors are told apart by number. fsync is not repeated (LWN, fsyncgate)."""
    (vault / "Note.md").write_bytes(b"one")
    for weaker in ({}, {"open_unnamed": errno.EOPNOTSUPP}):
        files = VaultFiles(root, RefusingKernel({call: number, **weaker}))
        old = files.read(paths.note("Note.md"))
        with pytest.raises(said) as caught:
            files.replace(old, b"two", allow)
        assert str(vault) not in str(caught.value)
        with pytest.raises(said):
            files.create(at("sub/New.md"), b"two", allow)
        assert texts(vault) == {"Note.md": b"one"}
        assert not (vault / "sub").exists()


def test_after_the_change_is_visible_a_failing_disk_is_a_caution_and_no_failure(root: Root, vault: Path) -> None:
    files = VaultFiles(root, RefusingKernel({"sync_folder": errno.EIO}))
    made = files.create(paths.new_note("Note.md"), b"one", allow)
    changed = files.replace(made, b"two", allow)
    moved = files.move(changed, paths.new_note("Moved.md"), allow)
    for written in (made, changed, moved):
        assert "did not confirm" in written.caution
    assert texts(vault) == {"Moved.md": b"two"}


def test_a_denied_write_names_who_we_are_the_owner_and_the_mode(root: Root, vault: Path) -> None:
    vault.chmod(0o750)
    files = VaultFiles(root, RefusingKernel({"open_unnamed": errno.EACCES}))
    with pytest.raises(VaultDenied) as caught:
        files.create(paths.new_note("Note.md"), b"", allow)
    found = vault.stat()
    assert f"we run as {os.geteuid()}:{os.getegid()}" in str(caught.value)
    assert f"belongs to {found.st_uid}:{found.st_gid}, mode 0750" in str(caught.value)
    assert caught.value.code == "READ_ONLY"


def test_case_twins_are_refused_on_create(files: VaultFiles, vault: Path) -> None:
    """Bar 27: a device that ignores case would overwrite one with the other."""
    (vault / "Straße").mkdir()
    (vault / "Straße" / "Café.md").write_bytes(b"")
    for taken in ("Straße/CAFÉ.md", "STRASSE/x.md", "straße/x.md"):
        with pytest.raises(NoteExists) as caught:
            files.create(at(taken), b"", allow)
        assert caught.value.code == "ALREADY_EXISTS"
        assert "one name to many devices" in str(caught.value)
    assert list(texts(vault)) == ["Straße/Café.md"]


def test_a_note_that_is_there_in_the_other_encoding_is_told_so_that_it_can_be_read(
    files: VaultFiles, vault: Path
) -> None:
    """contract.md, Unicode names: two names that look alike are no explanation."""
    (vault / "Cafe\u0301.md").write_bytes(b"")
    with pytest.raises(NoteExists, match="exists already and is not overwritten"):
        files.create(at("Caf\u00e9.md"), b"", allow)


def test_a_folder_stored_in_the_other_encoding_is_used_and_no_twin_made(files: VaultFiles, vault: Path) -> None:
    (vault / "Cafe\u0301").mkdir()
    made = files.create(paths.new_note("Caf\u00e9/Note.md"), b"", allow)
    assert str(made.path) == "Cafe\u0301/Note.md"
    assert len(list(vault.iterdir())) == 1


def test_a_folder_that_is_there_is_used_whatever_it_is_called(any_files: VaultFiles, vault: Path) -> None:
    """contract.md, Values: the stricter rules hold for new names; what somebody made elsewhere stays usable."""
    for folder in ("Books [2024]", "Who? What: a\u0301", "n" * 220, "CON", "100%2F", " padded "):
        (vault / folder).mkdir()
        assert str(any_files.create(paths.new_note(f"{folder}/Note.md"), b"", allow).path) == f"{folder}/Note.md"
        with pytest.raises(PathRefused, match=r"new name|reserved"):
            any_files.create(paths.new_note(f"{folder}/{folder}x:/Note.md"), b"", allow)
        assert [found.name for found in (vault / folder).iterdir()] == ["Note.md"]


def test_a_folder_that_is_made_gets_a_composed_name(any_files: VaultFiles, vault: Path) -> None:
    """guards.md 2.3: new names are NFC."""
    any_files.create(paths.new_note("Cafe\u0301/Note.md"), b"", allow)
    assert texts(vault) == {"Caf\u00e9/Note.md": b""}


def test_history_may_put_twins_and_hidden_files_exactly_as_they_were(any_files: VaultFiles, vault: Path) -> None:
    for name in ("a.md", "A.md", ".obsidian/app.json", "Caf\u00e9.md", "Cafe\u0301.md", "con:x", " blank "):
        any_files.put(at(name), name.encode(), 0o600, allow)
    assert len(texts(vault)) == 7
    with pytest.raises(NoteExists):
        any_files.put(at("a.md"), b"", 0o600, allow)


def test_removing_takes_only_the_version_that_was_seen(any_files: VaultFiles, vault: Path) -> None:
    (vault / "a.md").write_bytes(b"one")
    (vault / "b.md").write_bytes(b"one")
    seen, other = any_files.read_tracked(at("a.md")), any_files.read_tracked(at("b.md"))
    (vault / "b.md").write_bytes(b"two")
    any_files.remove(seen, allow)
    with pytest.raises(NoteChanged):
        any_files.remove(other, allow)
    assert texts(vault) == {"b.md": b"two"}


def test_a_file_too_large_for_a_note_can_be_restored(files: VaultFiles, vault: Path) -> None:
    """Attachments have no limit in history."""
    big = b"x" * 11_000_000
    made = files.put(at("film.bin"), big, 0o644, allow)
    files.put(at("film.bin"), b"y", 0o644, allow, made)
    assert (vault / "film.bin").read_bytes() == b"y"


def test_a_signal_in_the_middle_of_a_call_is_no_failure(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Network and FUSE file systems answer EINTR; PEP 475 does not cover link, rename and unlink."""
    real, interrupted = os.link, [True]

    def link(*arguments: object, **named: object) -> None:
        if interrupted.pop() if interrupted else False:
            raise InterruptedError(errno.EINTR, "interrupted")
        real(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "link", link)
    root = Root(vault)
    VaultFiles(root).create(at("Note.md"), b"text", allow)
    root.close()
    assert interrupted == []
    assert texts(vault) == {"Note.md": b"text"}
