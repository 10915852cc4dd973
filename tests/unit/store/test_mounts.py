"""The folders we are given, and what is said when they cannot be used."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.errors import BadMount, NoSpace
from service.store import mounts
from service.store.db import FILE_NAME

STRANGER = 54321
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


def as_stranger(folder: Path, call: str) -> str:
    """Run `mounts.<call>` as an unprivileged user, with `here` for the folder; the last line it said, or nothing."""
    program = (
        "import os, pathlib, sys; from service.store import mounts; from service.errors import AppError\n"
        f"os.setgroups([]); os.setgid({STRANGER}); os.setuid({STRANGER}); here = pathlib.Path(sys.argv[1])\n"
        f"try: print(mounts.{call} or '')\n"
        "except AppError as error: print(type(error).__name__ + ': ' + str(error))\n"
    )
    done = subprocess.run([sys.executable, "-c", program, folder], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that another user can reach, which pytest's own are not."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_a_missing_state_folder_is_made_private(tmp_path: Path) -> None:
    """auth.md attack line 85."""
    state = tmp_path / "a" / "state"
    mounts.prepare_state(state)
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    assert list(state.iterdir()) == []
    assert mounts.privacy_warning(state) == ""


@pytest.mark.parametrize("mode", [0o755, 0o777, 0o1777, 0o2770, 0o750])
def test_a_fresh_state_folder_of_ours_that_others_can_read_is_closed(tmp_path: Path, mode: int) -> None:
    """A fresh volume or bind mount; we own it, so we mend it."""
    tmp_path.chmod(mode)
    mounts.prepare_state(tmp_path)
    assert stat.S_IMODE(tmp_path.stat().st_mode) & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o755, 0o710, 0o701, 0o777])
def test_a_state_in_use_that_was_opened_to_others_is_refused_with_the_command_that_closes_it(
    tmp_path: Path, mode: int
) -> None:
    """Bar 71; auth.md attack line 85: what leaked must not be mended in silence."""
    mounts.prepare_state(tmp_path)
    (tmp_path / FILE_NAME).touch()
    tmp_path.chmod(mode)
    with pytest.raises(BadMount) as caught:
        mounts.prepare_state(tmp_path)
    assert f"belongs to {os.geteuid()}:{os.getegid()}, mode {mode:04o}" in str(caught.value)
    assert f"chmod 700 {tmp_path}" in str(caught.value)
    assert f"chmod 700 {tmp_path}" in mounts.privacy_warning(tmp_path)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == mode


def test_a_state_that_is_a_link_or_a_file_is_refused(tmp_path: Path) -> None:
    """auth.md attack line 85."""
    (tmp_path / "link").symlink_to(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(BadMount, match="symbolic link"):
        mounts.prepare_state(tmp_path / "link")
    with pytest.raises(BadMount, match="no folder"):
        mounts.prepare_state(tmp_path / "file")
    assert "symbolic link" in mounts.privacy_warning(tmp_path / "link")


@pytest.mark.parametrize(
    ("state", "vault"),
    [
        ("vault/state", "vault"),
        ("vault", "vault"),
        ("state", "state/vault"),
        ("link/state", "vault"),
        ("missing/state", "missing"),
    ],
)
def test_a_state_inside_the_vault_is_refused(tmp_path: Path, state: str, vault: str) -> None:
    """auth.md attack line 86: a vault is synced and published."""
    for folder in ("vault", "state/vault"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "vault")
    with pytest.raises(BadMount, match="keep the two apart"):
        mounts.prepare_state(tmp_path / state, tmp_path / vault)
    assert not (tmp_path / "vault" / "state").exists()
    assert not (tmp_path / "missing").exists()


def test_a_state_beside_the_vault_is_fine(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    mounts.prepare_state(tmp_path / "vault-state", tmp_path / "vault")
    assert (tmp_path / "vault-state").is_dir()


def test_a_vault_is_never_made(tmp_path: Path) -> None:
    """decisions.md 2: a folder that is not there is more likely a lost mount."""
    with pytest.raises(BadMount, match="is not there; mount the folder of notes"):
        mounts.check_vault(tmp_path / "notes", is_read_only=False)
    assert not (tmp_path / "notes").exists()


def test_trying_a_folder_leaves_no_trace(tmp_path: Path) -> None:
    mounts.check_vault(tmp_path, is_read_only=False)
    mounts.prepare_state(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_vault_that_is_only_read_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mounts.os, "write", None)
    mounts.check_vault(tmp_path, is_read_only=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("call", ["write", "fsync"])
@pytest.mark.parametrize(("number", "error"), [(errno.ENOSPC, NoSpace), (errno.EDQUOT, NoSpace), (errno.EIO, BadMount)])
def test_a_disk_that_cannot_keep_a_block_is_refused_and_left_clean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int, error: type[Exception]
) -> None:
    """containers.md: full disks are named as such; a full disk often still lets an empty file be made."""

    def fail(*_arguments: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(mounts.os, call, fail)
    for check in (lambda: mounts.prepare_state(tmp_path), lambda: mounts.check_vault(tmp_path, is_read_only=False)):
        with pytest.raises(error):
            check()
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
def test_a_state_without_locks_is_refused_and_a_vault_without_them_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def fail(*_arguments: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(mounts.fcntl, "flock", fail)
    with pytest.raises(BadMount, match="has no locks; keep the state on a local disk"):
        mounts.prepare_state(tmp_path)
    mounts.check_vault(tmp_path, is_read_only=False)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def tmpfs(tmp_path: Path) -> Iterator[Path]:
    """A file system of two pages of our own; needs a mount namespace or root."""
    folder = tmp_path / "mount"
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,mode=0700", "strongroom-test", folder], check=False)
    if done.returncode != 0:
        pytest.skip("this machine does not let us mount a file system")
    yield folder
    subprocess.run(["umount", folder], check=True)


@needs_root
def test_a_read_only_mount_is_named(tmpfs: Path) -> None:
    """Bar 12; real, since root passes every permission."""
    subprocess.run(["mount", "-o", "remount,ro", tmpfs], check=True)
    with pytest.raises(BadMount, match=r"mounted read-only.*mount it writable, or set STRONGROOM_READ_ONLY=1"):
        mounts.check_vault(tmpfs, is_read_only=False)
    with pytest.raises(BadMount, match="mounted read-only"):
        mounts.prepare_state(tmpfs)
    mounts.check_vault(tmpfs, is_read_only=True)


@needs_root
def test_a_full_disk_is_named_and_works_again_after_freeing(tmpfs: Path) -> None:
    """Bar 9."""
    filler = tmpfs / "filler"
    with pytest.raises(OSError, match="No space left"):
        filler.write_bytes(b"x" * 1_000_000)
    with pytest.raises(NoSpace):
        mounts.check_vault(tmpfs, is_read_only=False)
    filler.unlink()
    mounts.check_vault(tmpfs, is_read_only=False)
    assert list(tmpfs.iterdir()) == []


@needs_root
@pytest.mark.parametrize("call", ["prepare_state(here)", "check_vault(here, is_read_only=False)"])
def test_a_folder_of_somebody_else_is_refused_with_owner_mode_and_the_command_that_mends_it(
    open_folder: Path, call: str
) -> None:
    """containers.md: says what to do when vault or state cannot be written; run as an unprivileged user."""
    told = as_stranger(open_folder, call)
    assert told.startswith("BadMount: ")
    assert f"cannot be used by user {STRANGER}:{STRANGER} (it belongs to 0:0, mode 0755)" in told
    assert f"chown -R {STRANGER}:{STRANGER}" in told
    assert "\n" not in told


@needs_root
def test_a_state_that_cannot_be_made_names_the_folder_above_it(open_folder: Path) -> None:
    told = as_stranger(open_folder, "prepare_state(here / 'a' / 'state')")
    assert "(it belongs to 0:0, mode 0755)" in told


@needs_root
def test_a_bind_mount_that_belongs_to_whoever_runs_is_ours(open_folder: Path) -> None:
    """containers.md: any --user, with no entry in passwd."""
    os.chown(open_folder, STRANGER, STRANGER)
    assert as_stranger(open_folder, "prepare_state(here)") == ""
    assert stat.S_IMODE(open_folder.stat().st_mode) == 0o700


@needs_root
@pytest.mark.parametrize(
    ("mode", "group", "is_taken"),
    [
        (0o1777, 0, True),  # a fresh volume that copied the mode of the image's folder
        (0o777, 0, False),
        (0o2770, STRANGER, True),  # a cluster's volume with fsGroup
        (0o2775, STRANGER, True),
    ],
)
def test_a_state_folder_of_somebody_else_is_taken_where_only_that_owner_can_remove_what_is_ours(
    open_folder: Path, mode: int, group: int, is_taken: bool
) -> None:
    os.chown(open_folder, 0, group)
    open_folder.chmod(mode)
    told = as_stranger(open_folder, "prepare_state(here)")
    assert (told == "") is is_taken
    assert is_taken or "everybody may write" in told
    assert stat.S_IMODE(open_folder.stat().st_mode) == mode
    warned = as_stranger(open_folder, "privacy_warning(here)")
    assert f"belongs to user 0, mode {mode:04o}, and we run as {STRANGER}" in warned
    assert f"chown -R {STRANGER}:{STRANGER} {open_folder} && chmod 700 {open_folder}" in warned
