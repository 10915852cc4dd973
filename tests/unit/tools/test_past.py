"""list_changes, note_history and restore_note, through a client, over a real history."""

from __future__ import annotations

import hashlib
import os
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import anyio
import pytest

from service.guards import limits
from service.tools import past, writing
from tests.support.calling import Caller, calling
from tests.support.clock import HeldClock
from tests.support.desk import Desk, desk_in

pytestmark = pytest.mark.anyio


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A desk at noon of 2026-03-01 UTC, whose owner lives in Berlin."""
    return desk_in(tmp_path, HeldClock.at("2026-03-01T12:00:00", zone="Europe/Berlin"))


@pytest.fixture
async def caller(desk: Desk) -> AsyncIterator[Caller]:
    async with calling(desk.room, [*past.SPECS, *writing.SPECS]) as caller:
        yield caller


def commit(desk: Desk) -> str:
    """Commit what is there, let an hour pass; the revision as tools name it."""
    report = desk.room.history.commit("test")
    desk.clock.move(timedelta(hours=1))
    return report.commits[-1][:12]


async def test_changes_are_listed_newest_first_with_who_made_them(caller: Caller, desk: Desk) -> None:
    """contract.md, list_changes."""
    desk.put({"outside.md": "x", ".obsidian/app.json": "{}"})
    first = commit(desk)
    await caller.facts("create_note", path="a/tool.md", content="one")
    second = commit(desk)
    facts = await caller.facts("list_changes")
    assert (facts["total"], facts["next_offset"], facts["uncommitted"]) == (2, None, 0)
    newest, oldest = facts["changes"]  # type: ignore[misc]
    assert (newest["revision"], newest["by"], newest["time"]) == (second, "this machine", "2026-03-01T14:00:00+01:00")
    assert newest["files"] == [{"action": "added", "path": "a/tool.md", "old_path": None}]
    assert (oldest["revision"], oldest["by"], oldest["added"]) == (first, "", 2)
    assert [file["path"] for file in oldest["files"]] == ["outside.md"]


async def test_changes_can_be_asked_for_by_time_and_folder(caller: Caller, desk: Desk) -> None:
    """contract.md, list_changes."""
    revisions = []
    for name in ("a/1.md", "b/2.md", "a/3.md"):
        desk.put({name: "x"})
        revisions.append(commit(desk))

    async def asked(**arguments: object) -> list[str]:
        facts = await caller.facts("list_changes", **arguments)
        return [change["revision"] for change in facts["changes"]]  # type: ignore[attr-defined]

    assert await asked(path_prefix="a") == [revisions[2], revisions[0]]
    assert await asked(since="2026-03-01 14:00") == [revisions[2], revisions[1]]
    assert await asked(until="2 hours ago") == [revisions[1], revisions[0]]
    assert await asked(limit=1, offset=1) == [revisions[1]]


async def test_writes_that_wait_for_their_commit_are_counted(caller: Caller, desk: Desk) -> None:
    """Our decision: a model that has just written should not think it is lost."""
    await caller.facts("create_note", path="n.md", content="one")
    facts = await caller.facts("list_changes")
    assert (facts["changes"], facts["uncommitted"]) == ([], 1)
    refusal = await caller.refusal("note_history", path="n.md")
    assert refusal.startswith(
        "NOT_FOUND: history has no version of 'n.md'. A new note is in history about a minute after a tool's"
    )


async def test_the_versions_of_a_note_name_what_a_read_reported(caller: Caller, desk: Desk) -> None:
    """contract.md, note_history: across renames and deletion."""
    desk.put({"n.md": "a long enough text to be known again\n"})
    first = commit(desk)
    (desk.folder / "n.md").rename(desk.folder / "m.md")
    second = commit(desk)
    await caller.facts("append_to_note", path="m.md", content="more")
    third = commit(desk)
    last = desk.bytes_of("m.md")
    await caller.facts("delete_note", path="m.md")
    fourth = commit(desk)
    facts = await caller.facts("note_history", path="m.md")
    assert facts["total"] == 4
    told = [(v["revision"], v["action"], v["path"], v["by"], v["bytes"]) for v in facts["versions"]]  # type: ignore[attr-defined]
    assert told == [
        (fourth, "removed", "m.md", "this machine", None),
        (third, "changed", "m.md", "this machine", len(last)),
        (second, "renamed", "m.md", "", 37),
        (first, "added", "n.md", "", 37),
    ]
    versions = [v["version"] for v in facts["versions"]]  # type: ignore[attr-defined]
    assert versions[:2] == [None, hashlib.sha256(last).hexdigest()[:12]]


async def test_hidden_files_are_counted_and_never_named(caller: Caller, desk: Desk) -> None:
    """contract.md, HIDDEN_PATH: a deletion shows as one, not as a move into the trash."""
    desk.put({"n.md": "a long enough text to be known again\n", ".obsidian/app.json": "{}"})
    commit(desk)
    await caller.facts("delete_note", path="n.md")
    desk.put({".obsidian/app.json": '{"a": 1}'})
    commit(desk)
    everything = await caller.text("list_changes")
    assert ".trash" not in everything
    assert ".obsidian" not in everything
    assert '{"action":"removed","path":"n.md","old_path":null}' in everything


async def test_an_answer_names_a_bounded_number_of_files(caller: Caller, desk: Desk) -> None:
    """contract.md, limits."""
    for round_ in range(3):
        desk.put({f"{round_}/{number}.md": "x" for number in range(80)})
        commit(desk)
    facts = await caller.facts("list_changes", limit=50)
    assert [len(change["files"]) for change in facts["changes"]] == [8, 8, 8]  # type: ignore[attr-defined]
    assert {change["added"] for change in facts["changes"]} == {80}  # type: ignore[attr-defined]
    assert len((await caller.facts("list_changes", limit=1))["changes"][0]["files"]) == 50  # type: ignore[index]


async def test_a_note_is_restored_byte_for_byte_and_that_can_be_undone(caller: Caller, desk: Desk) -> None:
    """contract.md, restore_note: the present state is recorded first; history is never rewritten."""
    old = b"\xef\xbb\xbfold\r\ntext\r\n"
    desk.put({"n.md": old})
    first = commit(desk)
    desk.put({"n.md": "edited outside and in no commit yet\n"})
    facts = await caller.facts("restore_note", path="n.md", revision=first)
    assert desk.bytes_of("n.md") == old
    assert (facts["path"], facts["version"], facts["bytes"]) == ("n.md", hashlib.sha256(old).hexdigest()[:12], len(old))
    assert (facts["from_revision"], facts["from_time"]) == (first, "2026-03-01T13:00:00+01:00")
    listed = await caller.facts("note_history", path="n.md")
    assert [v["by"] for v in listed["versions"]] == ["this machine", "", ""]  # type: ignore[attr-defined]
    assert listed["versions"][0]["revision"] == facts["commit"]  # type: ignore[index]
    await caller.facts("restore_note", path="n.md", revision=listed["versions"][1]["revision"])  # type: ignore[index]
    assert desk.bytes_of("n.md") == b"edited outside and in no commit yet\n"


async def test_a_deleted_note_is_brought_back_without_naming_a_revision(caller: Caller, desk: Desk) -> None:
    """contract.md, restore_note; complaint 65."""
    desk.put({"a/n.md": "text\n"})
    commit(desk)
    await caller.facts("delete_note", path="a/n.md")
    commit(desk)
    facts = await caller.facts("restore_note", path="a/n.md")
    assert (facts["path"], desk.bytes_of("a/n.md")) == ("a/n.md", b"text\n")


async def test_a_note_is_restored_as_it_was_at_a_time(caller: Caller, desk: Desk) -> None:
    """contract.md, restore_note."""
    for text in ("one", "two", "three"):
        desk.put({"n.md": text})
        commit(desk)
    await caller.facts("restore_note", path="n.md", at="2 hours ago")
    assert desk.bytes_of("n.md") == b"two"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"path": "n.md", "revision": "ffffffffffff"}, "NOT_FOUND"),
        ({"path": "n.md", "at": "2020-01-01"}, "NOT_FOUND"),
        ({"path": "n.md", "at": "some day"}, "INVALID_ARGUMENT"),
        ({"path": "n.md", "at": "1 hour ago", "revision": "~1"}, "INVALID_ARGUMENT"),
        ({"path": "n.md", "expected_hash": "0000"}, "CONFLICT"),
        ({"path": "never.md"}, "NOT_FOUND"),
        ({"path": "../n.md"}, "INVALID_PATH"),
        ({"path": ".trash/n.md"}, "HIDDEN_PATH"),
        ({"path": ".obsidian/app.json"}, "HIDDEN_PATH"),
        ({"path": "picture.png"}, "NOT_A_NOTE"),
    ],
)
async def test_what_cannot_be_restored_is_refused_and_nothing_changes(
    caller: Caller, desk: Desk, arguments: dict[str, object], code: str
) -> None:
    """contract.md, restore_note; complaint 36: restore paths too."""
    desk.put({"n.md": "one", ".obsidian/app.json": "{}"})
    commit(desk)
    desk.put({"n.md": "two"})
    commit(desk)
    assert (await caller.refusal("restore_note", **arguments)).startswith(f"{code}: ")
    assert desk.bytes_of("n.md") == b"two"


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("list_changes", {"since": "some day"}, "INVALID_ARGUMENT"),
        ("list_changes", {"path_prefix": "../x"}, "INVALID_PATH"),
        ("list_changes", {"limit": 51}, "INVALID_ARGUMENT"),
        ("note_history", {"path": "../n.md"}, "INVALID_PATH"),
        ("note_history", {"path": ".obsidian/n.md"}, "HIDDEN_PATH"),
        ("note_history", {"path": "never.md"}, "NOT_FOUND"),
    ],
)
async def test_what_history_cannot_be_asked_is_refused(
    caller: Caller, tool: str, arguments: dict[str, object], code: str
) -> None:
    """Complaint 36: `..` in any path parameter."""
    assert (await caller.refusal(tool, **arguments)).startswith(f"{code}: ")


async def test_a_folder_that_is_named_like_a_note_is_not_restored(caller: Caller, desk: Desk) -> None:
    """contract.md, restore_note is for a note: a folder's files may be ones that tools cannot see or write."""
    desk.put({"f.md/a.md": "1", "f.md/b.md": "1", "f.md/.hidden/app.json": "1", "g.md/only.canvas": "1"})
    first = commit(desk)
    desk.put({"f.md/a.md": "2", "f.md/.hidden/app.json": "2", "g.md/only.canvas": "2"})
    commit(desk)
    for path in ("f.md", "g.md"):
        for state in ({}, {"revision": first}, {"at": "2026-03-01 13:30"}):
            assert (await caller.refusal("restore_note", path=path, **state)).startswith("NOT_A_FILE: ")
    (desk.folder / "g.md/only.canvas").unlink()
    (desk.folder / "g.md").rmdir()
    commit(desk)
    assert (await caller.refusal("restore_note", path="g.md", revision=first)).startswith("NOT_A_FILE: ")
    assert desk.bytes_of("f.md/.hidden/app.json") == b"2"
    assert not (desk.folder / "g.md").exists()


async def test_a_note_is_found_in_history_however_its_letters_are_encoded(caller: Caller, desk: Desk) -> None:
    """contract.md, Unicode names; complaint 37: by either form, also when it is gone; and by a slip of white space."""
    stored, asked = "Cafe\u0301/re\u0301sume\u0301.md", "Caf\u00e9/r\u00e9sum\u00e9.md"
    desk.put({stored: "1", "other.md": "x"})
    commit(desk)
    for path in (stored, asked, f" {asked} "):
        assert (await caller.facts("note_history", path=path))["total"] == 1
        assert (await caller.facts("list_changes", path_prefix=path))["total"] == 1
    assert (await caller.facts("list_changes", path_prefix="Caf\u00e9"))["total"] == 1
    (desk.folder / stored).unlink()
    commit(desk)
    assert (await caller.facts("note_history", path=asked))["total"] == 2
    assert (await caller.facts("restore_note", path=asked))["path"] == stored
    assert desk.bytes_of(stored) == b"1"


async def test_a_revision_that_makes_no_sense_is_refused_at_once_and_not_said_back(caller: Caller, desk: Desk) -> None:
    """guards.md test 60: what a pattern takes long to read is not read; the way out is one that a tool has."""
    desk.put({"a.md": "x"})
    commit(desk)
    with anyio.fail_after(5):
        refusal = await caller.refusal("restore_note", path="a.md", revision="~" * 1_000_000 + "x")
    assert len(refusal) < 200
    refusal = await caller.refusal("restore_note", path="a.md", revision="zzz")
    assert (
        refusal
        == "NOT_FOUND: history has no revision 'zzz'. Give an id that the history lists, or ~1 for the one before."
    )


HIDING = "seen <!-- xylograph -->\n"


async def test_an_old_version_is_read_as_read_note_reads_it(caller: Caller, desk: Desk) -> None:
    """contract.md, read_note_version; complaint 65: read-at-revision."""
    desk.put({"n.md": "one <!-- x -->\r\ntwo\r\n"})
    first = commit(desk)
    desk.put({"n.md": "three\n"})
    commit(desk)
    version = hashlib.sha256(b"one <!-- x -->\r\ntwo\r\n").hexdigest()[:12]
    head = f"[n.md | 21 bytes | version {version} | {first} 2026-03-01T13:00:00+01:00]"
    whole = f"{head}\n[hidden: 1 comment left out]\none \r\ntwo\r\n"
    assert await caller.text("read_note_version", path="n.md", revision=first) == whole
    assert await caller.text("read_note_version", path="n.md", at="2026-03-01 13:30") == whole
    assert await caller.text("read_note_version", path="n.md") == whole  # the last that differs from now
    part = await caller.text("read_note_version", path="n.md", revision=first, start_line=2, end_line=2)
    assert part.endswith("\n[lines 2-2 of 2]\ntwo\r\n")


async def test_the_version_of_a_note_that_never_changed_is_the_one_there_is(caller: Caller, desk: Desk) -> None:
    """Our decision: nothing differs, so the newest."""
    desk.put({"n.md": "one\n"})
    commit(desk)
    assert (await caller.text("read_note_version", path="n.md")).endswith("\none\n")


async def test_a_deleted_and_a_renamed_note_are_read_under_the_names_they_had(caller: Caller, desk: Desk) -> None:
    """contract.md, read_note_version; complaint 65."""
    desk.put({"a/n.md": "a long enough text to be known again\n", "other.md": "x"})
    first = commit(desk)
    (desk.folder / "a/n.md").rename(desk.folder / "m.md")
    second = commit(desk)
    (desk.folder / "m.md").unlink()
    third = commit(desk)
    assert (await caller.text("read_note_version", path="m.md", revision=first)).startswith("[a/n.md | 37 bytes")
    assert (await caller.text("read_note_version", path="a/n.md", revision=first)).startswith("[a/n.md | 37 bytes")
    assert (await caller.text("read_note_version", path="m.md")).startswith("[m.md | 37 bytes")
    refusal = await caller.refusal("read_note_version", path="m.md", revision=third)
    assert refusal.startswith("NOT_FOUND: history has no 'm.md' at that time. note_history lists")
    assert (await caller.refusal("read_note_version", path="a/n.md", revision=second)).startswith("NOT_FOUND: ")


async def test_what_was_no_note_is_not_read(caller: Caller, desk: Desk) -> None:
    """contract.md, refused path: hidden files, links and folders are out of reach in history too."""
    text = "a long enough text to be known again\n"
    desk.put({"f.md/in.md": "x", ".obsidian/was.md": text, "was.key": text + text})
    (desk.folder / "l.md").symlink_to("/etc/passwd")
    first = commit(desk)
    (desk.folder / ".obsidian/was.md").rename(desk.folder / "hidden.md")
    (desk.folder / "was.key").rename(desk.folder / "key.md")
    commit(desk)
    for path, code in (
        ("f.md", "NOT_A_FILE"),
        ("l.md", "NOT_FOUND"),
        ("hidden.md", "NOT_FOUND"),
        ("key.md", "NOT_FOUND"),
    ):
        refusal = await caller.refusal("read_note_version", path=path, revision=first)
        assert refusal.startswith(f"{code}: "), path
        assert "passwd" not in refusal
    assert "known again" in await caller.text("read_note_version", path="hidden.md")


async def test_a_canvas_of_the_past_is_an_outline_too(caller: Caller, desk: Desk) -> None:
    """decisions.md 16: the guard of canvases holds for old ones."""
    desk.put({"c.canvas": '{"nodes": [{"id": "1", "type": "text", "text": "card <!-- xylograph -->"}], "edges": []}'})
    commit(desk)
    shown = await caller.text("read_note_version", path="c.canvas")
    assert "card" in shown
    assert "xylograph" not in shown


async def test_two_versions_are_compared_in_what_is_shown_of_them(caller: Caller, desk: Desk) -> None:
    """contract.md, diff_note: unified; hidden text of neither."""
    desk.put({"n.md": f"one\ntwo\n{HIDING}"})
    first = commit(desk)
    desk.put({"n.md": f"one\r\n2\r\n{HIDING.replace('xylo', 'litho')}"})
    second = commit(desk)
    desk.put({"n.md": "now\n"})
    text = await caller.text("diff_note", path="n.md", **{"from": first, "to": second})
    head, hidden, *diff = text.split("\n")
    assert head.startswith(f"[n.md | from {first} 2026-03-01T13:00:00+01:00, version ")
    assert f" | to {second} 2026-03-01T14:00:00+01:00, version " in head
    assert hidden == "[hidden: 1 comment left out]"
    assert diff == ["@@ -1,3 +1,3 @@", " one", "-two", "+2", " seen "]
    till_now = await caller.text("diff_note", path="n.md", **{"from": "2026-03-01 13:30"})
    assert " | to now, version " in till_now
    assert "+now" in till_now
    backwards = await caller.text("diff_note", path="n.md", **{"from": second, "to": "~1"})
    assert "-2\n+two" in backwards
    assert "graph" not in text + till_now + backwards


async def test_what_differs_only_where_nobody_sees_it_is_told_so(caller: Caller, desk: Desk) -> None:
    """guards.md 4: counted, never shown."""
    desk.put({"n.md": HIDING})
    commit(desk)
    desk.put({"n.md": HIDING.replace("xylo", "litho")})
    assert "[no difference in what is shown: " in await caller.text("diff_note", path="n.md", **{"from": "HEAD"})
    desk.put({"n.md": HIDING})
    assert "[the two are the same]" in await caller.text("diff_note", path="n.md", **{"from": "HEAD"})


async def test_words_are_marked_on_request(caller: Caller, desk: Desk) -> None:
    """contract.md, diff_note."""
    desk.put({"n.md": "head\n\nThe quick brown fox jumps.\n\ntail\n"})
    commit(desk)
    desk.put({"n.md": "head\n\nThe quick red fox jumps high.\n\ntail\n"})
    text = await caller.text("diff_note", path="n.md", words=True, **{"from": "HEAD"})
    assert "\n~The quick [-brown-]{+red+} fox jumps{+ high+}.\n" in text


async def test_a_diff_is_bounded_and_says_what_is_left_out(caller: Caller, desk: Desk) -> None:
    """contract.md, limits: a cut text says so."""
    desk.put({"n.md": "".join(f"old {number} {'x' * 200}\n" for number in range(1500))})
    commit(desk)
    desk.put({"n.md": "".join(f"new {number} {'x' * 200}\n" for number in range(1500))})
    text = await caller.text("diff_note", path="n.md", **{"from": "HEAD"})
    assert len(text) <= limits.MAX_RESULT_CHARS
    assert text.endswith("the rest of the diff is not shown; read_note_version shows either version whole")


async def test_a_deleted_note_has_no_now_to_compare_with(caller: Caller, desk: Desk) -> None:
    """The sentence says what to do."""
    desk.put({"n.md": "x\n"})
    commit(desk)
    (desk.folder / "n.md").unlink()
    refusal = await caller.refusal("diff_note", path="n.md", **{"from": "HEAD"})
    assert refusal.startswith("NOT_FOUND: ")
    assert "give `to` as well" in refusal


async def test_a_deleted_note_comes_back_from_the_trash(caller: Caller, desk: Desk) -> None:
    """Complaint 39; contract.md, undelete_note."""
    await caller.facts("create_note", path="a/n.md", content="first\n")
    await caller.facts("delete_note", path="a/n.md")
    await caller.facts("create_note", path="a/n.md", content="second\n")
    await caller.facts("delete_note", path="a/n.md")
    back = await caller.facts("undelete_note", path="a/n.md")
    assert desk.bytes_of("a/n.md") == b"second\n"
    assert (back["path"], back["source"], back["bytes"]) == ("a/n.md", "trash", 7)
    assert [(str(change.path), change.before, change.after) for change in desk.told[-2:]][1] == (
        "a/n.md",
        None,
        b"second\n",
    )
    assert (await caller.refusal("undelete_note", path="a/n.md")).startswith("ALREADY_EXISTS: ")
    assert desk.bytes_of("a/n.md") == b"second\n"
    (desk.folder / "a/n.md").unlink()
    assert (await caller.facts("undelete_note", path="a/n.md"))["source"] == "trash"
    assert desk.bytes_of("a/n.md") == b"first\n"
    assert [path for path in (desk.folder / ".trash").rglob("*") if path.is_file()] == []


async def test_what_is_not_in_the_trash_comes_back_from_history(caller: Caller, desk: Desk) -> None:
    """contract.md, undelete_note; complaint 65: as a new change."""
    desk.put({"n.md": b"\xef\xbb\xbfone\r\n\xff", "other.md": "x"})
    first = commit(desk)
    (desk.folder / "n.md").unlink()
    commit(desk)
    back = await caller.facts("undelete_note", path="n.md")
    assert desk.bytes_of("n.md") == b"\xef\xbb\xbfone\r\n\xff"
    assert back["source"] == f"{first} 2026-03-01T13:00:00+01:00"
    assert desk.told[-1].before is None


async def test_a_note_in_the_other_encoding_is_the_one_that_was_deleted(caller: Caller, desk: Desk) -> None:
    """Complaint 37."""
    desk.put({"Cafe\u0301/n\u0303.md": "x\n"})
    await caller.facts("delete_note", path="Caf\u00e9/\u00f1.md")
    assert (await caller.facts("undelete_note", path="Caf\u00e9/\u00f1.md"))["source"] == "trash"
    assert len([path for path in desk.folder.rglob("*.md") if path.is_file()]) == 1


async def test_a_name_that_is_one_to_many_devices_is_in_the_way(caller: Caller, desk: Desk) -> None:
    """contract.md: never overwrites, and no twin is made."""
    desk.put({"N.md": "other\n", ".trash/n.md": "x\n"})
    assert (await caller.refusal("undelete_note", path="n.md")).startswith("ALREADY_EXISTS: ")
    assert (desk.folder / ".trash/n.md").exists()


async def test_a_renamed_note_was_not_deleted(caller: Caller, desk: Desk) -> None:
    """Otherwise there would be two of it."""
    desk.put({"n.md": "a long enough text to be known again\n"})
    commit(desk)
    (desk.folder / "n.md").rename(desk.folder / "m.md")
    commit(desk)
    refusal = await caller.refusal("undelete_note", path="n.md")
    assert refusal.startswith("INVALID_ARGUMENT: 'n.md' was not deleted but renamed to 'm.md'")


async def test_a_link_in_the_trash_leads_nowhere(caller: Caller, desk: Desk) -> None:
    """guards.md 2.3."""
    (desk.folder / ".trash").mkdir()
    (desk.folder.parent / "secret.md").write_text("secret")
    (desk.folder / ".trash/n.md").symlink_to(desk.folder.parent / "secret.md")
    assert (await caller.refusal("undelete_note", path="n.md")).startswith("NOT_FOUND: ")
    assert not (desk.folder / "n.md").exists()


async def test_a_trash_that_is_a_link_is_not_looked_into(caller: Caller, desk: Desk) -> None:
    """guards.md 2.3."""
    (desk.folder.parent / "elsewhere").mkdir()
    (desk.folder.parent / "elsewhere/n.md").write_text("secret")
    (desk.folder / ".trash").symlink_to(desk.folder.parent / "elsewhere")
    assert (await caller.refusal("undelete_note", path="n.md")).startswith("NOT_FOUND: ")
    assert (desk.folder.parent / "elsewhere/n.md").exists()


async def test_a_restore_says_that_something_else_stands_in_the_place(caller: Caller, desk: Desk) -> None:
    """It said that there is no other version."""
    desk.put({"n.md": "x\n"})
    commit(desk)
    (desk.folder / "n.md").unlink()
    os.mkfifo(desk.folder / "n.md")
    assert (await caller.refusal("restore_note", path="n.md")).startswith("NOT_A_FILE: ")
