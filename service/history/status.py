"""How history is doing, kept in the state database so that readiness and `strongroom doctor`, another process, see it too."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from service.history.model import CommitReport
from service.store.db import Database

MAX_KEPT: Final = 20
"""Problems and healed leftovers kept by name; the rest are counted."""


@dataclass(frozen=True, slots=True)
class HistoryStatus:
    """The outcome of the latest full commits.

    Args:
        last_success: when one last went through, also when nothing had changed; None before the first.
        last_commit: when one last made a commit.
        last_error: the sentence of the latest failure since that success, None when there is none.
        problems: the first files left at a previous version, as sentences; `problem_count` counts all.
        healed: what was put right after a crash, as sentences, at the last commit that had to.
    """

    last_success: datetime | None = None
    last_commit: datetime | None = None
    last_error: str | None = None
    last_error_at: datetime | None = None
    is_held: bool = False
    problems: tuple[str, ...] = ()
    problem_count: int = 0
    healed: tuple[str, ...] = ()


class StatusBoard:
    """Reads and writes the status. Any thread, any process."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self) -> HistoryStatus:
        """The status now."""
        rows = {
            row["key"]: json.loads(row["value"])
            for row in self._database.connection().execute("SELECT key, value FROM history_status")
        }
        problems = rows.get("problems", [])
        return HistoryStatus(
            _moment(rows.get("last_success")),
            _moment(rows.get("last_commit")),
            rows.get("last_error"),
            _moment(rows.get("last_error_at")),
            bool(rows.get("is_held", False)),
            tuple(problems),
            rows.get("problem_count", 0),
            tuple(rows.get("healed", [])),
        )

    def succeeded(self, at: datetime, report: CommitReport) -> None:
        """Note a full commit that went through."""
        values: dict[str, object] = {
            "last_success": at.isoformat(),
            "last_error": None,
            "last_error_at": None,
            "is_held": False,
            "problems": [str(problem) for problem in report.problems[:MAX_KEPT]],
            "problem_count": len(report.problems),
        }
        if report.commits:
            values["last_commit"] = at.isoformat()
        if report.healed:
            values["healed"] = list(report.healed[:MAX_KEPT])
        self._write(values)

    def failed(self, at: datetime, why: str, *, is_held: bool) -> None:
        """Note one that did not; `is_held` when it waits for the owner."""
        self._write({"last_error": why, "last_error_at": at.isoformat(), "is_held": is_held})

    def _write(self, values: dict[str, object]) -> None:
        with self._database.transaction() as connection:
            connection.executemany(
                "INSERT INTO history_status VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                [(key, json.dumps(value)) for key, value in values.items()],
            )


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).astimezone(UTC)
