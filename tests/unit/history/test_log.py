"""Reading history: commits, a note's versions, old texts, names of revisions. Source: history.md 5.2, contract.md (history)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from service.errors import HistoryHeld, PathAmbiguous, RevisionNotFound
from service.history.model import Action, Version
from tests.support.timeline import Timeline, again, run_git


def story(line: Timeline, name: str) -> list[tuple[str, str, str | None]]:
    """A note's versions, newest first: action, name, old name."""
    return [(item.action.value, item.path, item.old_path) for item in line.history.log.note_history(name).items]


def test_changes_tell_time_author_grant_and_files(line: Timeline) -> None:
    line.put("a.md", "1\n")
    line.put("b.md", "1\n")
    line.commit("start")
    line.write("laptop", "f/c.md", b"tool\n")
    line.put("a.md", "2\n")
    (line.vault / "b.md").unlink()
    line.commit("timer")
    page = line.history.log.changes()
    assert [
        (item.revision.grant, item.revision.reason, item.added, item.changed, item.removed) for item in page.items
    ] == [
        (None, "timer", 0, 1, 1),
        ("laptop", "tools", 1, 0, 0),
        (None, "start", 2, 0, 0),
    ]
    assert [(change.action, change.path) for change in page.items[0].files] == [
        (Action.CHANGED, "a.md"), (Action.REMOVED, "b.md"),
    ]  # fmt: skip
    assert page.items[0].revision.time == line.clock.now()
    assert page.items[0].revision.author == "Ada <ada@example.org>"


def test_changes_come_in_pages_with_the_total(line: Timeline) -> None:
    for number in range(5):
        line.put("a.md", f"{number}\n")
        line.commit()
    ids = [link.id for link in line.history.log.chain()]
    page = line.history.log.changes(limit=2, offset=2)
    assert ([item.revision.id for item in page.items], page.total, page.next_offset) == (ids[2:4], 5, 4)
    assert line.history.log.changes(limit=2, offset=9).items == ()


def test_changes_can_be_narrowed_by_time(line: Timeline) -> None:
    moments = []
    for number in range(4):
        line.put("a.md", f"{number}\n")
        line.commit()
        moments.append(line.clock.now())
        line.clock.move(timedelta(hours=1))
    assert line.history.log.changes(since=moments[1], until=moments[2]).total == 2
    assert line.history.log.changes(since=moments[3] + timedelta(seconds=1)).total == 0


@pytest.mark.parametrize(
    ("prefix", "count"), [("", 3), ("f", 2), ("f/", 2), ("f/g", 1), ("a.md", 1), ("f/g/c.md", 1), ("ff", 0)]
)
def test_changes_can_be_narrowed_to_a_folder_or_note(line: Timeline, prefix: str, count: int) -> None:
    for name in ("a.md", "f/b.md", "f/g/c.md"):
        line.put(name, f"{name}\n")
        line.commit()
    page = line.history.log.changes(prefix=prefix)
    assert page.total == count
    assert all(change.path.startswith(prefix.rstrip("/")) for item in page.items for change in item.files)


def test_a_huge_commit_names_some_files_and_counts_all(line: Timeline) -> None:
    for number in range(120):
        line.put(f"{number:03}.md", f"{number}\n")
    line.commit()
    (item,) = line.history.log.changes().items
    assert (item.added, len(item.files)) == (120, 50)


def test_a_note_is_followed_through_change_removal_and_return(line: Timeline) -> None:
    for text in ("one\n", "two\n", None, "three\n"):
        if text is None:
            (line.vault / "n.md").unlink()
        else:
            line.put("n.md", text)
        line.put("other.md", f"{text}")
        line.commit()
    assert story(line, "n.md") == [
        ("added", "n.md", None), ("removed", "n.md", None), ("changed", "n.md", None), ("added", "n.md", None),
    ]  # fmt: skip


def test_a_note_is_followed_back_through_renames_and_folders(line: Timeline) -> None:
    line.put("first.md", "a text of its own\n")
    line.commit()
    (line.vault / "f").mkdir()
    (line.vault / "first.md").rename(line.vault / "f/second.md")
    line.commit()
    line.put("f/second.md", "changed\n")
    line.commit()
    (line.vault / "f").rename(line.vault / "g")
    line.commit()
    assert story(line, "g/second.md") == [
        ("renamed", "g/second.md", "f/second.md"),
        ("changed", "f/second.md", None),
        ("renamed", "f/second.md", "first.md"),
        ("added", "first.md", None),
    ]
    assert story(line, "first.md") == [("renamed", "f/second.md", "first.md"), ("added", "first.md", None)]


def test_a_copy_is_no_rename_and_neither_are_two_empty_notes(line: Timeline) -> None:
    line.put("a.md", "text\n")
    line.put("empty.md", b"")
    line.commit()
    line.put("b.md", "text\n")
    (line.vault / "empty.md").unlink()
    line.put("also empty.md", b"")
    line.commit()
    assert story(line, "b.md") == [("added", "b.md", None)]
    assert story(line, "also empty.md") == [("added", "also empty.md", None)]


def test_of_two_candidates_a_rename_keeps_the_notes_own_last_name(line: Timeline) -> None:
    line.put("x/n.md", "same\n")
    line.put("x/m.md", "same\n")
    line.commit()
    (line.vault / "x").rename(line.vault / "y")
    line.commit()
    assert story(line, "y/n.md")[0] == ("renamed", "y/n.md", "x/n.md")
    assert story(line, "y/m.md")[0] == ("renamed", "y/m.md", "x/m.md")


def test_versions_tell_size_revision_and_grant(line: Timeline) -> None:
    line.put("n.md", "12345\n")
    line.commit()
    line.write("laptop", "n.md", b"123\n")
    line.history.flush()
    newest, oldest = line.history.log.note_history("n.md").items
    assert (newest.size_bytes, newest.revision.grant, oldest.size_bytes) == (4, "laptop", 6)
    assert newest.revision.id == line.git("rev-parse", "HEAD")


def test_versions_come_in_pages(line: Timeline) -> None:
    for number in range(5):
        line.put("n.md", f"{number}\n")
        line.commit()
    page = line.history.log.note_history("n.md", limit=2, offset=3)
    assert ([item.action for item in page.items], page.total, page.next_offset) == (
        [Action.CHANGED, Action.ADDED],
        5,
        None,
    )


def test_a_note_nobody_ever_committed_is_not_found(line: Timeline) -> None:
    line.put("n.md")
    line.commit()
    with pytest.raises(RevisionNotFound):
        line.history.log.note_history("never.md")


def test_an_old_text_is_read_under_the_name_of_today_or_of_then(line: Timeline) -> None:
    line.put("old.md", b"caf\xe9\r\n")
    line.commit()
    (line.vault / "old.md").rename(line.vault / "new.md")
    line.commit()
    for name in ("old.md", "new.md"):
        found = line.history.log.read(name, line.history.log.resolve("~1"))
        assert (found.path, found.data, found.mode) == ("old.md", b"caf\xe9\r\n", 0o100644)
    with pytest.raises(RevisionNotFound):
        line.history.log.read("other.md", line.history.log.resolve("HEAD"))


def test_a_name_is_read_by_another_spelling_unless_two_answer_to_it(line: Timeline) -> None:
    """Each spelling finds its own file; a third finds the one file that is equal to it, or is told of both."""
    apart, composed, mixed = "e\u0301/u\u0308.md", "é/ü.md", "é/u\u0308.md"
    line.put(apart, "apart\n")
    (first,) = line.commit().commits
    assert line.history.log.read(mixed, first).data == b"apart\n"
    line.put(composed, "composed\n")
    (second,) = line.commit().commits
    assert line.history.log.read(composed, second).data == b"composed\n"
    line.put("A\u030a.md", "angstrom, apart\n")
    line.put("Å.md", "ring\n")
    (third,) = line.commit().commits
    with pytest.raises(PathAmbiguous):
        line.history.log.read("\u212b.md", third)


@pytest.mark.parametrize("asked", ["HEAD", "head", "@", "main", "~0", "latest"])
def test_the_newest_commit_has_several_names(line: Timeline, asked: str) -> None:
    line.put("n.md")
    (commit,) = line.commit().commits
    assert line.history.log.resolve(asked) == commit


def test_a_revision_is_named_by_id_or_place(line: Timeline) -> None:
    for number in range(4):
        line.put("n.md", f"{number}\n")
        line.commit()
    newest, second, third, first = (link.id for link in line.history.log.chain())
    resolve = line.history.log.resolve
    assert [resolve(third), resolve(third[:4]), resolve(third[:9].upper())] == [third] * 3
    assert [resolve("~1"), resolve("HEAD~2"), resolve("~"), resolve("^"), resolve("@^^"), resolve(f"{second[:8]}~2")] == [
        second, third, second, second, third, first,
    ]  # fmt: skip
    assert newest == line.git("rev-parse", "main")


@pytest.mark.parametrize("asked", ["~9", "abc", "feedface", "HEAD@{1}", "n.md", "", "--all", "../x", "z" * 40])
def test_an_unknown_revision_is_refused_in_a_sentence(line: Timeline, asked: str) -> None:
    line.put("n.md")
    line.commit()
    if asked:
        with pytest.raises(RevisionNotFound):
            line.history.log.resolve(asked)
    else:
        assert line.history.log.resolve(asked) == line.git("rev-parse", "HEAD")


def test_an_empty_history_says_so(line: Timeline) -> None:
    assert line.history.log.changes().total == 0
    with pytest.raises(RevisionNotFound):
        line.history.log.resolve("HEAD")
    with pytest.raises(RevisionNotFound, match="Nothing has been committed yet"):
        line.history.log.as_of(line.clock.now())


def test_what_another_process_commits_is_seen_at_once(line: Timeline) -> None:
    line.put("n.md", "1\n")
    line.commit()
    assert line.history.log.changes().total == 1
    with again(line) as other:
        other.put("n.md", "2\n")
        other.commit()
    assert line.history.log.changes().total == 2
    assert line.history.log.changes().items[0].revision.id == line.git("rev-parse", "HEAD")


def test_commits_of_other_programs_are_read_too(line: Timeline) -> None:
    """In the owner's repository anybody commits: other encodings, other trailers, merges."""
    line.put("n.md")
    line.commit()
    tree, parent = line.git("rev-parse", "HEAD^{tree}"), line.git("rev-parse", "HEAD")
    raw = (
        f"tree {tree}\nparent {parent}\nparent {parent}\nauthor J\xf6rg <j@x> 1772366400 -0330\n"
        f"committer J\xf6rg <j@x> 1772366400 -0330\nencoding ISO-8859-1\n\nGr\xfc\xdfe\n\nStrongroom-Grant: no\nnot a trailer\n"
    ).encode("latin-1")
    loose = line.setup.state / "raw"
    loose.write_bytes(raw)
    commit = line.git("hash-object", "-t", "commit", "-w", str(loose))
    line.git("update-ref", "refs/heads/main", commit)
    found = line.history.log.revision(commit)
    assert (found.subject, found.grant) == ("Grüße", None)
    assert found.time.isoformat() == "2026-03-01T12:00:00+00:00"
    assert len(line.history.log.chain()) == 2


def test_a_missing_text_is_said_to_be_damage(line: Timeline) -> None:
    line.put("n.md", "text\n")
    (commit,) = line.commit().commits
    blob = run_git(["hash-object", str(line.vault / "n.md")]).decode().strip()
    (line.git_dir / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(HistoryHeld, match="restore the history from a backup"):
        line.history.log.read("n.md", commit)


def test_a_damaged_object_is_never_taken_for_good(line: Timeline) -> None:
    line.put("n.md", "text\n")
    (commit,) = line.commit().commits
    blob = run_git(["hash-object", str(line.vault / "n.md")]).decode().strip()
    place = line.git_dir / "objects" / blob[:2] / blob[2:]
    place.chmod(0o644)
    place.write_bytes(place.read_bytes()[:-4])
    with pytest.raises(HistoryHeld):
        line.history.log.read("n.md", commit)


def test_every_version_can_be_read_back(line: Timeline) -> None:
    texts = [b"", b"a\r\n", b"\xff\xfe", b"long " * 999]
    for text in texts:
        line.put("n.md", text)
        line.put("other.md", str(len(text)))
        line.commit()
    versions: tuple[Version, ...] = line.history.log.note_history("n.md").items
    assert [line.history.log.read("n.md", version.revision.id).data for version in reversed(versions)] == texts
