"""The vault's own `.git`, when the owner names it. Source: issue 2; history.md decision 1 and 3.2; Codewhale#5617."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.errors import HistoryHeld
from service.history.gitlock import GitLock
from tests.support.timeline import Timeline, run_git, timeline_in


class Owner:
    """The owner's hands on the repository in the vault."""

    def __init__(self, vault: Path) -> None:
        self.vault = vault

    def git(self, *words: str) -> str:
        return run_git(["-C", str(self.vault), *words]).decode("utf-8", "surrogateescape").rstrip("\n")

    def status(self) -> str:
        return self.git("status", "--porcelain", "--untracked-files=all")


@pytest.fixture
def owned(tmp_path: Path) -> Iterator[tuple[Timeline, Owner]]:
    """A vault with a repository of the owner's: one commit, a branch of another name, a hook that must never run."""
    owner = Owner(tmp_path / "vault")
    owner.vault.mkdir()
    owner.git("init", "-q", "-b", "notes")
    (owner.vault / "a.md").write_bytes(b"one\n")
    (owner.vault / "crlf.md").write_bytes(b"one\r\n")
    owner.git("add", "-A")
    owner.git("commit", "-q", "-m", "by the owner")
    for name in ("pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change"):
        hook = owner.vault / ".git/hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/hook-ran\nexit 1\n")
        hook.chmod(0o755)
    with timeline_in(tmp_path, ".git") as line:
        yield line, owner
    assert not (tmp_path / "hook-ran").exists()


def test_commits_go_on_the_owners_branch_and_status_is_clean(owned: tuple[Timeline, Owner]) -> None:
    line, owner = owned
    line.put("a.md", "two\n")
    line.put("new/ü.md", "new\n")
    (line.vault / "crlf.md").unlink()
    line.commit("timer")
    assert owner.git("log", "--format=%s", "notes").splitlines() == [
        "vault: 1 added, 1 changed, 1 removed",
        "by the owner",
    ]
    assert owner.git("symbolic-ref", "HEAD") == "refs/heads/notes"
    assert owner.status() == ""
    assert owner.git("diff", "--cached", "--stat") == ""
    line.verify()


def test_the_index_is_exact_so_a_later_edit_is_seen(owned: tuple[Timeline, Owner]) -> None:
    line, owner = owned
    line.put("a.md", "two\n")
    line.commit()
    line.put("a.md", "owt\n")
    assert owner.status() == " M a.md"


def test_a_repository_without_a_commit_gets_its_first(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    run_git(["init", "-q", "-b", "fresh", str(tmp_path / "vault")])
    with timeline_in(tmp_path, ".git") as line:
        line.put("a.md")
        line.commit()
        owner = Owner(line.vault)
        assert owner.git("log", "--format=%s", "fresh") == "vault: 1 added"
        assert owner.status() == ""


def test_what_the_owner_commits_in_between_is_followed(owned: tuple[Timeline, Owner]) -> None:
    line, owner = owned
    line.put("b.md")
    line.commit()
    line.put("a.md", "by hand\n")
    line.write("laptop", "t.md", b"by a tool\n")
    owner.git("add", "-A")
    owner.git("commit", "-q", "-m", "everything, by hand")
    assert line.commit("timer").commits == ()
    assert line.history.pending() is None
    assert owner.git("log", "--format=%s").splitlines() == ["everything, by hand", "vault: 1 added", "by the owner"]
    assert owner.status() == ""


def test_tool_writes_are_committed_alone_and_the_rest_stays_the_owners(owned: tuple[Timeline, Owner]) -> None:
    line, owner = owned
    line.put("draft.md", "not yet\n")
    line.write("laptop", "t.md", b"by a tool\n")
    line.history.flush()
    assert owner.status() == "?? draft.md"
    assert owner.git("log", "-1", "--format=%(trailers:key=Strongroom-Grant,valueonly)") == "laptop"


@pytest.mark.parametrize("name", ["index.lock", "HEAD.lock", "refs/heads/notes.lock"])
def test_a_foreign_lock_means_skip_report_retry(owned: tuple[Timeline, Owner], name: str) -> None:
    line, owner = owned
    lock = line.git_dir / name
    lock.touch()
    os.utime(lock, (0, 0))
    line.put("a.md", "two\n")
    with pytest.raises(HistoryHeld, match="git is at work"):
        line.commit()
    assert lock.exists()
    assert "git is at work" in str(line.history.status().last_error)
    lock.unlink()
    assert line.commit().changed == 1
    assert owner.status() == ""


def test_our_own_leftover_lock_is_removed_there_too(owned: tuple[Timeline, Owner]) -> None:
    line, owner = owned
    GitLock(line.git_dir, line.git_dir / "index").__enter__()  # as after kill -9
    line.put("a.md", "two\n")
    assert line.commit().healed == ("removed a leftover lock of ours: index.lock",)
    assert owner.status() == ""


@pytest.mark.parametrize("name", ["MERGE_HEAD", "rebase-merge", "CHERRY_PICK_HEAD", "REVERT_HEAD"])
def test_something_unfinished_of_the_owners_is_not_committed_over(owned: tuple[Timeline, Owner], name: str) -> None:
    """history.md 3.2: porcelain commits conflict markers as resolved."""
    line, _ = owned
    (line.git_dir / name).touch()
    line.put("a.md", "two\n")
    with pytest.raises(HistoryHeld, match="under way"):
        line.commit()


def test_an_unresolved_conflict_is_not_committed_over(owned: tuple[Timeline, Owner]) -> None:
    line, owner = owned
    owner.git("checkout", "-q", "-b", "side")
    line.put("a.md", "side\n")
    owner.git("commit", "-q", "-am", "side")
    owner.git("checkout", "-q", "notes")
    line.put("a.md", "ours\n")
    owner.git("commit", "-q", "-am", "ours")
    run_git(["-C", str(owner.vault), "merge", "side"], check=False)
    (line.git_dir / "MERGE_HEAD").unlink()
    with pytest.raises(HistoryHeld, match="conflict"):
        line.commit()


def test_a_detached_head_is_refused(owned: tuple[Timeline, Owner]) -> None:
    line, owner = owned
    owner.git("checkout", "-q", "--detach")
    line.put("a.md", "two\n")
    with pytest.raises(HistoryHeld, match="stands on no branch"):
        line.commit()


@pytest.mark.parametrize("make", ["version 4", "split", "truncated", "none"])
def test_an_index_of_another_make_is_replaced_by_a_plain_one(owned: tuple[Timeline, Owner], make: str) -> None:
    """history.md 3.2: dulwich raises at every commit on split and truncated ones."""
    line, owner = owned
    index = line.git_dir / "index"
    match make:
        case "version 4":
            owner.git("update-index", "--index-version", "4")
        case "split":
            owner.git("update-index", "--split-index")
        case "truncated":
            index.write_bytes(index.read_bytes()[:-30])
        case _:
            index.unlink()
    line.put("a.md", "two\n")
    line.commit()
    assert owner.status() == ""
    assert owner.git("ls-files").splitlines() == ["a.md", "crlf.md"]


def test_filters_attributes_and_autocrlf_of_the_owner_change_no_byte(owned: tuple[Timeline, Owner]) -> None:
    """history.md 3.2: clean filters from the configuration would run programs, and autocrlf damages binaries."""
    line, owner = owned
    owner.git("config", "core.autocrlf", "true")
    owner.git("config", "filter.evil.clean", "touch hook-ran; cat")
    line.put(".gitattributes", "*.md filter=evil\n")
    line.put("w.md", b"a\r\nb\r\n")
    line.put("x.bin", b"a\r\n\0b\r\n")
    line.commit()
    assert line.at("w.md") == b"a\r\nb\r\n"
    assert line.at("x.bin") == b"a\r\n\0b\r\n"
    assert not (line.vault / "hook-ran").exists()


def test_links_and_nested_repositories_that_git_tracks_stay_as_they_are(owned: tuple[Timeline, Owner]) -> None:
    line, owner = owned
    (line.vault / "link.md").symlink_to("a.md")
    run_git(["init", "-q", str(line.vault / "inner")])
    (line.vault / "inner/n.md").write_text("inner\n")
    run_git(["-C", str(line.vault / "inner"), "add", "-A"])
    run_git(["-C", str(line.vault / "inner"), "commit", "-q", "-m", "inner"])
    run_git(["-C", str(line.vault), "-c", "advice.addEmbeddedRepo=false", "add", "-A"])
    owner.git("commit", "-q", "-m", "link and inner")
    line.put("a.md", "two\n")
    line.commit()
    assert owner.status() == ""
    listed = owner.git("ls-tree", "HEAD")
    assert "120000 blob" in listed
    assert "160000 commit" in listed


def test_a_note_that_gitignore_names_is_committed_and_other_files_are_not(owned: tuple[Timeline, Owner]) -> None:
    """A line in .gitignore must not be able to hide a note from history."""
    line, owner = owned
    line.put(".gitignore", "secret*\nbuild/\n")
    line.put("secret.md", "a note\n")
    line.put("secret.bin", "machine\n")
    line.put("build/x.o", "machine\n")
    line.put("build/doc.md", "a note\n")
    line.commit()
    assert line.names() == {".gitignore", "a.md", "crlf.md", "secret.md", "build/doc.md"}
    assert owner.status() == ""


def test_an_execute_bit_is_in_the_index(owned: tuple[Timeline, Owner]) -> None:
    line, owner = owned
    (line.vault / "a.md").chmod(0o755)
    line.commit()
    assert owner.status() == ""
    assert owner.git("ls-files", "-s", "a.md").startswith("100755")


def test_what_the_owner_had_staged_is_committed_as_it_is_on_disk(owned: tuple[Timeline, Owner]) -> None:
    line, owner = owned
    line.put("a.md", "staged\n")
    owner.git("add", "a.md")
    line.put("a.md", "later\n")
    line.put("n.md")
    owner.git("add", "-N", "n.md")
    line.commit()
    assert line.at("a.md") == b"later\n"
    assert owner.status() == ""


def test_reading_history_never_touches_the_index(owned: tuple[Timeline, Owner]) -> None:
    line, _ = owned
    line.put("a.md", "two\n")
    line.commit()
    before = (line.git_dir / "index").stat()
    line.history.log.changes()
    line.history.log.note_history("a.md")
    line.commit()
    after = (line.git_dir / "index").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
