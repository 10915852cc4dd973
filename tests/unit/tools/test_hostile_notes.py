"""Notes that are made to hurt whoever parses them: read, searched, listed, edited and appended to, by every tool there is.

guards.md 6, 59 to 65: bounded in time and memory, refused with a reason or still readable as text, and every byte outside an
edit unchanged. The tools are found in the catalogue, so one that parses more is covered by itself.
"""

from __future__ import annotations

import codecs
import signal
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.rooms import close, room_for, settings_for
from tests.support.toolpaths import NOTES, Desk, Kind, Said, desk_over, places
from tests.support.vaults import lay_out

WITHIN_S = 30
"""Far above what a call takes, far below what the naive way takes (an alias bomb: hours)."""

NEEDLE, THREAD = "the-needle", "the-thread"
BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(8)
)
MERGES = "m0: &m0 {k: v}\n" + "".join(f"m{n}: &m{n} {{<<: *m{n - 1}, k{n}: v}}\n" for n in range(1, 3000))


def _front(yaml: str) -> bytes:
    return f"---\n{yaml}---\n\n{NEEDLE} below\n".encode()


TEXT: dict[str, bytes] = {
    "alias bomb": _front(BOMB),
    "merge chain": _front(MERGES),
    "deep flow": _front("x: " + "[" * 1000 + "]" * 1000 + "\n"),
    "deep flow unclosed": _front("x: " + "[{a: " * 5000 + "\n"),
    "deep block": _front("".join(" " * n + f"k{n}:\n" for n in range(2000))),
    "huge integer": _front("n: " + "9" * 5000 + "\n"),
    "no such day": _front("date: 2026-99-99\nother: 2026-02-30T99:99:99Z\n"),
    "odd tags": _front("x: !!python/object/apply:os.system ['true']\ny: !!binary ///\n"),
    "front matter without end": b"---\n" + b"a: b\n" * 100_000 + NEEDLE.encode() + b"\n",
    "nested lists": "".join("  " * n + "- item\n" for n in range(300)).encode() + f"\n{NEEDLE}\n".encode(),
    "nested quotes": (">" * 3000 + " deep\n\n" + NEEDLE + "\n").encode(),
    "wide table": ("|a" * 3000 + "|\n" + "|-" * 3000 + "|\n" + "|b" * 3000 + "|\n\n" + NEEDLE + "\n").encode(),
    "long line": b"x" * 5_000_000 + NEEDLE.encode() + b"y" * 4_900_000 + b"\n",
    "a million headings": b"# h\n" * 1_000_000 + NEEDLE.encode() + b"\n",
    "brackets": (f"{NEEDLE} " + "[" * 100_000 + "\n").encode(),
    "tags": (f"{NEEDLE} " + "<div " * 50_000 + "\n").encode(),
    "byte order mark": codecs.BOM_UTF8 + f"---\r\na: b\r\n---\r\n{NEEDLE}\r\n".encode(),
    "lone returns": f"one\rtwo\r{NEEDLE}\rthree\r".encode(),
    "odd line ends": f"a\u2028b\u2029c\u0085d {NEEDLE}\x0b\x0ce\x1c\x1d\x1ef\r\ng\n".encode(),
    "mixed line ends": f"a\r\nb\n{NEEDLE}\r\nc\rd\n".encode(),
    "nothing at the end": NEEDLE.encode(),
}
"""Notes that are text, whatever else they are: they can be changed."""

NO_TEXT: dict[str, bytes] = {
    "latin 1": f"Gem\xfcse {NEEDLE}\n".encode("latin-1"),
    "half a letter": f"{NEEDLE} ".encode() + "é".encode()[:1] + b"\n",
    "overlong": b"\xc0\xaf \xed\xa0\x80 \xf5\x80\x80\x80 " + NEEDLE.encode() + b"\n",
    "utf-16, little end, with its mark": codecs.BOM_UTF16_LE + f"a ü {NEEDLE}\n".encode("utf-16-le"),
    "utf-16, big end, with its mark": codecs.BOM_UTF16_BE + f"a ü {NEEDLE}\n".encode("utf-16-be"),
}
"""Notes that are none: they can be read, with what cannot be shown marked, and never changed."""

ODDLY_TEXT: dict[str, bytes] = {
    "utf-16 without a mark": f"plain {NEEDLE}\n".encode("utf-16-le"),
    "zeros": f"a\0b {NEEDLE}\0\0\n".encode(),
    "zeros alone": b"\0" * 100_000,
}
"""Valid UTF-8 full of characters that nobody sees."""

ALL = {**TEXT, **NO_TEXT, **ODDLY_TEXT}
PLACES = [place for place in places() if place.kind is not Kind.FOLDER]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Desk]]:
    folder = tmp_path_factory.mktemp("house")
    settings = settings_for(folder)
    lay_out(settings.vault, {**NOTES, **{f"{name}.md": data for name, data in ALL.items()}})
    room = room_for(settings)
    room.history.commit("start", may_use_child=False)
    with desk_over(room) as desk:
        yield settings.vault, desk
    close(room)


@pytest.fixture
def vault(built: tuple[Path, Desk]) -> Iterator[Path]:
    """The vault; what a test changed in it is put back."""
    before = {path: path.stat() for path in built[0].glob("*.md")}
    yield built[0]
    for path, was in before.items():
        if not path.exists() or path.stat().st_mtime_ns != was.st_mtime_ns or path.stat().st_ino != was.st_ino:
            path.write_bytes(ALL.get(path.stem, NOTES.get(path.name, "").encode()))


@pytest.fixture
def desk(built: tuple[Path, Desk]) -> Desk:
    return built[1]


def bounded(call: Callable[[], Said]) -> Said:
    """Call, and fail when it takes longer than anybody would wait."""

    def too_late(*_: object) -> None:
        raise AssertionError(f"it took more than {WITHIN_S} s")

    before = signal.signal(signal.SIGALRM, too_late)
    signal.setitimer(signal.ITIMER_REAL, WITHIN_S)
    try:
        return call()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(
    ("place", "name"),
    [
        pytest.param(place, name, id=f"{place}-{name}", marks=[pytest.mark.long] if (row + column) % 3 else [])
        for row, place in enumerate(PLACES)
        for column, name in enumerate(ALL)
    ],
)
def test_every_tool_answers_in_time_and_in_bounds(desk: Desk, vault: Path, place: Any, name: str) -> None:
    """An answer or a refusal, never a crash, never more than one answer may hold.

    In the ordinary run each tool meets every third note, and each note every third tool; in the long run all meet all.
    """
    said = bounded(lambda: desk.call(place.tool, place.with_path(f"{name}.md")))
    assert said.code not in ("INTERNAL", "UNAVAILABLE"), said.text
    assert len(said.text) < 130_000


@pytest.mark.parametrize("name", ALL)
def test_a_hostile_note_can_be_read_as_text(desk: Desk, vault: Path, name: str) -> None:
    """Bar 63: refused by a parser, still readable."""
    said = bounded(lambda: desk.call("read_note", {"path": f"{name}.md"}))
    assert not said.is_error
    assert said.text.startswith(f"[{name}.md | {len(ALL[name])} bytes | version ")
    assert bounded(lambda: desk.resource(f"note://{name}.md")).code in ("", "TOO_LARGE")


@pytest.mark.parametrize("name", TEXT)
def test_an_edit_leaves_every_other_byte_as_it_was(desk: Desk, vault: Path, name: str) -> None:
    """Bar 65."""
    edit = {"old_string": NEEDLE, "new_string": THREAD}
    said = bounded(lambda: desk.call("edit_note", {"path": f"{name}.md", "edits": [edit]}))
    after = (vault / f"{name}.md").read_bytes()
    if said.is_error:  # refused with a reason, and then nothing has changed
        assert said.code in ("TOO_LARGE", "HIDDEN_CONTENT", "UNSAFE_CONTENT"), said.text
        assert after == TEXT[name]
    else:
        assert after == TEXT[name].replace(NEEDLE.encode(), THREAD.encode())


@pytest.mark.parametrize("name", TEXT)
def test_an_append_only_adds(desk: Desk, vault: Path, name: str) -> None:
    """Bar 65."""
    said = bounded(lambda: desk.call("append_to_note", {"path": f"{name}.md", "content": "added"}))
    after = (vault / f"{name}.md").read_bytes()
    if said.is_error:
        assert said.code in ("TOO_LARGE", "HIDDEN_CONTENT", "UNSAFE_CONTENT"), said.text
        assert after == TEXT[name]
    else:
        assert after.startswith(TEXT[name])
        assert after[len(TEXT[name]) :].decode().strip() == "added"


@pytest.mark.parametrize("name", NO_TEXT)
def test_what_is_no_text_is_never_changed(desk: Desk, vault: Path, name: str) -> None:
    """Bar 65: writing it back would damage it."""
    edit = {"old_string": NEEDLE, "new_string": THREAD}
    calls: list[tuple[str, dict[str, object]]] = [
        ("edit_note", {"edits": [edit]}),
        ("append_to_note", {"content": "added"}),
    ]
    for tool, more in calls:
        arguments = {"path": f"{name}.md", **more}
        assert bounded(lambda tool=tool, arguments=arguments: desk.call(tool, arguments)).code in (
            "NOT_TEXT",
            "NO_MATCH",
        )
        assert (vault / f"{name}.md").read_bytes() == NO_TEXT[name]
    assert "not UTF-8" in desk.call("read_note", {"path": f"{name}.md"}).text


def test_one_search_goes_through_all_of_them(desk: Desk, vault: Path) -> None:
    """Bar 64."""
    said = bounded(lambda: desk.call("search_notes", {"query": NEEDLE, "limit": 50}))
    assert not said.is_error
    for name in ("alias bomb", "long line", "a million headings", "lone returns", "latin 1", "nested quotes"):
        assert f'"{name}.md"' in said.text
    for tool in ("list_notes", "list_recent", "get_vault_tree"):
        assert not bounded(lambda tool=tool: desk.call(tool, {})).is_error


@pytest.mark.parametrize("name", TEXT)
def test_a_daily_note_that_is_hostile_gets_its_line(desk: Desk, vault: Path, name: str) -> None:
    """The tool that takes no path."""
    day = vault / "2026-03-01.md"
    day.write_bytes(TEXT[name])
    said = bounded(lambda: desk.call("append_daily_note", {"text": "a line", "date": "2026-03-01"}))
    assert day.read_bytes().startswith(TEXT[name])
    assert said.code in ("", "TOO_LARGE", "UNSAFE_CONTENT", "HIDDEN_CONTENT"), said.text
    day.unlink()


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_a_note_of_a_hundred_megabytes_is_refused_without_being_read(desk: Desk, vault: Path, place: Any) -> None:
    """Bar 61: memory stays under 200 MB; here under a tenth of that."""
    with (vault / "giant.md").open("wb") as file:
        for _ in range(100):
            file.write(b"x" * 1_000_000)
    tracemalloc.start()
    try:
        said = bounded(lambda: desk.call(place.tool, place.with_path("giant.md")))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        (vault / "giant.md").unlink()
    assert said.code in ("TOO_LARGE", "ALREADY_EXISTS", "NOT_FOUND"), said.text
    assert peak < 20_000_000


FILES = 1_000_000
PATIENCE_S = 60
"""Clients commonly wait a minute."""


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_folder_of_a_million_files_stops_nobody_else(tmp_path: Path) -> None:
    """Bar 62: listing and searching end within what a client waits, and others are answered meanwhile."""
    settings = settings_for(tmp_path)
    lay_out(settings.vault, {"small/Note.md": f"{NEEDLE}\n"})
    crowd = settings.vault / "crowd"
    crowd.mkdir()
    for number in range(FILES):
        (crowd / f"{number}.md").touch()
    room = room_for(settings)
    with desk_over(room) as desk:
        for tool, arguments in CROWDED:
            took, others, said = beside_others(desk, tool, arguments)
            print(f"\n{tool}: {took:.1f} s, {said.code or 'ok'}; others waited {others:.2f} s at most")
            assert took < PATIENCE_S
            assert others < 5
            assert said.code in ("", "UNAVAILABLE", "NOT_FOUND")
    close(room)


CROWDED: list[tuple[str, dict[str, object]]] = [
    ("list_notes", {}),
    ("list_recent", {}),
    ("get_vault_tree", {}),
    ("search_notes", {"query": NEEDLE}),
    ("read_note", {"path": "crowd/no such note.md"}),
    ("create_note", {"path": "crowd/new.md", "content": "x"}),
]


def beside_others(desk: Desk, tool: str, arguments: dict[str, object]) -> tuple[float, float, Said]:
    """Call, and meanwhile read a small note again and again: seconds it took, the longest of those reads, the answer."""
    answers: list[Said] = []
    began = time.monotonic()
    call = threading.Thread(target=lambda: answers.append(desk.call(tool, arguments)))
    call.start()
    longest = 0.0
    while call.is_alive():
        asked = time.monotonic()
        assert NEEDLE in desk.call("read_note", {"path": "small/Note.md"}).text
        longest = max(longest, time.monotonic() - asked)
        call.join(0.2)
    return time.monotonic() - began, longest, answers[0]
