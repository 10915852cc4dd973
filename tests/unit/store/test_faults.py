"""A fault at every system call that changes something: killed there, or answered EIO, ENOSPC or EINTR.

guards.md 6, 1 to 3 and 11, after SQLite's tests: fail the n-th call, see that everything is whole, go on to the next. The
calls are recorded from a run of the operation, so new ones are covered by themselves. Every operation that writes is here,
and a commit. A seeded sample of them in the ordinary run, a larger and fresh one with `--long`: FAULTS says how large, or `all`.
"""

from __future__ import annotations

import functools
import json
import os
import random
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from service.store import journal, staging, together
from service.store.journal import Journal
from tests.support import injection, operations
from tests.support.disk import texts
from tests.support.injection import FAULTS, Call, Ended
from tests.support.operations import OPERATIONS
from tests.support.timeline import Timeline, timeline_in

SAMPLED = 2
"""Faults of each operation in the ordinary run."""

SAMPLED_LONG = os.environ.get("FAULTS", "28")
"""Faults of each operation in the long run, others each time: eight minutes on one core. All 2,800 (`all`) take an hour."""

MISSES = 3
"""Times that a run is repeated in which the fault came before the operation: how often Python opens a file varies a little."""

MEMORY = Path("/dev/shm")

OF_HISTORY = ("restore", "undelete", "commit", "flush")
"""Operations of several steps: an error may come after the note is in its place."""

pytestmark = pytest.mark.skipif(not injection.is_possible(), reason="strace is not here, or may not trace")


@dataclass(frozen=True)
class Bench:
    """A prepared vault and state to copy, and the result of each operation when nothing goes wrong."""

    folder: Path

    def copy(self, name: str) -> Path:
        there = self.folder / name
        shutil.rmtree(there, ignore_errors=True)
        shutil.copytree(self.folder / "prepared", there, symlinks=True)
        return there

    def run(self, name: str, operation: str, fault: tuple[Call, str] | None = None) -> tuple[Path, Ended]:
        there = self.copy(name)
        return there, injection.traced(["-m", "tests.support.operations", operation, str(there)], fault)

    @functools.cache  # noqa: B019  # one for all tests
    def recorded(self, operation: str) -> tuple[Sequence[Call], dict[str, bytes], dict[str, bytes]]:
        """The calls of an operation, and what the vault holds before and after."""
        there, ended = self.run("recorded", operation)
        assert (ended.code, json.loads(ended.out.splitlines()[-1])) == (0, {"code": "", "sentence": ""})
        assert ended.calls
        return ended.calls, dict(texts(self.folder / "prepared" / "vault")), dict(texts(there / "vault"))


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """In memory where there is room for files, since two thousand runs bring everything to the disk many times each."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else tmp_path_factory.mktemp("faults")) as name:
        operations.prepare(Path(name) / "prepared")
        yield Bench(Path(name))


def cases(bench: Bench, operation: str) -> list[tuple[Call, str]]:
    calls, _, _ = bench.recorded(operation)
    return [(call, fault) for call in calls for fault in FAULTS]


def folders(vault: Path) -> set[Path]:
    return {path.relative_to(vault) for path in vault.rglob("*") if path.is_dir()}


def leftovers(vault: Path) -> list[str]:
    return [path.name for path in vault.rglob("*") if path.name.startswith(staging.PREFIX)]


def struck(bench: Bench, operation: str, call: Call, fault: str) -> None:
    """Run with the fault, and see that everything is whole: at once, and after a restart."""
    _, before, after = bench.recorded(operation)
    there, ended = bench.run("struck", operation, (call, fault))
    for _ in range(MISSES):
        if ended.was_struck:
            break
        there, ended = bench.run("struck", operation, (call, fault))
    vault = there / "vault"
    assert ended.was_struck, f"the fault did not come where it should: {call.text}"
    if fault == "KILL":
        assert not ended.out.endswith("}")  # it did not come to say how it ended
    else:
        said = json.loads(ended.out.splitlines()[-1])
        assert said["code"] != "CRASH", said["sentence"]
        assert str(there) not in said["sentence"]
        if said["code"]:
            assert said["sentence"].endswith(".")
            assert leftovers(vault) == [] or call.name.startswith(("unlink", "rename"))
            if operation not in OF_HISTORY:
                assert texts(vault) == before, "an error says that nothing was changed"
                assert folders(vault) == folders(bench.folder / "prepared" / "vault") or call.name == "rmdir"
        else:
            assert {name: text for name, text in texts(vault).items() if staging.PREFIX not in name} == after
            assert leftovers(vault) == [] or "next start" in said["sentence"]
    with timeline_in(there) as line:
        is_whole_again(line, before, after)


def is_whole_again(line: Timeline, before: dict[str, bytes], after: dict[str, bytes]) -> None:
    """After a restart: the note is the old or the new one, nothing else lies about, and history is sound and goes on."""
    swept = line.history.files.sweep()
    assert swept.recovered == ()
    settled = together.recover(line.history.files, Journal(line.setup.state))
    assert settled is None or (settled.left, settled.stuck) == ((), ())
    assert journal.left_at(line.setup.state) is None
    assert texts(line.vault) in (before, after)
    line.commit("after the restart")
    line.verify()
    assert line.history.pending() is None
    line.put("Later.md", "written later\n")
    assert line.commit("once more").commits
    assert line.at("Later.md") == b"written later\n"
    assert [path.name for path in line.git_dir.rglob("*") if path.suffix == ".lock"] == []


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_fault_at_a_system_call_costs_nothing(bench: Bench, operation: str) -> None:
    """Bar 1, 3 and 11: a sample, another for each operation."""
    chance = random.Random(operation)
    for call, fault in chance.sample(cases(bench, operation), SAMPLED):
        struck_and_named(bench, operation, call, fault)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_many_faults_at_system_calls_cost_nothing(bench: Bench, operation: str) -> None:
    """Bar 1, 3 and 11: a large sample, or all of it."""
    bad: list[str] = []
    everything = cases(bench, operation)
    if SAMPLED_LONG != "all":
        everything = random.SystemRandom().sample(everything, min(int(SAMPLED_LONG), len(everything)))
    for call, fault in everything:
        try:
            struck(bench, operation, call, fault)
        except Exception as error:  # noqa: BLE001  # all of them are told at the end
            bad.append(f"{fault} at {call}: {type(error).__name__}: {str(error)[:300]}\n    {call.text[:160]}")
    print(f"\n{operation}: {len(everything)} faults, {len(bad)} bad")
    assert bad == []


def struck_and_named(bench: Bench, operation: str, call: Call, fault: str) -> None:
    try:
        struck(bench, operation, call, fault)
    except AssertionError as error:
        raise AssertionError(f"{fault} at {call} of {operation}: {call.text}") from error
