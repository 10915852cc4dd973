"""Another program and the store write one note as fast as they can; every token that the other wrote must be found.

The other program does what such programs do: it reads the note, adds a token of its own, and saves the whole, either by
renaming another file over it or in place. The store adds its own tokens in the same way, with a version check. A token
is lost when it is neither in the note nor in a conflict copy at the end. The store's own answers are checked as well:
what it acknowledged must be there. In memory, where races are many, and on the disk, where they are slow.

Two seconds each in the ordinary run; a minute with `--long`, or as many seconds as HAMMER_S says.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from service.errors import Busy, NoteChanged, NoteNotFound
from service.store.files import VaultFiles
from service.store.root import Root
from service.store.syscalls import Kernel
from tests.support.disk import allow, at, texts
from tests.support.kernels import RefusingKernel

SHORT_S, LONG_S = 2.0, float(os.environ.get("HAMMER_S", "60"))
RUNS = [pytest.param(SHORT_S, id="short"), pytest.param(LONG_S, id="long", marks=pytest.mark.long)]
WAYS = ("renaming", "in place", "lingering")
TOKEN = re.compile(rb"<(?:their|our)-\d+>")
MEMORY = Path("/dev/shm")

WRITER = """
import os, random, sys, time
note, how, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
beside = note + "-their-temporary"
print("running", flush=True)
deadline, number, chance = time.monotonic() + seconds, 0, random.Random(1)
while time.monotonic() < deadline:
    token = b"<their-%d>" % number
    number += 1
    if how == "renaming":
        with open(note, "rb") as file:
            text = file.read()
        with open(beside, "wb") as file:
            file.write(text + token)
        os.rename(beside, note)
    else:
        with open(note, "ab") as file:
            if how == "lingering":
                time.sleep(chance.random() * 0.0005)
            file.write(token)
    time.sleep(chance.random() * 0.0005)
print(number, flush=True)
"""


class CountingKernel(Kernel):
    """Counts how often two files changed places."""

    def __init__(self) -> None:
        self.exchanges = 0

    def exchange(self, folder: int, name: str, other: str) -> None:
        super().exchange(folder, name, other)
        self.exchanges += 1


@dataclass(frozen=True)
class Run:
    """What both wrote, and what of it is nowhere."""

    theirs: int
    ours: int
    lost: frozenset[bytes]
    unkept: frozenset[bytes]


@pytest.fixture(params=["memory", "disk"])
def vault(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    if request.param == "memory" and not MEMORY.is_dir():
        pytest.skip("there is no file system in memory here; the disk is hammered")
    with tempfile.TemporaryDirectory(dir=MEMORY if request.param == "memory" else tmp_path) as folder:
        yield Path(folder)


def hammered(files: VaultFiles, vault: Path, how: str, seconds: float) -> Run:
    """Let both write for some seconds, and count what is nowhere in the end."""
    note = vault / "Note.md"
    note.write_bytes(b"")
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(note), how, str(seconds)], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    try:
        assert writer.stdout.readline()
        acknowledged = written_by_us(files, seconds)
        said, _ = writer.communicate(timeout=60)
        assert writer.returncode == 0, f"the other program ended with {writer.returncode}"
    finally:
        writer.kill()
        writer.communicate()
    files.close()
    found = {token for text in texts(vault).values() for token in TOKEN.findall(text)}
    theirs = {b"<their-%d>" % one for one in range(int(said))}
    return Run(len(theirs), len(acknowledged), frozenset(theirs - found), frozenset(acknowledged - found))


def written_by_us(files: VaultFiles, seconds: float) -> set[bytes]:
    acknowledged: set[bytes] = set()
    number, deadline = 0, time.monotonic() + seconds
    while time.monotonic() < deadline:
        token = b"<our-%d>" % number
        number += 1
        try:
            old = files.read(at("Note.md"))
            files.replace(old, old.data + token, allow)
        except (NoteChanged, Busy, NoteNotFound):
            continue
        acknowledged.add(token)
    return acknowledged


def told(name: str, vault: Path, how: str, run: Run, caught: int) -> None:
    """One line of figures, for `-s`."""
    place = "memory" if vault.is_relative_to(MEMORY) else "disk"
    print(
        f"\n{name}, {how}, {place}: {run.theirs} theirs, {run.ours} ours, {caught} races caught, {len(run.lost)} lost"
    )


@pytest.mark.timeout(300)
@pytest.mark.parametrize("seconds", RUNS)
@pytest.mark.parametrize("how", WAYS)
def test_nothing_that_another_program_writes_is_lost(root: Root, vault: Path, how: str, seconds: float) -> None:
    """Bar 4 and 5."""
    kernel = CountingKernel()
    files = VaultFiles(root, kernel)
    run = hammered(files, vault, how, seconds)
    told("store", vault, how, run, (kernel.exchanges - run.ours) // 2)
    assert run.lost == frozenset()
    if how != "renaming":
        # who saves the whole from a stale buffer overwrites what came between, and that is theirs to do
        assert run.unkept == frozenset()
    assert run.ours > 0
    assert list(files.leftovers()) == []


CONTROLS = {
    "check-then-rename": {"exchange": 22, "take_lease": 22},
    "exchange without lease": {"take_lease": 22},
}
"""What is taken away, and must then show: the usual way, and the exchange alone."""


@pytest.mark.timeout(300)
@pytest.mark.parametrize("seconds", RUNS)
@pytest.mark.parametrize("name", CONTROLS)
def test_the_controls_lose(root: Root, vault: Path, name: str, seconds: float) -> None:
    """Bar 6: the same hammer must show losses where a part of the recipe is missing, or it would prove nothing."""
    deadline = time.monotonic() + 240
    lost = 0
    while not lost and time.monotonic() < deadline - seconds:
        run = hammered(VaultFiles(root, RefusingKernel(CONTROLS[name])), vault, "lingering", seconds)
        told(name, vault, "lingering", run, 0)
        lost = len(run.lost)
        for path in vault.iterdir():
            path.unlink()
    assert lost > 0
