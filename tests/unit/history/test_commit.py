"""What a commit holds, and what it leaves alone. Source: issue 2 "The history"; history.md 3.1 and decisions 1 to 6."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from service.errors import VaultMissing
from service.history import contents
from service.history.model import Trouble
from tests.support import unprivileged
from tests.support.timeline import Timeline, again, run_git, timeline_in


def test_a_first_commit_holds_every_note_and_plain_git_reads_it(line: Timeline) -> None:
    line.put("Inbox/Idea.md", "an idea\n")
    line.put("picture.png", bytes(range(256)))
    report = line.commit("start")
    assert (report.added, report.changed, report.removed) == (2, 0, 0)
    assert line.names() == {"Inbox/Idea.md", "picture.png"}
    assert line.git("log", "-1", "--format=%an <%ae>|%cn|%s") == "Ada <ada@example.org>|Ada|vault: 2 added"
    assert line.git("log", "-1", "--format=%b") == "A Inbox/Idea.md\nA picture.png\n\nStrongroom-Reason: start"
    assert line.git("symbolic-ref", "HEAD") == "refs/heads/main"
    line.verify()


def test_nothing_changed_makes_no_commit(line: Timeline) -> None:
    line.put("a.md")
    line.commit()
    (line.vault / "empty folder").mkdir()
    os.utime(line.vault / "a.md")
    assert line.commit().commits == ()
    assert line.commit_count() == 1


def test_an_empty_vault_makes_no_commit(line: Timeline) -> None:
    assert line.commit().commits == ()
    assert line.subjects() == []


def test_changes_additions_and_deletions_from_outside_are_in_the_next_commit(line: Timeline) -> None:
    for name in ("stays.md", "changes.md", "goes.md", "moves.md"):
        line.put(name, f"{name}\n")
    line.commit()
    line.put("changes.md", "other\n")
    line.put("new/new.md")
    (line.vault / "goes.md").unlink()
    (line.vault / "moves.md").rename(line.vault / "moved.md")
    report = line.commit("timer")
    assert (report.added, report.changed, report.removed) == (1, 2, 1)
    assert line.git("log", "-1", "--format=%b").splitlines()[:4] == [
        "M changes.md",
        "D goes.md",
        "R moves.md -> moved.md",
        "A new/new.md",
    ]
    line.verify()


ODD_NAMES = (
    "Füße.md", "Fu\u0308ße.md", "日本語/ノート.md", "👨‍👩‍👧/❤️.md", "new\nline.md", "tab\there.md", 'quo"te.md', "back\\slash.md",
    "-dash.md", " space.md", "..dots.md", "trailing .md ", "%2e%2e.md", "*star?.md", "a" * 252 + ".md", "CON.md", "~tilde.md",
    ".hidden/note.md", ".obsidian/app.json", ".trash/gone.md",
)  # fmt: skip


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_are_kept_byte_for_byte(line: Timeline, name: str) -> None:
    """history.md 3.1, first row; obsidian-git#121: names are raw UTF-8, never quoted."""
    line.put(name, f"in {name!r}\n")
    line.commit()
    line.put(name, "second\n")
    line.commit()
    assert line.names() == {name}
    assert line.at(name, "HEAD~1") == f"in {name!r}\n".encode()
    line.verify()


def test_a_name_that_is_no_utf8_is_kept_and_can_change(line: Timeline) -> None:
    """history.md 3.1: porcelain never commits anything again after such a note was edited."""
    raw = b"caf\xe9.md"
    line.put(raw, "one\n")
    line.commit()
    line.put(raw, "two\n")
    line.put("other.md")
    line.commit()
    assert line.git_bytes("ls-tree", "-z", "--name-only", "HEAD").split(b"\0")[:2] == [raw, b"other.md"]
    assert "M caf\\xe9.md" in line.git("log", "-1", "--format=%b")
    line.verify()


CONTENTS = (
    b"",
    b"a\r\nb\r\n",
    b"\xef\xbb\xbfbom\n",
    b"no end",
    b"\x00\xff" * 999,
    b"<<<<<<< ours\n",
    b"mixed\r\nends\n\r",
)


@pytest.mark.parametrize("content", CONTENTS)
def test_bytes_are_kept_exactly(line: Timeline, content: bytes) -> None:
    """No filter, no line-end conversion, whatever .gitattributes in the vault says."""
    line.put(".gitattributes", "* text=auto eol=crlf\n*.md filter=lfs\n")
    line.put("n.md", content)
    line.commit()
    assert line.at("n.md") == content
    line.verify()


def test_the_execute_bit_is_history_and_a_change_of_it_is_a_change(line: Timeline) -> None:
    """history.md 3.1: porcelain misses chmod."""
    path = line.put("run.sh", "#!/bin/sh\n")
    line.commit()
    path.chmod(0o755)
    assert line.commit().changed == 1
    assert line.git("ls-tree", "HEAD").startswith("100755")
    line.verify()


def test_a_file_may_become_a_folder_and_a_folder_a_file(line: Timeline) -> None:
    """history.md 3.1: porcelain fails for ever on folder to file."""
    line.put("a", "file")
    line.put("b/inner.md")
    line.put("b/deep/er.md")
    line.commit()
    (line.vault / "a").unlink()
    line.put("a/now.md")
    for name in ("b/inner.md", "b/deep/er.md"):
        (line.vault / name).unlink()
    (line.vault / "b/deep").rmdir()
    (line.vault / "b").rmdir()
    line.put("b", "file")
    line.commit()
    assert line.names() == {"a/now.md", "b"}
    line.verify()


def test_an_emptied_folder_goes_from_the_tree(line: Timeline) -> None:
    line.put("folder/a.md")
    line.put("b.md")
    line.commit()
    (line.vault / "folder/a.md").unlink()
    line.commit()
    assert line.git("ls-tree", "--name-only", "HEAD") == "b.md"


def test_a_case_only_rename_is_committed(line: Timeline) -> None:
    line.put("note.md")
    line.commit()
    (line.vault / "note.md").rename(line.vault / "Note.md")
    line.commit()
    assert line.names() == {"Note.md"}
    line.verify()


def test_links_are_reported_and_neither_committed_nor_followed(line: Timeline, tmp_path: Path) -> None:
    """Decision of this room: what a link shows is not the vault's, and a restored link could lead outside."""
    (tmp_path / "secret.md").write_text("secret\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/also.md").write_text("secret\n")
    (line.vault / "file.md").symlink_to(tmp_path / "secret.md")
    (line.vault / "folder").symlink_to(tmp_path / "outside")
    (line.vault / "loop").symlink_to("loop")
    line.put("note.md")
    report = line.commit()
    assert line.names() == {"note.md"}
    assert {(problem.trouble, problem.path) for problem in report.problems} == {
        (Trouble.LINK, "file.md"), (Trouble.LINK, "folder"), (Trouble.LINK, "loop"),
    }  # fmt: skip


def test_a_note_that_becomes_a_link_leaves_the_tree(line: Timeline) -> None:
    line.put("note.md", "text\n")
    line.put("other.md", "text 2\n")
    line.commit()
    (line.vault / "note.md").unlink()
    (line.vault / "note.md").symlink_to("other.md")
    line.commit()
    assert line.names() == {"other.md"}
    assert line.at("note.md", "HEAD~1") == b"text\n"


def test_special_files_neither_block_nor_end_a_commit(line: Timeline) -> None:
    """A FIFO in the place of a note keeps the note's last version: nobody can say what it holds."""
    line.put("note.md", "text\n")
    line.commit()
    (line.vault / "note.md").unlink()
    os.mkfifo(line.vault / "note.md")
    os.mkfifo(line.vault / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.open(line.vault, os.O_RDONLY)
        try:
            listener.bind(f"/proc/self/fd/{here}/socket")
        finally:
            os.close(here)
        line.put("good.md")
        report = line.commit()
    assert {problem.path for problem in report.problems} == {"note.md", "pipe", "socket"}
    assert {problem.trouble for problem in report.problems} == {Trouble.SPECIAL}
    assert (line.at("note.md"), line.at("good.md")) == (b"text\n", b"text\n")


def test_a_git_directory_in_the_vault_is_left_alone_at_any_depth(line: Timeline) -> None:
    """The issue: a .git found in the vault stays untouched; history.md 3.1: a nested repository's notes are all kept."""
    for place in (line.vault, line.vault / "proj"):
        place.mkdir(exist_ok=True)
        run_git(["init", "-q", str(place)])
        (place / ".git/hooks/post-commit").write_text("#!/bin/sh\ntouch /tmp/never\n")
    line.put("proj/direct.md")
    line.put("proj/sub/deep.md")
    before = {path: path.stat().st_mtime_ns for path in line.vault.rglob(".git/**/*")}
    line.commit()
    assert line.names() == {"proj/direct.md", "proj/sub/deep.md"}
    assert {path: path.stat().st_mtime_ns for path in line.vault.rglob(".git/**/*")} == before
    line.verify()


@pytest.mark.parametrize("name", [".GIT", "git~1", ".g\u200cit", ".git ", ".gitmodules", "GITMOD~1", "x\\git~1"])
def test_names_that_git_takes_for_its_own_are_reported_not_committed(line: Timeline, name: str) -> None:
    """history.md 3.1: other systems could not check them out, and fsck --strict refuses them."""
    line.put(f"{name}/config" if name != ".gitmodules" else name, "[x\n")
    line.put("good.md")
    report = line.commit()
    assert line.names() == {"good.md"}
    assert [problem.trouble for problem in report.problems] == [Trouble.GIT_NAME]
    line.verify()


def test_a_file_that_cannot_be_read_keeps_its_version_and_stops_nobody(tmp_path: Path) -> None:
    """history.md 3.1: with porcelain one unreadable note stops every commit. Runs without rights (decisions.md 24)."""
    with timeline_in(tmp_path) as line:
        line.put("locked.md", "old\n")
        line.put("room/inside.md", "old\n")
        line.commit()
        line.put("locked.md", "new\n").chmod(0)
        line.put("good.md")
        (line.vault / "room").chmod(0)
        unprivileged.give(unprivileged.STRANGER, tmp_path)

        def work() -> int:
            with again(line) as mine:
                report = mine.commit()
                kinds = sorted((problem.path, problem.trouble.name) for problem in report.problems)
                print(kinds, mine.at("locked.md"), mine.at("room/inside.md"), mine.at("good.md"))
            return 0

        done = unprivileged.run(work)
    assert done.code == 0, done.err
    assert done.out.strip() == ("[('locked.md', 'UNREADABLE'), ('room', 'UNREADABLE')] b'old\\n' b'old\\n' b'text\\n'")


def test_a_file_over_the_cap_keeps_its_version_and_is_named(line: Timeline) -> None:
    line.put("big.bin", bytes(999_999))
    line.commit()
    line.put("big.bin", bytes(1_000_001))
    line.put("huge.bin", bytes(1_000_001))
    report = line.commit()
    assert {(problem.path, problem.trouble) for problem in report.problems} == {
        ("big.bin", Trouble.TOO_LARGE), ("huge.bin", Trouble.TOO_LARGE),
    }  # fmt: skip
    assert line.git("cat-file", "-s", "HEAD:big.bin") == "999999"
    assert "huge.bin" not in line.names()
    assert "big.bin is larger than STRONGROOM_MAX_FILE_SIZE" in line.history.status().problems


def test_times_before_1970_and_far_ahead_do_no_harm(line: Timeline) -> None:
    """history.md 3.1: such a time makes porcelain truncate its index."""
    for name, seconds in (("old.md", -3_000_000_000), ("ahead.md", 7_000_000_000)):
        os.utime(line.put(name, f"{name}\n"), (seconds, seconds))
    line.commit()
    assert line.commit().commits == ()
    line.put("old.md", "new\n")
    os.utime(line.vault / "old.md", (-3_000_000_000, -3_000_000_000))
    assert line.commit().changed == 1
    line.verify()


def test_a_rewrite_of_the_same_size_right_after_a_commit_is_seen(line: Timeline) -> None:
    """The racy rule: a file that had not come to rest is hashed again, whatever its times say."""
    path = line.put("n.md", "aaaa")
    line.commit()
    seen = path.stat()
    path.write_bytes(b"bbbb")
    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    line.commit()
    assert line.at("n.md") == b"bbbb"


def test_very_deep_folders_are_reported(line: Timeline) -> None:
    deep = "/".join(["d"] * 120) + "/n.md"
    line.put(deep)
    line.put("good.md")
    report = line.commit()
    assert line.names() == {"good.md"}
    assert [problem.trouble for problem in report.problems] == [Trouble.TOO_DEEP]


def test_a_vault_that_vanished_is_said_and_nothing_is_committed(line: Timeline) -> None:
    line.put("a.md")
    line.commit()
    line.vault.rename(line.vault.with_name("elsewhere"))
    with pytest.raises(VaultMissing):
        line.commit()
    assert line.commit_count() == 1
    assert line.history.status().is_held


def test_the_owners_words_make_the_subject(line: Timeline) -> None:
    line.put("a.md")
    with again(line, message="[{reason}] {summary} at {time}") as mine:
        mine.commit("timer")
        assert mine.subjects() == ["[timer] 1 added at 2026-03-01 13:00"]


def test_a_name_cannot_forge_a_trailer(line: Timeline) -> None:
    line.put("x\n\nStrongroom-Grant: forged.md")
    line.commit()
    assert line.trailers("Strongroom-Grant") == [""]
    assert line.history.log.changes().items[0].revision.grant is None


def test_many_changed_files_are_counted_not_all_listed(line: Timeline) -> None:
    for number in range(60):
        line.put(f"{number:02}.md", f"{number}\n")
    line.commit()
    body = line.git("log", "-1", "--format=%b").splitlines()
    assert body[:1] + body[49:51] == ["A 00.md", "A 49.md", "... and 10 more"]


def test_many_new_files_go_into_one_pack(line: Timeline) -> None:
    """history.md decision 3: one pack when there are many, loose when few."""
    for number in range(300):
        line.put(f"f{number % 7}/{number}.md", f"{number}\n")
    line.commit()
    assert len(list(line.git_dir.glob("objects/pack/*.pack"))) == 1
    assert line.git("count-objects") == "0 objects, 0 kilobytes"
    line.put("f1/1.md", "changed\n")
    line.commit()
    assert line.git("count-objects").startswith("4 objects")
    line.verify()


def test_a_note_that_lost_all_its_text_is_named(line: Timeline) -> None:
    """obsidian-git#51: zero-byte notes."""
    line.put("n.md", "text\n")
    line.commit()
    line.put("n.md", b"")
    assert line.commit().emptied == ("n.md",)


def test_a_file_that_vanishes_while_it_is_read_keeps_its_version_until_the_next_commit(line: Timeline) -> None:
    """history.md 3.1: files vanishing during a commit; a move in progress looks the same."""
    line.put("n.md", "one\n")
    line.put("other.md", "one\n")
    line.commit()
    path = line.put("n.md", "two\n")
    line.put("other.md", "two\n")
    looks = 0

    def meanwhile() -> None:
        nonlocal looks
        looks += 1
        if looks == 2:  # after the walk over the one folder, before the first file is read
            path.unlink()

    report = line.history.commit("timer", keep_going=meanwhile, may_use_child=False)
    assert [(problem.path, problem.trouble) for problem in report.problems] == [("n.md", Trouble.VANISHED)]
    assert (line.at("n.md"), line.at("other.md")) == (b"one\n", b"two\n")
    assert line.commit().removed == 1
    line.verify()


def test_a_file_that_will_not_hold_still_keeps_its_version(line: Timeline, monkeypatch: pytest.MonkeyPatch) -> None:
    """history.md decision 4: read, look again, retry once, else keep the previous version; never half of two."""
    path = line.put("n.md", "one\n")
    line.commit()
    real, reads = contents._whole, 0

    def restless(descriptor: int, size: int) -> bytes:
        nonlocal reads
        reads += 1
        data = real(descriptor, size)
        if size > 4:
            path.write_bytes(f"version {reads}, longer each time{'.' * reads}\n".encode())
        return data

    path.write_bytes(b"first change\n")
    with monkeypatch.context() as patched:
        patched.setattr(contents, "_whole", restless)
        report = line.commit()
    assert [(problem.path, problem.trouble) for problem in report.problems] == [("n.md", Trouble.CHANGING)]
    assert (reads, line.at("n.md")) == (2, b"one\n")
    line.commit()
    assert line.at("n.md") == path.read_bytes()


def test_a_file_that_changed_once_while_it_was_read_is_read_again(
    line: Timeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = line.put("n.md", "one\n")
    line.commit()
    real, reads = contents._whole, 0

    def once(descriptor: int, size: int) -> bytes:
        nonlocal reads
        reads += 1
        data = real(descriptor, size)
        if reads == 1:
            path.write_bytes(b"second change, settled\n")
        return data

    path.write_bytes(b"first change\n")
    with monkeypatch.context() as patched:
        patched.setattr(contents, "_whole", once)
        assert line.commit().problems == ()
    assert line.at("n.md") == b"second change, settled\n"
