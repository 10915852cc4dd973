"""Tool writes become one commit a grant, and outside edits are never credited to one. Source: decisions.md 1."""

from __future__ import annotations

import os
import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest

from service.history.gitdir import GitDir
from service.history.objects import Objects
from tests.support.timeline import Timeline, again

WALKED_FOLDERS = 4
"""How often the walk over three folders and the root looks up."""


def commits_by(line: Timeline) -> list[tuple[str, str]]:
    """Grant and subject of every commit, oldest first."""
    return list(reversed(list(zip(line.trailers("Strongroom-Grant"), line.subjects(), strict=True))))


def test_each_grants_writes_are_one_commit_with_its_trailer(line: Timeline) -> None:
    line.put("mine.md")
    line.commit("start")
    for number in range(3):
        line.write("laptop", f"laptop {number}.md", b"from the laptop\n")
        line.write("phone", f"phone {number}.md", b"from the phone\n")
    report = line.history.flush()
    assert len(report.commits) == 2
    assert commits_by(line)[1:] == [("laptop", "vault: 3 added"), ("phone", "vault: 3 added")]
    assert line.trailers("Strongroom-Reason") == ["tools", "tools", "start"]
    assert line.history.pending() is None
    line.verify()


def test_a_full_commit_commits_the_tools_first_and_the_rest_as_its_own(line: Timeline) -> None:
    line.put("a.md", "0\n")
    line.commit("start")
    line.write("laptop", "b.md", b"tool\n")
    line.put("a.md", "outside\n")
    report = line.commit("timer")
    assert len(report.commits) == 2
    assert commits_by(line)[1:] == [("laptop", "vault: 1 added"), ("", "vault: 1 changed")]
    assert line.trailers("Strongroom-Reason")[:2] == ["timer", "tools"]
    line.verify()


def test_an_outside_edit_before_a_tools_write_gets_a_commit_of_its_own(line: Timeline) -> None:
    """The tool's write starts from bytes that no commit has: those came from outside."""
    line.put("n.md", "one\n")
    line.commit()
    line.put("n.md", "one\ntwo, by hand\n")
    line.write("laptop", "n.md", b"one\ntwo, by hand\nthree, by a tool\n")
    line.history.flush()
    assert commits_by(line)[1:] == [("", "vault: 1 changed"), ("laptop", "vault: 1 changed")]
    assert line.at("n.md", "HEAD~1") == b"one\ntwo, by hand\n"
    assert line.trailers("Strongroom-Reason")[:2] == ["tools", "outside"]
    line.verify()


def test_hands_that_take_turns_on_a_note_keep_their_own_words(line: Timeline) -> None:
    line.put("n.md", "0")
    line.commit()
    line.write("laptop", "n.md", b"01")
    line.write("phone", "n.md", b"012")
    line.put("n.md", "012o")
    line.write("laptop", "n.md", b"012o3")
    line.write("laptop", "other.md", b"x")
    line.put("n.md", "012o3p")
    line.commit("timer")
    assert [grant for grant, _ in commits_by(line)[1:]] == ["laptop", "phone", "", "laptop", ""]
    assert [line.at("n.md", f"HEAD~{back}") for back in range(4, -1, -1)] == [
        b"01", b"012", b"012o", b"012o3", b"012o3p",
    ]  # fmt: skip
    line.verify()


def test_a_deletion_and_a_move_by_a_tool_are_that_grants(line: Timeline) -> None:
    line.put("old.md", "text\n")
    line.put("gone.md", "other\n")
    line.commit()
    line.write("laptop", "new.md", b"text\n")
    line.write("laptop", "old.md", None)
    line.write("laptop", "gone.md", None)
    line.history.flush()
    assert commits_by(line)[1:] == [("laptop", "vault: 1 removed, 1 renamed")]
    line.verify()


def test_a_tools_note_where_a_folder_was_says_that_the_folder_went_outside(line: Timeline) -> None:
    line.put("place/inner.md", "text\n")
    line.commit()
    (line.vault / "place/inner.md").unlink()
    (line.vault / "place").rmdir()
    line.write("laptop", "place", b"a file now\n")
    line.history.flush()
    assert commits_by(line)[1:] == [("", "vault: 1 removed"), ("laptop", "vault: 1 added")]
    line.verify()


def test_a_tools_folder_where_a_note_was_says_that_the_note_went_outside(line: Timeline) -> None:
    line.put("place", "text\n")
    line.commit()
    (line.vault / "place").unlink()
    line.write("laptop", "place/inner.md", b"inner\n")
    line.history.flush()
    assert commits_by(line)[1:] == [("", "vault: 1 removed"), ("laptop", "vault: 1 added")]
    line.verify()


def test_what_a_grant_made_and_unmade_leaves_no_empty_commit(line: Timeline) -> None:
    line.put("a.md")
    line.commit()
    line.write("laptop", "short.md", b"x")
    line.write("laptop", "short.md", None)
    assert line.history.flush().commits == ()
    assert line.history.pending() is None


def test_the_first_commit_of_all_may_be_a_tools(line: Timeline) -> None:
    line.put("old.md", "before\n")
    line.write("laptop", "old.md", b"before\nafter\n")
    line.put("unseen.md")
    line.commit("start")
    assert [grant for grant, _ in commits_by(line)] == ["", "laptop", ""]
    line.verify()


def test_a_write_while_the_vault_is_walked_is_the_tools_not_outsides(
    line: Timeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The walk may see a tool's text before or after its row; either way it is that grant's."""
    for number in range(3):
        line.put(f"f{number}/n.md", "0\n")
    line.commit()
    calls = 0

    def meanwhile() -> None:
        nonlocal calls
        calls += 1
        if calls <= WALKED_FOLDERS:
            line.write("laptop", f"f{calls % 3}/n.md", f"{calls}\n".encode())

    line.history.commit("timer", keep_going=meanwhile, may_use_child=False)
    assert calls > WALKED_FOLDERS
    line.commit("timer")
    assert {grant for grant, _ in commits_by(line)[1:]} == {"laptop"}
    line.verify()


def test_an_outside_edit_on_top_of_a_tools_write_during_the_walk_is_outsides(line: Timeline) -> None:
    line.put("a/n.md", "0\n")
    line.put("b/m.md", "0\n")
    line.commit()
    done: list[bool] = []

    def meanwhile() -> None:
        if not done:
            done.append(True)
            line.write("laptop", "a/n.md", b"tool\n")
            line.put("a/n.md", "tool, then hand\n")

    line.history.commit("timer", keep_going=meanwhile, may_use_child=False)
    assert [grant for grant, _ in commits_by(line)[1:]] == ["laptop", ""]
    assert line.at("a/n.md", "HEAD~1") == b"tool\n"
    line.verify()


def test_a_crash_between_branch_and_journal_does_not_tell_the_story_twice(
    line: Timeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    line.put("n.md", "0")
    line.commit()
    line.write("laptop", "n.md", b"1")
    with monkeypatch.context() as patched:
        patched.setattr("service.history.journal.Journal.drop", lambda _self, _up_to: None)
        line.history.flush()
    assert line.history.pending() is not None
    with again(line) as restarted:
        assert restarted.history.flush().commits == ()
        assert restarted.history.pending() is None
        assert restarted.commit().commits == ()
    assert line.commit_count() == 2


def test_a_crash_before_the_branch_moves_keeps_the_rows(line: Timeline, monkeypatch: pytest.MonkeyPatch) -> None:
    line.put("n.md", "0")
    line.commit()
    line.write("laptop", "n.md", b"1")

    def killed(*_arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(GitDir, "advance", killed)
        with pytest.raises(KeyboardInterrupt):
            line.history.flush()
    with again(line) as restarted:
        restarted.history.flush()
    assert [grant for grant, _ in commits_by(line)] == ["", "laptop"]


def test_a_text_that_a_power_cut_took_from_the_journal_comes_from_outside(line: Timeline) -> None:
    """Journalled blobs are not synced; an empty leftover is never committed as good (history.md 3.2)."""
    line.put("n.md", "0")
    line.commit()
    line.write("laptop", "n.md", b"journalled")
    line.write("laptop", "whole.md", b"whole")
    (lost,) = [
        path
        for path in line.git_dir.glob("objects/??/*")
        if line.git("cat-file", "-p", path.parent.name + path.name) == "journalled"
    ]
    lost.chmod(0o644)
    lost.write_bytes(b"")
    line.commit("start")
    assert [grant for grant, _ in commits_by(line)[1:]] == ["laptop", ""]
    assert line.at("n.md") == b"journalled"
    line.verify()


def test_a_journal_that_cannot_be_written_does_not_fail_the_write(
    line: Timeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    line.put("n.md", "0")
    line.commit()

    def full(*_arguments: object, **_more: object) -> str:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Objects, "write_loose", full)
        line.write("laptop", "n.md", b"1")
    assert line.history.pending() is None
    line.commit("timer")
    assert commits_by(line)[1:] == [("", "vault: 1 changed")]


def test_a_busy_database_does_not_fail_the_write(line: Timeline, monkeypatch: pytest.MonkeyPatch) -> None:
    def locked(*_arguments: object) -> None:
        raise sqlite3.OperationalError("database is locked")

    with monkeypatch.context() as patched:
        patched.setattr("service.history.journal.Journal.append", locked)
        line.write("laptop", "n.md", b"1")
    line.commit("timer")
    assert line.at("n.md") == b"1"


def test_pending_tells_the_oldest_and_the_newest_write(line: Timeline) -> None:
    first = line.clock.now()
    line.write("laptop", "a.md", b"1")
    line.clock.move(timedelta(seconds=30))
    line.write("laptop", "a.md", b"2")
    pending = line.history.pending()
    assert pending is not None
    assert (pending.oldest, pending.newest, pending.count) == (first, line.clock.now(), 2)


def test_a_label_with_line_breaks_stays_one_trailer(line: Timeline) -> None:
    line.write("evil\n\nStrongroom-Reason: forged", "a.md".replace("/", ""), b"1")
    line.history.flush()
    assert line.trailers("Strongroom-Reason") == ["tools"]


def test_commits_carry_the_time_of_the_writes(line: Timeline) -> None:
    """So that "as it was at 12:01" finds a write of 12:00 that was committed at 12:02."""
    line.write("laptop", "a.md", b"1")
    line.clock.move(timedelta(minutes=2))
    line.history.flush()
    assert line.git("log", "-1", "--format=%cI %aI") == "2026-03-01T13:00:00+01:00 2026-03-01T13:00:00+01:00"


def test_notes_that_the_owner_keeps_out_are_not_committed_from_the_journal(line: Timeline) -> None:
    line.put(".strongroomignore", "Private/\n")
    line.commit()
    line.write("laptop", "Private/diary.md", b"secret\n")
    line.write("laptop", "open.md", b"text\n")
    line.history.flush()
    assert line.names() == {".strongroomignore", "open.md"}


def test_history_of_another_vault_state_is_not_disturbed_by_old_caches(line: Timeline, tmp_path: Path) -> None:
    """A new git directory beside an old cache: every blob is stored again."""
    line.put("a.md", "a\n")
    line.put("sub/b.md", "b\n")
    line.commit()
    line.git_dir.rename(tmp_path / "moved away")
    with again(line) as fresh:
        fresh.commit("start")
        assert fresh.names() == {"a.md", "sub/b.md"}
        fresh.verify()


@pytest.mark.parametrize("is_journalled", [True, False])
def test_a_tools_text_is_on_the_disk_before_the_branch_names_it(
    line: Timeline, monkeypatch: pytest.MonkeyPatch, is_journalled: bool
) -> None:
    """A tool does not wait for the object store's disk; the commit must, also when the journal's row was lost."""
    line.put("other.md")
    line.commit()
    if not is_journalled:
        monkeypatch.setattr(line.history._journal, "append", lambda _rows: None)
    line.write("laptop", "n.md", b"text of a tool\n")
    blob = line.git("hash-object", str(line.vault / "n.md"))
    place = line.git_dir / "objects" / blob[:2] / blob[2:]
    synced, real = set[int](), os.fsync

    def fsync(descriptor: int) -> None:
        synced.add(os.fstat(descriptor).st_ino)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    line.commit()
    assert {place.stat().st_ino, place.parent.stat().st_ino} <= synced
    line.verify()
