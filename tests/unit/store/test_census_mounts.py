"""File systems that come and go at the vault, below it and in its place: what is told is what is there (issue 6; search.md 5)."""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from service.errors import VaultMissing
from service.store.fresh import Mode
from service.store.inotify import Inotify
from tests.support.census import Watched, watched


@contextmanager
def _mounted(folder: Path, *options: str) -> Iterator[None]:
    folder.mkdir(exist_ok=True)
    done = subprocess.run(["mount", *options, folder], check=False, capture_output=True)
    if done.returncode != 0:
        pytest.skip("this machine does not let us mount a file system")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)  # the census may hold it open


def _same(it: Watched) -> None:
    assert it.now() == it.truth()


@pytest.mark.parametrize("asked", ["auto", "walk"])
def test_what_is_mounted_below_the_vault_is_seen_and_so_is_its_end(tmp_path: Path, asked: str) -> None:
    """No event tells of either; the table of mounts does."""
    with watched(tmp_path / "vault", asked) as it:
        (it.folder / "in").mkdir()
        (it.folder / "in" / "below.md").write_text("covered")
        _same(it)
        with _mounted(it.folder / "in", "-t", "tmpfs", "strongroom-test"):
            (it.folder / "in" / "other.md").write_text("mounted")
            _same(it)
            (it.folder / "in" / "other.md").write_text("changed")
            _same(it)
        _same(it)
        assert it.truth()["in"][0] == {"below.md": b"covered"}


@pytest.mark.parametrize("asked", ["auto", "walk"])
def test_a_vault_that_is_unmounted_is_missing_and_one_mounted_again_is_followed(tmp_path: Path, asked: str) -> None:
    """Issue 6: deleted and remounted vault."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.md").write_text("one")
    vault = tmp_path / "vault"
    with contextlib.ExitStack() as stack:
        with _mounted(vault, "--bind", str(source)):
            it = stack.enter_context(watched(vault, asked))
            _same(it)
        with pytest.raises(VaultMissing):
            it.census.now()
        (source / "a.md").write_text("two")
        with _mounted(vault, "--bind", str(source)):
            _same(it)
            (source / "b.md").write_text("by the other path")
            _same(it)
        with _mounted(vault, "-t", "tmpfs", "strongroom-test"):
            (vault / "c.md").write_text("another file system")
            _same(it)
            (vault / "c.md").write_text("that tells as well")
            _same(it)


def test_a_vault_on_a_mount_that_tells_is_watched(tmp_path: Path) -> None:
    with _mounted(tmp_path / "vault", "-t", "tmpfs", "strongroom-test"), watched(tmp_path / "vault", "auto") as it:
        _same(it)
        assert it.census.state().choice.mode is Mode.EVENTS
        assert it.census.state().choice.why == "tmpfs tells of every change"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.ENOMEM])
def test_a_new_folder_that_cannot_be_watched_is_answered_from_the_disk_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Issue 6: the limit of watches is reached while we run: no answer fails, and doctor can say why."""
    with watched(tmp_path / "vault") as it:
        _same(it)

        def refuse(_self: Inotify, _folder: int) -> int:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(Inotify, "add", refuse)
        (it.folder / "new").mkdir()
        (it.folder / "new" / "a.md").write_text("one")
        _same(it)
        assert it.census.state().choice.mode is Mode.WALK
        assert it.census.state().choice.why
        (it.folder / "new" / "a.md").write_text("two")
        _same(it)


def test_a_second_name_in_the_vault_is_seen_through(tmp_path: Path) -> None:
    """No event tells a name that its file has got another one, nor of what is written by that (found by the storm)."""
    with watched(tmp_path / "vault") as it:
        (it.folder / "a.md").write_text("one")
        _same(it)
        (it.folder / "b.md").hardlink_to(it.folder / "a.md")
        _same(it)
        os.truncate(it.folder / "b.md", 1)
        _same(it)
        (it.folder / "b.md").unlink()
        _same(it)


def test_who_writes_by_a_name_that_was_removed_is_seen_by_the_other(tmp_path: Path) -> None:
    """The event names the removed one."""
    with watched(tmp_path / "vault") as it:
        (it.folder / "a.md").write_text("one")
        (it.folder / "b.md").hardlink_to(it.folder / "a.md")
        _same(it)
        with (it.folder / "b.md").open("r+b", buffering=0) as file:
            (it.folder / "b.md").unlink()
            _same(it)
            file.write(b"two")
            _same(it)
