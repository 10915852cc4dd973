"""The state database: one SQLite file, WAL, mode 0600, opened by the server and by commands at the same time.

Each room brings its own tables as numbered steps (`Schema`); opening applies the steps that are missing, one
transaction each, so an upgrade needs no hand and a kill in the middle leaves the old version or the new.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from service.errors import Misconfigured

FILE_NAME: Final = "strongroom.db"
_BUSY_TIMEOUT_MS: Final = 5000


@dataclass(frozen=True, slots=True)
class Schema:
    """A room's tables: `steps[n]` brings version n to version n+1. Steps are only ever appended."""

    room: str
    steps: Sequence[str]


class Database:
    """The open database; one connection per thread.

    Args:
        state: the state folder, which must exist.
        schemas: every room's tables.

    Raises:
        Misconfigured: when the file was written by a newer version.
    """

    def __init__(self, state: Path, schemas: Sequence[Schema]) -> None:
        self.path = state / FILE_NAME
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._guard = threading.Lock()
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
        for schema in schemas:
            self._migrate(schema)

    def connection(self) -> sqlite3.Connection:
        """This thread's connection, in autocommit mode; use `transaction` to change more than one row."""
        found: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if found is None:
            found = sqlite3.connect(
                self.path, timeout=_BUSY_TIMEOUT_MS / 1000, isolation_level=None, check_same_thread=False
            )
            found.row_factory = sqlite3.Row
            for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
                found.execute(f"PRAGMA {pragma}")
            self._local.connection = found
            with self._guard:
                self._connections.append(found)
        return found

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """One write transaction (BEGIN IMMEDIATE): all of it or nothing."""
        connection = self.connection()
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")

    def close(self) -> None:
        """Close every thread's connection."""
        with self._guard:
            for connection in self._connections:
                connection.close()
            self._connections.clear()
        self._local = threading.local()

    def _migrate(self, schema: Schema) -> None:
        with self.transaction() as connection:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS schema_version (room TEXT PRIMARY KEY, version INTEGER NOT NULL)"
            )
        for version in range(len(schema.steps) + 1):
            with self.transaction() as connection:
                row = connection.execute("SELECT version FROM schema_version WHERE room = ?", (schema.room,)).fetchone()
                current = row["version"] if row else 0
                if current > len(schema.steps):
                    raise Misconfigured(
                        f"the state was written by a newer Strongroom ({schema.room} {current}); run that version, or restore a backup."
                    )
                if current != version or version == len(schema.steps):
                    continue
                for statement in schema.steps[version].split(";\n"):
                    if statement.strip():
                        connection.execute(statement)
                connection.execute("INSERT OR REPLACE INTO schema_version VALUES (?, ?)", (schema.room, version + 1))
