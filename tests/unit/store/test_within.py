"""A limited view of the vault's files refuses by itself, whoever calls it and however carelessly."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from service.errors import AppError, Forbidden, NoteNotFound
from service.guards import folders, paths
from service.guards.folders import Scope
from service.guards.paths import VaultPath
from service.store import names, within
from service.store.files import FileContent, VaultFiles
from service.store.root import Root
from tests.support.vaults import lay_out

INSIDE, OUTSIDE = paths.tracked("Work/Clients/a.md"), paths.tracked("Work/secret.md")


@pytest.fixture(params=[True, False], ids=["openat2", "step by step"])
def whole(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[VaultFiles]:
    lay_out(
        tmp_path,
        {
            "Work/Clients/a.md": "one",
            "Work/secret.md": "two",
            "root.md": "x",
            "Other/b/c.md": "y",
            ".obsidian/app.json": "{}",
        },
    )
    root = Root(tmp_path, use_openat2=None if request.param else False)
    files = VaultFiles(root)
    yield files
    files.close()
    root.close()


@pytest.fixture
def view(whole: VaultFiles) -> VaultFiles:
    return whole.limited(within.scope_of(whole.root, [paths.tracked("Work/Clients")]))


def allow() -> None:
    return None


def old(whole: VaultFiles, path: VaultPath) -> FileContent:
    return whole.read_tracked(path)


DOORS: dict[str, Callable[[VaultFiles, VaultFiles], object]] = {
    "read": lambda view, _: view.read(OUTSIDE),
    "read_tracked": lambda view, _: view.read_tracked(OUTSIDE),
    "read_tracked at the root": lambda view, _: view.read_tracked(paths.tracked("root.md")),
    "read_tracked of a setting": lambda view, _: view.read_tracked(paths.tracked(".obsidian/app.json")),
    "read_settings of a note": lambda view, _: view.read_settings("Work/secret.md"),
    "locate": lambda view, _: view.locate(paths.tracked("Other")),
    "open a folder": lambda view, _: view.root.open_folder(paths.tracked("Other/b")),
    "walk": lambda view, _: list(view.walk(paths.tracked("Other"))),
    "open_folder": lambda view, _: view.open_folder(paths.tracked("Other")),
    "create": lambda view, _: view.create(paths.tracked("Work/new.md"), b"", allow),
    "create on the way": lambda view, _: view.create(paths.tracked("new.md"), b"", allow),
    "put": lambda view, _: view.put(paths.tracked("Other/new.md"), b"", 0o644, allow),
    "put over": lambda view, whole: view.put(OUTSIDE, b"", 0o644, allow, old(whole, OUTSIDE)),
    "replace": lambda view, whole: view.replace(old(whole, OUTSIDE), b"", allow),
    "move out": lambda view, whole: view.move(old(whole, INSIDE), paths.tracked("Work/a.md"), allow),
    "move in": lambda view, whole: view.move(old(whole, OUTSIDE), paths.tracked("Work/Clients/s.md"), allow),
    "move unread out": lambda view, _: view.move_unread(INSIDE, paths.tracked("a.md"), allow),
    "move unread in": lambda view, _: view.move_unread(paths.tracked("Other"), paths.tracked("Work/Clients/o"), allow),
    "trash": lambda view, whole: view.trash(old(whole, OUTSIDE), allow),
    "move to trash": lambda view, _: view.move_to_trash(OUTSIDE, paths.tracked(".trash/Work/secret.md"), allow),
    "remove": lambda view, whole: view.remove(old(whole, OUTSIDE), allow),
    "put back": lambda view, _: view.put_back(OUTSIDE, paths.tracked("Work/Clients/s.md")),
    "free place": lambda view, _: view.free_place(paths.tracked("Work/new.md")),
    "behind links": lambda view, _: view.behind_links(paths.tracked("Other/new.md")),
}


@pytest.mark.parametrize("door", DOORS)
def test_no_door_leads_out(whole: VaultFiles, view: VaultFiles, door: str, tmp_path: Path) -> None:
    """Issue 5, in one place: each door by itself, without the checks that stand before it."""
    before = {path: path.read_bytes() if path.is_file() else None for path in tmp_path.rglob("*")}
    with pytest.raises((NoteNotFound, Forbidden)) as refused:
        DOORS[door](view, whole)
    assert "b/c" not in str(refused.value)
    assert {path: path.read_bytes() if path.is_file() else None for path in tmp_path.rglob("*")} == before


def test_the_view_holds_what_is_inside_and_the_bare_way(view: VaultFiles) -> None:
    """Brief: everything that lists goes through the view."""
    assert [str(entry.path) for entry in view.walk(suffixes=("",))] == ["Work/Clients/a.md"]
    assert not view.is_there(OUTSIDE)
    assert view.is_there(INSIDE)
    assert not view.drop_folder(paths.tracked("Other"))
    assert view.read_settings(".obsidian/app.json") == b"{}"


def test_nothing_near_is_offered_from_elsewhere(view: VaultFiles) -> None:
    """Issue 5, names in errors."""
    with pytest.raises(AppError) as refused:
        view.read(paths.note("Work/Clients/secret.md"))
    assert "Work/secret.md" not in str(refused.value)


def test_a_scope_enters_by_other_spellings_and_by_nothing_else() -> None:
    """Which paths a client may write for its folders."""
    scope = Scope.of(folders.paths_of(["Work/Clients", "Café"]))
    for raw, entered in {
        "Work/Clients/a.md": "Work/Clients/a.md",
        "Work/Clients": "Work/Clients",
        "Work/ Clients /a.md": "Work/Clients/a.md",
        "Cafe\u0301/a.md": "Café/a.md",
        "work/Clients/a.md": None,
        "Work/ClientsX/a.md": None,
        "Work": None,
        "Work/a.md": None,
        "Clients/a.md": None,
    }.items():
        found = scope.entered(VaultPath(tuple(raw.split("/"))))
        assert (None if found is None else str(found)) == entered, raw
    assert scope.holds(paths.tracked(".trash/Work/Clients/a.md"))
    assert not scope.holds(paths.tracked(".trash/Work/a.md"))


@pytest.mark.parametrize(("granted", "meant"), [("work/CLIENTS", "Work/Clients"), ("Work/Clients", "Work/Clients")])
def test_on_a_disk_that_ignores_case_the_folder_is_meant_that_the_name_opens(
    whole: VaultFiles, monkeypatch: pytest.MonkeyPatch, granted: str, meant: str
) -> None:
    """Docker on macOS and SMB shares: `projects` opens `Projects` there, and lists call it so."""

    def any_case(folder: int, name: str) -> os.stat_result | None:
        real = next((one for one in names.listed(folder) if one.casefold() == name.casefold()), None)
        return None if real is None else os.stat(real, dir_fd=folder, follow_symlinks=False)

    assert within.scope_of(whole.root, [paths.tracked("work/CLIENTS")]).folders == (paths.tracked("work/CLIENTS"),)
    monkeypatch.setattr(names, "exists", any_case)
    assert within.scope_of(whole.root, [paths.tracked(granted)]).folders == (paths.tracked(meant),)


def test_two_folders_that_differ_in_case_are_two_permissions(whole: VaultFiles, tmp_path: Path) -> None:
    """Where the disk tells them apart, so do we."""
    lay_out(tmp_path, {"work/Clients/a.md": "other"})
    assert [str(folder) for folder in within.scope_of(whole.root, folders.paths_of(["work/Clients"])).folders] == [
        "work/Clients"
    ]
