"""Generated vaults with every style of link, and moves in them: afterwards every link leads where it led.

The issue: after any move every link that resolved before resolves to the same note, and every note without such a link is
untouched to the byte.
"""

from __future__ import annotations

import json
import tempfile
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.errors import AppError
from service.guards import paths
from service.guards.paths import VaultPath
from service.vault import linkmap, moving
from service.vault.move_asked import Asked
from service.vault.parts import canvas, links
from service.vault.parts.linkuse import LinkKind, LinkUse
from service.vault.relinking import Renaming
from service.vault.resolving import Names
from tests.support.desk import Desk, desk_in
from tests.support.disk import at, texts
from tests.support.rooms import close

FOLDERS: Final = ("", "A", "A/B", "B", "Café", "a folder", "A/A")
NAMES: Final = (
    "Italy",
    "italy two",
    "Café",
    unicodedata.normalize("NFD", "Café"),
    "v1.2",
    "a.png",
    "B",
    "100% (sure) & more",
    "日本",
    "it's",
    "Q&amp;A",
    "%41b",
)
ATTACHMENTS: Final = ("pic.png", "A/pic.png", "A/B/a.png", "a folder/scan 1.pdf")
SUBPATHS: Final = ("", "#Heading", "#A#B", "#^block-1")

paths_of_notes = st.builds(
    lambda folder, name: f"{folder}/{name}.md" if folder else f"{name}.md",
    st.sampled_from(FOLDERS),
    st.sampled_from(NAMES),
)


@st.composite
def files(draw: st.DrawFn) -> list[str]:
    """Paths of notes that one file system may hold beside each other."""
    found: dict[str, str] = {}
    for path in draw(st.lists(paths_of_notes, min_size=2, max_size=9)):
        found.setdefault(unicodedata.normalize("NFC", path).casefold(), path)
    return sorted(found.values())


def relative(target: str, source: str) -> str:
    here, there = source.split("/")[:-1], target.split("/")
    common = 0
    while common < min(len(here), len(there) - 1) and here[common] == there[common]:
        common += 1
    return "/".join([".."] * (len(here) - common) + there[common:])


@st.composite
def targets(draw: st.DrawFn, source: str, everything: list[str]) -> str:
    """A path part as somebody may write it, of something that is there or is not."""
    path = draw(st.sampled_from(everything))
    way = draw(st.sampled_from(["name", "full", "root", "relative", "dotted", "end", "nothing"]))
    written = {
        "name": path.rpartition("/")[2],
        "full": path,
        "root": "/" + path,
        "relative": relative(path, source),
        "dotted": relative(path, source) if relative(path, source).startswith("..") else "./" + relative(path, source),
        "end": "/".join(path.split("/")[-2:]),
        "nothing": "Nowhere",
    }[way]
    if draw(st.booleans()):
        written = written.removesuffix(".md")
    change = draw(st.sampled_from(["", "", "", "upper", "nfc", "nfd"]))
    if change == "upper":
        return written.upper()
    return unicodedata.normalize(change.upper(), written) if change else written


@st.composite
def lines(draw: st.DrawFn, source: str, everything: list[str]) -> str:
    target = draw(targets(source, everything))
    subpath = draw(st.sampled_from(SUBPATHS))
    encoded = quote(target, safe="/()") + quote(subpath, safe="#^")
    kind = draw(st.integers(0, 14))
    plain = target + subpath
    return {
        0: f"see [[{plain}]] and more",
        1: f"- [ ] [[{plain}|some *alias*]] #tag",
        2: f"![[{plain}]]",
        3: f"![[{target}|100x200]]",
        4: f"[text]({encoded})",
        5: f"[text](<{target.replace('%', '%25')}{subpath}> 'title')",
        6: f"![image]({encoded})",
        7: f'[one][r] and [r]\n\n[r]: {encoded} "title"\n',
        8: f"| a | [[{target}\\|in a table]] |\n| --- | --- |\n| b | c |",
        9: f"```\n[[{plain}]]\n```",
        10: f"`[[{plain}]]` and %%[[{plain}]]%% and <!-- [[{plain}]] -->",
        11: f"> [!note] in a [[{plain}]] callout",
        12: f"# heading with [[{plain}]]",
        13: f"[![[{target}]]]({encoded})",
        14: "nothing here, à propos",
    }[kind]


@st.composite
def notes(draw: st.DrawFn, source: str, everything: list[str]) -> bytes:
    body = "\n\n".join(draw(st.lists(lines(source, everything), max_size=5)))
    front = ""
    if draw(st.booleans()):
        target = draw(targets(source, everything))
        single, double = target.replace("'", "''"), target.replace("\\", "\\\\").replace('"', '\\"')
        front = f"---\nup: \"[[{double}]]\" # comment\nrelated:\n  - '[[{single}|x]]'\nplain: [[{target}]]\n---\n"
    whole = front + body
    if draw(st.booleans()):
        whole = whole.replace("\n", "\r\n")
    mark = b"\xef\xbb\xbf" if draw(st.integers(0, 9)) == 0 else b""
    broken = b"\n\xff" if draw(st.integers(0, 19)) == 0 else b""
    return mark + whole.encode() + broken


@st.composite
def vaults(draw: st.DrawFn) -> dict[str, bytes]:
    names = draw(files())
    everything = [*names, *ATTACHMENTS]
    held = {name: draw(notes(name, everything)) for name in names}
    held |= dict.fromkeys(ATTACHMENTS, b"\x89PNG\x00")
    shown = [draw(st.sampled_from(everything)) for _ in range(3)]
    card = draw(lines("board.canvas", everything))
    nodes = [{"id": str(number), "type": "file", "file": name} for number, name in enumerate(shown)]
    nodes.append({"id": "t", "type": "text", "text": card})
    held["A/board.canvas"] = json.dumps({"nodes": nodes, "edges": []}, ensure_ascii=draw(st.booleans())).encode()
    return held


@st.composite
def asked(draw: st.DrawFn, held: Mapping[str, bytes]) -> Asked:
    if draw(st.integers(0, 2)) == 0:
        source = draw(st.sampled_from([folder for folder in FOLDERS if folder] or ["A"]))
        target = draw(st.sampled_from(["New", "B/New", "A", "a", "Café/Deep/er", "italy"]))
        return Asked(at(source), paths.new_folder(target), is_folder=True)
    source = draw(st.sampled_from(sorted(held)))
    suffix = source[source.rindex(".") :]
    name = draw(st.sampled_from([*NAMES, "New", "x y", source.rpartition("/")[2][: -len(suffix)].upper()]))
    folder = draw(st.sampled_from([*FOLDERS, "New/Deep"]))
    return Asked(
        at(source),
        paths.new_file(f"{folder}/{name}{suffix}" if folder else name + suffix),
        overwrites=draw(st.integers(0, 4)) == 0,
    )


def uses(path: str, data: bytes) -> list[LinkUse]:
    raw = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    if path.endswith(".canvas"):
        read = canvas.of(raw)
        return list(read.links) if read else []
    return list(links.of(raw)) if path.endswith(".md") else []


def led(held: Mapping[str, bytes]) -> dict[str, list[tuple[LinkUse, VaultPath | None]]]:
    """Where each link of each file leads."""
    names = Names.of(at(path) for path in held if not path.startswith("."))
    return {
        path: [
            (use, names.at(use.target) if use.kind is LinkKind.CANVAS else names.first(use.target, at(path)))
            for use in uses(path, data)
        ]
        for path, data in held.items()
        if not path.startswith(".")
    }


def check(desk: Desk, wanted: Asked) -> None:
    before = dict(texts(desk.folder))
    try:
        planned = moving.move(desk.vault, desk.actor, wanted, is_trial=True)
    except AppError:
        assert texts(desk.folder) == before
        with pytest.raises(AppError):
            moving.move(desk.vault, desk.actor, wanted)
        assert texts(desk.folder) == before
        return
    assert texts(desk.folder) == before, "a dry run changes nothing"
    assert moving.move(desk.vault, desk.actor, wanted) == planned, "and says what the real one says"
    after = dict(texts(desk.folder))

    def now(path: str) -> str:
        for part in (str(planned.source),):
            if path == part or path.startswith(part + "/"):
                return str(planned.path) + path[len(part) :]
        return path

    trashed = {} if planned.trashed_to is None else {str(planned.trashed_to): before[str(planned.path)]}
    kept = {
        path: data for path, data in before.items() if now(path) == path and not (trashed and path == str(planned.path))
    }
    assert set(after) == {*kept, *trashed, *(now(path) for path in before if now(path) != path)}
    assert {path: after[path] for path in trashed} == trashed
    left = {str(one.path) for one in planned.left}
    changed = {str(one.path) for one in planned.changed} | {str(planned.path)}
    were, are = led(before), led(after)
    for path, links_before in were.items():
        if trashed and path == str(planned.path):
            continue
        there = now(path)
        if there in left:
            assert after[there] == before[path]
            assert b"\xff" in before[path]
            continue
        links_after = are[there]
        assert len(links_after) == len(links_before)
        for (was, target), (use, leads_to) in zip(links_before, links_after, strict=True):
            assert (was.kind, was.subpath, was.is_embed) == (use.kind, use.subpath, use.is_embed)
            assert was.alias == use.alias or "[" in was.alias, "a link may be shown by another one"
            if target is not None:
                assert leads_to == at(now(str(target))), f"{was.target!r} in {path!r} -> {use.target!r} in {there!r}"
            else:
                assert use.target == was.target
        if [use.target for use, _ in links_after] == [use.target for use, _ in links_before]:
            assert after[there] == before[path], f"{path!r} has no such link"
        else:
            assert there in changed or planned.files > 1


def move_in(held: Mapping[str, bytes], wanted: Asked) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        desk = desk_in(Path(folder))
        try:
            desk.put(held)
            check(desk, wanted)
        finally:
            close(desk.room)


SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=SLOW)
@given(st.data())
def test_after_any_move_every_link_leads_where_it_led(data: st.DataObject) -> None:
    """The issue; complaints 11 and 12."""
    held = data.draw(vaults())
    move_in(held, data.draw(asked(held)))


@pytest.mark.long
@pytest.mark.timeout(1800)
@settings(max_examples=2000, deadline=None, suppress_health_check=SLOW)
@given(st.data())
def test_after_any_of_many_moves_every_link_leads_where_it_led(data: st.DataObject) -> None:
    """The same, fresh ones."""
    held = data.draw(vaults())
    move_in(held, data.draw(asked(held)))


@st.composite
def disguised(draw: st.DrawFn) -> tuple[str, str]:
    """A name, and a note with one link to it whose characters are written in any of the ways that such a link allows."""
    name = draw(st.text("ab'%&;\\41 é#", min_size=1, max_size=6)).strip()
    kind = draw(st.sampled_from(["wiki", "plain", "pointed", "single", "double"]))

    def one(char: str) -> str:
        percent = "".join(f"%{byte:02X}" for byte in char.encode())
        ways = {
            "wiki": [char],
            "plain": [char, percent, f"&#{ord(char)};", f"\\{char}", "".join(f"&#{ord(one)};" for one in percent)],
            "pointed": [char, percent, f"&#x{ord(char):x};", f"\\{char}"],
            "single": ["''" if char == "'" else char],
            "double": [char, f"\\u{ord(char):04x}", f"\\{char}", f"\\x{ord(char):02x}"],
        }[kind]
        return draw(st.sampled_from(ways))

    written = "".join(map(one, name))
    return name, {
        "wiki": f"[[{written}]]",
        "plain": f"[x]({written}.md)",
        "pointed": f"[x](<{written}.md>)",
        "single": f"---\nup: '[[{written}]]'\n---\n",
        "double": f'---\nup: "[[{written}]]"\n---\n',
    }[kind]


@settings(max_examples=300, deadline=None)
@given(disguised())
def test_no_note_is_passed_over_that_a_move_has_to_look_into(made: tuple[str, str]) -> None:
    """The issue: every link that resolved before. The map of links says by names which notes are looked into."""
    name, text = made
    moved = at(f"{name}.md")
    renaming = Renaming.of(Names.of([moved]), {moved: at("New.md")})
    for use in links.of(text):
        if use.target and renaming.before.first(use.target, None) == moved:
            assert set(linkmap.sought([(use.target, use.kind)])) & renaming.keys
