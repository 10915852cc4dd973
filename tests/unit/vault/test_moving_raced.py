"""A note goes back and forth with its links, as fast as it can, while another program writes into the notes that link to it.

complaints.md 12; the issue: a version check of each note, all or nothing. Nothing that the other program wrote may be lost,
and the links lead to the note wherever it is in the end. A second in the ordinary run; half a minute, or as many seconds
as RACE_S says, with `--long`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.errors import Busy, NoteChanged
from service.vault import moving
from service.vault.move_asked import Asked
from service.vault.parts import links
from service.vault.resolving import Names
from tests.support.desk import Desk, desk_in
from tests.support.disk import at, texts
from tests.support.rooms import close

SHORT_S, LONG_S = 1.0, float(os.environ.get("RACE_S", "30"))
RUNS = [pytest.param(SHORT_S, id="short"), pytest.param(LONG_S, id="long", marks=pytest.mark.long)]
TOKEN = re.compile(rb"<\d+>")
LINKING = {f"x{number}.md": "[[Note]] and [n](Note.md)\n" for number in range(4)}

WRITER = """
import os, random, sys, time
how, seconds, notes = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
print("running", flush=True)
deadline, number, chance = time.monotonic() + seconds, 0, random.Random(1)
while time.monotonic() < deadline:
    note = chance.choice(notes)
    token = b"<%d>" % number
    number += 1
    if how == "renaming":
        beside = os.path.join(os.path.dirname(note), ".other-temporary")
        with open(note, "rb") as file:
            text = file.read()
        with open(beside, "wb") as file:
            file.write(text + token)
        os.rename(beside, note)
    else:
        with open(note, "ab") as file:
            time.sleep(chance.random() * 0.0005)
            file.write(token)
    time.sleep(chance.random() * 0.02)
print(number, flush=True)
"""


@pytest.fixture
def desk() -> Iterator[Desk]:
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        made = desk_in(Path(folder))
        yield made
        close(made.room)


def shuttled(desk: Desk, writer: subprocess.Popen[str]) -> tuple[int, int]:
    """Move to and fro until the writer ends; how often it went and how often it was refused."""
    places = ["Note.md", "there/Other.md"]
    done = refused = 0
    while writer.poll() is None:
        try:
            moving.move(desk.vault, desk.actor, Asked.of_note(*places))
        except (NoteChanged, Busy):
            refused += 1
            assert (desk.folder / places[0]).exists(), "a refusal has moved nothing"
        else:
            done += 1
            places.reverse()
    return done, refused


@pytest.mark.parametrize("seconds", RUNS)
@pytest.mark.parametrize("how", ["renaming", "in place"])
def test_nothing_that_another_program_writes_meanwhile_is_lost(desk: Desk, how: str, seconds: float) -> None:
    desk.put({"Note.md": "", **LINKING})
    command = [sys.executable, "-c", WRITER, how, str(seconds), *(str(desk.folder / name) for name in LINKING)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "running\n"
        began = time.monotonic()
        done, refused = shuttled(desk, writer)
        written = int(writer.stdout.read())
    print(f"{how}: {done} moves, {refused} refused, {written} saves in {time.monotonic() - began:.0f} s")
    desk.vault.files.close()
    held = texts(desk.folder)
    found = {int(token[1:-1]) for text in held.values() for token in TOKEN.findall(text)}
    assert found == set(range(written))
    assert done > 0
    assert sorted(name for name in held if "(conflict" not in name) == sorted(
        [*LINKING, "Note.md" if "Note.md" in held else "there/Other.md"]
    )
    if how == "in place":  # who renames may bring back a text that was read before ours was there
        names = Names.of(map(at, held))
        for name in LINKING:
            for use in links.of(held[name].decode()):
                assert names.first(use.target, at(name)) in (at("Note.md"), at("there/Other.md")), held[name]
