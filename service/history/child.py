"""A large commit in a process of its own: low priority, same locks, same code.

The parent hands over its setup as JSON on stdin and gets the report as JSON on stdout. Killing the child at any point is as
harmless as killing us.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final, NoReturn
from zoneinfo import ZoneInfo

import structlog

from service import errors
from service.clock import SystemClock
from service.errors import AppError, NoSpace, Unavailable
from service.history.model import CommitReport, Deletions, Problem, Setup, Trouble

NICENESS: Final = 10
_POLL_S: Final = 0.05
_KILLED_AFTER_S: Final = 2.0
_PLAIN: Final = ("HistoryHeld", "VaultMissing", "Misconfigured", "Unavailable")
"""Errors whose only argument is their sentence."""

_log = structlog.get_logger(__name__)


def commit(
    setup: Setup, zone: ZoneInfo, reason: str, deletions: Deletions, keep_going: Callable[[], None]
) -> CommitReport:
    """Commit in a child process and wait for it; `keep_going` raising ends the child.

    Raises:
        AppError: what the child refused, or Unavailable when it died.
    """
    order = {
        "vault": str(setup.vault),
        "state": str(setup.state),
        "history_dir": setup.history_dir,
        "author": setup.author,
        "message": setup.message,
        "max_file_bytes": setup.max_file_bytes,
        "zone": zone.key,
        "reason": reason,
        "deletions": deletions.value,
    }
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "service.history.child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    given: bytes | None = json.dumps(order).encode("utf-8")
    try:
        while True:
            try:
                out, trouble = process.communicate(given, timeout=_POLL_S)
                break
            except subprocess.TimeoutExpired:
                given = None
                keep_going()
    except BaseException:
        process.kill()
        process.communicate(timeout=_KILLED_AFTER_S)
        raise
    return _outcome(process.returncode, out, trouble)


def _outcome(code: int, out: bytes, trouble: bytes) -> CommitReport:
    if code != 0:
        _log.error("history.child_died", code=code, exception=_kind(trouble))
        raise Unavailable("the process that committed a large change ended early; the next commit tries again.")
    answer = json.loads(out)
    if "refused" in answer:
        _raise(*answer["refused"])
    return CommitReport(
        tuple(answer["commits"]),
        answer["added"],
        answer["changed"],
        answer["removed"],
        tuple(Problem(Trouble[name], path) for name, path in answer["problems"]),
        tuple(answer["healed"]),
        tuple(answer["emptied"]),
        answer["held_back"],
    )


def _kind(trouble: bytes) -> str:
    """The type of the exception that a traceback ends with; what it says may quote a note, so it is left out."""
    last = trouble.decode("utf-8", "replace").strip().rpartition("\n")[2]
    name = last.partition(":")[0].strip()
    return name if name.replace(".", "_").isidentifier() else ""


def _raise(name: str, sentence: str) -> NoReturn:
    if name == "NoSpace":
        raise NoSpace("history")
    raise getattr(errors, name)(sentence) if name in _PLAIN else Unavailable(sentence)


def main() -> int:
    """The child: read the order, commit, print the report."""
    os.nice(NICENESS)
    order = json.load(sys.stdin)
    setup = Setup(
        Path(order["vault"]),
        Path(order["state"]),
        order["history_dir"],
        order["author"],
        order["message"],
        order["max_file_bytes"],
    )
    try:
        report = _run(setup, ZoneInfo(order["zone"]), order["reason"], Deletions(order["deletions"]))
    except AppError as error:
        answer: dict[str, object] = {"refused": [type(error).__name__, str(error)]}
    else:
        answer = {
            "commits": report.commits,
            "added": report.added,
            "changed": report.changed,
            "removed": report.removed,
            "problems": [(problem.trouble.name, problem.path) for problem in report.problems],
            "healed": report.healed,
            "emptied": report.emptied,
            "held_back": report.held_back,
        }
    sys.stdout.write(json.dumps(answer))
    sys.stdout.flush()
    return 0


def _run(setup: Setup, zone: ZoneInfo, reason: str, deletions: Deletions) -> CommitReport:
    from service.history.opening import opened

    with opened(setup, SystemClock(zone)) as history:
        return history.commit(reason, deletions=deletions, may_use_child=False)


if __name__ == "__main__":
    sys.exit(main())
