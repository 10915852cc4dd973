"""State databases for one test, closed after it: an open one is three descriptors, and a warning since Python 3.13."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from service.store.db import Database, Schema

_opened: list[Database] = []


def database(state: Path, schemas: Sequence[Schema]) -> Database:
    """The database in `state`; the fixture `closed_databases` of every test closes it."""
    made = Database(state, schemas)
    _opened.append(made)
    return made


def close_all() -> None:
    """Close what this test opened."""
    while _opened:
        _opened.pop().close()
