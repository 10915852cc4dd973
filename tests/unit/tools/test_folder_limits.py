"""What a grant that is limited to folders may do at the edges: twins, links, ways, the trash, settings, other people's trouble.

That it sees nothing else is asked as a whole in `tests/property/test_folder_limits.py` and `tests/wire/test_folder_limits.py`.
"""

from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from service.auth.budget import Budget
from service.auth.model import READ, SCOPES, Grant
from service.errors import Forbidden, HistoryHeld
from service.guards import paths
from service.store.journal import Before, Record, Renamed, digest
from service.tools.context import MAX_LIMITED_ROOMS, Room, Rooms
from tests.support.clock import HeldClock
from tests.support.rooms import close, room_for, settings_for
from tests.support.toolpaths import Desk, desk_over
from tests.support.vaults import lay_out

NFC, NFD = "Café", unicodedata.normalize("NFD", "Café")


class Place:
    """A vault, its room, and limited clients of it."""

    def __init__(self, folder: Path, room: Room, clock: HeldClock) -> None:
        self.folder, self.room, self.clock = folder, room, clock

    @contextmanager
    def limited(self, *folders: str, name: str = "reader", scopes: Sequence[str] = SCOPES) -> Iterator[Desk]:
        grant = grant_for(*folders, name=name, scopes=scopes)
        with desk_over(self.room, grant) as desk:
            yield desk

    def commit(self) -> str:
        commits = self.room.history.commit("test").commits
        self.clock.move(timedelta(hours=1))
        return commits[-1][:12]


def grant_for(*folders: str, name: str = "reader", scopes: Sequence[str] = SCOPES) -> Grant:
    return Grant("g1", "static", name, frozenset(scopes), datetime(2026, 1, 1, tzinfo=UTC), folders=folders)


@contextmanager
def place_in(folder: Path, **settings: str) -> Iterator[Place]:
    clock = HeldClock.at("2026-03-01T12:00:00")
    chosen = settings_for(folder, **settings)
    room = room_for(chosen, clock)
    try:
        yield Place(chosen.vault, room, clock)
    finally:
        close(room)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with place_in(tmp_path) as place:
        lay_out(place.folder, {"Projects/a.md": "one\n", "Other/secret.md": "two\n"})
        yield place


# -- which folder a name means --------------------------------------------------------------------------------------------


def test_a_folder_that_differs_in_case_is_another_folder(place: Place) -> None:
    """Our decision (docs/explanation/sign-in.md): a permission for `Projects` does not open `projects`."""
    lay_out(place.folder, {"projects/a.md": "a twin\n"})
    with place.limited("Projects") as desk:
        assert "one" in desk.call("read_note", {"path": "Projects/a.md"}).text
        assert desk.call("read_note", {"path": "projects/a.md"}).code == "NOT_FOUND"
    with place.limited("PROJECTS") as desk:
        assert desk.call("list_notes", {}).text.startswith('{"notes":[],"total":0')


def test_a_name_means_the_folder_with_the_same_letters_when_there_is_none_spelled_so(place: Place) -> None:
    """macOS composes names otherwise than a person types them."""
    lay_out(place.folder, {f"{NFD}/a.md": "the only one\n"})
    with place.limited(NFC) as desk:
        assert "the only one" in desk.call("read_note", {"path": f"{NFC}/a.md"}).text
        assert not desk.call("create_note", {"path": f"{NFC}/b.md", "content": "x\n"}).is_error
    assert (place.folder / NFD / "b.md").exists()
    assert not (place.folder / NFC).exists()


def test_of_two_folders_of_the_same_letters_the_one_that_is_spelled_so_is_meant(place: Place) -> None:
    """The other one is as if it were not there."""
    lay_out(place.folder, {f"{NFC}/a.md": "the one\n", f"{NFD}/a.md": "the other\n", f"{NFD}/b.md": "the other\n"})
    for spelled, found in ((NFC, "the one"), (NFD, "the other")):
        with place.limited(spelled) as desk:
            assert found in desk.call("read_note", {"path": f"{spelled}/a.md"}).text
            assert json.loads(desk.call("list_notes", {}).text)["total"] == (1 if spelled == NFC else 2)


def test_a_permission_stays_with_the_name_when_a_folder_is_renamed(place: Place) -> None:
    """Our decision: it does not follow the folder, and holds for what has the name next."""
    with place.limited("Projects") as desk:
        assert not desk.call("read_note", {"path": "Projects/a.md"}).is_error
        (place.folder / "Projects").rename(place.folder / "Moved")
        assert desk.call("read_note", {"path": "Projects/a.md"}).code == "NOT_FOUND"
        assert desk.call("read_note", {"path": "Moved/a.md"}).code == "NOT_FOUND"
        (place.folder / "Other").rename(place.folder / "Projects")
        assert "two" in desk.call("read_note", {"path": "Projects/secret.md"}).text


def test_the_way_to_a_folder_is_bare_and_only_there_when_the_folder_is(place: Place) -> None:
    """Brief: parents of an allowed folder are visible only as far as needed to reach it."""
    lay_out(place.folder, {"Work/secret.md": "x\n", "Work/Other/b.md": "x\n"})
    with place.limited("Work/Clients") as desk:
        assert json.loads(desk.call("list_directory", {}).text)["total"] == 0
        assert desk.call("list_directory", {"path": "Work"}).code == "NOT_FOUND"
        assert not desk.call("create_note", {"path": "Work/Clients/a.md", "content": "x\n"}).is_error
        assert json.loads(desk.call("list_directory", {"path": "Work"}).text)["total"] == 1
        assert desk.call("read_note", {"path": "Work/secret.md"}).code == "NOT_FOUND"
        assert desk.call("move_note", {"from": "Work", "to": "Work2", "folder": True}).code == "FORBIDDEN"
        tree = desk.call("get_vault_tree", {}).text
    assert "Other" not in tree
    assert (place.folder / "Work/Clients/a.md").read_text() == "x\n"


def test_a_granted_folder_is_made_though_one_that_differs_in_case_is_there(place: Place) -> None:
    """A refusal would tell that the other one is there."""
    (place.folder / "Projects").rename(place.folder / "projects")
    with place.limited("Projects") as desk:
        said = desk.call("create_note", {"path": "Projects/new.md", "content": "x\n"})
    assert not said.is_error
    assert sorted(os.listdir(place.folder / "Projects")) == ["new.md"]


@pytest.mark.parametrize(
    "path", ["Other/new.md", "Other/secret.md", "Nowhere/new.md", "projects/new.md", "new.md", "Projectsx/n.md"]
)
def test_making_something_elsewhere_is_refused_alike_whatever_there_is(place: Place, path: str) -> None:
    """Brief: the same sentence whether something is there or not, naming only the folders that are allowed."""
    with place.limited("Projects") as desk:
        for tool, more in (
            ("create_note", {"path": path, "content": "x"}),
            ("move_note", {"from": "Projects/a.md", "to": path}),
        ):
            assert desk.call(tool, more).text == (
                "FORBIDDEN: this token is limited to Projects/; choose a path there. Nothing was changed."
            )
    assert (place.folder / "Projects/a.md").exists()


def test_a_grant_whose_folders_cannot_be_read_sees_nothing(place: Place) -> None:
    """Fails closed: no folder of that name can be, so nobody knows what was meant."""
    rooms = Rooms(lambda: place.room)
    for name in ("", "..", ".obsidian", "a//b"):
        with pytest.raises(Forbidden, match="cannot be read"):
            rooms.of(grant_for(name))


def test_rooms_are_remembered_and_only_so_many(place: Place) -> None:
    """Building one costs a look at the whole history; a client with many names must not fill the memory."""
    rooms = Rooms(lambda: place.room)
    first = rooms.of(grant_for("Projects"))
    assert rooms.of(grant_for("Projects")) is first
    assert rooms.of(grant_for("Projects", name="another")) is not first
    assert rooms.of(grant_for()) is place.room
    for number in range(MAX_LIMITED_ROOMS):
        rooms.of(grant_for(f"Folder {number}"))
    assert rooms.of(grant_for("Projects")) is not first


# -- links ------------------------------------------------------------------------------------------------------------------


def test_symbolic_links_out_of_the_folders_lead_nowhere(tmp_path: Path) -> None:
    """Brief: STRONGROOM_SYMLINKS=inside follows links within the vault; a limited client's stop at the border."""
    with place_in(tmp_path, SYMLINKS="inside") as place:
        lay_out(place.folder, {"Projects/a.md": "one\n", "Other/secret.md": "two\n"})
        for name, words in (("out", "../Other"), ("note.md", "../Other/secret.md"), ("in.md", "a.md")):
            (place.folder / "Projects" / name).symlink_to(words)
        (place.folder / "Linked").symlink_to("Other")
        with place.limited("Projects") as desk:
            assert "one" in desk.call("read_note", {"path": "Projects/in.md"}).text
            for path in ("Projects/out/secret.md", "Projects/out/nowhere.md", "Projects/note.md"):
                said = desk.call("read_note", {"path": path})
                assert said.code == "NOT_FOUND"
                assert "Other" not in said.text
            for path in ("Projects/out/new.md", "Projects/out/secret.md"):
                said = desk.call("create_note", {"path": path, "content": "x"})
                assert said.code == "FORBIDDEN"
                assert "Other" not in said.text
        with place.limited("Linked") as desk:
            assert desk.call("read_note", {"path": "Linked/secret.md"}).code == "NOT_FOUND"
            assert desk.call("create_note", {"path": "Linked/new.md", "content": "x"}).code == "FORBIDDEN"
        assert sorted(os.listdir(place.folder / "Other")) == ["secret.md"]


def test_a_move_leaves_the_links_outside_as_they_are(place: Place) -> None:
    """Our decision: a limited client neither writes there nor hears of them; a name that stays unique still leads there."""
    lay_out(place.folder, {"Other/links.md": "[[a]] [[Projects/a]]\n", "Projects/b.md": "[[a]]\n"})
    with place.limited("Projects") as desk:
        said = json.loads(desk.call("move_note", {"from": "Projects/a.md", "to": "Projects/c.md"}).text)
    assert [one["path"] for one in said["changed"]] == ["Projects/b.md"]
    assert (place.folder / "Projects/b.md").read_text() == "[[c]]\n"
    assert (place.folder / "Other/links.md").read_text() == "[[a]] [[Projects/a]]\n"


# -- the trash ----------------------------------------------------------------------------------------------------------------


def test_what_was_deleted_comes_back_also_before_a_commit_has_it(place: Place) -> None:
    """Brief: undelete sees what came from the folders."""
    with place.limited("Projects") as desk:
        assert not desk.call("create_note", {"path": "Projects/quick.md", "content": "quick\n"}).is_error
        for path in ("Projects/quick.md", "Projects/a.md"):
            deleted = desk.call("delete_note", {"path": path})
            assert ".trash/Projects/" in deleted.text
            assert '"source":"trash"' in desk.call("undelete_note", {"path": path}).text
    assert (place.folder / "Projects/quick.md").read_text() == "quick\n"


def test_what_obsidian_put_into_the_trash_from_elsewhere_does_not_come_back(place: Place) -> None:
    """Obsidian trashes the folder Other/Projects as .trash/Projects; what is in it never was in Projects."""
    lay_out(
        place.folder,
        {".trash/Projects/gone.md": "from Other/Projects\n", ".trash/Projects/a.md": "from Other/Projects\n"},
    )
    with place.limited("Projects") as desk:
        assert desk.call("undelete_note", {"path": "Projects/gone.md"}).code == "NOT_FOUND"
        assert not desk.call("delete_note", {"path": "Projects/a.md"}).is_error
        assert not desk.call("undelete_note", {"path": "Projects/a.md"}).is_error
    assert (place.folder / "Projects/a.md").read_text() == "one\n"


# -- settings that lie outside ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kept",
    [
        {},
        {"folder": "Other/Daily"},
        {"folder": "projects"},
        {"format": "[Other/]YYYY LL"},
        {"folder": "../out"},
        {"folder": ".obsidian"},
        {"folder": "Projects", "format": "LLLL"},
    ],
)
def test_a_daily_note_that_belongs_elsewhere_is_refused_alike(place: Place, kept: dict[str, str]) -> None:
    """Our decision: the settings are followed for a limited client as well; one sentence covers all that lead elsewhere."""
    lay_out(place.folder, {".obsidian/daily-notes.json": json.dumps(kept), "Other/Daily/2026-03-01.md": "x"})
    said = set()
    with place.limited("Projects") as desk:
        for tool, more in (("get_daily_note", {}), ("create_daily_note", {}), ("append_daily_note", {"text": "x"})):
            said.add(desk.call(tool, more).text)
    [sentence] = said
    assert sentence.startswith("FORBIDDEN: this vault has no place for daily notes in Projects/, which is all")
    assert "Other" not in sentence


def test_a_client_that_is_limited_to_the_daily_folder_keeps_a_daily_note(place: Place) -> None:
    """Brief; the template lies outside, so it is as if none were named."""
    settings = {"folder": "Journal", "template": "Other/secret"}
    lay_out(place.folder, {".obsidian/daily-notes.json": json.dumps(settings)})
    with place.limited("Journal") as desk:
        made = json.loads(desk.call("create_daily_note", {}).text)
        assert (made["created"], made["template"], made["notice"]) == (True, "", "")
        assert "12:00 a line" in desk.call("append_daily_note", {"text": "a line"}).text
    assert (place.folder / "Journal/2026-03-01.md").read_text() == "- 12:00 a line\n"


def test_a_template_in_the_folder_is_used_and_called_by_its_own_path(place: Place) -> None:
    """What the settings call it might say more."""
    settings = {"folder": "Projects", "template": "/Projects/Day"}
    lay_out(place.folder, {".obsidian/daily-notes.json": json.dumps(settings), "Projects/Day.md": "# {{title}}\n"})
    with place.limited("Projects") as desk:
        assert json.loads(desk.call("create_daily_note", {}).text)["template"] == "Projects/Day.md"
    assert (place.folder / "Projects/2026-03-01.md").read_text() == "# 2026-03-01\n"


def test_a_note_of_ones_own_cannot_stand_in_for_a_template_elsewhere(place: Place) -> None:
    """Obsidian takes the shortest path that ends as the settings say; that would tell what they say."""
    settings = {"folder": "Projects", "template": "Templates/Day"}
    lay_out(place.folder, {".obsidian/daily-notes.json": json.dumps(settings), "Projects/Templates/Day.md": "mine\n"})
    with place.limited("Projects") as desk:
        assert json.loads(desk.call("create_daily_note", {}).text)["template"] == ""
    assert (place.folder / "Projects/2026-03-01.md").read_text() == ""


def test_what_a_box_means_is_a_setting_of_the_whole_vault(place: Place) -> None:
    """Our decision: the Tasks plugin's settings hold for a limited client too, and are never shown."""
    statuses = {
        "statusSettings": {
            "customStatuses": [{"symbol": "z", "name": "secret", "nextStatusSymbol": "x", "type": "DONE"}]
        }
    }
    lay_out(
        place.folder,
        {
            ".obsidian/plugins/obsidian-tasks-plugin/data.json": json.dumps(statuses),
            "Projects/t.md": "- [z] done\n- [ ] open\n",
        },
    )
    with place.limited("Projects") as desk:
        listed = json.loads(desk.call("list_tasks", {"status": "done"}).text)
    assert [task["symbol"] for task in listed["tasks"]] == ["z"]


# -- history ------------------------------------------------------------------------------------------------------------------


def test_moments_and_revisions_count_the_commits_of_the_folders_alone(place: Place) -> None:
    """Brief: paging, `~1` and what history begins with must not tell how many commits lie outside."""
    lay_out(place.folder, {"Other/secret.md": "older\n"})
    (place.folder / "Projects/a.md").unlink()
    place.commit()
    for text in ("one\n", "two\n"):
        lay_out(place.folder, {"Other/secret.md": f"{text} x\n"})
        place.commit()
        lay_out(place.folder, {"Projects/a.md": text})
        place.commit()
    with place.limited("Projects") as desk:
        assert json.loads(desk.call("list_changes", {"limit": 1}).text)["total"] == 2
        assert "one" in desk.call("read_note_version", {"path": "Projects/a.md", "revision": "~1"}).text
        assert "It holds 2 commits." in desk.call("read_note_version", {"path": "Projects/a.md", "revision": "~2"}).text
        assert (
            "It begins 2026-03-01 14:00 UTC."
            in desk.call("read_note_version", {"path": "Projects/a.md", "at": "2026-03-01 13:30"}).text
        )


def test_a_limited_client_restores_what_was_in_its_folders_and_nothing_else(place: Place) -> None:
    """A restore commits the present first, of the whole vault; the answer tells of the note alone."""
    place.commit()
    lay_out(place.folder, {"Projects/a.md": "changed\n", "Other/secret.md": "changed\n"})
    with place.limited("Projects") as desk:
        assert desk.call("restore_note", {"path": "Other/secret.md"}).code == "NOT_FOUND"
        assert not desk.call("restore_note", {"path": "Projects/a.md"}).is_error
    assert (place.folder / "Projects/a.md").read_text() == "one\n"
    assert (place.folder / "Other/secret.md").read_text() == "changed\n"


def test_waiting_writes_are_counted_in_the_folders_alone(place: Place) -> None:
    """Brief: pending counts too."""
    with place.limited(name="whole") as desk:
        for number in range(3):
            desk.call("create_note", {"path": f"Other/{number}.md", "content": "x"})
        desk.call("create_note", {"path": "Projects/n.md", "content": "x"})
    with place.limited("Projects") as desk:
        assert json.loads(desk.call("list_changes", {}).text)["uncommitted"] == 1


# -- other people's trouble -----------------------------------------------------------------------------------------------


def test_a_held_history_does_not_say_which_folder_is_missing(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Brief: HistoryHeld names folders."""

    def held(*_: object, **__: object) -> None:
        raise HistoryHeld("all 40 notes of 'Other' are gone at once.")

    place.commit()
    lay_out(place.folder, {"Projects/a.md": "changed\n"})
    monkeypatch.setattr(type(place.room.history), "commit", held)
    with place.limited("Projects") as desk:
        said = desk.call("restore_note", {"path": "Projects/a.md"})
    assert said.code == "UNAVAILABLE"
    assert "Other" not in said.text
    assert "40" not in said.text


def test_another_clients_unfinished_change_is_settled_and_not_told_of(place: Place) -> None:
    """A move that a kill cut short is taken back by whoever moves next, wherever it was."""
    there, to = paths.tracked("Other/secret.md"), paths.tracked("Other/moved.md")
    lay_out(place.folder, {"Other/links.md": "[[moved]]\n", "Projects/b.md": "[[a]]\n"})
    before = Before(paths.tracked("Other/links.md"), b"[[secret]]\n", digest(b"[[moved]]\n"))
    place.room.vault.journal.write(Record((before,), (Renamed(there, to),)))
    with place.limited("Projects") as desk:
        said = desk.call("move_note", {"from": "Projects/a.md", "to": "Projects/c.md"})
    assert not said.is_error
    assert "Other" not in said.text
    assert (place.folder / "Other/links.md").read_text() == "[[secret]]\n"


def test_another_clients_change_that_is_stuck_is_not_named(place: Place) -> None:
    """ChangeUnfinished names files of whoever made the change."""
    lay_out(place.folder, {"Projects/b.md": "[[a]]\n"})
    (place.folder / "Other/links.md").mkdir()
    before = Before(paths.tracked("Other/links.md"), b"x\n", digest(b"y\n"))
    place.room.vault.journal.write(
        Record((before,), (Renamed(paths.tracked("Other/n.md"), paths.tracked("Other/m.md")),))
    )
    with place.limited("Projects") as desk:
        said = desk.call("move_note", {"from": "Projects/a.md", "to": "Projects/c.md"})
    assert (
        said.text
        == "UNAVAILABLE: this cannot be done just now; try again in a while, ask for a smaller part, or tell the owner."
    )


def test_limits_of_every_kind_hold_together(tmp_path: Path) -> None:
    """Brief: the write budget, read-only and the folders compose."""
    with place_in(tmp_path, LOW_TRUST="Projects/Clips") as place:
        lay_out(
            place.folder,
            {"Projects/a.md": "one\n", "Projects/Clips/b.md": "from outside\n", "Other/secret.md": "two\n"},
        )
        place.room = replace(place.room, budget=Budget(1))
        with place.limited("Projects") as desk:
            assert "low trust" in desk.call("read_note", {"path": "Projects/Clips/b.md"}).text
            assert not desk.call("append_to_note", {"path": "Projects/a.md", "content": "x"}).is_error
            assert (
                "STRONGROOM_WRITE_BUDGET" in desk.call("append_to_note", {"path": "Projects/a.md", "content": "x"}).text
            )
            assert "limited to Projects/" in desk.call("create_note", {"path": "n.md", "content": "x"}).text
        with place.limited("Projects", scopes=(READ,)) as desk:
            assert desk.call("append_to_note", {"path": "Projects/a.md", "content": "x"}).code == "FORBIDDEN"
            assert desk.call("read_note", {"path": "Other/secret.md"}).code == "NOT_FOUND"
