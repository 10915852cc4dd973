"""The committed tables: what is asked (`queries.tsv`), how good each note is as an answer (`judgements.tsv`), and what each
engine answered (`rankings/*.tsv`). Tab-separated, UTF-8, a line of names first; no field holds a tab or a line end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
QUERIES: Final = HERE / "queries.tsv"
JUDGEMENTS: Final = HERE / "judgements.tsv"
RANKINGS: Final = HERE / "rankings"
DEPTH: Final = 10
"""How many notes of an answer count."""
GRADES: Final = range(4)
"""0: no answer; 1: touches it; 2: answers a part, or as one of several; 3: what the asker wants."""

Rankings = Mapping[str, Sequence[str]]
"""Paths, best first, by the id of the query."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One query; `want` says in words what the asker hopes to find, which is what is judged by."""

    id: str
    vault: str
    kind: str
    words: str
    want: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """How good `path` is as an answer to the query `id`, and why in a few words."""

    id: str
    path: str
    grade: int
    reason: str


def queries(table: Path = QUERIES) -> list[Asked]:
    """All queries, in the order of the table."""
    return [Asked(*row) for row in rows(table, 5)]


def judgements(table: Path = JUDGEMENTS) -> list[Judgement]:
    """All judgements, in the order of the table."""
    return [Judgement(id_, path, int(grade), reason) for id_, path, grade, reason in rows(table, 4)]


def grades(judged: Iterable[Judgement]) -> dict[str, dict[str, int]]:
    """The grade of each path, by the id of the query."""
    by_query: dict[str, dict[str, int]] = {}
    for one in judged:
        by_query.setdefault(one.id, {})[one.path] = one.grade
    return by_query


def rankings(engine: str) -> dict[str, list[str]]:
    """What `engine` answered when its table was made: paths, best first."""
    answers: dict[str, list[str]] = {}
    for id_, _rank, path in rows(RANKINGS / f"{engine}.tsv", 3):
        answers.setdefault(id_, []).append(path)
    return answers


def engines() -> list[str]:
    """The engines whose rankings are committed, by name."""
    return sorted(table.stem for table in RANKINGS.glob("*.tsv"))


def write_rankings(engine: str, answers: Rankings) -> None:
    """Replace the table of `engine`; of each answer the first `DEPTH`."""
    ranked = ((id_, str(rank), path) for id_, found in answers.items() for rank, path in enumerate(found[:DEPTH], 1))
    write(RANKINGS / f"{engine}.tsv", ("id", "rank", "path"), ranked)


def rows(table: Path, width: int) -> list[list[str]]:
    """The lines of a table without the line of names.

    Raises:
        ValueError: a line has not `width` fields; names table and line.
    """
    found = []
    for number, line in enumerate(table.read_text(encoding="utf-8").splitlines()[1:], 2):
        fields = line.split("\t")
        if len(fields) != width:
            raise ValueError(
                f"{table.name}, line {number}: {len(fields)} fields, not {width}. Separate them by one tab."
            )
        found.append(fields)
    return found


def write(table: Path, names: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
    """Write a table, its names first."""
    table.parent.mkdir(exist_ok=True)
    text = "".join("\t".join(line) + "\n" for line in (names, *lines))
    table.write_text(text, encoding="utf-8", newline="")
