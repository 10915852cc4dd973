"""`strongroom commit`, `history` and `restore`, typed by a person or a script. Source: issue 2, house.md, borg#8564."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ops import diffs, exits
from ops.__main__ import main
from ops.commands import strongroom
from tests.support.timeline import run_git
from tests.support.vaults import lay_out
from tests.unit.ops.conftest import House


def typed(*words: str) -> Result:
    """Run a command; an error of ours becomes its exit code, as in __main__."""
    result = CliRunner().invoke(strongroom, words)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def said(*words: str) -> Any:
    """What a command prints with --json."""
    return json.loads(typed(*words, "--json").stdout)


def texts(house: House) -> dict[str, bytes]:
    return {str(path.relative_to(house.vault)): path.read_bytes() for path in house.vault.rglob("*") if path.is_file()}


@pytest.fixture
def three(house: House) -> list[str]:
    """Three commits of one note, oldest first, and a second note since the second."""
    ids = []
    for number in range(3):
        lay_out(house.vault, {"n.md": f"text {number}\n"})
        if number == 1:
            lay_out(house.vault, {"f/second.md": "second\n"})
        ids += said("commit")["commits"]
    return ids


def test_commit_says_what_it_did_and_the_second_time_that_there_is_nothing(house: House) -> None:
    lay_out(house.vault, {"a.md": "one\n", "link": "x"})
    (house.vault / "link").unlink()
    (house.vault / "link").symlink_to("a.md")
    done = typed("commit")
    assert done.stdout.endswith("  vault: 1 added\n")
    assert "left as it was in history: link is a symbolic link" in done.stderr
    again = typed("commit")
    assert (again.stdout, again.exit_code) == ("", 0)
    assert "nothing has changed since the last commit." in again.stderr


def test_commit_as_json_tells_a_script_everything(house: House) -> None:
    lay_out(house.vault, {"a.md": "one\n"})
    facts = said("commit")
    assert (facts["added"], facts["changed"], facts["removed"], facts["problems"]) == (1, 0, 0, [])
    head = run_git(["--git-dir", str(house.state / "history.git"), "rev-parse", "HEAD"]).decode().strip()
    assert facts["commits"] == [head]


def test_a_suddenly_empty_vault_is_not_committed_until_the_owner_says_so(
    house: House, capsys: pytest.CaptureFixture[str]
) -> None:
    lay_out(house.vault, {"a.md": "one\n"})
    typed("commit")
    (house.vault / "a.md").unlink()
    assert main(["commit"]) == exits.UNAVAILABLE
    assert "strongroom commit --accept-deletions" in capsys.readouterr().err
    assert said("commit", "--accept-deletions")["removed"] == 1


def test_history_lists_commits_newest_first(house: House, three: list[str]) -> None:
    shown = typed("history").stdout
    assert [line.split()[0] for line in shown.splitlines()[1:]] == [found[:10] for found in reversed(three)]
    assert "1 added, 1 changed" in shown
    assert "f/second.md, n.md" in shown


def test_history_of_a_note_lists_its_versions(house: House, three: list[str]) -> None:
    facts = said("history", "n.md")
    assert facts["total"] == 3
    assert [(found["id"], found["action"], found["size"]) for found in facts["versions"]] == [
        (three[2], "changed", 7), (three[1], "changed", 7), (three[0], "added", 7),
    ]  # fmt: skip
    assert typed("history", "n.md").stdout.count("n.md") == 3


def test_history_of_a_folder_lists_the_commits_that_touched_it(house: House, three: list[str]) -> None:
    facts = said("history", "f")
    assert [found["id"] for found in facts["commits"]] == [three[1]]
    assert facts["commits"][0]["files"] == [{"action": "added", "path": "f/second.md", "old_path": None}]


def test_history_comes_in_pages_and_says_how_to_go_on(house: House, three: list[str]) -> None:
    page = typed("history", "--limit", "2")
    assert "2 of 3; more with --offset 2." in page.stderr
    assert [found["id"] for found in said("history", "--limit", "2", "--offset", "2")["commits"]] == [three[0]]


def test_history_takes_times(house: House, three: list[str]) -> None:
    assert said("history", "--since", "1 hour ago")["total"] == 3
    assert said("history", "--until", "yesterday")["total"] == 0


def test_an_empty_history_is_said(house: House) -> None:
    assert "history holds no change" in typed("history").stderr


def test_a_restore_shows_the_difference_and_asks_and_without_a_terminal_refuses(house: House, three: list[str]) -> None:
    asked = CliRunner().invoke(strongroom, ["restore", "n.md", "--revision", three[0]])
    assert asked.exit_code == exits.USAGE
    assert "M n.md  7 bytes -> 7 bytes" in asked.stdout
    assert "-text 2\n+text 0\n" in asked.stdout
    assert "There is no terminal to answer on: add --yes if you mean it." in asked.stderr
    assert (house.vault / "n.md").read_text() == "text 2\n"


@pytest.mark.parametrize(("answer", "text"), [("y\n", "text 0\n"), ("n\n", "text 2\n")])
def test_a_restore_does_what_the_person_answers(
    house: House, three: list[str], monkeypatch: pytest.MonkeyPatch, answer: str, text: str
) -> None:
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _self: True, raising=False)
    done = CliRunner().invoke(strongroom, ["restore", "n.md", "--revision", three[0]], input=answer)
    assert "Restore 1 file?" in done.stderr
    assert (house.vault / "n.md").read_text() == text


@pytest.mark.parametrize("number", [0, 1, 2])
def test_each_of_three_states_comes_back_byte_for_byte(house: House, three: list[str], number: int) -> None:
    lay_out(house.vault, {"n.md": "unsaved\r\n"})
    done = typed("restore", "n.md", "--revision", three[number][:8], "--yes")
    assert done.exit_code == 0
    assert (house.vault / "n.md").read_text() == f"text {number}\n"
    assert "restored 1 file." in done.stderr
    undo = done.stderr.partition("to undo: strongroom ")[2].splitlines()[0].split()
    assert typed(*undo, "--yes").exit_code == 0
    assert (house.vault / "n.md").read_bytes() == b"unsaved\r\n"


def test_a_dry_run_lists_every_file_with_its_letter_and_does_nothing(house: House, three: list[str]) -> None:
    before = texts(house)
    shown = typed("restore", "--all", "--revision", three[1], "--dry-run")
    assert shown.stdout.splitlines()[:2] == ["= f/second.md  7 bytes -> 7 bytes", "M n.md  7 bytes -> 7 bytes"]
    assert texts(house) == before
    assert said("history")["total"] == 3


def test_restoring_the_vault_leaves_newer_notes_and_says_so_unless_exact(house: House, three: list[str]) -> None:
    done = typed("restore", "--all", "--revision", three[0], "--yes")
    assert "1 note newer than that will stay; --exact removes them." in done.stderr
    assert texts(house) == {"n.md": b"text 0\n", "f/second.md": b"second\n"}
    typed("restore", "--all", "--revision", three[0], "--exact", "--yes")
    assert texts(house) == {"n.md": b"text 0\n"}


def test_a_deleted_note_comes_back_without_saying_when(house: House, three: list[str]) -> None:
    shutil.rmtree(house.vault / "f")
    facts = said("restore", "f/second.md", "--yes")
    assert (house.vault / "f/second.md").read_text() == "second\n"
    assert (facts["restored"], facts["failed"]) == (1, [])
    assert [item["action"] for item in facts["items"]] == ["A"]


def test_everything_comes_back_to_a_new_machine(house: House, three: list[str]) -> None:
    kept = texts(house)
    for path in list(house.vault.iterdir()):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert typed("restore", "--all", "--yes").exit_code == 0
    assert texts(house) == kept


def test_nothing_to_restore_is_said(house: House, three: list[str]) -> None:
    done = typed("restore", "n.md", "--revision", "HEAD")
    assert done.exit_code == 0
    assert "nothing to restore: 1 file as they were then." in done.stderr


@pytest.mark.parametrize(
    "words",
    [[], ["a.md", "--all"], ["a.md", "--json"]],
)
def test_a_restore_that_cannot_be_understood_is_refused(house: House, words: list[str]) -> None:
    assert typed("restore", *words).exit_code == exits.USAGE


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["never.md"], exits.NOT_FOUND),
        (["n.md", "--revision", "ffff"], exits.NOT_FOUND),
        (["n.md", "--at", "2001-01-01"], exits.NOT_FOUND),
        (["n.md", "--at", "whenever"], exits.REFUSED),
        (["../n.md", "--revision", "HEAD"], exits.REFUSED),
        (["n.md", "--at", "now", "--revision", "HEAD"], exits.REFUSED),
    ],
)
def test_errors_end_with_the_code_of_their_branch(
    house: House, three: list[str], words: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["restore", *words, "--yes"]) == code
    assert capsys.readouterr().err.startswith("strongroom: ")


def test_what_stands_in_the_way_is_named_and_ends_with_a_conflict(
    house: House, three: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(house.vault / "f")
    lay_out(house.vault, {"f": "a file now\n"})
    assert main(["restore", "f/second.md", "--revision", three[1], "--yes"]) == exits.CONFLICT
    assert "! f/second.md" in capsys.readouterr().out
    assert (house.vault / "f").read_text() == "a file now\n"


def test_no_line_of_a_note_can_drive_the_terminal(house: House) -> None:
    lay_out(house.vault, {"n.md": "\x1b[2Jone\n"})
    typed("commit")
    lay_out(house.vault, {"n.md": "two\n"})
    shown = typed("restore", "n.md", "--dry-run").stdout
    assert "\x1b" not in shown
    assert "+\ufffd[2Jone" in shown


def test_differences_are_bounded_and_bytes_that_are_no_text_are_told_by_size() -> None:
    many = "".join(f"{number}\n" for number in range(500)).encode()
    told = list(diffs.lines("n.md", many, many.replace(b"\n", b"!\n")))
    assert len(told) == diffs.MAX_LINES_A_FILE + 1
    assert list(diffs.lines("p.png", b"\0a", None)) == ["  p.png: 2 bytes -> nothing, not shown (no text, or too long)"]
    assert [line for line in diffs.lines("n.md", b"a\r\nb", b"a\nb\n") if line[:1] in "+-"][2:] == [
        "-a\\r", "-b  (no line end)", "+a", "+b",
    ]  # fmt: skip


def test_a_name_with_a_line_break_is_one_line(house: House) -> None:
    """It must not pass for another line of the list."""
    lay_out(house.vault, {"x\nA safe.md": "1\n"})
    typed("commit")
    (house.vault / "x\nA safe.md").unlink()
    done = typed("restore", "--all", "--dry-run")
    assert done.stdout.splitlines() == ["A x\\nA safe.md  nothing -> 2 bytes"]
    assert "x\\nA safe.md" in typed("history").stdout


def test_one_damaged_note_is_named_and_the_others_come_back(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    lay_out(house.vault, {"a.md": "a then\n", "b.md": "b then\n"})
    typed("commit")
    damaged = stored(house, "HEAD:a.md")
    lay_out(house.vault, {"a.md": "a now\n", "b.md": "b now\n"})
    typed("commit")
    damaged.chmod(0o644)
    damaged.write_bytes(damaged.read_bytes()[:12])
    assert main(["restore", "--all", "--revision", "~1", "--yes"]) == exits.CONFLICT
    done = capsys.readouterr()
    assert "M a.md  6 bytes -> damaged in the history" in done.out
    assert "not restored: a.md: the history is damaged" in done.err
    assert texts(house) == {"a.md": b"a now\n", "b.md": b"b then\n"}
    assert [version["size"] for version in said("history", "a.md")["versions"]] == [6, None]


def test_a_history_that_breaks_off_is_said(house: House, three: list[str]) -> None:
    stored(house, three[0]).unlink()
    for words in ((), ("n.md",)):
        done = typed("history", *words)
        assert done.exit_code == 0
        assert "Older commits cannot be read" in done.stderr


def stored(house: House, name: str) -> Path:
    """The file of a loose object."""
    git_dir = house.state / "history.git"
    object_id = run_git(["--git-dir", str(git_dir), "rev-parse", name]).decode().strip()
    return git_dir / "objects" / object_id[:2] / object_id[2:]
