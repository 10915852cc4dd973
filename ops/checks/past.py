"""The history: sane, and young enough; and the scheduler that keeps it so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ops.checks import running
from ops.checks.finding import Finding, Patient, fail, ok, warn
from ops.output import counted

if TYPE_CHECKING:
    from service.history.history import History

_SHOWN: Final = 3
_UNITS: Final = (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1))


def history(patient: Patient) -> Finding:
    """The newest commit is whole, nothing is held, and the latest attempt went through."""
    if not (_git_dir(patient) / "HEAD").exists():
        return warn(
            f"there is no history yet ({_git_dir(patient)})",
            "nothing can be brought back yet",
            "start the server, or run: strongroom commit",
        )
    with _opened(patient) as past:
        head = past.git.head()
        if head.commit is None or head.tree is None:
            return warn("the history has no commit yet", "nothing can be brought back yet", "run: strongroom commit")
        newest = past.git.commit_text(head.commit).time
        files, missing = _look(past, head.tree)
        if missing:
            return fail(
                f"{missing:,} of the {files:,} files of the newest commit cannot be read",
                "the history is damaged; the notes themselves are not",
                "bring the history back from a backup, or move it away and start a new one with: strongroom commit",
            )
        if gap := past.log.gap():
            sentence, _, way_out = gap.partition("; ")
            return fail(sentence, "states from before then cannot be brought back", way_out.rstrip("."))
        if newest - patient.clock.now() > timedelta(minutes=5):
            return fail(
                f"the newest commit is of {newest:%Y-%m-%d %H:%M} UTC, which is yet to come",
                "this machine's clock was, or is, wrong: `--at` will not find what you expect",
                "set the clock, and keep it right with NTP",
            )
        return _outcome(past, files, newest)


def _outcome(past: History, files: int, newest: datetime) -> Finding:
    status, commits = past.status(), len(past.log.chain())
    if status.last_error is not None:
        sentence, _, way_out = status.last_error.partition(". ")
        return fail(
            sentence.rstrip("."),
            "nothing was committed since; " + ("it waits for your word" if status.is_held else "it is tried again"),
            way_out.rstrip(".") or "mend that; the next commit then goes through by itself",
        )
    told = f"{counted(commits, 'commit')}, {counted(files, 'file')}, the newest of {newest:%Y-%m-%d %H:%M} UTC"
    if status.problem_count:
        more = f" and {status.problem_count - _SHOWN:,} more" if status.problem_count > _SHOWN else ""
        return warn(
            f"{told}; left at an earlier version: {'; '.join(status.problems[:_SHOWN])}{more}",
            "these files' latest text is not in the history",
            "do as each says; the next commit takes them",
        )
    return ok(told)


def _look(past: History, tree: str) -> tuple[int, int]:
    """How many files the newest commit has, and how many of them have no content in the store."""
    from service.history import trees
    from service.history.objects import BLOB

    files = missing = 0
    for _, blob in trees.flatten(past.git.read_tree, tree):
        files += 1
        missing += not past.git.objects.is_stored(blob.id, BLOB)
    return files, missing


def scheduler(patient: Patient) -> Finding:
    """While a server runs, a commit (or a look that found nothing to commit) went through within twice the interval."""
    settings = patient.settings
    who = running.server(settings.state)
    if who is None:
        return warn(
            "no server is running on this state",
            "nothing is committed by itself",
            "start it: ./ops/up, or strongroom serve",
        )
    if not settings.commit_every_s:
        return warn(
            "STRONGROOM_COMMIT_EVERY is 0", "only what tools write is committed by itself", "set it to 30m or so"
        )
    limit = timedelta(seconds=2 * settings.commit_every_s)
    now = patient.clock.now()
    last = _last_success(patient)
    if last is not None and now - last <= limit:
        return ok(f"the last look for changes went through {_ago(now - last)} ago ({who})")
    up = now.timestamp() - (settings.state / running.LOCK_NAME).stat().st_mtime
    found = (
        "no commit has gone through yet"
        if last is None
        else f"the last one that went through is {_ago(now - last)} old"
    )
    if up < limit.total_seconds():
        return warn(found, "the server has just started; its first commit may be under way", "look again in a while")
    return fail(
        f"{found}, and the server has been up for {_ago(timedelta(seconds=up))}",
        "changes are not being committed",
        "read what `history` says above and the server's log; then restart it",
    )


def _git_dir(patient: Patient) -> Path:
    settings = patient.settings
    named = {"": settings.state / "history.git", ".git": settings.vault / ".git"}
    return named.get(settings.history_dir) or Path(settings.history_dir)


@contextmanager
def _opened(patient: Patient) -> Iterator[History]:
    from service.history import opening
    from service.history.model import Setup

    with opening.opened(Setup.of(patient.settings), patient.clock) as past:
        yield past


def _last_success(patient: Patient) -> datetime | None:
    """By the status that every commit leaves in the database; the history itself is not opened, which would make it."""
    from service.history.history import SCHEMAS
    from service.history.status import StatusBoard
    from service.store import db

    state = patient.settings.state
    if not (state / db.FILE_NAME).exists():
        return None
    database = db.Database(state, SCHEMAS)
    try:
        return StatusBoard(database).read().last_success
    finally:
        database.close()


def _ago(age: timedelta) -> str:
    seconds = max(0, int(age.total_seconds()))
    unit, size = next(((unit, size) for unit, size in _UNITS if seconds >= size), _UNITS[-1])
    count = seconds // size
    return f"{count} {unit}{'' if count == 1 else 's'}"
