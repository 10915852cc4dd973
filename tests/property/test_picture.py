"""After any changes, made by whomever, the picture that has seen them all answers as one that is new."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.guards.paths import ROOT
from service.vault import browsing, listing, tags, tasks
from service.vault.model import Vault
from service.vault.picture.picture import Picture
from tests.support.desk import Desk, desk_in

NAMES: Final = ["a.md", "b.md", "é.md", "p.png", "n.txt"]
FOLDERS: Final = ["", "x", "x/y", "Clippings", ".hidden"]
TEXTS: Final = [
    "",
    "#one and #one/two\n",
    "- [ ] do 📅 2026-03-02\n- [x] done #one\n",
    "---\ntags: [One]\n---\n<!-- #hidden -->\n- [ ] more\n",
    "caf\xe9 #three\n",
]

PLACE = st.tuples(st.sampled_from(FOLDERS), st.sampled_from(NAMES)).map(lambda place: "/".join(filter(None, place)))
STEP = st.one_of(
    st.tuples(st.just("write"), PLACE, st.sampled_from(TEXTS)),
    st.tuples(st.just("append"), PLACE, st.sampled_from(TEXTS)),
    st.tuples(st.just("remove"), PLACE, st.just("")),
    st.tuples(st.just("rename"), PLACE, PLACE),
    st.tuples(st.just("move folder"), st.sampled_from(FOLDERS[1:]), st.sampled_from(FOLDERS[1:])),
)


@settings(max_examples=25)
@given(st.lists(STEP, min_size=1, max_size=12))
def test_answers_after_any_changes_are_those_of_a_new_picture(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, str]]
) -> None:
    """issue 6: never from a state older than the moment the call came in, whoever changed the files."""
    desk = desk_in(tmp_path_factory.mktemp("vault"))
    for step in steps:
        _do(desk.folder, *step)
        assert _answers(desk.vault) == _answers(_new(desk)), step


def _new(desk: Desk) -> Vault:
    return replace(desk.vault, picture=Picture(desk.vault.files.root))


def _answers(vault: Vault) -> list[object]:
    return [
        tags.count(vault, limit=50),
        tasks.find(vault, tasks.Query(status=None)),
        tasks.find(vault, tasks.Query(limit=1, offset=1, include_low_trust=True)),
        listing.newest(vault, limit=50),
        listing.newest(vault, limit=2, offset=1, include_low_trust=True),
        listing.by_path(vault),
        listing.tree(vault, depth=9, limit=50),
        browsing.stats(vault, 5),
        browsing.directory(vault, ROOT, limit=50),
    ]


def _do(vault: Path, kind: str, first: str, second: str) -> None:
    place = vault / first
    match kind:
        case "write" | "append":
            if not place.parent.is_file():
                place.parent.mkdir(parents=True, exist_ok=True)
                with place.open("ab" if kind == "append" else "wb") as file:
                    file.write(second.encode("latin-1" if "\xe9" in second else "utf-8"))
        case "remove":
            place.unlink(missing_ok=True)
        case "rename" if place.is_file():
            (vault / second).parent.mkdir(parents=True, exist_ok=True)
            place.rename(vault / second)
        case "move folder" if place.is_dir() and not f"{second}/".startswith(f"{first}/"):
            if (vault / second).exists():
                shutil.rmtree(vault / second)
            if place.is_dir():
                (vault / second).parent.mkdir(parents=True, exist_ok=True)
                place.rename(vault / second)
