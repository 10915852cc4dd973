"""kill -9 at a random moment leaves the old history or the new one, and loses nothing acknowledged. Source: history.md 3.3."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.hammer import content
from tests.support.timeline import Timeline, again, timeline_in

ROOT = Path(__file__).parents[3]
NORMAL_ROUNDS, LONG_ROUNDS = 20, 200
LONGEST_LIFE_S = 1.0


def hammer_and_kill(line: Timeline, round_number: int, chance: random.Random) -> list[list[str]]:
    """Run the hammer, kill it at some moment after its first word, and give its acknowledgements."""
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "tests.support.hammer",
            str(line.vault),
            str(line.setup.state),
            str(round_number * 10_000),
        ],
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    assert process.stdout is not None
    first = process.stdout.readline()
    end = time.monotonic() + chance.random() ** 2 * LONGEST_LIFE_S
    os.set_blocking(process.stdout.fileno(), False)
    said = first
    while time.monotonic() < end:
        said += process.stdout.read() or b""
    process.send_signal(signal.SIGKILL)
    process.wait(10)
    os.set_blocking(process.stdout.fileno(), True)
    said += process.stdout.read()
    process.stdout.close()
    return [row.split(" ") for row in said.decode().split("\n")[:-1]]


def check_round(line: Timeline, told: list[list[str]], newest: dict[str, int]) -> None:
    """After a restart: history commits, nothing acknowledged is missing, and nothing is left lying about."""
    acknowledged = [row[1] for row in told if row[0] == "commit"]
    newest.update({row[1]: int(row[2]) for row in told if row[0] != "commit"})
    with again(line) as restarted:
        restarted.commit("start")
        assert restarted.git("fsck", "--strict", "--full", "--no-dangling") == ""
        chain = {link.id for link in restarted.history.log.chain()}
        assert set(acknowledged) <= chain
        kept = restarted.everything_at()
        for name, number in newest.items():
            held = int(kept[name].split(b"\n")[0])
            assert held >= number
            assert kept[name] == content(held) == (line.vault / name).read_bytes()
        assert restarted.commit("again").commits == ()
        assert restarted.history.pending() is None
    left = [path.name for path in line.git_dir.rglob("*") if path.suffix in (".lock", ".twin")]
    assert left == []


def run_rounds(folder: Path, rounds: int, seed: int) -> Counter[str]:
    chance = random.Random(seed)
    newest: dict[str, int] = {}
    told_in_all: Counter[str] = Counter()
    with timeline_in(folder) as line:
        for number in range(1, rounds + 1):
            told = hammer_and_kill(line, number, chance)
            told_in_all.update(row[0] for row in told)
            check_round(line, told, newest)
    return told_in_all


@pytest.mark.timeout(600)
def test_killed_at_random_moments_history_stays_whole(tmp_path: Path) -> None:
    told = run_rounds(tmp_path, NORMAL_ROUNDS, seed=1)
    assert told["commit"] >= NORMAL_ROUNDS // 4  # on a busy machine many are killed before their first
    assert told["wrote"] >= NORMAL_ROUNDS


def kill_a_large_commit(line: Timeline, delay_s: float) -> bool:
    """Start a first commit as the child process does it, kill it after a while; whether it was still at work."""
    order = {
        "vault": str(line.vault),
        "state": str(line.setup.state),
        "history_dir": "",
        "author": line.setup.author,
        "message": line.setup.message,
        "max_file_bytes": line.setup.max_file_bytes,
        "zone": "UTC",
        "reason": "start",
        "deletions": "guard",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "service.history.child"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd=ROOT
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(order).encode())
    process.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(delay_s)
    was_at_work = process.poll() is None
    process.kill()
    process.wait(10)
    return was_at_work


@pytest.mark.timeout(600)
def test_killed_in_a_large_first_commit_the_next_one_makes_it(tmp_path: Path) -> None:
    with timeline_in(tmp_path) as line:
        for number in range(3_000):
            line.put(f"f{number % 40}/{number}.md", content(number))
        delay_s, kills = 0.2, 0
        while kill_a_large_commit(line, delay_s):
            kills += 1
            delay_s *= 1.3
            assert line.git("fsck", "--strict", "--full", "--no-dangling", check=False) == ""
        with again(line) as restarted:
            restarted.commit("start")
            restarted.verify()
            assert len(restarted.names()) == 3_000
            assert [path.name for path in line.git_dir.rglob("tmp_*")] == []
    assert kills >= 3


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("seed", range(2, 4))
def test_killed_very_often_history_stays_whole(tmp_path: Path, seed: int) -> None:
    told = run_rounds(tmp_path, LONG_ROUNDS, seed)
    assert told["commit"] >= LONG_ROUNDS // 4
