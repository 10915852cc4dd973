"""The map of links does no more than a change asks for, and keeps what it needs and no more."""

from __future__ import annotations

import os

import pytest

from service.guards.folders import Scope
from service.guards.paths import VaultPath
from service.guards.trust import ALL_TRUSTED
from service.vault import linking, links
from service.vault.linkmap import MAX_LIMITED_MAPS, LinkMaps
from service.vault.parts.linkuse import LinkKind
from service.vault.picture import packing
from service.vault.resolving import Names
from tests.support.desk import Desk
from tests.support.disk import at

NOTES = {f"n{number}.md": f"[[n{number + 1}]] and [x](nowhere.md)\n" for number in range(20)}


@pytest.fixture
def looked(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files in which a link was looked at, one entry for each link; what a first look takes is not in it."""
    told: list[str] = []
    real = linking.leads_to

    def leads_to(names: Names, target: str, kind: LinkKind, source: VaultPath) -> VaultPath | None:
        told.append(str(source))
        return real(names, target, kind, source)

    desk.put(NOTES)
    for name in NOTES:  # so old that their times are sure
        os.utime(desk.folder / name, ns=(0, 0))
    links.loose(desk.vault, limit=1)
    monkeypatch.setattr(linking, "leads_to", leads_to)
    return told


def test_nothing_is_looked_at_again_when_nothing_has_changed(desk: Desk, looked: list[str]) -> None:
    """issue 6: computed once per change."""
    assert links.loose(desk.vault, limit=50).broken.total == 21
    assert links.of(desk.vault, at("n3.md"), limit=50).incoming.total == 1
    assert looked == []


def test_a_note_that_changes_has_its_own_links_looked_at_and_no_others(desk: Desk, looked: list[str]) -> None:
    """issue 6: computed once per change."""
    desk.put({"n3.md": "[[n7]]\n"})
    assert links.loose(desk.vault, limit=50).broken.total == 20
    assert looked == ["n3.md"]


def test_a_file_that_comes_is_noticed_where_its_name_is_looked_for(desk: Desk, looked: list[str]) -> None:
    """issue 6: by the folded last part of a link's target the notes that use it are found."""
    desk.put({"deep/N20.md": ""})
    assert links.loose(desk.vault, limit=50).broken.total == 20
    assert set(looked) == {"n19.md"}


def test_a_file_that_goes_is_noticed_where_its_name_is_looked_for(desk: Desk, looked: list[str]) -> None:
    """The same; orphans among them."""
    (desk.folder / "n5.md").unlink()
    found = links.loose(desk.vault, limit=50)
    assert [str(one.path) for one in found.broken.items if one.use.target == "n5"] == ["n4.md"]
    assert at("n6.md") in found.orphans.items
    assert set(looked) == {"n4.md"}


def test_a_note_that_is_touched_and_not_changed_costs_nothing(desk: Desk, looked: list[str]) -> None:
    """search.md 5: a copy or a checkout gives every file another time."""
    for name in NOTES:
        os.utime(desk.folder / name)
    assert links.loose(desk.vault, limit=50).broken.total == 21
    assert looked == []


def test_a_snippet_is_read_from_the_notes_of_the_page_alone(
    desk: Desk, looked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """issue 6: answers come from memory."""
    desk.put({f"to{number}.md": "see [[n0]]\n" for number in range(9)})
    links.loose(desk.vault, limit=1)
    quoted: list[str] = []
    real = linking.quoting

    def quoting(path: VaultPath, data: bytes, shown: bytes) -> object:
        quoted.append(str(path))
        return real(path, data, shown)

    monkeypatch.setattr(linking, "quoting", quoting)
    found = links.of(desk.vault, at("n0.md"), limit=2, offset=3)
    assert [(str(one.path), one.snippet) for one in found.incoming.items] == [
        ("to3.md", "see [[n0]]"),
        ("to4.md", "see [[n0]]"),
    ]
    assert found.incoming.total == 9
    assert quoted == ["n0.md", "to3.md", "to4.md"]


def test_few_maps_of_limited_views_are_kept_and_that_of_the_whole_always() -> None:
    """issue 6, memory: each is a map of its own, so that nothing from outside is in it."""
    maps = LinkMaps()
    whole = maps.of(None, ALL_TRUSTED)
    scopes = [Scope.of([at(f"f{number}")]) for number in range(MAX_LIMITED_MAPS + 1)]
    limited = [maps.of(scope, ALL_TRUSTED) for scope in scopes]
    assert maps.of(scopes[-1], ALL_TRUSTED) is limited[-1]
    assert maps.of(scopes[0], ALL_TRUSTED) is not limited[0]
    assert maps.of(None, ALL_TRUSTED) is whole


def test_links_are_kept_in_a_fraction_of_their_bytes_and_come_back_the_same(desk: Desk) -> None:
    """issue 6, memory: an object takes some 500 bytes."""
    text = "---\nup: '[[a]]'\n---\n" + "[[Some note#Heading|words]] ![x](<other note.png>)\n\n[r]\n\n[r]: <y>\n" * 50
    desk.put({"n.md": text})
    note = desk.vault.picture.now().folders[at("n.md").parent].files["n.md"]
    first, again = note.links, note.links
    assert len(first) > 150
    assert again == first
    assert again is not first
    assert len(packing.pack_links(first)) < 80 * len(first)
