"""The journal of tool writes: who changed which file from what to what, until a commit has it.

A row is written while the writer lock is held, right after the change became visible; the two blobs go to the object store
first (without fsync: the commit makes them durable), and the row is not synced either. A crash between the change and its
row, a power cut soon after, or a full disk, loses the row but not the text, which is on the disk when the call is answered:
the next full commit takes it as coming from outside.

Batches are worked out by one walk over the rows with the known content of each path, so that a change from outside between
two writes gets its own commit, and no grant is ever credited with another's words.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from service.history.model import Pending
from service.store.db import Database, Schema

SCHEMA: Final = Schema(
    "history",
    (
        """CREATE TABLE history_journal (
             seq INTEGER PRIMARY KEY AUTOINCREMENT,
             at_us INTEGER NOT NULL,
             path BLOB NOT NULL,
             before_id TEXT,
             after_id TEXT,
             grant_id TEXT NOT NULL,
             label TEXT NOT NULL
           );
           CREATE TABLE history_flush (
             new_head TEXT NOT NULL,
             up_to INTEGER NOT NULL
           );
           CREATE TABLE history_status (
             key TEXT PRIMARY KEY,
             value TEXT NOT NULL
           )""",
    ),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One journalled change. Ids are blobs', None for "was not there"; `at` is aware UTC."""

    seq: int
    at: datetime
    path: str
    before: str | None
    after: str | None
    grant_id: str
    label: str


@dataclass(slots=True)
class Batch:
    """Changes that become one commit. `label` is None for what came from outside; `at` is its last change."""

    grant_id: str | None
    label: str | None
    at: datetime
    changes: dict[str, str | None] = field(default_factory=dict)


Known = Callable[[str], str | None]
"""The blob committed at a path, or None."""

Below = Callable[[str], Sequence[str]]
"""The committed files below a path, when it is a folder."""


class Journal:
    """The table of rows. `append` is called under the writer lock; the rest under the history lock."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def append(self, rows: Sequence[Row]) -> None:
        """Write rows (their `seq` is ignored), all or none. A power cut may take the latest, as it may take their blobs."""
        with self._database.transaction(survives_power_cut=False) as connection:
            connection.executemany(
                "INSERT INTO history_journal (at_us, path, before_id, after_id, grant_id, label) VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (_to_us(row.at), os.fsencode(row.path), row.before, row.after, row.grant_id, row.label)
                    for row in rows
                ],
            )

    def rows(self) -> list[Row]:
        """Every row that is in no commit, oldest first."""
        found = self._database.connection().execute("SELECT * FROM history_journal ORDER BY seq")
        return [_row(row) for row in found]

    def last_seq(self) -> int:
        """The highest number given so far; later rows have higher ones."""
        found = self._database.connection().execute("SELECT seq FROM sqlite_sequence WHERE name = 'history_journal'")
        row = found.fetchone()
        return int(row["seq"]) if row else 0

    def pending(self) -> Pending | None:
        """When the oldest and the newest row were written; None when there is none."""
        found = self._database.connection().execute(
            "SELECT min(at_us) AS oldest, max(at_us) AS newest, count(*) AS number FROM history_journal"
        )
        row = found.fetchone()
        if not row["number"]:
            return None
        return Pending(_from_us(row["oldest"]), _from_us(row["newest"]), row["number"])

    def intend(self, new_head: str, up_to: int) -> None:
        """Note, before the branch moves to `new_head`, that rows up to `up_to` are in it."""
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM history_flush")
            connection.execute("INSERT INTO history_flush VALUES (?, ?)", (new_head, up_to))

    def drop(self, up_to: int) -> None:
        """Forget rows that are in commits, and the intention."""
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM history_journal WHERE seq <= ?", (up_to,))
            connection.execute("DELETE FROM history_flush")

    def settle(self, is_reached: Callable[[str], bool]) -> None:
        """Drop the rows of an intention whose commit the branch has reached, and the intention."""
        row = self._database.connection().execute("SELECT new_head, up_to FROM history_flush").fetchone()
        if row is None:
            return
        self.drop(row["up_to"] if is_reached(row["new_head"]) else 0)


def batches(rows: Sequence[Row], known: Known, below: Below, *, skips_known: bool = False) -> list[Batch]:
    """The commits that tell the rows' story, in order.

    Args:
        known, below: what the branch holds now.
        skips_known: pass over rows whose outcome the branch holds already: in the owner's repository somebody may have
            committed them by hand.
    """
    weaver = _Weaver(known, below)
    for row in _fresh(rows, known) if skips_known else rows:
        weaver.add(row)
    return weaver.batches


class _Weaver:
    def __init__(self, known: Known, below: Below) -> None:
        self._committed, self._below = known, below
        self._now: dict[str, str | None] = {}
        self._last_touch: dict[str, int] = {}
        self._last_touch_below: dict[str, int] = {}
        self._latest: dict[str | None, int] = {}
        self.batches: list[Batch] = []

    def add(self, row: Row) -> None:
        """Weave one row in, after whatever must have happened outside before it."""
        for path in self._in_the_way(row):
            self._put(None, None, row.at, path, None)
        if self._content(row.path) != row.before:
            self._put(None, None, row.at, row.path, row.before)
        self._put(row.grant_id, row.label, row.at, row.path, row.after)

    def _in_the_way(self, row: Row) -> Iterator[str]:
        """Files that cannot have been there when `row` made its file: an ancestor, or a folder's content at its name."""
        if row.after is None and row.before is None:
            return
        for ancestor in _ancestors(row.path):
            if self._content(ancestor) is not None:
                yield ancestor
        inside = {path for path, blob in self._now.items() if blob is not None and path.startswith(row.path + "/")}
        for path in (*self._below(row.path), *inside):
            if self._content(path) is not None:
                yield path

    def _content(self, path: str) -> str | None:
        return self._now[path] if path in self._now else self._committed(path)

    def _put(self, grant_id: str | None, label: str | None, at: datetime, path: str, blob: str | None) -> None:
        index = self._latest.get(grant_id, -1)
        if index < 0 or self._touched_after(path) > index:
            self.batches.append(Batch(grant_id, label, at))
            index = self._latest[grant_id] = len(self.batches) - 1
        batch = self.batches[index]
        batch.changes[path] = blob
        batch.at, batch.label = max(batch.at, at), label
        self._now[path] = blob
        self._last_touch[path] = index
        for ancestor in _ancestors(path):
            self._last_touch_below[ancestor] = max(index, self._last_touch_below.get(ancestor, -1))

    def _touched_after(self, path: str) -> int:
        """The last batch that touched the path, a folder it is in, or something below it."""
        touched = [self._last_touch.get(name, -1) for name in (path, *_ancestors(path))]
        return max(*touched, self._last_touch_below.get(path, -1))


def _fresh(rows: Sequence[Row], known: Known) -> list[Row]:
    by_path: dict[str, list[Row]] = {}
    for row in rows:
        by_path.setdefault(row.path, []).append(row)
    settled: dict[str, int] = {}
    for path, chain in by_path.items():
        committed = known(path)
        if committed != chain[0].before:
            settled[path] = max((row.seq for row in chain if row.after == committed), default=0)
    return [row for row in rows if row.seq > settled.get(row.path, 0)]


def _ancestors(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def _row(found: sqlite3.Row) -> Row:
    return Row(
        found["seq"],
        _from_us(found["at_us"]),
        os.fsdecode(found["path"]),
        found["before_id"],
        found["after_id"],
        found["grant_id"],
        found["label"],
    )


def _to_us(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000)


def _from_us(microseconds: int) -> datetime:
    return datetime.fromtimestamp(microseconds / 1_000_000, UTC)
