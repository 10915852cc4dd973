"""A client that is limited to folders answers as one of a vault in which there is nothing else.

Issue 5: it "learns nothing about the rest, not even counts, names in errors, link targets or commit messages". Instead of
listing what could be learned, two vaults are asked the same and have to say the same (`tests.support.worlds`).
"""

from __future__ import annotations

import json
import shutil
import tempfile
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from service.tools.catalogue import SPECS
from tests.support.toolpaths import places
from tests.support.worlds import SETTINGS, Worlds, worlds
from tests.wire.test_refusals import NOTES, every_row
from tests.wire.test_tools import CALLS

DAILY: Final = json.dumps({"daily": {"folder": "Projects/Daily"}, "weekly": {"folder": "Projects/Weekly"}})
OUTSIDE: Final[Mapping[str, str | bytes]] = {
    "zqxroot.md": "#zqxtag [[era/new]] [[old]]\n- [ ] zqxtask 📅 2026-01-01\n",
    "old.md": "---\naliases: [zqxalias, Nowhere]\n---\nzqx\n",
    "Outside/new.md": "# zqxheading\none two three [[Projects/old]]\n",
    "Outside/deep/olt.md": "zqx\n",
    "Outside/pic.png": b"\x89PNG zqx",
    "Outside/board.canvas": '{"nodes":[{"id":"1","type":"file","file":"Projects/old.md","x":0,"y":0,"width":9,"height":9}],"edges":[]}',
    "Clippings/zqxclip.md": "one three\n",
    "projects/old.md": "zqx a twin\n",
    ".trash/Outside/gone.md": "zqx\n",
    "STRONGROOM.md": "zqx guide\n",
    "nowhere/never.md": "zqx\n",
    "Templates/Daily.md": "zqx\n",
}
INSIDE: Final[Mapping[str, str | bytes]] = {
    **{f"Projects/{name}": data for name, data in NOTES.items() if not name.startswith(".")},
    "Projects/links.md": "[[old]] [[zqxroot]] [[Outside/new]] ![[pic.png]] [[olt]] [a](../Outside/new.md) [[zqxalias]] #in/side\n",
    "Projects/deep/er/note.md": "---\ntags: [x]\naliases: [Deep One]\n---\n# H\n- [ ] do it 📅 2026-02-01\n[[links]] [[../../old]]\n",
    "Projects/board.canvas": '{"nodes":[{"id":"1","type":"file","file":"zqxroot.md","x":0,"y":0,"width":9,"height":9}],"edges":[]}',
    SETTINGS: DAILY,
}


def with_a_past(both: Worlds) -> None:
    """Files in and outside, and commits of every kind: inside, outside, over the border both ways, by another grant."""
    both.put({**OUTSIDE, **INSIDE})
    both.commit()
    both.put(
        {"Outside/new.md": "zqx changed\n", "Outside/came.md": "came from outside\n", "Projects/went.md": "will go\n"}
    )
    both.commit()
    both.remove("Outside/came.md", "Projects/went.md")
    both.put({"Projects/came.md": "came from outside\n", "Outside/went.md": "will go\n"})
    both.commit()
    both.write_as_another("Projects/by-another.md", "by another\n")
    both.write_as_another("Outside/by-another.md", "zqx\n")
    both.commit()
    both.put({"Projects/deep/gone.md": "gone\n", "Outside/gone.md": "zqx\n"})
    both.commit()
    both.remove("Projects/deep/gone.md", "Outside/gone.md")
    both.put({"Projects/old.md": "from before, changed\n"})
    both.commit()
    both.write_as_another("Outside/pending.md", "zqx\n")


@pytest.fixture
def both(tmp_path: Path) -> Iterator[Worlds]:
    with worlds(tmp_path, ["Projects"]) as both:
        with_a_past(both)
        yield both


def moved_in(arguments: Mapping[str, Any]) -> Any:
    """The arguments of a call at the root, for the same call in `Projects`."""
    known = {name.split("/")[0] for name in NOTES} | {
        "no.md",
        "olt.md",
        "{era}",
        "never.md",
        "none.md",
        "a.md",
        "Elsewhere",
        "All",
    }

    def moved(value: Any) -> Any:
        if isinstance(value, str) and value.split("/")[0] in known:
            return f"Projects/{value}"
        if isinstance(value, list):
            return [moved(one) for one in value]
        return value

    return {name: value if name in ("content", "text") else moved(value) for name, value in arguments.items()}


def test_every_tool_says_what_it_would_say_if_there_were_nothing_else(both: Worlds) -> None:
    """Issue 5, folder limits: every call that the wire tests know for each tool, in a row, in both vaults."""
    before, worked = both.outside(), set()
    for name, arguments, _ in CALLS:
        given = json.loads(json.dumps(moved_in(arguments)).replace("{era}", "run"))
        said = both.both(name, given)
        assert "zqx" not in both.large.plain(said.text).replace("zqxroot", "").replace("zqxalias", "").casefold(), name
        if not said.is_error:
            worked.add(name)
    assert {spec.name for spec in SPECS} - worked == set()
    assert both.outside() == before


def test_every_refusal_is_the_one_of_a_vault_without_the_rest(both: Worlds) -> None:
    """Issue 5, names in errors: every row of the refusals, in the folder and where it would be without a limit."""
    before = both.outside()
    for name, arguments, _ in every_row():
        both.both(name, moved_in(arguments))
    for name, arguments, _ in every_row():
        both.both(name, arguments)
    assert both.outside() == before


def test_a_path_outside_is_as_one_that_is_nowhere(both: Worlds) -> None:
    """Issue 5: in every place for a path, what is there outside answers as once it is gone."""
    asked = [
        (place, path) for place in places() for path in ("Outside/new.md", "Outside", "Clippings/zqxclip.md", "old.md")
    ]
    there = [both.large.call(place.tool, place.with_path(path)) for place, path in asked]
    for folder in ("Outside", "Clippings"):
        shutil.rmtree(both.large.folder / folder)
    both.remove("old.md")
    for (place, path), told in zip(asked, there, strict=True):
        assert both.large.call(place.tool, place.with_path(path)) == told, f"{place} {path}"


def test_resources_are_those_of_the_folders(both: Worlds) -> None:
    """Issue 5: lists, the guide, notes, pictures and canvases as resources."""
    assert both.large.desk.resources() == both.small.desk.resources()
    for uri in (
        "strongroom://guide",
        *(
            f"note://{name}"
            for name in (*INSIDE, *OUTSIDE, "Outside/nowhere.md", "Projects/nowhere.md", "Projects", "Outside")
        ),
    ):
        assert both.large.desk.resource(uri) == both.small.desk.resource(uri), uri


# -- any vault, any calls -------------------------------------------------------------------------------------------------

FOLDERS: Final = ("", "Projects", "projects", "Projects/a", "Projectsx", "Work", "Work/Clients", "Work/Clients/b", "Work/Other",
                  "Café", unicodedata.normalize("NFD", "Café"), "Clippings", "Work/Clients/Clippings", ".trash/Projects")  # fmt: skip
NAMES: Final = (
    "one.md",
    "two.md",
    "One.md",
    "pic.png",
    "board.canvas",
    "plain.txt",
    "Café.md",
    "Projects.md",
    "v1.2.md",
)
SCOPES: Final = (
    ["Projects"],
    ["Work/Clients"],
    ["Café"],
    ["Projects", "Work/Clients"],
    ["Nowhere"],
    ["Work/Nowhere"],
    ["Clippings"],
)
some_path = st.builds(
    lambda folder, name: f"{folder}/{name}" if folder else name, st.sampled_from(FOLDERS), st.sampled_from(NAMES)
)
some_folder = st.sampled_from([folder for folder in FOLDERS if not folder.startswith(".")])
some_link = st.one_of(
    st.builds("[[{}]]".format, st.sampled_from([*NAMES, "one", "two", "Projects", "alias", "../one", "/one"])),
    st.builds("[[{}|x]]".format, some_path),
    st.builds("![x](<{}>)".format, some_path),
)
some_line = st.one_of(
    some_link,
    st.sampled_from(
        ["# one", "#tag", "#other/tag", "- [ ] do 📅 2026-01-01", "- [x] one", "words one two", "<!-- x -->"]
    ),
)
some_text = st.lists(some_line, max_size=5).map(lambda lines: "\n".join([*lines, ""]))
some_note = st.one_of(some_text, some_text.map("---\naliases: [alias]\ntags: [one]\n---\n{}".format))


def board(target: str) -> str:
    return json.dumps(
        {"nodes": [{"id": "1", "type": "file", "file": target, "x": 0, "y": 0, "width": 1, "height": 1}], "edges": []}
    )


@st.composite
def files(draw: st.DrawFn) -> dict[str, str | bytes]:
    """What is laid out at once; nothing is a file and a folder."""
    found: dict[str, str | bytes] = {}
    for path in draw(st.lists(some_path, max_size=8, unique=True)):
        if path.endswith(".canvas"):
            found[path] = board(draw(some_path))
        else:
            found[path] = draw(some_note) if not path.endswith(".png") else b"\x89PNG" + path.encode()
    return found


CALL: Final[st.SearchStrategy[tuple[str, dict[str, Any]]]] = st.one_of(
    st.tuples(
        st.sampled_from(["read_note", "get_note_outline", "get_frontmatter", "get_links", "note_history", "read_note_version",
                         "delete_note", "undelete_note", "restore_note", "fetch", "list_tags"]),
        st.fixed_dictionaries({"path": some_path}),
    ).map(lambda call: (call[0], {"id": call[1]["path"]} if call[0] == "fetch" else call[1])),
    st.tuples(
        st.sampled_from(["get_vault_tree", "get_vault_stats", "list_recent", "find_broken_links", "list_changes", "list_tags", "list_tasks",
                         "get_daily_note", "create_daily_note"]),
        st.just({}),
    ),
    st.tuples(st.sampled_from(["find_broken_links", "list_recent", "list_tasks"]), st.just({"include_low_trust": True})),
    st.tuples(st.just("list_directory"), st.fixed_dictionaries({"path": some_folder})),
    st.tuples(st.just("list_notes"), st.fixed_dictionaries({"folder": some_folder})),
    st.tuples(st.sampled_from(["list_changes", "list_tasks"]), st.fixed_dictionaries({"path_prefix": some_folder})),
    st.tuples(
        st.just("search_notes"),
        st.fixed_dictionaries({"query": st.sampled_from(["one", "words", "tag"]), "mode": st.sampled_from(["literal", "ranked"])},
                              optional={"path_prefix": some_folder, "include_low_trust": st.booleans()}),
    ),
    st.tuples(st.just("resolve_link"), st.fixed_dictionaries({"link": some_link}, optional={"from_path": some_path})),
    st.tuples(
        st.sampled_from(["read_notes", "get_notes_info"]),
        st.fixed_dictionaries({"paths": st.lists(some_path, min_size=1, max_size=3)}),
    ),
    st.tuples(
        st.sampled_from(["create_note", "append_to_note", "write_note"]),
        st.fixed_dictionaries({"path": some_path, "content": some_text}),
    ),
    st.tuples(st.just("move_note"), st.fixed_dictionaries({"from": some_path, "to": some_path}, optional={"dry_run": st.booleans()})),
    st.tuples(st.just("move_note"), st.fixed_dictionaries({"from": some_folder, "to": some_folder, "folder": st.just(True)})),
    st.builds(
        lambda source, target, overwrites: (
            "move_file",
            {"from": source, "to": target, "confirm_from": source, "confirm_to": target, "overwrite": overwrites},
        ),
        some_path, some_path, st.booleans(),
    ),
)  # fmt: skip


some_symlink = st.tuples(
    some_path,
    st.sampled_from(
        ["one.md", "../one.md", "../Projects/two.md", "../Work/Other/one.md", "../../Projects", "two.md", "../.."]
    ),
)


def lives(
    folders: Sequence[str],
    stages: Sequence[Mapping[str, str | bytes]],
    calls: Sequence[tuple[str, dict[str, Any]]],
    symlinks: Sequence[tuple[str, str]],
) -> None:
    """Lay out stage by stage, with a commit after each, make symbolic links and the calls, and compare."""
    with tempfile.TemporaryDirectory() as folder, worlds(Path(folder), folders, SYMLINKS="inside") as both:
        known: set[str] = set()
        both.put({SETTINGS: DAILY})
        if "Café" in folders:  # so that the twin, composed otherwise, is another folder and not the one that is meant
            both.put({"Café/anchor.md": "one\n"})
        for stage in stages:
            both.remove(*sorted(known - stage.keys())[:2])
            both.put(stage)
            known |= stage.keys()
            both.commit()
        for name, words in symlinks:
            both.link(name, words)
        before = both.outside()
        for name, arguments in calls:
            both.both(name, arguments)
            assert both.outside() == before, f"{name} {arguments}"
        assert both.large.desk.resources() == both.small.desk.resources()


CASES: Final = given(
    st.sampled_from(SCOPES),
    st.lists(files(), min_size=1, max_size=3),
    st.lists(CALL, min_size=4, max_size=12),
    st.lists(some_symlink, max_size=2),
)
_QUIET: Final = [HealthCheck.too_slow, HealthCheck.data_too_large]


@CASES
@settings(max_examples=15, derandomize=True, suppress_health_check=_QUIET, phases=[Phase.generate])
def test_whatever_is_there_and_whatever_is_asked_the_rest_is_as_if_it_were_not(
    folders: list[str],
    stages: list[dict[str, str | bytes]],
    calls: list[tuple[str, dict[str, Any]]],
    symlinks: list[tuple[str, str]],
) -> None:
    """Issue 5, folder limits: random vaults, random calls; and no write lands outside."""
    lives(folders, stages, calls, symlinks)


@pytest.mark.long
@pytest.mark.timeout(2400)
@CASES
@settings(max_examples=300, suppress_health_check=_QUIET)
def test_whatever_is_there_and_whatever_is_asked_at_length(
    folders: list[str],
    stages: list[dict[str, str | bytes]],
    calls: list[tuple[str, dict[str, Any]]],
    symlinks: list[tuple[str, str]],
) -> None:
    """The same, for longer."""
    lives(folders, stages, calls, symlinks)
