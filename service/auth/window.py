"""The window in which strangers may introduce themselves (RFC 7591), where STRONGROOM_REGISTRATION is `window`.

The owner opens it for some minutes from the command line; the server looks at it on every registration, so it needs no
restart, and it shuts by itself.
"""

from __future__ import annotations

import sqlite3
from datetime import datetime, timedelta
from typing import Final

from service.auth.grants import moment_of, seconds_of
from service.clock import Clock
from service.errors import BadArgument
from service.store.db import Database

MAX_MINUTES: Final = 24 * 60
_KEY: Final = "registration_until"


def open_for(database: Database, clock: Clock, minutes: int) -> datetime:
    """Open it from now on; 0 shuts it. Returns when it shuts (UTC).

    Raises:
        BadArgument: for more than MAX_MINUTES, or less than none.
    """
    if not 0 <= minutes <= MAX_MINUTES:
        raise BadArgument(f"the window stays open for 1 to {MAX_MINUTES} minutes; 0 shuts it now.")
    until = clock.now().replace(microsecond=0) + timedelta(minutes=minutes)
    with database.transaction() as connection:
        connection.execute("INSERT OR REPLACE INTO auth_meta VALUES (?, ?)", (_KEY, seconds_of(until)))
    return until


def shut(connection: sqlite3.Connection) -> None:
    """Shut it, within the caller's transaction."""
    connection.execute("DELETE FROM auth_meta WHERE k = ?", (_KEY,))


def is_open(database: Database, now: datetime) -> bool:
    """Whether it is open at `now`. A clock that was set back does not keep it open for longer than was asked for."""
    row = database.connection().execute("SELECT v FROM auth_meta WHERE k = ?", (_KEY,)).fetchone()
    return row is not None and now < moment_of(row["v"]) <= now + timedelta(minutes=MAX_MINUTES)
