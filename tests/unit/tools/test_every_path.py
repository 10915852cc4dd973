"""The table of paths, row by row, sent to every parameter of every tool that takes one, to resources and to settings.

guards.md 6, 22, 26 and 29; contract.md, Values. The places are found in the catalogue, so a new tool is covered by itself.
"""

from __future__ import annotations

import inspect
import json
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from service.guards import paths
from service.tools.catalogue import SPECS
from tests.support.disk import texts
from tests.support.rooms import close, room_for, settings_for
from tests.support.toolpaths import NOTES, Desk, Kind, Place, Said, desk_over, places
from tests.support.vaults import lay_out
from tests.unit.guards.test_paths import FINE, INVALID, NEW_REFUSED, REFUSED, TYPE

PLACES = places()
IN_PLACE = ("read_notes", "get_notes_info")
"""Tools that report one bad path beside the good ones."""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("house")
    lay_out(
        folder / "vault", {**NOTES, ".obsidian/app.json": "{}", ".trash/x.md": "trashed\n", "node_modules/x.md": "x"}
    )
    lay_out(folder, {"Note.md": "outside\n", "etc/passwd": "outside\n"})
    return folder


@pytest.fixture(scope="module")
def desk(house: Path) -> Iterator[Desk]:
    room = room_for(settings_for(house))
    room.history.commit("start", may_use_child=False)
    with desk_over(room) as desk:
        yield desk
    close(room)


@pytest.fixture(autouse=True)
def unchanged(house: Path) -> Iterator[None]:
    """A refusal changes nothing in the vault and makes nothing beside it."""

    def seen() -> tuple[object, ...]:
        everything = sorted(str(path) for path in house.rglob("*") if not path.is_relative_to(house / "state"))
        return everything, texts(house / "vault")

    before = seen()
    yield
    assert seen() == before


def assert_refused(said: Said, raw: str, codes: set[str], *, is_in_place: bool = False) -> None:
    assert said.is_error != is_in_place, said.text
    assert said.code in codes, said.text
    echoed = said.text.replace("\n", " ")
    assert not [char for char in echoed if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")], "an echo"
    assert "Traceback" not in said.text
    assert "/vault" not in said.text


def codes_for(raw: str, code: str, kind: Kind) -> set[str]:
    """What a row of the table must answer with at a place of this kind; empty when it is fine there."""
    if any(unicodedata.category(char) == "Cs" for char in raw):
        return {INVALID, "INVALID_ARGUMENT"}  # half a character: the schema may say so before we do
    if kind is Kind.FOLDER and (code == TYPE or raw == "" or raw.endswith("/")):
        return set()
    if kind is Kind.FILE and code == TYPE:
        return set()
    return {code}


ROWS = [
    pytest.param(place, raw, codes_for(raw, code, place.kind), id=f"{place}-{number}")
    for place in PLACES
    for number, (raw, code) in enumerate(REFUSED)
    if codes_for(raw, code, place.kind) and (raw or not place.is_optional)
]


def test_every_tool_with_a_path_is_attacked() -> None:
    """Otherwise a tool could be left out without anybody noticing."""
    without = {spec.name for spec in SPECS} - {place.tool for place in PLACES}
    daily = {"append_daily_note", "create_daily_note", "get_daily_note"}
    assert without == {"list_recent", "get_vault_tree", "get_vault_stats", "search", "find_broken_links", *daily}
    assert {place.kind for place in PLACES} == set(Kind)
    assert len(ROWS) > 90 * len(PLACES)


TAKE_A_HASH = {spec.name for spec in SPECS if "expected_hash" in inspect.signature(spec.fn).parameters}


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_the_control_a_good_path_is_taken_there(place: Place, house: Path, desk: Desk) -> None:
    """The refusals below are the path's doing, not that of the rest of the call."""
    raw = {Kind.FOLDER: "era", Kind.NEW: "era/new.md"}.get(place.kind, "old.md")
    if place.kind is Kind.FILE:  # onto a name that is taken
        said = desk.call(place.tool, {**place.with_path(raw), "to": "era/new.md", "confirm_to": "era/new.md"})
        assert said.code == "ALREADY_EXISTS", said.text
    elif place.kind in (Kind.NOTE, Kind.FOLDER):
        assert not desk.call(place.tool, place.with_path(raw)).is_error
    else:  # nothing may change here: the version asked for is another one, or the name is taken
        expected = {"expected_hash": "0000"} if place.tool in TAKE_A_HASH else {}
        said = desk.call(place.tool, {**place.with_path(raw), **expected})
        assert said.code in ("ALREADY_EXISTS", "CONFLICT", "NOT_FOUND"), said.text


@pytest.mark.parametrize(("place", "raw", "codes"), ROWS)
def test_a_path_that_may_not_be_used_is_refused_by_every_tool(
    desk: Desk, place: Place, raw: str, codes: set[str]
) -> None:
    """Bar 22; complaints 35 and 36: `..`, `.GIT`, nested `.git` and `.git.` in any parameter that takes a path."""
    said = desk.call(place.tool, place.with_path(raw))
    assert_refused(said, raw, codes, is_in_place=place.tool in IN_PLACE and said.code != "INVALID_ARGUMENT")


NEW_ROWS = [
    pytest.param(place, raw, id=f"{place}-{number}")
    for place in PLACES
    if place.kind is Kind.NEW
    for number, raw in enumerate(NEW_REFUSED)
]


@pytest.mark.parametrize(("place", "raw"), NEW_ROWS)
def test_a_new_name_that_others_cannot_carry_is_refused_by_every_tool_that_makes_one(
    desk: Desk, place: Place, raw: str
) -> None:
    """guards.md 2.3: Windows names, Obsidian's links, percent-encoding, length, joiners."""
    assert_refused(desk.call(place.tool, place.with_path(raw)), raw, {INVALID, TYPE, "HIDDEN_PATH"})


FINE_ROWS = [
    pytest.param(place, raw, id=f"{place}-{number}")
    for place in PLACES
    if place.kind in (Kind.NOTE, Kind.WRITTEN)
    for number, raw in enumerate(FINE)
    if place.kind is Kind.NOTE or not raw.endswith((".canvas", ".base"))
]


@pytest.mark.parametrize(("place", "raw"), FINE_ROWS)
def test_an_odd_name_that_may_exist_is_looked_up_and_not_found(desk: Desk, place: Place, raw: str) -> None:
    """The other side of the table: existing files stay readable whatever they are called."""
    is_markdown = raw.strip().lower().endswith(paths.MARKDOWN_SUFFIXES)  # some tools are for those alone
    assert desk.call(place.tool, place.with_path(raw)).code in ({"NOT_FOUND"} if is_markdown else {"NOT_FOUND", TYPE})


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_a_resource_obeys_the_table_plain_and_percent_encoded(desk: Desk, number: int) -> None:
    """Bar 29: dot folders cannot be reached as resources either; and nothing is decoded twice."""
    raw, code = REFUSED[number]
    encodings = [
        raw,
        quote(raw.encode("utf-8", "surrogatepass"), safe="/"),
        quote(quote(raw.encode("utf-8", "surrogatepass"))),
    ]
    for uri in (f"note://{encoded}" for encoded in encodings):
        try:
            uri.encode()
        except UnicodeEncodeError:
            continue  # no client can send it
        said = desk.resource(uri)
        assert said.is_error
        assert said.code in {code, INVALID, "HIDDEN_PATH", TYPE, "NOT_FOUND"}
        assert "outside" not in said.text
        assert "trashed" not in said.text


DAILY_ROWS = [raw for raw, code in REFUSED if code != TYPE and raw.strip() and raw == raw.strip("/")]
"""As part of a setting, an outer slash is taken off, and the file gets its suffix."""


@pytest.mark.parametrize("number", range(len(DAILY_ROWS)))
@pytest.mark.parametrize("setting", ["folder", "format"])
def test_the_vaults_own_settings_cannot_send_the_daily_note_out_of_it(
    house: Path, desk: Desk, setting: str, number: int
) -> None:
    """complaints.md 36: a sync peer can write `.obsidian/daily-notes.json`."""
    settings = house / "vault" / ".obsidian" / "daily-notes.json"
    settings.write_text(json.dumps({setting: DAILY_ROWS[number] if setting == "folder" else f"[{DAILY_ROWS[number]}]"}))
    try:
        said = desk.call("append_daily_note", {"text": "a line"})
    finally:
        settings.unlink()
    assert_refused(said, DAILY_ROWS[number], {"INTERNAL", "MISCONFIGURED", "UNAVAILABLE"})
