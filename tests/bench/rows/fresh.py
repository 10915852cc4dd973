"""Whether the next call sees what another program just did: create, add, replace, rename, rewrite in place, delete.

This process is that other program; the service runs in one of its own and answers over HTTP. Then a storm: a folder of many
notes renamed again and again, with a question after each. And what the look for changes costs when there are none.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from mcp_types import CallToolResult

from tests.bench import engines
from tests.bench.engines import Engine
from tests.bench.model import Figure, Target, Times
from tests.bench.run import Run, in_process, warm
from tests.bench.vaults import Measured

FOLDER = "Bench fresh"
NEVER = Target(0, "stale")
DRAIN = Target(10, "µs")
STORM_NOTES = 40
WITHIN_S = 300
"""Seconds after which the rounds end, and the page says how many there were."""


async def measure(run: Run, vault: Measured) -> None:
    folder = vault.folder / FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        with run.service(vault.folder) as service:
            async with engines.ours_by_http(service, service.token("bench")) as engine:
                await warm(engine)
                await _rounds(run, vault, engine, folder)
                await _storm(run, vault, engine, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    _drain(run, vault)


async def _rounds(run: Run, vault: Measured, engine: Engine, folder: Path) -> None:
    stale = 0
    took: list[float] = []
    outside = _Outside(folder)
    rounds = 120 if run.is_quick else 1000
    ends = time.monotonic() + WITHIN_S
    for number in range(rounds):
        if time.monotonic() > ends:
            run.miss("fresh", vault.name, f"only {number} of {rounds} rounds, which took {WITHIN_S} s")
            rounds = number
            break
        word, expected = outside.change(number)
        began = time.perf_counter()
        found = paths_in(await engine.search(word))
        took.append(1000 * (time.perf_counter() - began))
        stale += found != expected
    run.tell(Figure("fresh", vault.name, f"stale answers in {rounds} rounds", stale, NEVER, ours=Times.of(took)))


async def _storm(run: Run, vault: Measured, engine: Engine, folder: Path) -> None:
    """The folder has a new name before each question."""
    at = folder / "storm 0"
    at.mkdir()
    for number in range(STORM_NOTES):
        (at / f"note {number}.md").write_text(f"qstormq {number}\n", encoding="utf-8")
    stale, took, rounds = 0, [], 20 if run.is_quick else 200
    for number in range(1, rounds + 1):
        at = at.rename(folder / f"storm {number}")
        expected = {f"{FOLDER}/{at.name}/note {one}.md" for one in range(STORM_NOTES)}
        began = time.perf_counter()
        found = paths_in(await engine.call("search_notes", query="qstormq", limit=50))
        took.append(1000 * (time.perf_counter() - began))
        stale += found != expected
    what = f"stale answers in a storm of {rounds} renames of {STORM_NOTES} notes"
    run.tell(Figure("fresh", vault.name, what, stale, NEVER, ours=Times.of(took)))


def _drain(run: Run, vault: Measured) -> None:
    """What it takes to know that nothing has changed, in this process."""
    with in_process(run, vault) as opened:
        look: Callable[[], object] = opened.picture.folders
        took = []
        for _ in range(50 if run.is_quick else 300):
            began = time.thread_time_ns()
            look()
            took.append((time.thread_time_ns() - began) / 1000)
        run.bound("fresh", vault.name, "look for changes when there are none", took, DRAIN)


class _Outside:
    """Another program: each change leaves a word that was never there, or one that is gone."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._note = folder / "none.md"
        self._word = ""

    def change(self, number: int) -> tuple[str, set[str]]:
        """Do something; a word, and the paths of all notes that hold it now."""
        acts = (self._create, self._add, self._replace, self._rename, self._rewrite, self._delete)
        acts[number % len(acts)](f"qfresh{number}q")
        held = {f"{FOLDER}/{self._note.name}"} if self._note.exists() else set()
        return self._word, held

    def _create(self, word: str) -> None:
        self._note = self._folder / f"note {word}.md"
        self._note.write_text(f"first {word}\n", encoding="utf-8")
        self._word = word

    def _add(self, word: str) -> None:
        with self._note.open("a", encoding="utf-8") as note:
            note.write(f"added {word}\n")
        self._word = word

    def _replace(self, word: str) -> None:
        beside = self._note.with_name(".beside.tmp")
        beside.write_text(f"whole {word}\n", encoding="utf-8")
        os.replace(beside, self._note)
        self._word = word

    def _rename(self, word: str) -> None:
        self._note = self._note.rename(self._folder / f"moved {_number_of(word)}.md")

    def _rewrite(self, word: str) -> None:
        """As many bytes as before, without a new file."""
        size = self._note.stat().st_size
        with self._note.open("r+b") as note:
            note.write(word.encode().ljust(size - 1)[: size - 1] + b"\n")
        self._word = word

    def _delete(self, _word: str) -> None:
        self._note.unlink()


def _number_of(word: str) -> str:
    return word.removeprefix("qfresh").removesuffix("q")


def paths_in(result: CallToolResult) -> set[str]:
    """The paths of all hits."""
    found = result.structured_content or {}
    hits = next(value for value in found.values() if isinstance(value, list))
    return {str(hit["path"]) for hit in hits}
