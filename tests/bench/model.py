"""What a run finds: figures, each against a target of the issue, and what could not be measured and why.

A figure compares ours with another in the same run, turn by turn; its `value` is what the target speaks of, mostly the
ratio of the medians.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Times:
    """A distribution: how many, median, 95th and 99th percentile, in the figure's unit."""

    n: int
    p50: float
    p95: float
    p99: float

    @staticmethod
    def of(values: Sequence[float]) -> Times:
        ordered = sorted(values)
        at = [ordered[min(len(ordered) - 1, len(ordered) * part // 100)] for part in (95, 99)]
        return Times(len(ordered), statistics.median(ordered), *at)


@dataclass(frozen=True, slots=True)
class Target:
    """A bound of the issue. `is_least`: the value must reach it, else it must not pass it."""

    bound: float
    unit: str = "×"
    is_least: bool = False

    def holds(self, value: float) -> bool:
        return value >= self.bound if self.is_least else value <= self.bound

    def __str__(self) -> str:
        return f"{'≥' if self.is_least else '≤'} {self.bound:g} {self.unit}".strip()


NAMED: Final = ("wdd", "100k")
"""The vaults for which the issue has targets; on others the same is told without a verdict."""


def aimed(target: Target, vault: str) -> Target | None:
    """The target, where the issue has it for that vault."""
    return target if vault in NAMED else None


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the results.

    Args:
        row: key of the issue's row it belongs to.
        vault: name of the vault; empty where there is none.
        what: what was measured, in words.
        value: what the target speaks of.
        target: None for a figure that is told for comparison only.
        unit: of `ours` and `other`.
        against: what `other` is.
    """

    row: str
    vault: str
    what: str
    value: float
    target: Target | None
    unit: str = "ms"
    ours: Times | None = None
    other: Times | None = None
    against: str = ""

    @property
    def measure(self) -> str:
        """The unit of `value`."""
        return self.target.unit if self.target else "×" if self.other else self.unit

    @property
    def verdict(self) -> str:
        if self.target is None:
            return ""
        return "met" if self.target.holds(self.value) else "missed"


@dataclass(frozen=True, slots=True)
class Missing:
    """What could not be measured, and why."""

    row: str
    vault: str
    why: str


@dataclass(frozen=True, slots=True)
class Point:
    """Of the plot: the median in ms of a search by one engine on a vault of so many notes."""

    engine: str
    vault: str
    notes: int
    size_bytes: int
    ms: float
    n: int


@dataclass
class Results:
    """Everything one run found. `about` tells of machine, versions and date."""

    about: dict[str, str]
    vaults: dict[str, str] = field(default_factory=dict)
    figures: list[Figure] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def of(read: Mapping[str, Any]) -> Results:
        def times(given: Mapping[str, Any] | None) -> Times | None:
            return None if given is None else Times(**given)

        figures = [
            Figure(
                **{
                    **one,
                    "target": one["target"] and Target(**one["target"]),
                    "ours": times(one["ours"]),
                    "other": times(one["other"]),
                }
            )
            for one in read["figures"]
        ]
        missing = [Missing(**one) for one in read["missing"]]
        points = [Point(**one) for one in read["points"]]
        return Results(dict(read["about"]), dict(read["vaults"]), figures, missing, points)


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the issue's table: its key here, and its two columns as the issue has them."""

    key: str
    work: str
    target: str


ROWS: Final = (
    Row("engine", "search_notes literal, engine alone, rare and no match", "≤ 1.5 × one pass over the text's memory"),
    Row(
        "search",
        "whole call, stdio and HTTP, against warm `rg -i -F -l` on the same vault",
        "wdd ≤ 0.1 (prototype 0.03–0.05 without the SDK), 100,000 notes ≤ 0.1",
    ),
    Row(
        "peers",
        "whole call against MCPVault 0.16.0 (npm `@bitbonsai/mcpvault`, both over stdio with the official client)",
        "≥ 200 × on wdd, ≥ 300 × on 100,000 notes",
    ),
    Row("ranked", "ranked, three words, in process", "≤ 20 ms on wdd, ≤ 100 ms on 100,000 notes"),
    Row(
        "facts",
        "list_tags, list_tasks, get_links, find_broken_links, get_vault_tree, get_vault_stats, resolve_link, list_recent, warm",
        "≥ 100 × MCPVault's nearest call; ≤ 10 ms on wdd",
    ),
    Row(
        "notes",
        "read_note, write_note, edit_note",
        "≤ 1.0 × MCPVault's, with our guards, fsync and version check on",
    ),
    Row(
        "fresh",
        "change from outside → seen by the next call",
        "always: 0 stale in 1,000 rounds per vault and in the rename storm; drain ≤ 10 µs",
    ),
    Row(
        "start",
        "start → first tools/list",
        "≤ 0.85 × a bare SDK server in the same run; `strongroom stdio` beside a running service ≤ 150 ms; "
        "start → first answered search on wdd ≤ 1.5 s after that",
    ),
    Row("memory", "memory at rest", "≤ 85 MiB empty, ≤ 2 × the text's bytes on top, for wdd and for 100,000 notes"),
    Row(
        "crowd",
        "HTTP, 32 clients, distinct searches on wdd",
        "≥ 0.35 × the SDK's own ceiling for a trivial tool in the same run; one client p99 ≤ 15 ms",
    ),
)
