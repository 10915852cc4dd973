"""The folders we are given, and what is said when they cannot be used."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.errors import BadMount
from service.store import mounts

STRANGER = 54321


def test_a_missing_state_folder_is_made_private(tmp_path: Path) -> None:
    """auth.md attack line 85."""
    state = tmp_path / "a" / "state"
    mounts.prepare_state(state)
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    assert list(state.iterdir()) == []


def test_a_state_folder_of_ours_that_others_can_read_is_closed(tmp_path: Path) -> None:
    """auth.md attack line 85: a fresh bind mount is 0755; we own it, so we mend it."""
    tmp_path.chmod(0o755)
    mounts.prepare_state(tmp_path)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700


def test_a_state_that_is_a_link_or_a_file_is_refused(tmp_path: Path) -> None:
    """auth.md attack line 85."""
    (tmp_path / "link").symlink_to(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(BadMount, match="symbolic link"):
        mounts.prepare_state(tmp_path / "link")
    with pytest.raises(BadMount, match="no folder"):
        mounts.prepare_state(tmp_path / "file")


def test_a_vault_is_never_made(tmp_path: Path) -> None:
    """decisions.md 2: a folder that is not there is more likely a lost mount."""
    with pytest.raises(BadMount, match="is not there; mount the folder of notes"):
        mounts.check_vault(tmp_path / "notes", is_read_only=False)
    assert not (tmp_path / "notes").exists()


def test_a_vault_is_left_as_it_was(tmp_path: Path) -> None:
    """Looking leaves no trace."""
    mounts.check_vault(tmp_path, is_read_only=False)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that another user can reach, which pytest's own are not."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("call", ["prepare_state(here)", "check_vault(here, is_read_only=False)"])
def test_a_folder_of_somebody_else_is_refused_with_owner_mode_and_the_command_that_mends_it(
    open_folder: Path, call: str
) -> None:
    """containers.md: says what to do when vault or state cannot be written; run as an unprivileged user."""
    program = (
        "import os, pathlib, sys; from service.store import mounts; "
        f"os.setgid({STRANGER}); os.setuid({STRANGER}); here = pathlib.Path(sys.argv[1]); mounts.{call}"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(open_folder)], capture_output=True, text=True, check=False
    )
    told = done.stderr.splitlines()[-1]
    assert "BadMount" in told
    assert f"cannot be used by user {STRANGER}:{STRANGER} (it belongs to 0:0, mode 0755)" in told
    assert f"chown -R {STRANGER}:{STRANGER}" in told


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize(("mode", "is_taken"), [(0o1777, True), (0o777, False)])
def test_a_state_folder_open_to_all_is_taken_only_where_nobody_can_remove_what_is_ours(
    open_folder: Path, mode: int, is_taken: bool
) -> None:
    """containers.md: any --user also on a fresh volume, which copies the mode of the image's folder (1777)."""
    open_folder.chmod(mode)
    program = (
        "import os, pathlib, sys; from service.store import mounts; "
        f"os.setgid({STRANGER}); os.setuid({STRANGER}); mounts.prepare_state(pathlib.Path(sys.argv[1]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(open_folder)], capture_output=True, text=True, check=False
    )
    assert (done.returncode == 0) is is_taken
    assert is_taken or "everybody may write" in done.stderr
