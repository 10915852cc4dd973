"""The history as its owner meets it: committed by the clock, brought back exactly, readable by plain git."""

from __future__ import annotations

import pytest

from tests.container.conftest import Start
from tests.support.appliance import Appliance, Folders

VERSIONS = (
    b"# Kept\r\n\r\nfirst, with CRLF\r\n",
    b"\xef\xbb\xbf# Kept\n\nsecond, with a byte order mark and no last line break",
    "# Kept\n\nthird: hyvää yötä, 系統, \u200d\n\n\n".encode(),
)


def test_next_scheduled_commit_holds_a_written_an_edited_and_a_deleted_note(start: Start, folders: Folders) -> None:
    """issue 2: a note written by a tool, one edited from outside and one deleted from outside are in the next
    scheduled commit."""
    folders.write("Edited.md", b"before\n")
    folders.write("Deleted.md", b"going\n")
    folders.write("Stays.md", b"stays\n")
    appliance = start(env={"STRONGROOM_COMMIT_EVERY": "2s", "STRONGROOM_COMMIT_QUIET": "1s"})
    appliance.wait_for(
        lambda: folders.has_history() and folders.committed("Deleted.md") == b"going\n", 60, "commit at start"
    )

    appliance.call(appliance.token(), "create_note", path="Written.md", content="by a tool\n")
    folders.write("Edited.md", b"after\n")
    (folders.vault / "Deleted.md").unlink()
    expected = {"Written.md": b"by a tool\n", "Edited.md": b"after\n", "Deleted.md": None, "Stays.md": b"stays\n"}
    appliance.wait_for(
        lambda: {name: folders.committed(name) for name in expected} == expected, 60, "commit what changed, on its own"
    )
    folders.fsck()


def test_a_clock_without_changes_commits_nothing(start: Start, folders: Folders) -> None:
    """issue 2: nothing changed, no commit."""
    appliance = start(env={"STRONGROOM_COMMIT_EVERY": "0.2s"})
    for expected in (1, 2, 3):
        folders.write("Note.md", f"{expected}\n".encode())
        appliance.wait_for(
            lambda: folders.has_history() and folders.committed("Note.md") == folders.read("Note.md"), 60, "commit"
        )
        for _ in range(5):  # each takes about as long as the clock does
            assert appliance.health().code == 0
        assert folders.git("rev-list", "--count", "HEAD") == str(expected)


@pytest.mark.parametrize("way", ["command", "tool"])
def test_each_of_three_versions_comes_back_byte_identical(start: Start, folders: Folders, way: str) -> None:
    """issue 2: three changes over three commits, each restored byte-identical, through the CLI and through the tool."""
    appliance = start(env={"STRONGROOM_COMMIT_EVERY": "0"})
    token = appliance.token()
    revisions = []
    for version in VERSIONS:
        folders.write("Folder/Kept.md", version)
        appliance.cli("commit")
        revisions.append(folders.git("rev-parse", "HEAD"))
        assert folders.committed("Folder/Kept.md") == version
    assert len(set(revisions)) == 3

    for revision, version in ((revisions[n], VERSIONS[n]) for n in (0, 2, 1)):
        restore(appliance, way, token, "Folder/Kept.md", revision)
        assert folders.read("Folder/Kept.md") == version
        assert folders.committed("Folder/Kept.md") == version
    (folders.vault / "Folder/Kept.md").unlink()
    restore(appliance, way, token, "Folder/Kept.md", revisions[0])
    assert folders.read("Folder/Kept.md") == VERSIONS[0]
    assert folders.git("rev-list", "HEAD").split()[-3:] == revisions[::-1], "history is only ever added to"
    folders.fsck()


def restore(appliance: Appliance, way: str, token: str, path: str, revision: str) -> None:
    if way == "command":
        appliance.cli("restore", path, "--revision", revision, "--yes")
    else:
        appliance.call(token, "restore_note", path=path, revision=revision)
