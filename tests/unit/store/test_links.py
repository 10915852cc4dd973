"""Symbolic links: followed by none unless the owner asks, and then only those that stay inside.

guards.md 2.3, symlinks; decisions.md 11; complaints 33 and 34.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.errors import NoteNotFound, PathRefused
from service.guards import paths
from service.guards.trust import LowTrust
from service.store.files import VaultFiles
from service.store.root import Root
from tests.support.disk import allow, at, texts

LINKS = {
    "Alias.md": "Projects/Real.md",
    "Short": "Projects",
    "Projects/up.md": "../Root.md",
    "Projects/again.md": "./.././Alias.md",
    "Deep": "Short/Sub",
    "Clip": "Clippings",
    "Out.md": "../outside.md",
    "OutFolder": "..",
    "Absolute.md": "{vault}/Root.md",
    "Roundabout.md": "Projects/../Root.md",
    "Me.md": "Me.md",
    "One": "Two",
    "Two": "One",
    "Settings": ".obsidian",
    "Hidden.md": ".obsidian/secret.md",
    "Data.md": "data.json",
    "Nowhere.md": "Missing.md",
    "Proc": "../../../../../../proc/self/root",
}
NOTES = {
    "Root.md": "root",
    "Projects/Real.md": "real",
    "Projects/Sub/Low.md": "low",
    "Clippings/c.md": "clip",
    ".obsidian/secret.md": "hidden",
    "data.json": "{}",
}


@pytest.fixture
def linked(vault: Path) -> Path:
    for name, text in NOTES.items():
        (vault / name).parent.mkdir(parents=True, exist_ok=True)
        (vault / name).write_text(text)
    (vault.parent / "outside.md").write_text("outside")
    for name, target in LINKS.items():
        (vault / name).symlink_to(target.format(vault=vault))
    return vault


@pytest.fixture(params=["openat2", "walk"])
def following(linked: Path, request: pytest.FixtureRequest) -> Iterator[VaultFiles]:
    root = Root(linked, use_openat2=None if request.param == "openat2" else False)
    made = VaultFiles(root, follows_links=True)
    yield made
    made.close()
    root.close()


@pytest.mark.parametrize(
    ("asked", "real"),
    [
        ("Alias.md", "Projects/Real.md"),
        ("Short/Real.md", "Projects/Real.md"),
        ("Projects/up.md", "Root.md"),
        ("Projects/again.md", "Projects/Real.md"),
        ("Short/up.md", "Root.md"),
        ("Deep/Low.md", "Projects/Sub/Low.md"),
        ("Clip/c.md", "Clippings/c.md"),
        ("Root.md", "Root.md"),
    ],
)
def test_a_link_that_stays_inside_is_read_under_the_real_name(following: VaultFiles, asked: str, real: str) -> None:
    """So that history, trust and every list know one name for one note."""
    found = following.read(at(asked))
    assert (str(found.path), found.data) == (real, NOTES[real].encode())


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ("Out.md", "OUTSIDE_VAULT"),
        ("OutFolder/outside.md", "OUTSIDE_VAULT"),
        ("Absolute.md", "OUTSIDE_VAULT"),
        ("Roundabout.md", "OUTSIDE_VAULT"),
        ("Me.md", "OUTSIDE_VAULT"),
        ("One/x.md", "OUTSIDE_VAULT"),
        ("Settings/secret.md", "HIDDEN_PATH"),
        ("Hidden.md", "HIDDEN_PATH"),
        ("Data.md", "NOT_A_NOTE"),
        ("Proc/etc/hostname.md", "OUTSIDE_VAULT"),
    ],
)
def test_a_link_that_leads_elsewhere_is_refused(following: VaultFiles, asked: str, code: str) -> None:
    """Out of the vault, in circles, to where no path may lead, or to another type of file."""
    with pytest.raises(PathRefused) as refused:
        following.read(at(asked))
    assert refused.value.code == code


def test_a_link_to_nothing_is_not_found(following: VaultFiles) -> None:
    """As any other name."""
    with pytest.raises(NoteNotFound):
        following.read(at("Nowhere.md"))


def test_without_the_setting_no_link_is_followed(linked: Path) -> None:
    """The default (guards.md 2.3): Obsidian itself warns against links."""
    root = Root(linked)
    files = VaultFiles(root)
    for asked in ("Alias.md", "Short/Real.md", "Projects/up.md"):
        with pytest.raises(PathRefused, match="symbolic link"):
            files.read(at(asked))
    root.close()


def test_no_write_goes_through_a_link_that_is_the_last_part(following: VaultFiles, linked: Path) -> None:
    """guards.md 2.3. What is read to be changed is read without it."""
    before = texts(linked)
    with pytest.raises(PathRefused, match="symbolic link"):
        following.read(at("Alias.md"), follow_last=False)
    with pytest.raises(PathRefused, match="symbolic link"):
        following.move_unread(at("Short"), at("Elsewhere"), allow)
    assert texts(linked) == before


def test_a_write_below_a_linked_folder_lands_in_the_real_one(following: VaultFiles, linked: Path) -> None:
    """And is told by its real name."""
    made = following.create(paths.new_note("Short/Made/New.md"), b"new", allow)
    assert str(made.path) == "Projects/Made/New.md"
    assert (linked / "Projects/Made/New.md").read_bytes() == b"new"
    old = following.read(at("Deep/Low.md"), follow_last=False)
    following.replace(old, b"lower", allow)
    assert (linked / "Projects/Sub/Low.md").read_bytes() == b"lower"
    moved = following.move(following.read(at("Root.md"), follow_last=False), at("Clip/Root.md"), allow)
    assert str(moved.path) == "Clippings/Root.md"
    with pytest.raises(PathRefused):
        following.create(paths.new_note("OutFolder/New.md"), b"new", allow)
    with pytest.raises(PathRefused):
        following.create(paths.new_note("Settings/New.md"), b"new", allow)
    assert not (linked.parent / "New.md").exists()


def test_links_are_never_listed(following: VaultFiles) -> None:
    """Each note once, under its own name; circles do no harm."""
    listed = sorted(str(entry.path) for entry in following.walk())
    assert listed == sorted(name for name in NOTES if name.endswith(".md") and not name.startswith("."))
    below = sorted(str(entry.path) for entry in following.walk(at("Short")))
    assert below == ["Projects/Real.md", "Projects/Sub/Low.md"]


def test_trust_is_a_matter_of_the_real_folder(following: VaultFiles) -> None:
    """A link to Clippings makes no clipping trusted."""
    assert LowTrust.of(("Clippings",)).holds(following.read(at("Clip/c.md")).path)


def test_a_link_swapped_all_the_time_leads_nowhere(following: VaultFiles, linked: Path) -> None:
    """The words of a link are read once, and the path made of them is opened without following anything."""
    done = threading.Event()

    def swap() -> None:
        folder, turn = linked / "Swapped", 0
        while not done.is_set():
            turn += 1
            if turn % 2:
                folder.symlink_to("..")
            else:
                folder.symlink_to("Projects")
            folder.unlink()

    (linked.parent / "Real.md").write_text("outside")
    swapper = threading.Thread(target=swap)
    swapper.start()
    read = refused = 0
    try:
        for _ in range(3000):
            try:
                assert following.read(at("Swapped/Real.md")).data == b"real"
                read += 1
            except (PathRefused, NoteNotFound):
                refused += 1
    finally:
        done.set()
        swapper.join()
    assert refused
