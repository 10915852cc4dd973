"""The state database: migrations, privacy, failures."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import threading
from collections import namedtuple
from pathlib import Path

import pytest

from service.errors import Busy, Misconfigured, NoSpace, Unavailable
from service.store import db
from service.store.db import FILE_NAME, Database, Schema

ONE = Schema("room", ["CREATE TABLE a (x INTEGER NOT NULL)"])
TWO = Schema("room", [*ONE.steps, "CREATE TABLE b (y);\nINSERT INTO b SELECT x FROM a;\nDROP TABLE a"])


def tables(database: Database) -> set[str]:
    rows = database.connection().execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    return {row["name"] for row in rows}


def test_opening_applies_the_steps_that_are_missing(tmp_path: Path) -> None:
    database = Database(tmp_path, [ONE])
    with database.transaction() as connection:
        connection.execute("INSERT INTO a VALUES (7)")
    database.close()
    for _ in range(2):
        database = Database(tmp_path, [TWO, Schema("other", ["CREATE TABLE c (z)"])])
        assert tables(database) == {"schema_version", "b", "c"}
        assert database.connection().execute("SELECT y FROM b").fetchone()["y"] == 7
        database.close()


def test_a_newer_state_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    """Bar 74: an older program must not write what it does not know."""
    Database(tmp_path, [TWO]).close()
    before = (tmp_path / FILE_NAME).read_bytes()
    with pytest.raises(Misconfigured, match="newer Strongroom"):
        Database(tmp_path, [ONE])
    assert (tmp_path / FILE_NAME).read_bytes() == before


KILLED = """
import os, signal, sqlite3, sys
from pathlib import Path
from service.store.db import Database, Schema

class Dying(Database):
    def _connect(self):
        made = super()._connect()
        made.create_function("die", 0, lambda: os.kill(os.getpid(), signal.SIGKILL))
        return made

steps = ["CREATE TABLE a (x INTEGER NOT NULL)", "CREATE TABLE b (y);\\nINSERT INTO b SELECT x FROM a;\\nDROP TABLE a"]
step, place = map(int, sys.argv[2:])
statements = steps[step].split(";\\n")
statements.insert(place, "SELECT die()")
steps[step] = ";\\n".join(statements)
Dying(Path(sys.argv[1]), [Schema("room", steps)])
"""


@pytest.mark.parametrize(("step", "place"), [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (1, 3)])
def test_a_kill_in_the_middle_of_a_migration_is_healed_by_the_next_start(tmp_path: Path, step: int, place: int) -> None:
    """Bar 74."""
    done = subprocess.run([sys.executable, "-c", KILLED, tmp_path, str(step), str(place)], timeout=30, check=False)
    assert done.returncode == -9
    raw = sqlite3.connect(tmp_path / FILE_NAME)
    names = {row[0] for row in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    raw.close()
    assert names == {"schema_version"} | ({"a"} if step else set())
    database = Database(tmp_path, [TWO])
    assert tables(database) == {"schema_version", "b"}
    database.close()


def test_two_processes_may_migrate_at_once(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from service.store.db import *\n"
        "Database(Path(sys.argv[1]), [Schema('room', [f'CREATE TABLE t{n} (x)' for n in range(20)])]).close()\n"
    )
    started = [subprocess.Popen([sys.executable, "-c", program, tmp_path]) for _ in range(3)]
    assert [other.wait(60) for other in started] == [0, 0, 0]


def test_every_file_of_the_database_is_private(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        database = Database(tmp_path, [ONE])
        with database.transaction() as connection:
            connection.execute("INSERT INTO a VALUES (1)")
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    finally:
        os.umask(before)
    database.close()
    assert modes == {FILE_NAME: 0o600, FILE_NAME + "-wal": 0o600, FILE_NAME + "-shm": 0o600}


def test_a_database_that_others_may_read_is_made_private_again(tmp_path: Path) -> None:
    Database(tmp_path, [ONE]).close()
    (tmp_path / FILE_NAME).chmod(0o644)
    Database(tmp_path, [ONE]).close()
    assert stat.S_IMODE((tmp_path / FILE_NAME).stat().st_mode) == 0o600


def test_a_database_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Misconfigured, match="cannot be opened"):
        Database(tmp_path, [ONE])
    assert not (tmp_path / "elsewhere").exists()


def test_a_damaged_database_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"no database at all" * 1000)
    with pytest.raises(Misconfigured, match="restore-backup"):
        Database(tmp_path, [ONE])


def test_a_damaged_page_says_what_to_do_when_it_is_read(tmp_path: Path) -> None:
    """Also far into a list, where SQLite notices it only then."""
    database = Database(tmp_path, [ONE])
    with database.transaction() as connection:
        connection.executemany("INSERT INTO a VALUES (?)", ((number,) for number in range(10_000)))
    database.close()
    path = tmp_path / FILE_NAME
    with open(path, "r+b") as file:
        file.seek(path.stat().st_size - 4096)
        file.write(b"\xff" * 4096)
    again = Database(tmp_path, [ONE])
    readings = (
        lambda: list(again.connection().execute("SELECT x FROM a")),
        lambda: again.connection().execute("SELECT x FROM a").fetchall(),
        lambda: again.connection().execute("SELECT sum(x) FROM a").fetchone(),
    )
    for reading in readings:
        with pytest.raises(Misconfigured, match="damaged; restore it with"):
            reading()
    again.close()


def test_a_disk_error_on_a_full_disk_is_no_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite cannot make the file that readers share, and calls it a disk I/O error. Found on a full tmpfs."""
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMSIZE
    assert type(db._in_our_words(error, tmp_path / FILE_NAME)) is Unavailable
    free = namedtuple("free", ["f_bavail", "f_frsize"])
    monkeypatch.setattr(os, "statvfs", lambda _: free(10, 4096))
    assert isinstance(db._in_our_words(error, tmp_path / FILE_NAME), NoSpace)


def test_a_full_disk_is_no_space_and_changes_nothing(tmp_path: Path) -> None:
    database = Database(tmp_path, [ONE])
    database.connection().execute("PRAGMA max_page_count = 4")
    with pytest.raises(NoSpace), database.transaction() as connection:
        connection.executemany("INSERT INTO a VALUES (?)", ((number,) for number in range(10_000)))
    assert database.connection().execute("SELECT count(*) FROM a").fetchone()[0] == 0
    database.connection().execute("PRAGMA max_page_count = 100000")
    with database.transaction() as connection:
        connection.execute("INSERT INTO a VALUES (1)")
    database.close()


def test_a_writer_that_waits_too_long_is_busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    holder = Database(tmp_path, [ONE])
    monkeypatch.setattr(db, "_BUSY_TIMEOUT_MS", 50)
    waiter = Database(tmp_path, [])
    with holder.transaction(), pytest.raises(Busy), waiter.transaction():
        pass
    holder.close()
    waiter.close()


def test_an_error_inside_a_transaction_takes_all_of_it_back(tmp_path: Path) -> None:
    database = Database(tmp_path, [ONE])
    with pytest.raises(sqlite3.IntegrityError), database.transaction() as connection:
        connection.executemany("INSERT INTO a VALUES (?)", [(1,), (None,)])
    assert database.connection().execute("SELECT count(*) FROM a").fetchone()[0] == 0
    database.close()


def test_connections_of_ended_threads_are_closed(tmp_path: Path) -> None:
    """The SDK's worker threads come and go for the life of the server; bar 75 counts descriptors."""
    database = Database(tmp_path, [ONE])

    def use() -> None:
        database.connection().execute("SELECT count(*) FROM a")

    open_files = []
    for _ in range(30):
        thread = threading.Thread(target=use)
        thread.start()
        thread.join()
        open_files.append(len(os.listdir("/proc/self/fd")))
    assert max(open_files) <= open_files[0] + 3
    database.close()


def test_only_what_says_so_is_left_to_the_disks_leisure(tmp_path: Path) -> None:
    """docs/explanation/history.md: a journal's line need not wait for the disk; a revocation must, whatever came before."""
    database = Database(tmp_path, [ONE])
    asked = "PRAGMA synchronous"
    normal, full = 1, 2  # https://sqlite.org/pragma.html#pragma_synchronous
    with database.transaction() as connection:
        assert connection.execute(asked).fetchone()[0] == full
    with database.transaction(survives_power_cut=False) as connection:
        assert connection.execute(asked).fetchone()[0] == normal
        connection.execute("INSERT INTO a VALUES (1)")
    assert connection.execute(asked).fetchone()[0] == full
    with pytest.raises(sqlite3.IntegrityError), database.transaction(survives_power_cut=False) as connection:
        connection.execute("INSERT INTO a VALUES (NULL)")
    assert connection.execute(asked).fetchone()[0] == full
    assert Database(tmp_path, [ONE]).connection().execute("SELECT x FROM a").fetchone()["x"] == 1
