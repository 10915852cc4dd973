"""What only real users and real disks show: permissions, leases, full and read-only file systems, two processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.errors import NoSpace, VaultDenied
from service.store.files import VaultFiles
from service.store.lock import Lock
from service.store.root import Root
from tests.support.disk import allow, at, texts

STRANGER = 54321
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user or mount")


@pytest.fixture
def shared() -> Iterator[Path]:
    """A vault that another user can reach, which pytest's own folders are not."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def as_stranger(vault: Path, program: str) -> dict[str, str]:
    """Run `program` as an unprivileged user with `files` and `said` at hand; what it put into `said`."""
    prelude = (
        "import json, os, pathlib, sys\n"
        "from service.errors import AppError\n"
        "from service.store.files import VaultFiles\n"
        "from service.store.root import Root\n"
        "from tests.support.disk import allow, at\n"
        f"os.setgroups([]); os.setgid({STRANGER}); os.setuid({STRANGER})\n"
        "files, said = VaultFiles(Root(pathlib.Path(sys.argv[1]))), {}\n"
        "def heard(name, act):\n"
        "    try: act(); said[name] = 'done'\n"
        "    except AppError as error: said[name] = f'{type(error).__name__}: {error}'\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", prelude + program + "\nprint(json.dumps(said))", vault],
        capture_output=True,
        text=True,
        check=True,
    )
    answer: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return answer


@needs_root
def test_a_folder_of_somebody_else_denies_every_change_in_our_words(shared: Path) -> None:
    (shared / "Note.md").write_bytes(b"one")
    (shared / "closed").mkdir(0o700)
    (shared / "closed" / "x.md").touch()
    (shared / "private.md").touch(0o600)
    said = as_stranger(
        shared,
        "note = files.read(at('Note.md'))\n"
        "heard('create', lambda: files.create(at('New.md'), b'', allow))\n"
        "heard('create deep', lambda: files.create(at('new/New.md'), b'', allow))\n"
        "heard('replace', lambda: files.replace(note, b'two', allow))\n"
        "heard('move', lambda: files.move(note, at('Moved.md'), allow))\n"
        "heard('trash', lambda: files.trash(note, allow))\n"
        "heard('remove', lambda: files.remove(note, allow))\n"
        "heard('read private', lambda: files.read(at('private.md')))\n"
        "heard('read closed', lambda: files.read(at('closed/x.md')))\n"
        "heard('walk', lambda: list(files.walk()))\n",
    )
    assert said.pop("walk") == "done"
    for what, told in said.items():
        assert told.startswith("VaultDenied: "), (what, told)
        assert f"we run as {STRANGER}:{STRANGER}" in told
        assert "belongs to 0:0" in told
        assert str(shared) not in told
    assert texts(shared) == {"Note.md": b"one", "closed/x.md": b"", "private.md": b""}


@needs_root
def test_a_note_of_somebody_else_in_a_folder_of_ours_is_replaced_without_a_lease(shared: Path) -> None:
    """A lease needs the file's owner; without it the bytes are compared, and the mode is kept."""
    os.chown(shared, STRANGER, STRANGER)
    (shared / "Note.md").write_bytes(b"one")
    (shared / "Note.md").chmod(0o664)
    said = as_stranger(
        shared, "heard('replace', lambda: files.replace(files.read(at('Note.md')), b'two', allow)); files.close()"
    )
    assert said == {"replace": "done"}
    assert texts(shared) == {"Note.md": b"two"}
    assert (shared / "Note.md").stat().st_mode & 0o777 == 0o664


@needs_root
def test_the_whole_recipe_needs_no_privilege(shared: Path) -> None:
    """Container: any user, no capabilities."""
    os.chown(shared, STRANGER, STRANGER)
    said = as_stranger(shared, "said['missing'] = ' '.join(files.capabilities().missing)")
    assert said == {"missing": ""}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "strongroom-test", str(folder)]
    if subprocess.run(mount, check=False).returncode != 0:
        pytest.skip("this machine does not let us mount a file system")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


@needs_root
def test_a_full_disk_leaves_the_note_and_works_again_after_freeing(small_disk: Path) -> None:
    """Bar 9."""
    root = Root(small_disk)
    files = VaultFiles(root)
    note = files.create(at("Note.md"), b"one", allow)
    with pytest.raises(OSError, match="No space left"):
        (small_disk / "filler").write_bytes(b"x" * 1_000_000)
    with pytest.raises(NoSpace):
        files.replace(note, b"two" * 10_000, allow)
    with pytest.raises(NoSpace):
        files.create(at("new/New.md"), b"two" * 10_000, allow)
    (small_disk / "filler").unlink()
    assert texts(small_disk) == {"Note.md": b"one"}
    assert not (small_disk / "new").exists()
    files.replace(note, b"two" * 10_000, allow)
    assert texts(small_disk) == {"Note.md": b"two" * 10_000}
    root.close()


@needs_root
def test_a_disk_that_turns_read_only_is_named_and_nothing_is_changed(small_disk: Path) -> None:
    """Bar 12."""
    root = Root(small_disk)
    files = VaultFiles(root)
    note = files.create(at("Note.md"), b"one", allow)
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    for change in (
        lambda: files.create(at("new/New.md"), b"", allow),
        lambda: files.replace(note, b"two", allow),
        lambda: files.move(note, at("Moved.md"), allow),
        lambda: files.trash(note, allow),
        lambda: files.remove(note, allow),
    ):
        with pytest.raises(VaultDenied, match="mounted read-only"):
            change()
    assert files.read(at("Note.md")).data == b"one"
    assert texts(small_disk) == {"Note.md": b"one"}
    root.close()


@needs_root
def test_trashing_across_a_mount_inside_the_vault_copies_and_then_removes(vault: Path, small_disk: Path) -> None:
    """guards.md 2.3: mounts inside are allowed; a rename cannot cross them."""
    (vault / "mounted").mkdir()
    subprocess.run(["mount", "--bind", small_disk, vault / "mounted"], check=True)
    try:
        root = Root(vault)
        files = VaultFiles(root)
        note = files.create(at("mounted/Note.md"), b"one", allow)
        os.utime(vault / "mounted" / "Note.md", ns=(10**18, 10**18))
        gone = files.trash(files.read(at("mounted/Note.md")), allow)
        assert texts(vault) == {".trash/mounted/Note.md": b"one"}
        assert files.read_tracked(gone).mode == note.mode
        assert files.read_tracked(gone).mtime_ns == 10**18
        root.close()
    finally:
        subprocess.run(["umount", "--lazy", vault / "mounted"], check=True)


APPENDING = """
import sys
from pathlib import Path
from service.store.files import VaultFiles
from service.store.lock import Lock
from service.store.root import Root
from tests.support.disk import allow, at
files = VaultFiles(Root(Path(sys.argv[1])))
lock = Lock(Path(sys.argv[2]), "the vault", timeout_s=60)
for number in range(25):
    with lock.writing():
        old = files.read(at("Note.md"))
        files.replace(old, old.data + f"<{sys.argv[3]}-{number}>".encode(), allow)
"""


def test_fifty_edits_by_two_processes_all_land(vault: Path, tmp_path: Path) -> None:
    """Bar 7; maxkuminov/obsidian-mcp#205."""
    (vault / "Note.md").write_bytes(b"")
    started = [
        subprocess.Popen([sys.executable, "-c", APPENDING, vault, tmp_path / "writer.lock", name])
        for name in ("a", "b")
    ]
    assert [process.wait(60) for process in started] == [0, 0]
    text = (vault / "Note.md").read_bytes().decode()
    assert sorted(text.strip("<>").split("><")) == sorted(f"{name}-{number}" for name in "ab" for number in range(25))
    assert Lock(tmp_path / "writer.lock", "the vault").holder() is None
