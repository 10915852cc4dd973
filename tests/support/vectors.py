"""The language-neutral vectors of the guards: files of cases, each with an id, a direction, an input and what is expected."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).resolve().parents[1] / "vectors"


@dataclass(frozen=True, slots=True)
class Case:
    """One vector. `is_attack`: the input is meant to be changed; a benign one must stay as it is."""

    id: str
    is_attack: bool
    input: str
    expected: str

    def __str__(self) -> str:
        return self.id


def cases(direction: str, *names: str) -> list[Case]:
    """The cases of one direction (`in` or `out`) in the files of these names."""
    return [
        Case(case["id"], case["kind"] == "attack", case["input"], case["expected"])
        for name in names
        for case in json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
        if case["direction"] == direction
    ]
