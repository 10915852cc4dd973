"""The deletion guard. Source: decisions.md 2, history.md decision 7, obsidian-git#455, dendron#2280."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from service.errors import HistoryHeld, VaultMissing
from service.history.model import Deletions
from tests.support.timeline import Timeline, timeline_in


def fill(line: Timeline, count: int, folder: str = "n") -> None:
    for number in range(count):
        line.put(f"{folder}/{number}.md", f"{folder} {number}\n")


def test_an_empty_vault_with_a_history_commits_nothing_and_says_what_to_do(line: Timeline) -> None:
    line.put("only.md")
    line.commit()
    (line.vault / "only.md").unlink()
    with pytest.raises(HistoryHeld, match=r"the vault is empty.*strongroom restore --all.*--accept-deletions"):
        line.commit("timer")
    assert line.commit_count() == 1
    status = line.history.status()
    assert status.is_held
    assert "the vault is empty" in str(status.last_error)


def test_a_new_machine_with_an_empty_vault_and_old_state_is_held(tmp_path: Path) -> None:
    with timeline_in(tmp_path / "old") as old:
        fill(old, 3)
        old.commit()
    (tmp_path / "new").mkdir()
    shutil.copytree(tmp_path / "old/state", tmp_path / "new/state")
    with timeline_in(tmp_path / "new") as new:
        with pytest.raises(HistoryHeld):
            new.commit("start")
        assert new.commit_count() == 1


def test_more_than_half_of_the_notes_gone_at_once_is_held(line: Timeline) -> None:
    fill(line, 30)
    line.put("keep.md")
    line.commit()
    shutil.rmtree(line.vault / "n")
    line.put("new.md")
    with pytest.raises(HistoryHeld, match="30 of 31 notes are gone or empty at once"):
        line.commit("timer")
    assert line.commit_count() == 1


def test_notes_that_became_empty_count_as_gone(line: Timeline) -> None:
    fill(line, 30)
    line.commit()
    for number in range(25):
        line.put(f"n/{number}.md", b"")
    with pytest.raises(HistoryHeld, match="25 of 30"):
        line.commit()


def test_the_owners_word_commits_the_deletions_and_lifts_the_hold(line: Timeline) -> None:
    fill(line, 30)
    line.put("keep.md")
    line.commit()
    shutil.rmtree(line.vault / "n")
    with pytest.raises(HistoryHeld):
        line.commit()
    assert line.commit(deletions=Deletions.ACCEPT).removed == 30
    assert not line.history.status().is_held
    line.verify()


def test_the_owner_may_empty_the_vault(line: Timeline) -> None:
    line.put("only.md")
    line.commit()
    (line.vault / "only.md").unlink()
    line.commit(deletions=Deletions.ACCEPT)
    assert line.names() == set()
    assert line.git("fsck", "--strict") == ""


def test_a_hold_ends_by_itself_when_the_vault_is_back(line: Timeline, tmp_path: Path) -> None:
    fill(line, 30)
    line.commit()
    (line.vault / "n").rename(tmp_path / "away")
    with pytest.raises(HistoryHeld):
        line.commit()
    (tmp_path / "away").rename(line.vault / "n")
    line.put("n/new.md")
    assert line.commit().added == 1
    assert not line.history.status().is_held


@pytest.mark.parametrize(("before", "gone"), [(30, 15), (19, 18), (100, 50)])
def test_an_ordinary_clean_up_is_no_loss(line: Timeline, before: int, gone: int) -> None:
    """At most half, or fewer than 20."""
    fill(line, before)
    line.commit()
    for number in range(gone):
        (line.vault / f"n/{number}.md").unlink()
    assert line.commit().removed == gone


def test_moving_most_notes_elsewhere_is_no_loss(line: Timeline) -> None:
    fill(line, 40)
    line.commit()
    (line.vault / "n").rename(line.vault / "elsewhere")
    assert line.commit().changed == 40
    line.verify()


def test_moving_most_notes_into_obsidians_trash_is_no_loss_and_neither_is_emptying_it(line: Timeline) -> None:
    fill(line, 40)
    fill(line, 5, "stay")
    line.commit()
    (line.vault / ".trash").mkdir()
    (line.vault / "n").rename(line.vault / ".trash/n")
    assert line.commit().changed == 40
    shutil.rmtree(line.vault / ".trash")
    assert line.commit().removed == 40


def test_what_a_tool_deleted_is_somebodys_word(line: Timeline) -> None:
    fill(line, 30)
    fill(line, 1, "stay")
    line.commit()
    for number in range(30):
        line.write("laptop", f"n/{number}.md", None)
    assert line.commit("timer").removed == 30


def test_attachments_alone_are_guarded_too(line: Timeline) -> None:
    for number in range(30):
        line.put(f"pics/{number}.png", f"png {number}")
    line.put("note.md")
    line.commit()
    shutil.rmtree(line.vault / "pics")
    with pytest.raises(HistoryHeld, match="30 of 31 files"):
        line.commit()


def test_an_unreadable_root_is_no_empty_vault(line: Timeline, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(line, 3)
    line.commit()

    real = os.scandir

    def failing(where: int | str) -> object:
        if isinstance(where, int):
            raise OSError(5, "Input/output error")
        return real(where)

    with monkeypatch.context() as patched:
        patched.setattr("os.scandir", failing)
        with pytest.raises(VaultMissing, match="the vault cannot be read"):
            line.commit()
    assert line.commit_count() == 1
