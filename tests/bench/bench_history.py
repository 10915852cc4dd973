"""What history costs beside git: `python -m tests.bench.bench_history [NOTES [ROUNDS]]`.

On a generated vault of NOTES notes (default 10,000): a first commit, a check that finds nothing, a commit of ten edits, and
the history of one note, each next to the git command line in the same run. Figures are CPU seconds (user and system, the
median of ROUNDS, default 5), because wall time on a shared machine says little; what counts is the ratio. Git's figures
include its process start. Ours are those of a running service: no start of Python, no imports.

Targets: first commit <= 1.5 x `git add -A && git commit`, no change <= 1.4 x `git status`, ten edits <= 1.0 x
`git add -A && git commit`, history of a note <= 0.5 x `git log -- note`. Git runs as installed: without fsync of loose
objects, which we do.
"""

from __future__ import annotations

import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from service.clock import SystemClock
from service.history.history import History
from service.history.model import Setup
from service.history.opening import opened
from tests.support.timeline import run_git
from tests.support.vaults import generate

EDITS: Final = 10
COMMITS_OF_ONE_NOTE: Final = 100
REST_S: Final = 2.1
"""Seconds after which neither git nor we look twice at a file that was just written."""


def main(count: int, rounds: int) -> None:
    """Print one table."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        vault, state = folder / "vault", folder / "state"
        made = generate(vault, count)
        state.mkdir()
        print(
            f"{made.notes} notes, {made.size_bytes / 1e6:.1f} MB; CPU seconds, median of {rounds}; ratio is ours : git"
        )
        print(f"{'':24}{'ours':>9}{'git':>9}{'ratio':>8}{'target':>8}")
        time.sleep(REST_S)
        first(folder, vault, rounds)
        setup = Setup(vault, state, "", "Ada <ada@example.org>", "vault: {summary}", 95_000_000)
        with opened(setup, SystemClock(ZoneInfo("UTC"))) as history:
            run(history, vault, Git(folder / "beside.git", vault), rounds)


def first(folder: Path, vault: Path, rounds: int) -> None:
    """The first commit, each time into a fresh history."""
    ours, gits = [], []
    for number in range(rounds):
        state = folder / f"first-{number}"
        state.mkdir()
        setup = Setup(vault, state, "", "Ada <ada@example.org>", "vault: {summary}", 95_000_000)
        with opened(setup, SystemClock(ZoneInfo("UTC"))) as history:
            ours.append(cpu_s(lambda: commit(history)))
        git = Git(folder / f"first-{number}.git", vault)
        gits.append(cpu_s(git.commit))
    tell("first commit", ours, gits, "1.5")


def run(history: History, vault: Path, git: Git, rounds: int) -> None:
    """No change, ten edits, and a note's history."""
    commit(history)
    git.commit()
    notes = sorted(vault.rglob("*.md"))[:EDITS]
    time.sleep(REST_S)
    commit(history)
    git.status()
    tell("nothing changed", *by_turns(lambda: commit(history), git.status, rounds), "1.4")
    ours, gits = [], []
    for number in range(rounds):
        edit(notes, number)
        ours.append(cpu_s(lambda: commit(history)))
        gits.append(cpu_s(git.commit))
    tell(f"{EDITS} edits", ours, gits, "1.0")
    for number in range(COMMITS_OF_ONE_NOTE):
        edit(notes[:1], number)
        commit(history)
    name = str(notes[0].relative_to(vault))
    git_dir = str(history.git.path)
    tell(
        f"a note's history ({len(history.log.chain())})",
        *by_turns(
            lambda: history.log.note_history(name, limit=20),
            lambda: run_git(["--git-dir", git_dir, "log", "-20", "--format=%H", "HEAD", "--", name]),
            rounds,
        ),
        "0.5",
    )
    tell(
        "the same, to its end",
        *by_turns(
            lambda: history.log.note_history(name, limit=1000),
            lambda: run_git(["--git-dir", git_dir, "log", "--format=%H", "HEAD", "--", name]),
            rounds,
        ),
        "0.5",
    )


class Git:
    """The git command line on the same vault, with a directory of its own."""

    def __init__(self, git_dir: Path, vault: Path) -> None:
        run_git(["init", "-q", "--bare", str(git_dir)])
        run_git(["--git-dir", str(git_dir), "config", "core.bare", "false"])
        self._words = ["--git-dir", str(git_dir), "--work-tree", str(vault)]

    def commit(self) -> None:
        run_git([*self._words, "add", "-A"])
        run_git([*self._words, "commit", "-q", "-m", "x"])

    def status(self) -> None:
        run_git([*self._words, "status", "--porcelain"])


def commit(history: History) -> None:
    history.commit("bench", may_use_child=False)


def edit(notes: list[Path], number: int) -> None:
    for note in notes:
        with note.open("ab") as file:
            file.write(f"edit {number}\n".encode())


def by_turns(ours: Callable[[], object], gits: Callable[[], object], rounds: int) -> tuple[list[float], list[float]]:
    """Both, in turns, so that what else the machine does hits both alike; the first turn warms up and does not count."""
    turns = [(cpu_s(ours), cpu_s(gits)) for _ in range(rounds + 1)][1:]
    return [mine for mine, _ in turns], [other for _, other in turns]


def cpu_s(work: Callable[[], object]) -> float:
    """CPU seconds of this process and of the children it waited for."""
    before = _used_s()
    work()
    return _used_s() - before


def _used_s() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def tell(what: str, ours: list[float], gits: list[float], target: str) -> None:
    """One row: medians, and the median of the ratios round by round."""
    ratio = statistics.median(mine / other for mine, other in zip(ours, gits, strict=True))
    print(f"{what:24}{statistics.median(ours):9.3f}{statistics.median(gits):9.3f}{ratio:8.2f}{'<= ' + target:>8}")


if __name__ == "__main__":
    os.environ.setdefault("GIT_OPTIONAL_LOCKS", "0")
    words = [int(word) for word in sys.argv[1:]]
    main(*(words + [10_000, 5][len(words) :]))
