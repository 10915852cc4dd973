"""Folders and notes swapped for links to the outside while every tool is called, as fast as both can.

guards.md 6, 21: nothing outside is read, changed, made or taken away. The control resolves first and opens later, as the
usual way is; in the same race it is led out, so the race bites.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from service.store.root import Root
from service.tools.catalogue import SPECS
from tests.support.rooms import close, room_for, settings_for
from tests.support.swapping import INSIDE, NOTE, SECRET, swapped
from tests.support.toolpaths import Desk, Kind, desk_over, places
from tests.support.vaults import lay_out

SHORT_S, LONG_S = 0.15, float(os.environ.get("RACE_S", "4"))
MORE = {
    "append_daily_note": {"text": "a line"},
    "create_daily_note": {},
    "get_daily_note": {},
    "list_recent": {},
    "get_vault_tree": {},
    "get_vault_stats": {},
    "find_broken_links": {},
    "search": {"query": "text"},
}
"""Tools that take no path, and may still be led to one."""

Call = Callable[[int], tuple[str, dict[str, Any]]]


def targets(kind: Kind, number: int) -> str:
    """A path through the folder that is swapped, or to the note that is."""
    if kind is Kind.FOLDER:
        return "a"
    if kind is Kind.NEW:
        return f"a/made-{number}.md" if number % 3 else f"a/deep-{number}/made.md"
    return f"a/{NOTE}" if number % 2 else "f.md"


def _calls() -> Iterator[tuple[str, Call]]:
    for place in places():
        yield str(place), lambda number, place=place: (place.tool, place.with_path(targets(place.kind, number)))
    for tool, arguments in MORE.items():
        yield tool, lambda _, tool=tool, arguments=arguments: (tool, arguments)


CALLS = dict(_calls())


@dataclass
class Raced:
    """How calls ended, and what of the outside they gave away."""

    done: int = 0
    refused: int = 0
    leaks: list[str] = field(default_factory=list)

    def add(self, text: str, *, is_error: bool) -> None:
        self.refused += is_error
        self.done += not is_error
        if SECRET in text:
            self.leaks.append(text)


def race(desk: Desk, call: Call, seconds: float) -> Raced:
    raced, deadline = Raced(), time.monotonic() + seconds
    number = 0
    while time.monotonic() < deadline:
        tool, arguments = call(number)
        number += 1
        said = desk.call(tool, arguments)
        assert not said.text.startswith("INTERNAL"), said.text
        raced.add(said.text, is_error=said.is_error or bool(said.code))
    return raced


@pytest.fixture(params=["openat2", "walk"])
def has_openat2(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "openat2")


def held_secret(folder: Path) -> list[str]:
    """Files of ours that hold what stands outside; git's objects are packed, so they are asked for below."""
    return [
        str(path)
        for top in ("vault", "state")
        for path in (folder / top).rglob("*")
        if path.is_file() and not path.is_symlink() and SECRET.encode() in path.read_bytes()
    ]


@pytest.mark.parametrize(
    "seconds", [pytest.param(SHORT_S, id="short"), pytest.param(LONG_S, id="long", marks=pytest.mark.long)]
)
@pytest.mark.parametrize("name", CALLS)
def test_no_tool_is_led_out_by_a_name_that_is_swapped(
    tmp_path: Path, name: str, seconds: float, has_openat2: bool
) -> None:
    """Bar 21; complaint 33, a link made between check and use: reads of the outside, writes to it, moves out of it: none."""
    lay_out(
        tmp_path / "vault",
        {"f.md": INSIDE, f"a/{NOTE}": INSIDE, ".obsidian/daily-notes.json": json.dumps({"folder": "a"})},
    )
    settings = settings_for(tmp_path)
    room = room_for(settings, root=Root(settings.vault, use_openat2=has_openat2))
    room.history.commit("start", may_use_child=False)
    for gone in ("f.md", f"a/{NOTE}"):
        (settings.vault / gone).unlink()
    (settings.vault / "a").rmdir()
    with desk_over(room) as desk, swapped(settings.vault, tmp_path / "outside"):
        raced = race(desk, CALLS[name], seconds)
    print(f"{name}: {raced.done} done, {raced.refused} refused, {len(raced.leaks)} escapes")
    assert raced.done + raced.refused > 0
    assert raced.leaks == []
    assert [path.name for path in (tmp_path / "outside").iterdir()] == [NOTE]
    assert (tmp_path / "outside" / NOTE).read_text() == SECRET
    room.history.commit("end", may_use_child=False)
    close(room)
    assert held_secret(tmp_path) == []
    assert SECRET not in everything_in_git(tmp_path / "state" / "history.git")


def everything_in_git(git: Path) -> str:
    done = subprocess.run(
        ["git", "--git-dir", git, "cat-file", "--batch", "--batch-all-objects"], capture_output=True, check=True
    )
    return done.stdout.decode("utf-8", "replace")


def resolve_then_open(vault: Path, raw: str) -> str:
    """The usual way: see where it leads, and when that is inside, open it."""
    path = vault / raw
    if not path.resolve().is_relative_to(vault.resolve()):
        raise PermissionError(raw)
    return path.read_text()


def resolve_then_write(vault: Path, raw: str) -> str:
    """The usual way of making a note."""
    path = vault / raw
    if not path.parent.resolve().is_relative_to(vault.resolve()):
        raise PermissionError(raw)
    path.write_text("made")
    return ""


@pytest.mark.parametrize("way", [resolve_then_open, resolve_then_write])
def test_the_control_resolving_first_and_opening_later_is_led_out(
    tmp_path: Path, way: Callable[[Path, str], str]
) -> None:
    """Bar 21: the same race, the usual way: it escapes, or the test above proves nothing."""
    vault, outside = tmp_path / "vault", tmp_path / "outside"
    vault.mkdir()
    kind = Kind.NEW if way is resolve_then_write else Kind.NOTE
    raced, number, deadline = Raced(), 0, time.monotonic() + 30
    with swapped(vault, outside):
        while time.monotonic() < deadline:
            number += 1
            with suppress(OSError):
                raced.add(way(vault, targets(kind, 3 * number + 1)), is_error=False)
            if raced.leaks or len(list(outside.iterdir())) > 1:
                break
    assert raced.leaks or len(list(outside.iterdir())) > 1, f"no escape in {number} attempts"


def test_every_tool_is_raced() -> None:
    """Nobody is left out."""
    assert {name.partition(".")[0] for name in CALLS} == {spec.name for spec in SPECS}
