"""A process to be killed: it writes notes as a tool does, changes others from outside, and commits, telling what is done.

Run as `python -m tests.support.hammer VAULT STATE FIRST_NUMBER`; each line on stdout is one acknowledgement:
`wrote PATH NUMBER`, `put PATH NUMBER` or `commit ID`.
"""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path
from zoneinfo import ZoneInfo

from service.clock import SystemClock
from service.guards import paths
from service.history.history import History
from service.history.model import Setup
from service.history.opening import opened
from service.vault.model import Actor, Change

FILES = 30


def main(vault: str, state: str, first: str) -> None:
    setup = Setup(Path(vault), Path(state), "", "Ada <ada@example.org>", "vault: {summary}", 1_000_000)
    chance = random.Random(int(first))
    with opened(setup, SystemClock(ZoneInfo("UTC"))) as history:
        number = int(first)
        while True:
            for _ in range(chance.randint(1, FILES)):
                number += 1
                name = f"f{chance.randint(0, 3)}/{chance.randint(0, FILES)}.md"
                _write(history, name, number) if chance.random() < 0.5 else _put(Path(vault), name, number)
            report = history.flush() if chance.random() < 0.3 else history.commit("hammer", may_use_child=False)
            for commit in report.commits:
                _say(f"commit {commit}")


def content(number: int) -> bytes:
    """A text that says which write it was; sizes differ."""
    return f"{number}\n".encode() * (1 + number % 300)


def _write(history: History, name: str, number: int) -> None:
    path = history.files.root.path / name
    with history.locks.writer.writing():
        before = path.read_bytes() if path.exists() else None
        _replace(path, content(number))
        actor = Actor("hammer", "hammer", permit=lambda: None)
        history.record(actor, [Change(paths.tracked(name), before, content(number))])
    _say(f"wrote {name} {number}")


def _put(vault: Path, name: str, number: int) -> None:
    _replace(vault / name, content(number))
    _say(f"put {name} {number}")


def _replace(path: Path, data: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    beside = path.with_name(".syncthing.hammer.tmp")
    beside.write_bytes(data)
    os.replace(beside, path)


def _say(line: str) -> None:
    os.write(1, line.encode() + b"\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
