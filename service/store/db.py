"""The state database: one SQLite file, WAL, mode 0600, opened by the server and by commands at the same time.

Each room brings its own tables as numbered steps (`Schema`); opening applies the steps that are missing, one
transaction each, so an upgrade needs no hand and a kill in the middle leaves the old version or the new.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from service.errors import AppError, Busy, Misconfigured, NoSpace, Unavailable

FILE_NAME: Final = "strongroom.db"
_BUSY_TIMEOUT_MS: Final = 5000
_PRAGMAS: Final = ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON", "trusted_schema=OFF")
_FULL_BELOW_BYTES: Final = 1_000_000
"""Free space below which a disk error of SQLite (it cannot make its -shm or -wal file) means: full."""
_PRIMARY_CODE: Final = 0xFF  # the lower byte of an extended result code (https://sqlite.org/rescode.html)


@dataclass(frozen=True, slots=True)
class Schema:
    """A room's tables: `steps[n]` brings version n to version n+1. Steps are only ever appended."""

    room: str
    steps: Sequence[str]


class Database:
    """The open database; one connection per thread.

    Args:
        state: the state folder, which must exist (see `state.prepare`).
        schemas: every room's tables.

    Raises:
        Misconfigured: when the file was written by a newer version, is damaged, or cannot be opened.
    """

    def __init__(self, state: Path, schemas: Sequence[Schema]) -> None:
        self.path = state / FILE_NAME
        self._local = threading.local()
        self._connections: list[tuple[weakref.ref[threading.Thread], sqlite3.Connection]] = []
        self._guard = threading.Lock()
        self._make_private()
        try:
            for schema in schemas:
                self._migrate(schema)
        except BaseException:
            self.close()
            raise

    def connection(self) -> sqlite3.Connection:
        """This thread's connection, in autocommit mode; use `transaction` to change more than one row.

        Its cursors raise as `transaction` does, when they are read from, too.
        """
        found: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if found is None:
            found = self._connect()
            self._local.connection = found
            with self._guard:
                self._close_those_of_ended_threads()
                self._connections.append((weakref.ref(threading.current_thread()), found))
        return found

    @contextmanager
    def transaction(self, *, survives_power_cut: bool = True) -> Iterator[sqlite3.Connection]:
        """One write transaction (BEGIN IMMEDIATE): all of it or nothing.

        Args:
            survives_power_cut: whether it is on the disk when this returns. Without, it survives a kill, and a power cut may
                take it and what was written in the same way just before it; nothing is torn (SQLite, PRAGMA synchronous).

        Raises:
            Busy: another process has been writing for five seconds.
            NoSpace: the disk is full.
            Misconfigured: the file is read-only or damaged.
        """
        connection = self.connection()
        try:
            if not survives_power_cut:
                connection.execute("PRAGMA synchronous=NORMAL")
            try:
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield connection
                    connection.execute("COMMIT")
                except BaseException:
                    if connection.in_transaction:  # SQLite rolls back by itself after some errors
                        connection.execute("ROLLBACK")
                    raise
            finally:
                if not survives_power_cut:
                    connection.execute("PRAGMA synchronous=FULL")
        except sqlite3.DatabaseError as error:
            raise _in_our_words(error, self.path) or error from error

    def close(self) -> None:
        """Close this thread's connection and those of threads that have ended.

        One that another thread may be using right now is left to that thread: to close it under a running statement
        crashes the interpreter.
        """
        with self._guard:
            self._close_those_of_ended_threads()
            for thread_ref, connection in self._connections:
                if thread_ref() is threading.current_thread():
                    connection.close()
            self._connections.clear()
        self._local = threading.local()

    def _make_private(self) -> None:
        """Make the file 0600 before SQLite sees it; SQLite gives -wal and -shm the mode of the file itself."""
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            descriptor = os.open(self.path, flags, 0o600)
        except OSError as error:
            raise Misconfigured(
                f"the state database {FILE_NAME!r} cannot be opened ({error.strerror}); "
                f"make it a regular file that {os.geteuid()}:{os.getegid()} may write."
            ) from error
        try:
            found = os.fstat(descriptor)
            if found.st_uid == os.geteuid() and found.st_mode & 0o077:
                os.fchmod(descriptor, 0o600)
        finally:
            os.close(descriptor)

    def _connect(self) -> sqlite3.Connection:
        made = sqlite3.connect(
            self.path,
            timeout=_BUSY_TIMEOUT_MS / 1000,
            isolation_level=None,
            check_same_thread=False,
            factory=_speaking(self.path),
        )
        made.row_factory = sqlite3.Row
        try:
            for pragma in _PRAGMAS:
                made.execute(f"PRAGMA {pragma}")
        except sqlite3.DatabaseError as error:
            made.close()
            raise _in_our_words(error, self.path) or error from error
        except BaseException:
            made.close()
            raise
        return made

    def _close_those_of_ended_threads(self) -> None:
        """Worker threads come and go; a connection outlives its thread only until the next one is made."""
        alive = []
        for thread_ref, connection in self._connections:
            thread = thread_ref()
            if thread is not None and thread.is_alive():
                alive.append((thread_ref, connection))
            else:
                connection.close()
        self._connections = alive

    def _migrate(self, schema: Schema) -> None:
        with self.transaction() as connection:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS schema_version (room TEXT PRIMARY KEY, version INTEGER NOT NULL)"
            )
        while self._take_step(schema):
            pass

    def _take_step(self, schema: Schema) -> bool:
        """Apply the next missing step in one transaction; False when there is none."""
        with self.transaction() as connection:
            row = connection.execute("SELECT version FROM schema_version WHERE room = ?", (schema.room,)).fetchone()
            current: int = row["version"] if row else 0
            if current > len(schema.steps):
                raise Misconfigured(
                    f"the state was written by a newer Strongroom ({schema.room} {current}); run that version, or "
                    "restore a backup."
                )
            if current == len(schema.steps):
                return False
            for statement in schema.steps[current].split(";\n"):
                if statement.strip():
                    connection.execute(statement)
            connection.execute("INSERT OR REPLACE INTO schema_version VALUES (?, ?)", (schema.room, current + 1))
        return True


def _speaking(path: Path) -> type[sqlite3.Connection]:
    """A kind of connection whose cursors say what goes wrong in our words, at each row."""

    class SpeakingCursor(sqlite3.Cursor):
        def fetchone(self) -> sqlite3.Row | None:
            with _spoken(path):
                found: sqlite3.Row | None = super().fetchone()
                return found

        def fetchall(self) -> list[sqlite3.Row]:
            with _spoken(path):
                return super().fetchall()

        def __next__(self) -> sqlite3.Row:
            with _spoken(path):
                found: sqlite3.Row = super().__next__()
                return found

    class SpeakingConnection(sqlite3.Connection):
        def execute(self, sql: str, parameters: object = (), /) -> sqlite3.Cursor:
            with _spoken(path):
                return self.cursor(SpeakingCursor).execute(sql, parameters)  # type: ignore[arg-type]  # as it came

        def executemany(self, sql: str, parameters: Iterable[object], /) -> sqlite3.Cursor:
            with _spoken(path):
                return self.cursor(SpeakingCursor).executemany(sql, parameters)  # type: ignore[arg-type]  # as it came

    return SpeakingConnection


@contextmanager
def _spoken(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise _in_our_words(error, path) or error from error


def _in_our_words(error: sqlite3.DatabaseError, path: Path) -> AppError | None:
    said: AppError | None = None
    match getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            said = Busy("the state", _BUSY_TIMEOUT_MS / 1000)
        case sqlite3.SQLITE_FULL:
            said = NoSpace("state")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            said = Misconfigured(
                f"the state database may not be written; give the state folder to {os.geteuid()}:{os.getegid()}."
            )
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            said = Misconfigured("the state database is damaged; restore it with: strongroom restore-backup FILE")
        case sqlite3.SQLITE_IOERR if is_full(path.parent):
            said = NoSpace("state")
        case sqlite3.SQLITE_IOERR:
            said = Unavailable("the disk reported an error at the state database; look at the disk, then retry.")
        case _:
            pass
    return said


def is_full(folder: Path) -> bool:
    """Whether the disk of `folder` has no room even for what SQLite makes in order to read."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return False
    return found.f_bavail * found.f_frsize < _FULL_BELOW_BYTES
