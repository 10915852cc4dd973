"""The console script: runs one command and turns whatever happens into one sentence and one exit code.

SIGTERM is given a handler before anything else is imported: as process 1 of a container Python would otherwise ignore
it until the command is ready. `serve` and `stdio` put their own in its place.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn

from ops import exits


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `strongroom` with `arguments` (those of the process when None) and return the exit code."""
    signal.signal(signal.SIGTERM, _terminate)
    signal.pthread_sigmask(
        signal.SIG_UNBLOCK, {signal.SIGTERM}
    )  # the image starts us with it blocked, see Containerfile
    from ops.commands import strongroom

    try:
        code = strongroom.main(arguments, prog_name="strongroom", standalone_mode=False)
    except Exception as error:  # noqa: BLE001  # the last door: a person gets a line, not a traceback
        return _told(error)
    return code if isinstance(code, int) else exits.OK


def _told(error: Exception) -> int:
    """Say what happened on stderr, and return its exit code."""
    import click

    from service.errors import AppError, BadSettings

    match error:
        case click.exceptions.Abort():
            return _say("nothing was done.", exits.INTERRUPTED)
        case click.ClickException():
            error.show()
            return error.exit_code
        case BadSettings():
            return _say("\nstrongroom: ".join(error.problems), exits.of(error))
        case AppError():
            return _say(str(error), exits.of(error))
        case PermissionError() if error.filename is not None:
            return _say(
                f"user {os.geteuid()}:{os.getegid()} may not use {error.filename!r} ({error.strerror}); "
                "run this as its owner, or give it to that user.",
                exits.MISCONFIGURED,
            )
        case _:
            return _bug(error)


def _terminate(_number: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(exits.TERMINATED)


def _say(sentence: str, code: int) -> int:
    from ops import output

    output.say(f"strongroom: {sentence}")
    return code


def _bug(error: Exception) -> int:
    """One line for a failure nobody foresaw. Its own words may hold a note's text, so only debug shows them."""
    if os.environ.get("STRONGROOM_LOG_LEVEL", "").lower() == "debug":
        import traceback

        traceback.print_exception(error)
    return _say(
        f"this is a bug ({type(error).__name__}); run it again with STRONGROOM_LOG_LEVEL=debug to see where.",
        exits.INTERNAL,
    )


if __name__ == "__main__":
    sys.exit(main())
