"""Bring back what was. Source: issue 2 "The history"; history.md 5.3; restic#2901, borg#4598, borg#8564, backrest#333."""

from __future__ import annotations

import errno
import shutil
import unicodedata
from datetime import timedelta
from pathlib import Path

import pytest

from service.errors import BadArgument, Forbidden, HistoryHeld, NoteChanged, PathRefused, RevisionNotFound
from service.guards import paths
from service.history import plan as plans
from service.history import restore
from service.history.restore import Asked, Restored
from service.store.files import version_of
from service.vault.model import Actor
from tests.support.kernels import RefusingKernel
from tests.support.timeline import Timeline, again, contents, run_git, timeline_in

OWNER = Actor("owner", "owner", permit=lambda: None)


def bring_back(line: Timeline, *names: str, **how: object) -> Restored:
    line.clock.move(timedelta(seconds=1))
    return restore.apply(line.history, Asked(names, **how), OWNER)  # type: ignore[arg-type]  # each test names fields


def letters(line: Timeline, *names: str, **how: object) -> dict[str, str]:
    """A plan as path and letter."""
    made = restore.plan(line.history, Asked(names, **how))  # type: ignore[arg-type]
    return {item.path: item.kind.value for item in made.items}


BYTES = {
    "crlf.md": b"a\r\nb\r\n",
    "bom.md": b"\xef\xbb\xbfx\n",
    "raw.bin": bytes(range(256)) * 4,
    "empty.md": b"",
    "ä.md": b"\xe4",
}


@pytest.mark.parametrize("name", BYTES)
def test_three_changes_over_three_commits_are_each_restored_byte_for_byte(line: Timeline, name: str) -> None:
    states = [BYTES[name] + suffix for suffix in (b"1", b"22", b"")]
    ids = []
    for state in states:
        line.put(name, state)
        ids += line.commit().commits
    for commit, state in zip(ids, states, strict=True):
        line.put(name, b"something else")
        bring_back(line, name, revision=commit[:8])
        assert (line.vault / name).read_bytes() == state
        line.verify()


def test_restoring_first_commits_the_present_and_then_makes_a_new_commit(line: Timeline) -> None:
    line.put("n.md", "old\n")
    line.commit()
    line.put("n.md", "saved\n")
    line.commit()
    line.put("n.md", "not yet committed\n")
    line.put("other.md", "not yet either\n")
    done = bring_back(line, "n.md", revision="~1")
    assert (line.vault / "n.md").read_text() == "old\n"
    assert line.at("n.md", str(done.before)) == b"not yet committed\n"
    assert line.at("other.md", str(done.before)) == b"not yet either\n"
    assert line.trailers("Strongroom-Reason")[:2] == ["restore", "before-restore"]
    assert line.trailers("Strongroom-Restored-From")[0] == line.git("rev-parse", "HEAD~3")
    assert line.commit().commits == ()
    line.verify()


def test_undoing_a_restore_gives_the_very_same_tree(line: Timeline) -> None:
    for text in ("one", "two"):
        for name in ("a.md", "sub/b.md"):
            line.put(name, f"{name} {text}\n")
        line.commit()
    tree = line.git("rev-parse", "HEAD^{tree}")
    done = bring_back(line, revision="~1")
    assert line.git("rev-parse", "HEAD^{tree}") == line.git("rev-parse", "HEAD~2^{tree}")
    bring_back(line, revision=str(done.before))
    assert line.git("rev-parse", "HEAD^{tree}") == tree
    line.verify()


def test_a_time_names_the_state_that_was_current_then(line: Timeline) -> None:
    moments = []
    for text in ("one\n", "two\n", "three\n"):
        line.put("n.md", text)
        line.commit()
        moments.append(line.clock.now())
        line.clock.move(timedelta(hours=1))
    bring_back(line, "n.md", at=moments[1] + timedelta(minutes=30))
    assert (line.vault / "n.md").read_text() == "two\n"
    with pytest.raises(RevisionNotFound, match="It begins 2026-03-01 12:00 UTC"):
        bring_back(line, "n.md", at=moments[0] - timedelta(days=1))


def test_without_a_time_the_last_other_version_comes_back(line: Timeline) -> None:
    line.put("n.md", "one\n")
    line.commit()
    line.put("n.md", "two\n")
    line.commit()
    line.put("unrelated.md")
    line.commit()
    bring_back(line, "n.md")
    assert (line.vault / "n.md").read_text() == "one\n"


def test_without_a_time_an_uncommitted_slip_is_undone(line: Timeline) -> None:
    line.put("n.md", "one\n")
    line.commit()
    line.put("n.md", "slip\n")
    bring_back(line, "n.md")
    assert (line.vault / "n.md").read_text() == "one\n"
    assert line.at("n.md", "HEAD~1") == b"slip\n"


def test_a_note_that_never_differed_has_nothing_to_restore(line: Timeline) -> None:
    line.put("n.md", "one\n")
    line.commit()
    with pytest.raises(RevisionNotFound, match=r"other version of n\.md"):
        bring_back(line, "n.md")


def test_a_deleted_note_comes_back_with_its_folder_and_mode(line: Timeline) -> None:
    line.put("deep/er/run.sh", "#!/bin/sh\r\n").chmod(0o755)
    line.put("stays.md")
    line.commit()
    shutil.rmtree(line.vault / "deep")
    line.commit()
    bring_back(line, "deep/er/run.sh")
    back = line.vault / "deep/er/run.sh"
    assert (back.read_bytes(), back.stat().st_mode & 0o777) == (b"#!/bin/sh\r\n", 0o755)
    line.verify()


def test_a_deleted_folder_comes_back_whole(line: Timeline) -> None:
    for name in ("f/a.md", "f/g/b.md", "stays.md"):
        line.put(name, f"{name}\n")
    line.commit()
    shutil.rmtree(line.vault / "f")
    line.commit()
    bring_back(line, "f")
    assert set(contents(line.vault)) == {"f/a.md", "f/g/b.md", "stays.md"}
    line.verify()


def test_a_folder_that_is_there_needs_a_time(line: Timeline) -> None:
    line.put("f/a.md")
    line.commit()
    with pytest.raises(BadArgument, match="f is a folder: say which state of it"):
        bring_back(line, "f")


def test_the_execute_bit_alone_is_restored(line: Timeline) -> None:
    path = line.put("run.sh", "x\n")
    path.chmod(0o750)
    line.commit()
    path.chmod(0o640)
    line.commit()
    bring_back(line, "run.sh", revision="~1")
    assert path.stat().st_mode & 0o777 == 0o750
    line.verify()


def test_a_renamed_notes_old_name_comes_back_beside_the_new_one(line: Timeline) -> None:
    line.put("old.md", "a text that is long enough\n")
    line.commit()
    (line.vault / "old.md").rename(line.vault / "new.md")
    line.commit()
    bring_back(line, "old.md")
    assert set(contents(line.vault)) == {"old.md", "new.md"}
    line.verify()


def test_a_renamed_note_is_followed_back_to_what_it_said_under_its_old_name(line: Timeline) -> None:
    line.put("old.md", "first\n")
    line.commit()
    line.put("old.md", "second\n")
    line.commit()
    (line.vault / "old.md").rename(line.vault / "new.md")
    line.commit()
    bring_back(line, "new.md", revision="~2")
    assert {name: found[0] for name, found in contents(line.vault).items()} == {"new.md": b"first\n"}
    line.verify()


def test_without_a_time_a_renamed_note_gets_the_text_it_had_under_its_old_name(line: Timeline) -> None:
    """Source: docs/how-to/restore.md, "the last version that differs from now"."""
    line.put("old.md", "first\n")
    line.commit()
    line.put("old.md", "second\n")
    line.commit()
    (line.vault / "old.md").rename(line.vault / "new.md")
    line.commit()
    bring_back(line, "new.md")
    assert {name: found[0] for name, found in contents(line.vault).items()} == {"new.md": b"first\n"}
    line.verify()


def test_newer_notes_stay_unless_the_exact_state_is_asked_for(line: Timeline) -> None:
    """borg#4598: a restore to a point in time that leaves newer files must say so; exact removes them, recoverably."""
    line.put("old.md", "old\n")
    line.put("f/both.md", "old\n")
    line.commit()
    then = line.git("rev-parse", "HEAD")
    line.put("f/both.md", "new\n")
    line.put("f/newer.md", "newer\n")
    line.put("g/newest.md", "newest\n")
    line.commit()
    made = restore.plan(line.history, Asked((), revision=then))
    assert made.left == 2
    bring_back(line, revision=then)
    assert set(contents(line.vault)) == {"old.md", "f/both.md", "f/newer.md", "g/newest.md"}
    assert letters(line, revision=then, is_exact=True) == {
        "f/both.md": "=", "f/newer.md": "D", "g/newest.md": "D", "old.md": "=",
    }  # fmt: skip
    bring_back(line, revision=then, is_exact=True)
    assert set(contents(line.vault)) == {"old.md", "f/both.md"}
    assert not (line.vault / "g").exists()
    assert line.at("g/newest.md", "HEAD~1") == b"newest\n"
    line.verify()


def test_exactly_undoing_the_return_of_a_note_takes_it_away_again(line: Timeline) -> None:
    line.put("stays.md")
    line.put("f/gone.md", "text\n")
    line.commit()
    (line.vault / "f/gone.md").unlink()
    line.commit()
    done = bring_back(line, "f/gone.md")
    bring_back(line, "f/gone.md", revision=str(done.before), is_exact=True)
    assert set(contents(line.vault)) == {"stays.md"}
    line.verify()


def test_only_missing_changes_nothing_that_is_there(line: Timeline) -> None:
    line.put("a.md", "old\n")
    line.put("b.md", "old\n")
    line.commit()
    line.put("a.md", "new\n")
    (line.vault / "b.md").unlink()
    line.commit()
    bring_back(line, revision="~1", only_missing=True)
    assert {name: found[0] for name, found in contents(line.vault).items()} == {"a.md": b"new\n", "b.md": b"old\n"}


def test_a_plan_changes_nothing_and_tells_each_file(line: Timeline) -> None:
    line.put("same.md", "same\n")
    line.put("changed.md", "old\n")
    line.put("gone.md", "old\n")
    line.commit()
    line.put("changed.md", "uncommitted\n")
    (line.vault / "gone.md").unlink()
    before = contents(line.vault)
    assert letters(line, revision="HEAD") == {"changed.md": "M", "gone.md": "A", "same.md": "="}
    assert contents(line.vault) == before
    assert line.commit_count() == 1


def test_a_file_in_the_place_of_a_folder_is_left_or_exactly_swapped(line: Timeline) -> None:
    line.put("x/inner.md", "inner\n")
    line.put("y", "file\n")
    line.commit()
    then = line.git("rev-parse", "HEAD")
    shutil.rmtree(line.vault / "x")
    line.put("x", "file now\n")
    (line.vault / "y").unlink()
    line.put("y/inner.md", "folder now\n")
    line.commit()
    assert letters(line, revision=then) == {"x/inner.md": "!", "y": "!"}
    done = bring_back(line, revision=then)
    assert {failed.path: failed.why for failed in done.failed} == {
        "x/inner.md": plans.FILE_IN_THE_WAY, "y": plans.FOLDER_IN_THE_WAY,
    }  # fmt: skip
    bring_back(line, revision=then, is_exact=True)
    assert set(contents(line.vault)) == {"x/inner.md", "y"}
    assert line.git("rev-parse", "HEAD^{tree}") == line.git("rev-parse", f"{then}^{{tree}}")
    line.verify()


def test_a_restore_all_on_a_new_machine_brings_back_everything(tmp_path: Path) -> None:
    """From the state and an empty vault alone; the deletion guard does not stand in the way."""
    with timeline_in(tmp_path / "old") as old:
        for name in ("a.md", "f/ü.md", ".obsidian/app.json", "pic.png"):
            old.put(name, f"{name}\r\n")
        old.put("run.sh").chmod(0o755)
        old.commit()
        kept = contents(old.vault)
    (tmp_path / "new/vault").mkdir(parents=True)
    shutil.copytree(tmp_path / "old/state", tmp_path / "new/state")
    with timeline_in(tmp_path / "new") as new:
        with pytest.raises(HistoryHeld):
            new.commit("start")
        done = bring_back(new)
        assert contents(new.vault) == kept
        assert (done.failed, done.commit) == ((), None)
        assert not new.history.status().is_held
        assert new.commit().commits == ()
        new.verify()


def test_a_restore_while_most_notes_are_gone_keeps_the_rest_of_history_whole(line: Timeline) -> None:
    for number in range(30):
        line.put(f"n/{number}.md", f"{number}\n")
    line.commit()
    shutil.rmtree(line.vault / "n")
    line.put("new.md", "new\n")
    bring_back(line, "n/7.md")
    assert set(contents(line.vault)) == {"n/7.md", "new.md"}
    assert len(line.names()) == 31
    assert line.history.status().is_held is False  # nobody has looked yet
    with pytest.raises(HistoryHeld):
        line.commit("timer")


def test_what_changed_between_saving_and_writing_is_not_overwritten(
    line: Timeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.md", "b.md"):
        line.put(name, "old\n")
    line.commit()
    for name in ("a.md", "b.md"):
        line.put(name, "new\n")
    line.commit()
    real = restore._carry_out

    def late_edit(*arguments: object) -> object:
        line.put("a.md", "typed at this very moment\n")
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(restore, "_carry_out", late_edit)
    done = bring_back(line, revision="~1")
    assert [failed.path for failed in done.failed] == ["a.md"]
    assert (line.vault / "a.md").read_text() == "typed at this very moment\n"
    assert (line.vault / "b.md").read_text() == "old\n"
    line.commit()
    line.verify()


@pytest.mark.parametrize("is_exact", [False, True])
def test_what_was_typed_after_the_commit_of_the_present_is_not_overwritten(
    line: Timeline, monkeypatch: pytest.MonkeyPatch, is_exact: bool
) -> None:
    """Found by appending to many notes during `restore --all`: what came between the commit and the plan was lost."""
    line.put("a.md", "old\n")
    (first,) = line.commit().commits
    line.put("a.md", "new\n")
    line.put("newer.md", "new\n")
    line.commit()
    real, moments = line.history.present, list[str]()

    def late_edit() -> object:
        moments.append(f"typed at moment {len(moments)}\n")
        for name in ("a.md", "newer.md"):
            line.put(name, moments[-1])
        return real()

    monkeypatch.setattr(line.history, "present", late_edit)
    done = bring_back(line, revision=first, is_exact=is_exact)
    assert [failed.path for failed in done.failed] == ["a.md", "newer.md"][: 1 + is_exact]
    assert "read it again and retry" in done.failed[0].why
    with pytest.raises(NoteChanged):
        restore.note(line.history, OWNER, paths.note("a.md"), revision=first)
    for name in ("a.md", "newer.md"):
        assert (line.vault / name).read_text() == moments[-1]
    monkeypatch.undo()
    line.commit()
    line.verify()


def test_a_failed_commit_of_the_present_stops_the_restore(line: Timeline, monkeypatch: pytest.MonkeyPatch) -> None:
    line.put("n.md", "old\n")
    line.commit()
    line.put("n.md", "new\n")

    def held(*_arguments: object, **_more: object) -> None:
        raise HistoryHeld("no")

    monkeypatch.setattr(line.history._committer, "full", held)
    with pytest.raises(HistoryHeld):
        bring_back(line, "n.md", revision="HEAD")
    assert (line.vault / "n.md").read_text() == "new\n"


def test_a_file_that_history_could_not_save_is_not_overwritten(line: Timeline) -> None:
    line.put("big.bin", b"small")
    line.commit()
    line.put("big.bin", bytes(1_000_001))
    done = bring_back(line, "big.bin", revision="HEAD")
    assert done.done == ()
    assert (line.vault / "big.bin").stat().st_size == 1_000_001


def test_links_and_nested_repositories_are_never_made_again(tmp_path: Path) -> None:
    """Not even those that a repository of the owner's holds: they could lead out of the vault."""
    vault = tmp_path / "vault"
    vault.mkdir()
    run_git(["init", "-q", str(vault)])
    (vault / "out").symlink_to("/etc/passwd")
    (vault / "n.md").write_text("note\n")
    run_git(["-C", str(vault), "add", "-A"])
    run_git(["-C", str(vault), "commit", "-q", "-m", "with a link"])
    (vault / "out").unlink()
    (vault / "n.md").unlink()
    with timeline_in(tmp_path, ".git") as line:
        done = bring_back(line, revision="HEAD")
        assert {failed.path: failed.why for failed in done.failed} == {"out": plans.LINK_SKIPPED}
        assert sorted(path.name for path in vault.iterdir()) == [".git", "n.md"]


def test_names_that_no_file_of_the_vault_can_have_are_told_in_the_plan(line: Timeline) -> None:
    """A hostile commit in a repository of the owner's; a dry run must not promise them."""
    blob = bytes.fromhex(line.history.git.objects.write_loose(b"blob", b"evil\n"))

    def tree(*entries: tuple[bytes, bytes, bytes]) -> bytes:
        raw = b"".join(mode + b" " + name + b"\0" + object_id for mode, name, object_id in entries)
        return bytes.fromhex(line.history.git.objects.write_loose(b"tree", raw))

    hooks = tree((b"100755", b"post-commit", blob))
    top = tree(
        (b"40000", b"..", tree((b"100644", b"out.md", blob))),
        (b"100644", b"../../out.md", blob),
        (b"40000", b".GIT", tree((b"40000", b"hooks", hooks))),
        (b"100664", b"ok.md", blob),
    )
    commit = line.git("-c", "user.name=x", "-c", "user.email=x", "commit-tree", "-m", "evil", top.hex())
    line.git("update-ref", "refs/heads/main", commit)
    assert letters(line, revision="HEAD") == {
        "../../out.md": "!", "../out.md": "!", ".GIT/hooks/post-commit": "!", "ok.md": "A",
    }  # fmt: skip
    done = bring_back(line, revision="HEAD")
    assert {failed.why for failed in done.failed} == {plans.NAME_SKIPPED}
    assert set(contents(line.vault)) == {"ok.md"}
    assert not (line.vault.parent / "out.md").exists()


def test_a_file_with_the_mode_of_an_old_git_is_a_file(line: Timeline) -> None:
    """Git of 2005 wrote 100664; fsck takes it, and so do we."""
    line.put("n.md", "text\n")
    line.commit()
    blob = line.git("rev-parse", "HEAD:n.md")
    raw = b"100664 n.md\0" + bytes.fromhex(blob)
    top = line.history.git.objects.write_loose(b"tree", raw)
    commit = line.git("-c", "user.name=x", "-c", "user.email=x", "commit-tree", "-m", "old", top)
    line.git("update-ref", "refs/heads/main", commit)
    assert letters(line, revision="HEAD") == {"n.md": "="}
    (line.vault / "n.md").unlink()
    assert not bring_back(line, "n.md").failed
    assert (line.vault / "n.md").read_text() == "text\n"


def test_a_link_on_the_way_is_not_followed(line: Timeline, tmp_path: Path) -> None:
    line.put("f/n.md", "note\n")
    line.put("stays.md")
    line.commit()
    shutil.rmtree(line.vault / "f")
    (tmp_path / "outside").mkdir()
    (line.vault / "f").symlink_to(tmp_path / "outside")
    done = bring_back(line, "f/n.md", revision="HEAD")
    assert [failed.path for failed in done.failed] == ["f/n.md"]
    assert list((tmp_path / "outside").iterdir()) == []


@pytest.mark.parametrize("name", ["../out.md", "/etc/passwd", "a//b.md", ".git/config", "f/.GIT/x", "a/./b.md", ""])
def test_paths_that_cannot_lie_in_the_vault_are_refused(line: Timeline, name: str) -> None:
    line.put("a.md")
    line.commit()
    with pytest.raises(PathRefused):
        bring_back(line, name, revision="HEAD")


def test_a_name_is_found_by_its_other_spelling_and_no_twin_is_made(line: Timeline) -> None:
    """A vault that went through a Mac holds NFD names for what history knows as NFC, and the other way round."""
    composed, apart = "Füße.md", unicodedata.normalize("NFD", "Füße.md")
    line.put(apart, "old\n")
    line.commit()
    (line.vault / apart).unlink()
    line.put(composed, "new\n")
    line.commit()
    bring_back(line, composed, revision="~1")
    assert {name: found[0] for name, found in contents(line.vault).items()} == {composed: b"old\n"}
    bring_back(line, apart, revision="~1")
    assert {name: found[0] for name, found in contents(line.vault).items()} == {composed: b"new\n"}
    line.verify()


def test_two_spellings_that_were_two_notes_are_each_restored_in_their_own_place(line: Timeline) -> None:
    """Linux keeps NFC and NFD as two files (guards.md 2.3); one of them must not land on the other."""
    composed, apart = "Füße.md", unicodedata.normalize("NFD", "Füße.md")
    both = {composed: b"composed\n", apart: b"apart\n"}
    for how in ((), (apart,)):
        for name, text in both.items():
            line.put(name, text)
        line.commit()
        (line.vault / apart).unlink()
        line.commit()
        bring_back(line, *how, revision="~1")
        assert {name: found[0] for name, found in contents(line.vault).items()} == both
    line.verify()


def test_a_note_comes_back_into_its_folder_as_the_vault_spells_it_now(line: Timeline) -> None:
    """A vault that went through a Mac spells its folders otherwise; a second folder of the same letters is no help."""
    composed, apart = "Küche/Süß", unicodedata.normalize("NFD", "Küche/Süß")
    line.put(f"{composed}/a.md", "a\n")
    line.put(f"{composed}/b.md", "b\n")
    line.commit()
    shutil.rmtree(line.vault / "Küche")
    line.put(f"{apart}/b.md", "b\n")
    line.put(f"{apart}/newer.md", "n\n")
    line.commit()
    bring_back(line, composed, revision="~1", is_exact=True)
    assert set(contents(line.vault)) == {f"{apart}/a.md", f"{apart}/b.md"}
    line.verify()


def test_a_name_that_is_no_utf8_is_restored(line: Timeline) -> None:
    line.put(b"caf\xe9.md", "old\n")
    line.commit()
    line.put(b"caf\xe9.md", "new\n")
    line.commit()
    bring_back(line, "caf\udce9.md", revision="~1")
    assert (line.vault / "caf\udce9.md").read_text() == "old\n"
    line.verify()


def test_several_paths_at_once_each_find_their_own_state(line: Timeline) -> None:
    line.put("a.md", "a1\n")
    line.put("b.md", "b1\n")
    line.commit()
    line.put("a.md", "a2\n")
    line.commit()
    line.put("b.md", "b2\n")
    line.commit()
    bring_back(line, "a.md", "b.md")
    assert {name: found[0] for name, found in contents(line.vault).items()} == {"a.md": b"a1\n", "b.md": b"b1\n"}
    line.verify()


def test_an_unknown_path_or_revision_changes_nothing(line: Timeline) -> None:
    line.put("a.md")
    line.commit()
    for how in ({}, {"revision": "HEAD"}):
        with pytest.raises(RevisionNotFound, match=r"history has no 'never\.md'"):
            bring_back(line, "never.md", **how)
    with pytest.raises(RevisionNotFound):
        bring_back(line, "a.md", revision="deadbeef")
    with pytest.raises(BadArgument, match="not both"):
        bring_back(line, "a.md", revision="HEAD", at=line.clock.now())
    assert line.commit_count() == 1


def test_a_large_attachment_comes_back(tmp_path: Path) -> None:
    with timeline_in(tmp_path) as small, again(small, max_file_bytes=95_000_000) as line:
        data = bytes(range(256)) * 47_000
        line.put("film.mp4", data)
        line.commit()
        line.put("film.mp4", data[::-1])
        line.commit()
        bring_back(line, "film.mp4", revision="~1")
        assert (line.vault / "film.mp4").read_bytes() == data


# -- the tool's way ---------------------------------------------------------------------------------------------------


def test_a_tool_restores_one_note_on_its_grants_word(line: Timeline) -> None:
    line.put("n.md", "one\n")
    line.commit()
    line.put("n.md", "two\n")
    line.commit()
    actor = Actor("t1", "laptop", permit=lambda: None)
    done = restore.note(line.history, actor, paths.writable_note("n.md"), expected_hash=version_of(b"two\n"))
    assert (str(done.path), done.version, done.size_bytes) == ("n.md", version_of(b"one\n"), 4)
    assert done.source.id == line.git("rev-parse", "HEAD~2")
    assert done.commit == line.git("rev-parse", "HEAD")
    assert line.trailers("Strongroom-Grant")[0] == "laptop"
    assert (line.vault / "n.md").read_text() == "one\n"
    line.verify()


def test_a_tool_with_another_version_in_mind_is_refused(line: Timeline) -> None:
    line.put("n.md", "one\n")
    line.commit()
    line.put("n.md", "two\n")
    line.commit()
    with pytest.raises(NoteChanged):
        restore.note(line.history, OWNER, paths.writable_note("n.md"), revision="~1", expected_hash="beef")
    assert (line.vault / "n.md").read_text() == "two\n"


def test_a_revoked_grant_restores_nothing(line: Timeline) -> None:
    line.put("n.md", "one\n")
    line.commit()
    line.put("n.md", "two\n")
    line.commit()

    def revoked() -> None:
        raise Forbidden("revoked")

    with pytest.raises(Forbidden):
        restore.note(line.history, Actor("t1", "laptop", permit=revoked), paths.writable_note("n.md"))
    assert (line.vault / "n.md").read_text() == "two\n"


def test_restoring_what_is_there_already_makes_no_restore_commit(line: Timeline) -> None:
    line.put("n.md", "one\n")
    line.commit()
    done = restore.note(line.history, OWNER, paths.writable_note("n.md"), revision="HEAD")
    assert done.commit is None
    assert line.commit_count() == 1


def test_a_restore_that_did_not_end_as_it_should_says_so(line: Timeline, monkeypatch: pytest.MonkeyPatch) -> None:
    """guards.md 3.1: once a change is visible, what goes wrong is a caution and no failure; here a removal that is refused."""
    line.put("n.md", "old\n")
    line.commit()
    line.put("n.md", "new\n")
    monkeypatch.setattr(line.history.files, "_kernel", RefusingKernel({"unlink": errno.EACCES}))
    done = bring_back(line, "n.md", revision="HEAD")
    assert [caution.path for caution in done.cautions] == ["n.md"]
    assert "next start" in done.cautions[0].what
    assert (line.vault / "n.md").read_bytes() == b"old\n"
    line.put("n.md", "newer\n")
    assert "next start" in restore.note(line.history, OWNER, paths.note("n.md"), revision="HEAD~1").caution
