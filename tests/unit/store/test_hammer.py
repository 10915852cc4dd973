"""Another program and the store write one note as fast as they can; every token that the other wrote must be found.

The other program does what such programs do: it reads the note, adds a token of its own, and saves the whole, either by
renaming another file over it or in place. The store adds its own tokens in the same way, with a version check. A token
is lost when it is neither in the note nor in a conflict copy at the end. The store's own answers are checked as well:
what it acknowledged must be there. In memory where possible, because a slow disk makes races rare.
"""

from __future__ import annotations

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

pytestmark = pytest.mark.long

SECONDS = 3.0
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


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else tmp_path) as folder:
        yield Path(folder)


def hammered(files: VaultFiles, vault: Path, how: str) -> Run:
    """Let both write for some seconds, and count what is nowhere in the end."""
    note = vault / "Note.md"
    note.write_bytes(b"")
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(note), how, str(SECONDS)], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    try:
        assert writer.stdout.readline()
        acknowledged = written_by_us(files)
        said, _ = writer.communicate(timeout=60)
    finally:
        writer.kill()
        writer.communicate()
    files.close()
    found = {token for text in texts(vault).values() for token in TOKEN.findall(text)}
    theirs = {b"<their-%d>" % one for one in range(int(said))}
    return Run(len(theirs), len(acknowledged), frozenset(theirs - found), frozenset(acknowledged - found))


def written_by_us(files: VaultFiles) -> set[bytes]:
    acknowledged: set[bytes] = set()
    number, deadline = 0, time.monotonic() + SECONDS
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


@pytest.mark.parametrize("how", ["renaming", "in place", "lingering"])
def test_nothing_that_another_program_writes_is_lost(root: Root, vault: Path, how: str) -> None:
    """Bar 4 and 5, in short."""
    kernel = CountingKernel()
    files = VaultFiles(root, kernel)
    run = hammered(files, vault, how)
    print(
        f"{how}: {run.theirs} theirs, {run.ours} ours, {(kernel.exchanges - run.ours) // 2} races caught, {len(run.lost)} lost"
    )
    assert run.lost == frozenset()
    if (
        how != "renaming"
    ):  # who saves the whole from a stale buffer overwrites what came between, and that is theirs to do
        assert run.unkept == frozenset()
    assert run.ours > 0
    assert list(files.leftovers()) == []


def test_the_control_check_then_rename_loses(root: Root, vault: Path) -> None:
    """Bar 6: the same hammer against the usual way must show losses, or it would prove nothing."""
    files = VaultFiles(root, RefusingKernel({"exchange": 22, "take_lease": 22}))
    lost = 0
    for _ in range(5):
        lost += len(hammered(files, vault, "lingering").lost)
        if lost:
            break
    assert lost > 0
