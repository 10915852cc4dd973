"""What stands on the disk where a path leads: links, FIFOs, sockets, devices, folders, giants, twins; for every tool.

guards.md 2.3 and 6, 23 to 28; complaints.md 33 and 37. Each is tried with openat2 and with the walk that takes its place.
The places are found in the catalogue (tests/support/toolpaths.py), so a new tool is covered by itself.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from service.store.files import version_of
from service.store.root import Root
from tests.support.rooms import close, room_for, settings_for
from tests.support.toolpaths import NOTES, Desk, Kind, Place, Said, desk_over, places
from tests.support.vaults import lay_out
from tests.wire.test_tools import TASK

SECRET = "the-secret-of-the-outside"
OF_HISTORY = ("list_changes", "note_history", "read_note_version")
"""Tools that look into history alone and never at the disk."""
RESTORES = ("restore_note", "undelete_note", "diff_note")
"""Tools to which whatever stands in the note's place is in the way, or nothing that history knows."""
OUT, NO_FILE, INVALID, TAKEN, GONE = "OUTSIDE_VAULT", "NOT_A_FILE", "INVALID_PATH", "ALREADY_EXISTS", "NOT_FOUND"
ORDINARY = f"{TASK}one\ntwo\n\n# Log\n"
"""A note that every tool can work on."""
VERSION = version_of(ORDINARY.encode())
PLACES = [
    replace(place, others={**place.others, **({"expected_hash": VERSION} if "expected_hash" in place.others else {})})
    for place in places()
]
WITHIN_S = 20
"""Bound of one call. A FIFO that is opened plainly hangs for ever."""


@dataclass(frozen=True)
class House:
    """A vault, what lies outside of it, and whoever calls tools on it."""

    folder: Path
    desk: Desk

    @property
    def vault(self) -> Path:
        return self.folder / "vault"

    @property
    def outside(self) -> Path:
        return self.folder / "outside"

    def lay_out(self) -> None:
        """As at the beginning."""
        for folder in (self.vault, self.outside):
            for path in folder.iterdir():
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        lay_out(self.vault, {**NOTES, "odd.md": "was a note\n", "folder/odd.md": "was a note\n"})
        lay_out(self.outside, {"n.md": SECRET, "odd.md": SECRET})

    def seen(self) -> dict[str, tuple[int, bytes]]:
        """Everything outside, and when it was changed."""
        return {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in self.outside.iterdir()}


@pytest.fixture(scope="module", params=["openat2", "walk"])
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("house")
    for name in ("vault", "outside"):
        (folder / name).mkdir()
    settings = settings_for(folder)
    room = room_for(settings, root=Root(settings.vault, use_openat2=None if request.param == "openat2" else False))
    if request.param == "openat2" and not room.vault.files.root.has_openat2:
        pytest.skip("openat2 is forbidden here, or this kernel does not have it: the walk is tried")
    with desk_over(room) as desk:
        house = House(folder, desk)
        house.lay_out()
        room.history.commit("start", may_use_child=False)  # what is a note now can be restored later
        yield house
    close(room)


@pytest.fixture
def house(built: House) -> House:
    built.lay_out()
    return built


def in_time(desk: Desk, place: Place, raw: str) -> Said:
    """Call, and fail when it does not come back."""
    before = signal.signal(signal.SIGALRM, _too_late)
    signal.setitimer(signal.ITIMER_REAL, WITHIN_S)
    try:
        return desk.call(place.tool, place.with_path(raw))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _too_late(*_: object) -> None:
    raise AssertionError("the call hangs")


def refused(said: Said, codes: set[str], place: Place) -> None:
    if place.tool in RESTORES:
        codes = codes | {TAKEN, GONE}  # it may know no other version than the one it took at the beginning
    if place.tool in OF_HISTORY:
        assert not said.is_error  # of the note that was there before; the disk was not asked
    elif place.parameter == "exclude_paths":
        assert not said.is_error
    else:
        assert said.code in codes, said.text
    assert SECRET not in said.text


LINKS: dict[str, Callable[[Path, Path], object]] = {
    "absolute": lambda link, outside: link.symlink_to(outside),
    "relative": lambda link, outside: link.symlink_to(f"../outside/{outside.name}"),
    "to itself": lambda link, _: link.symlink_to(link.name),
    "dangling": lambda link, _: link.symlink_to("nowhere.md"),
    "inside": lambda link, _: link.symlink_to("old.md"),
    "through proc": lambda link, outside: link.symlink_to(f"/proc/self/root{outside}"),
}
"""None is followed, also those that stay inside."""


@pytest.mark.parametrize("how", LINKS)
@pytest.mark.parametrize("place", PLACES, ids=str)
def test_a_link_in_the_place_of_a_note_is_not_followed(house: House, place: Place, how: str) -> None:
    """Bar 21 without the race; complaints.md 33."""
    odd = house.vault / "odd.md"
    odd.unlink()
    LINKS[how](odd, house.outside / "odd.md")
    before, target = house.seen(), os.readlink(odd)
    said = in_time(house.desk, place, "odd.md")
    refused(said, {TAKEN} if place.kind is Kind.NEW else {OUT}, place)
    assert os.readlink(odd) == target
    assert house.seen() == before


@pytest.mark.parametrize("how", ["absolute", "relative", "inside", "dangling"])
@pytest.mark.parametrize("place", PLACES, ids=str)
def test_a_link_in_the_place_of_a_folder_is_not_followed(house: House, place: Place, how: str) -> None:
    """Nothing is made below it either."""
    folder = house.vault / "folder"
    (folder / "odd.md").unlink()
    folder.rmdir()
    folder.symlink_to({"absolute": str(house.outside), "relative": "../outside", "inside": "era"}.get(how, "nowhere"))
    before = house.seen()
    raw = {Kind.FOLDER: "folder", Kind.NEW: "folder/deeper/made.md"}.get(place.kind, "folder/odd.md")
    refused(in_time(house.desk, place, raw), {OUT}, place)
    assert house.seen() == before
    assert {f"era/{path.name}" for path in (house.vault / "era").iterdir()} <= NOTES.keys()


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        here = os.open(path.parent, os.O_RDONLY)
        try:
            made.bind(f"/proc/self/fd/{here}/{path.name}")  # a socket's own path may have 107 bytes at most
        finally:
            os.close(here)


ODD: dict[str, Callable[[Path], object]] = {
    "FIFO": os.mkfifo,
    "socket": _socket,
    "folder": lambda path: path.mkdir(),
    "device": lambda path: os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 5)),
}


@pytest.mark.parametrize("what", ODD)
@pytest.mark.parametrize("place", PLACES, ids=str)
def test_what_is_no_regular_file_is_refused_at_once(house: House, place: Place, what: str) -> None:
    """Bar 23; an endless device (/dev/zero) is never read."""
    if what == "device" and os.geteuid() != 0:
        pytest.skip("only root can make a device")
    odd = house.vault / "odd.md"
    odd.unlink()
    ODD[what](odd)
    codes = {Kind.NEW: {TAKEN}, Kind.FOLDER: {"", GONE} if what == "folder" else {INVALID}}.get(place.kind, {NO_FILE})
    said = in_time(house.desk, place, "odd.md")
    refused(said, codes, place)
    assert not odd.is_file()


@pytest.mark.parametrize("what", ODD)
def test_listing_and_searching_pass_over_what_is_no_regular_file(house: House, what: str) -> None:
    """Bar 23."""
    if what == "device" and os.geteuid() != 0:
        pytest.skip("only root can make a device")
    (house.vault / "odd.md").unlink()
    ODD[what](house.vault / "odd.md")
    (house.vault / "link.md").symlink_to(house.outside / "n.md")
    for tool, arguments in (
        ("list_notes", {}),
        ("list_recent", {}),
        ("search_notes", {"query": "e"}),
        ("search_notes", {"query": "odd"}),
    ):
        said = house.desk.call(tool, arguments)
        assert not said.is_error
        assert '"odd.md"' not in said.text
        assert "link.md" not in said.text
        assert SECRET not in said.text
    assert "old.md" in house.desk.call("list_notes", {}).text
    assert house.desk.resource("note://odd.md").is_error
    assert house.desk.resource("note://link.md").code == OUT


@pytest.mark.parametrize("place", [place for place in PLACES if place.kind is not Kind.FILE], ids=str)
def test_a_file_of_a_tebibyte_is_refused_by_its_size(house: House, place: Place) -> None:
    """Bar 24: a sparse file shows no blocks; it is refused before a byte of it is read."""
    with (house.vault / "odd.md").open("wb") as file:
        file.truncate(1 << 40)
    codes = {Kind.NEW: {TAKEN}, Kind.FOLDER: {INVALID}}.get(place.kind, {"TOO_LARGE"})
    refused(in_time(house.desk, place, "odd.md"), codes, place)
    assert (house.vault / "odd.md").stat().st_size == 1 << 40


WRITTEN = [place for place in PLACES if place.kind is Kind.WRITTEN and place.tool != "undelete_note"]
"""Where a note that is there is changed; undelete_note refuses each, see test_past.py."""


@pytest.mark.parametrize("place", WRITTEN, ids=str)
def test_a_write_leaves_the_other_name_of_a_hard_link_as_it_was(house: House, place: Place) -> None:
    """Bar 25: a write replaces the name, it never writes through to the other."""
    other, odd = house.outside / "other.md", house.vault / "odd.md"
    odd.write_text(ORDINARY)
    os.link(odd, other)
    said = in_time(house.desk, place, "odd.md")
    assert not said.is_error, said.text
    assert other.read_text() == ORDINARY
    assert not odd.exists() or not odd.samefile(other)


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_two_names_of_the_same_letters_are_ambiguous_to_every_tool(house: House, place: Place) -> None:
    """Bar 27; complaints.md 37: ext4, xfs, btrfs and tmpfs keep NFC and NFD as two files."""
    vault = house.vault
    for name in ("Caf\u00e9", "Cafe\u0301"):
        lay_out(vault, {f"{name}.md": ORDINARY, f"{name} folder/x.md": "one\n"})
    is_folder = place.kind is Kind.FOLDER
    raw = "Caf\u00e9 folder" if is_folder else "Caf\u00e9.md"
    codes = {TAKEN} if place.kind is Kind.NEW else {"AMBIGUOUS_PATH"}
    said = in_time(house.desk, place, raw)
    if place.tool in OF_HISTORY:
        assert said.code in ("", GONE)  # nothing of it was committed yet
    else:
        refused(said, codes, place)
    assert len([path for path in vault.iterdir() if path.name.startswith("Caf")]) == 4


@pytest.mark.parametrize("place", WRITTEN, ids=str)
def test_a_name_in_the_other_encoding_means_the_note_that_is_there(house: House, place: Place) -> None:
    """complaints.md 37: no twin is made."""
    lay_out(house.vault, {"Cafe\u0301.md": ORDINARY})
    said = in_time(house.desk, place, "Caf\u00e9.md")
    assert said.code in ("", GONE), said.text  # history may not know it yet
    assert not (house.vault / "Caf\u00e9.md").exists()


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_a_name_of_255_bytes_works_and_one_of_256_is_refused(house: House, place: Place) -> None:
    """Bar 26."""
    longest, longer = "é" * 126 + ".md", "é" * 126 + "x.md"
    assert [len(name.encode()) for name in (longest, longer)] == [255, 256]
    if place.kind is Kind.FOLDER:
        lay_out(house.vault, {f"{longest}/x.md": ORDINARY})
    else:
        lay_out(house.vault, {longest: ORDINARY})
    if place.kind is Kind.NEW:
        expected = {INVALID}
    elif place.tool == "undelete_note":
        expected = {TAKEN}
    else:
        expected = {"", GONE} if place.tool in (*OF_HISTORY, *RESTORES) else {""}
    assert in_time(house.desk, place, longest).code in expected
    assert in_time(house.desk, place, longer).code == INVALID


def test_history_brings_no_note_back_through_a_link(house: House) -> None:
    """complaints.md: restore must never write through a link, nor make one."""
    vault = house.vault
    (vault / "folder" / "odd.md").unlink()
    (vault / "folder").rmdir()
    (vault / "folder").symlink_to(house.outside)
    before = house.seen()
    said = house.desk.call("restore_note", {"path": "folder/odd.md"})
    assert said.is_error
    assert house.seen() == before


UNDER_SECCOMP = """
import sys, pytest
from tests.support.seccomp import forbid
forbid(437, int(sys.argv[1]))
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-m", "not long", *sys.argv[2:]]))
"""


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOSYS])
def test_everything_here_holds_where_openat2_is_forbidden(number: int, tmp_path: Path) -> None:
    """Bar 28: a real seccomp filter, as old engines have it (EPERM), and the answer of an old kernel (ENOSYS)."""
    done = subprocess.run(
        [sys.executable, "-c", UNDER_SECCOMP, str(number), __file__, f"--basetemp={tmp_path / 'inner'}"],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    told = re.search(r"(\d+) passed, (\d+) skipped", done.stdout)
    assert told is not None
    assert int(told[1]) > 200
