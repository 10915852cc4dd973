"""The git directory after crashes, beside other gits, and in odd states. Source: history.md 3.2, decisions.md 3."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.errors import HistoryHeld, Misconfigured, NoSpace
from service.history import commit as commit_module
from service.history import gitdir
from service.history.gitlock import GitLock
from service.history.model import Setup
from tests.support import unprivileged
from tests.support.timeline import Timeline, again, run_git, setup_in, timeline_in


def test_our_directory_is_outside_the_vault_private_and_bare(line: Timeline) -> None:
    line.put("a.md")
    line.commit()
    assert line.git_dir == line.setup.state / "history.git"
    assert line.git_dir.stat().st_mode & 0o777 == 0o700
    assert line.git("rev-parse", "--is-bare-repository") == "true"
    assert not (line.vault / ".git").exists()


def test_plain_git_can_clone_it(line: Timeline, tmp_path: Path) -> None:
    line.put("sub/ä.md", "text\r\n")
    line.commit()
    run_git(["clone", "-q", str(line.git_dir), str(tmp_path / "clone")])
    assert (tmp_path / "clone/sub/ä.md").read_bytes() == b"text\r\n"


@pytest.mark.parametrize("name", ["refs/heads/main.lock", "HEAD.lock", "packed-refs.lock", "index.lock", "config.lock"])
def test_a_stale_lock_in_our_directory_is_healed_and_told(line: Timeline, name: str) -> None:
    """obsidian-git#186, #683: a lock nobody holds stops every commit, silently."""
    line.put("a.md")
    line.commit()
    stale = line.git_dir / name
    stale.touch()
    os.utime(stale, (time.time() - 60, time.time() - 60))
    line.put("a.md", "new\n")
    report = line.commit()
    assert report.healed == (f"removed a stale lock: {stale.name}",)
    assert line.history.status().healed == report.healed
    assert not stale.exists()
    line.verify()


def test_a_fresh_lock_of_a_living_git_is_waited_for(line: Timeline, monkeypatch: pytest.MonkeyPatch) -> None:
    line.put("a.md")
    line.commit()
    lock = line.git_dir / "packed-refs.lock"
    lock.touch()
    waits: list[float] = []

    def waited(seconds: float) -> None:
        waits.append(seconds)
        lock.unlink()

    with monkeypatch.context() as patched:
        patched.setattr(gitdir.time, "sleep", waited)
        line.put("a.md", "new\n")
        assert line.commit().healed == ()
    assert len(waits) == 1


def test_a_leftover_lock_of_our_own_is_known_by_its_twin(line: Timeline) -> None:
    line.put("a.md")
    line.commit()
    GitLock(line.git_dir, line.git_dir / "refs/heads/main").__enter__()  # and never left: as after kill -9
    line.put("a.md", "new\n")
    assert line.commit().healed == ("removed a leftover lock of ours: main.lock",)
    assert list(line.git_dir.glob("strongroom-*.twin")) == []
    line.verify()


@pytest.mark.parametrize("damage", [b"", b"garbage\n", b"1" * 40 + b"\n"])
def test_a_branch_that_points_nowhere_is_put_back_from_its_log(line: Timeline, damage: bytes) -> None:
    """history.md 3.2: ref file empty, recover from reflog."""
    line.put("a.md")
    line.commit()
    line.put("a.md", "new\n")
    (newest,) = line.commit().commits
    (line.git_dir / "refs/heads/main").write_bytes(damage)
    with again(line) as restarted:
        restarted.put("b.md")
        report = restarted.commit("start")
        assert report.healed == (f"the branch pointed nowhere after a crash; put it back on {newest[:12]}",)
        assert restarted.commit_count() == 3
        restarted.verify()


def test_a_branch_that_vanished_is_put_back(line: Timeline) -> None:
    line.put("a.md")
    line.commit()
    (line.git_dir / "refs/heads/main").unlink()
    line.put("b.md")
    line.commit()
    assert line.commit_count() == 2
    line.verify()


def test_an_empty_object_of_the_newest_commit_falls_back_to_the_one_before(line: Timeline) -> None:
    line.put("a.md")
    line.commit()
    line.put("a.md", "new\n")
    (newest,) = line.commit().commits
    broken = line.git_dir / "objects" / newest[:2] / newest[2:]
    broken.chmod(0o644)
    broken.write_bytes(b"")
    with again(line) as restarted:
        restarted.commit("start")
        assert restarted.at("a.md") == b"new\n"
        restarted.verify()


@pytest.mark.parametrize("leftover", [b"", b"torn"])
def test_a_torn_object_from_a_power_cut_is_written_again(line: Timeline, leftover: bytes) -> None:
    """history.md 3.2: dulwich's add_object takes such a leftover for good, and fsck fails."""
    line.put("a.md", "first\n")
    line.commit()
    line.put("b.md", "coming\n")
    blob = run_git(["hash-object", str(line.vault / "b.md")]).decode().strip()
    place = line.git_dir / "objects" / blob[:2] / blob[2:]
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(leftover)
    line.commit()
    assert line.at("b.md") == b"coming\n"
    line.verify()


def test_packed_refs_and_a_gc_by_hand_do_no_harm(line: Timeline) -> None:
    for number in range(3):
        line.put("a.md", f"{number}\n")
        line.commit()
    line.git("pack-refs", "--all")
    line.git("gc", "-q", "--prune=now")
    line.put("a.md", "after\n")
    line.put("b.md", "after\n")
    line.commit()
    assert line.commit_count() == 4
    assert line.history.log.read("a.md", line.history.log.resolve("~2")).data == b"1\n"
    line.verify()


def test_a_detached_head_is_refused_with_the_way_back(line: Timeline) -> None:
    line.put("a.md")
    (commit,) = line.commit().commits
    line.git("update-ref", "--no-deref", "HEAD", commit)
    line.put("a.md", "new\n")
    with pytest.raises(HistoryHeld, match="symbolic-ref HEAD refs/heads/main"):
        line.commit()


def test_a_kill_while_the_directory_is_made_leaves_one_that_is_finished_next_time(tmp_path: Path) -> None:
    setup = setup_in(tmp_path)
    half = setup.state / "history.git"
    (half / "objects").mkdir(parents=True)
    (half / "HEAD").touch()
    with timeline_in(tmp_path) as line:
        line.put("a.md")
        line.commit()
        line.verify()


def test_a_nearly_full_disk_starts_no_commit(line: Timeline, monkeypatch: pytest.MonkeyPatch) -> None:
    """The state database must be able to go on writing."""
    line.put("a.md")
    with monkeypatch.context() as patched:
        patched.setattr(commit_module, "MIN_FREE_BYTES", 1 << 62)
        with pytest.raises(NoSpace, match="history"):
            line.commit()
    assert "full" in str(line.history.status().last_error)
    line.commit()
    line.verify()


def test_a_disk_that_fills_up_in_the_middle_leaves_no_lock_and_the_next_commit_works(
    line: Timeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """history.md 3.2: after ENOSPC dulwich's lock files stay and every later commit fails."""
    line.put("a.md")
    line.commit()
    real, writes = os.fsync, 0

    def filling(descriptor: int) -> None:
        nonlocal writes
        writes += 1
        if writes % 4 == 3:
            raise OSError(28, "No space left on device")
        real(descriptor)

    for attempt in range(6):
        line.put("a.md", f"attempt {attempt}\n")
        line.put(f"new/{attempt}.md", f"{attempt}\n")
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", filling)
            with pytest.raises(NoSpace):
                line.commit()
        assert [path.name for path in line.git_dir.rglob("*") if path.suffix in (".lock", ".twin")] == []
        assert [path.name for path in line.git_dir.rglob("tmp_*")] == []
    line.commit()
    line.verify()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A state folder on a real disk of 24 MB."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount the small disk of this test")
    state = tmp_path / "state"
    state.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=24m,mode=0700", "strongroom-test", str(state)]
    if subprocess.run(words, check=False, capture_output=True).returncode != 0:
        pytest.skip("this machine lets nobody mount")
    yield state
    subprocess.run(["umount", str(state)], check=True)


def test_a_disk_that_is_really_full_is_said_and_space_mends_it(small_disk: Path, tmp_path: Path) -> None:
    """history.md 3.2, with the kernel's own ENOSPC in the middle of a pack."""
    with timeline_in(tmp_path) as line:
        line.put("a.md")
        line.commit()
        for number in range(300):
            line.put(f"{number}.bin", os.urandom(100_000))
        with pytest.raises(NoSpace, match="history"):
            line.commit()
        assert [path.name for path in line.git_dir.rglob("*") if path.name.startswith("tmp_")] == []
        for number in range(10, 300):
            (line.vault / f"{number}.bin").unlink()
        assert line.commit().added == 10
        line.verify()


def test_a_state_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    setup = setup_in(tmp_path)
    with timeline_in(tmp_path):
        pass
    (setup.state / "history.git").rename(tmp_path / "gone")
    unprivileged.give(unprivileged.STRANGER, tmp_path)
    setup.state.chmod(0o500)

    def work() -> int:
        try:
            gitdir.GitDir(Setup(setup.vault, setup.state, "", "A <a@b>", "m", 1))
        except HistoryHeld as error:
            print(error)
        return 0

    done = unprivileged.run(work)
    setup.state.chmod(0o700)
    assert "the history cannot be used (Permission denied)" in done.out, done


def test_a_directory_of_the_owners_choice_is_made_ours_when_it_is_new(tmp_path: Path) -> None:
    named = tmp_path / "elsewhere/notes.git"
    named.parent.mkdir()
    with timeline_in(tmp_path, str(named)) as line:
        line.put("a.md")
        line.commit()
        assert line.git_dir == named
        assert line.history.git.is_ours
        line.verify()
    with timeline_in(tmp_path, str(named)) as line:
        assert line.history.git.is_ours


@pytest.mark.parametrize("what", ["missing", "link", "file", "sha256", "sparse", "worktree"])
def test_a_named_repository_that_cannot_be_used_is_refused_in_a_sentence(tmp_path: Path, what: str) -> None:
    setup = setup_in(tmp_path, ".git")
    git = setup.vault / ".git"
    if what == "link":
        run_git(["init", "-q", str(tmp_path / "real")])
        git.symlink_to(tmp_path / "real/.git")
    elif what == "file":
        git.write_text("gitdir: ../real/.git\n")
    elif what == "sha256":
        run_git(["init", "-q", "--object-format=sha256", str(setup.vault)])
    elif what == "sparse":
        run_git(["init", "-q", str(setup.vault)])
        run_git(["--git-dir", str(git), "config", "core.sparseCheckout", "true"])
    elif what == "worktree":
        run_git(["init", "-q", str(setup.vault)])
        (git / "commondir").write_text("../elsewhere\n")
    with pytest.raises(Misconfigured, match=r"STRONGROOM_HISTORY_DIR|leave"), timeline_in(tmp_path, ".git"):
        pass


def test_a_pack_that_a_kill_left_half_written_is_gone_after_the_next_start(line: Timeline) -> None:
    """It may be as large as the vault; a service that is killed again and again must not fill the disk."""
    line.put("a.md")
    line.commit()
    pack = line.git_dir / "objects/pack"
    left = [pack / "tmp_pack_0123456789abcdef", pack / "tmp_idx_0123456789abcdef"]
    anothers = [pack / "tmp_pack_Xyz123", line.git_dir / "objects" / "tmp_obj_Xyz123"]
    for path in (*left, *anothers):
        path.write_bytes(b"half")
    with again(line) as same:
        same.put("a.md", "new\n")
        same.commit()
    assert not any(path.exists() for path in left)
    assert all(path.exists() for path in anothers)


def test_an_old_object_that_is_needed_again_is_not_lost_to_a_gc(line: Timeline) -> None:
    """git prunes unreachable objects by age; one that a new commit uses again must look young."""
    line.put("n.md", "one\n")
    line.write("laptop", "n.md", b"never committed alone\n")
    line.write("laptop", "n.md", b"one\n")
    line.commit()
    (loose,) = [
        path
        for path in line.git_dir.glob("objects/??/*")
        if line.git("cat-file", "-p", path.parent.name + path.name) == "never committed alone"
    ]
    os.utime(loose, (0, 0))
    line.put("n.md", "never committed alone\n")
    line.commit()
    assert loose.stat().st_mtime > time.time() - 60
