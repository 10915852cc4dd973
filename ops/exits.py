"""The one table of exit codes. `docs/reference/commands.md` is made from it, and a test compares them.

The branches of `AppError` say what the caller can do next, so each branch has a code: a script can tell "look elsewhere"
from "try again" from "a person must act". A unit file can name code 7 in `RestartPreventExitStatus=`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from service.errors import AppError, Conflict, Misconfigured, NotFound, Refused, Unavailable

OK: Final = 0
CHECK_FAILED: Final = 1
USAGE: Final = 2
NOT_FOUND: Final = 3
REFUSED: Final = 4
CONFLICT: Final = 5
UNAVAILABLE: Final = 6
MISCONFIGURED: Final = 7
INTERNAL: Final = 70
INTERRUPTED: Final = 130
PIPE_CLOSED: Final = 141
TERMINATED: Final = 143


@dataclass(frozen=True, slots=True)
class ExitCode:
    """One row: the number, what it says, what to do, and the branch of errors that ends with it (if one does)."""

    number: int
    meaning: str
    way_out: str
    branch: type[AppError] | None = None


TABLE: Final[Sequence[ExitCode]] = (
    ExitCode(OK, "It worked.", "Nothing to do."),
    ExitCode(
        CHECK_FAILED,
        "A check failed (doctor, health), or a backup had to leave a file out.",
        "Read the line that says which.",
    ),
    ExitCode(USAGE, "The command line could not be understood.", "Add `--help` to see what the command takes."),
    ExitCode(
        NOT_FOUND, "No such note, revision, token, sign-in or client.", "Look for it under another name.", NotFound
    ),
    ExitCode(
        REFUSED,
        "What was asked is not allowed or makes no sense, or an archive is not sound.",
        "Ask differently.",
        Refused,
    ),
    ExitCode(CONFLICT, "Something stands in the way or has changed meanwhile.", "Look again, then retry.", Conflict),
    ExitCode(UNAVAILABLE, "Not now: busy, full, or the vault is missing.", "Wait, then retry.", Unavailable),
    ExitCode(
        MISCONFIGURED, "Settings or mounts are wrong.", "A person must act; retrying is of no use.", Misconfigured
    ),
    ExitCode(
        INTERNAL, "A bug in Strongroom.", "Set `STRONGROOM_LOG_LEVEL=debug`, run it again, and report what it prints."
    ),
    ExitCode(INTERRUPTED, "Interrupted with Ctrl-C, or answered with no.", "Run it again when you want it."),
    ExitCode(PIPE_CLOSED, "The program that read the output stopped reading.", "Nothing to do."),
    ExitCode(TERMINATED, "Ended by SIGTERM before it was done.", "Run it again."),
)


def of(error: AppError) -> int:
    """The exit code for an error: that of its branch, or INTERNAL for one that belongs to none."""
    for row in TABLE:
        if row.branch is not None and isinstance(error, row.branch):
            return row.number
    return INTERNAL
