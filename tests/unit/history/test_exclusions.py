"""What never gets into history. Source: history.md decision 6; obsidian-git#399."""

from __future__ import annotations

import pytest

from service.history import exclusions
from tests.support.timeline import Timeline

KEPT = (
    ".obsidian/app.json", ".obsidian/plugins/x/main.js", ".obsidian/plugins/x/manifest.json", ".obsidian/snippets/s.css",
    ".trash/gone.md", ".stignore", "note.md", "a.tmp.md", "~$report.md", ".#lock.md", "Note.sync-conflict-20260301-120000-ABC.md",
    ".hidden.md", "x.part.md", "node_modules.md", "data.json", "plugins/x/data.json", "backup~.md",
)  # fmt: skip

LEFT_OUT = (
    ".obsidian/workspace.json", ".obsidian/workspace-mobile.json", ".obsidian/workspaces.json", ".obsidian/cache",
    ".obsidian/plugins/x/data.json", "inner/.obsidian/workspace.json", ".obsidian-mobile/workspace", "node_modules/x/readme.md",
    ".syncthing.note.md.tmp", "~syncthing~note.md.tmp", ".syncthing.strongroom-0123456789abcdef.tmp", ".stfolder/x", ".stversions/n.md",
    ".DS_Store", "f/Thumbs.db", "._note.md", ".note.md.swp", "note.md~", ".~lock.table.ods#", "~$report.docx", ".sync/x", "x.!sync",
    ".goutputstream-ABC", ".nfs000000001", ".fuse_hidden0001", "film.part", "film.crdownload", "@eaDir/x", "__pycache__/x.pyc",
    ".dropbox.cache/x", ".tmp.drivedownload/x", "desktop.ini", "lost+found/x",
)  # fmt: skip


def test_programs_files_are_left_out_and_the_owners_are_kept(line: Timeline) -> None:
    for name in (*KEPT, *LEFT_OUT):
        line.put(name, f"{name}\n")
    report = line.commit()
    assert line.names() == set(KEPT)
    assert report.problems == ()
    assert line.commit().commits == ()
    line.verify()


def test_the_owners_ignore_file_keeps_things_out_and_is_itself_kept(line: Timeline) -> None:
    line.put(".strongroomignore", "# private\nPrivate/\n*.log\n/only-here.md\n!keep.log\n")
    for name in ("Private/diary.md", "f/Private/x.md", "a.log", "keep.log", "only-here.md", "f/only-here.md", "n.md"):
        line.put(name, f"{name}\n")
    line.commit()
    assert line.names() == {".strongroomignore", "keep.log", "f/only-here.md", "n.md"}


def test_what_the_owner_keeps_out_later_leaves_the_tree_and_stays_on_disk(line: Timeline) -> None:
    """The tree is what the vault holds and history keeps: a stale copy in it would look like the present state."""
    for name in ("Private/diary.md", "n.md"):
        line.put(name, f"{name}\n")
    line.commit()
    line.put(".strongroomignore", "Private/\n")
    line.commit()
    assert line.names() == {".strongroomignore", "n.md"}
    assert (line.vault / "Private/diary.md").exists()
    (line.vault / ".strongroomignore").unlink()
    line.commit()
    assert line.names() == {"Private/diary.md", "n.md"}
    line.verify()


def test_keeping_everything_out_trips_the_deletion_guard(line: Timeline) -> None:
    for number in range(30):
        line.put(f"{number}.md", f"{number}\n")
    line.commit()
    line.put(".strongroomignore", "*.md\n")
    with pytest.raises(Exception, match="30 of 30 notes are gone"):
        line.commit()


def test_gitignore_holds_for_attachments_alone(line: Timeline) -> None:
    line.put(".gitignore", "*\n!*.png\n")
    line.put("sub/.gitignore", "!keep.bin\n")
    for name in ("a.md", "a.bin", "a.png", "sub/keep.bin", "sub/drop.bin", "sub/b.canvas"):
        line.put(name, f"{name}\n")
    line.commit()
    assert line.names() == {"a.md", "a.png", "sub/keep.bin", "sub/b.canvas"}


def test_a_tracked_attachment_that_is_ignored_later_is_still_committed(line: Timeline) -> None:
    """history.md 3.1: porcelain silently stops committing it; pruning the folder made a prototype delete it."""
    line.put("pics/a.png", "1")
    line.commit()
    line.put(".gitignore", "pics/\n")
    line.put("pics/a.png", "2")
    line.commit()
    assert line.at("pics/a.png") == b"2"


@pytest.mark.parametrize("pattern", ["[", "a**/b\\", "*" * 50, "?" * 3000, "\\", "!", "/"])
def test_a_pattern_that_makes_no_sense_harms_nothing(line: Timeline, pattern: str) -> None:
    line.put(".gitignore", pattern + "\n")
    line.put(".strongroomignore", pattern + "\n")
    line.put("n.md")
    line.put("a" * 100 + ".bin")
    line.commit()
    assert "n.md" in line.names()


def test_an_ignore_file_that_is_a_link_or_huge_is_bounded(line: Timeline) -> None:
    (line.vault / ".strongroomignore").symlink_to("/dev/zero")
    line.put("n.md")
    line.put("f/.gitignore", b"*.bin\n" + b"# more\n" * 100_000)
    line.put("f/x.bin")
    line.commit()
    assert line.names() == {"n.md", "f/.gitignore"}


@pytest.mark.parametrize(
    "name", [".git", ".GIT", "git~1", ".git.", ".git ", ".g\u200cit", ".git::$INDEX", ".gitmodules", "a\\.git"]
)
def test_gits_own_names_are_known_in_every_disguise(name: str) -> None:
    assert exclusions.is_gits(name)


@pytest.mark.parametrize(
    "name", ["git", "gitlab.md", ".github", ".gitignore", "Git notes.md", "git~2 notes.md", "日本.md", "a\\b.md"]
)
def test_names_that_only_look_like_gits_are_notes(name: str) -> None:
    assert not exclusions.is_gits(name)
