"""`strongroom serve` and `stdio` with tools that behave badly, for tests of revocation and of stopping.

Run it as a module: `python -m tests.support.odd_tools serve`. Everything but the tools is the real thing.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

from ops import process
from service import logs, over_http
from service.settings import load
from service.tools.catalogue import SPECS
from service.tools.context import Ctx, actor, room
from service.tools.register import ToolSpec

PATIENCE_S: Final = 30


def write_when_told(name: str, ctx: Ctx) -> str:
    """Wait until the file `state/NAME.go` is there, then write `NAME.md` as a write tool would."""
    state, vault = room(ctx).settings.state, room(ctx).settings.vault
    (state / f"{name}.begun").touch()
    _wait_for(state / f"{name}.go")
    try:
        actor(ctx).permit()
        (vault / f"{name}.md").write_text("written")
    finally:
        (state / f"{name}.done").touch()
    return "written"


def be_stuck(ctx: Ctx) -> str:
    """Never come back."""
    (room(ctx).settings.state / "stuck.begun").touch()
    time.sleep(3600)
    return "late"


def say_the_planted_sentence(sentence: str) -> str:
    """Fail with the sentence in the error, as a bug might."""
    raise ValueError(sentence)


def _wait_for(path: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.01)


ALL: Final = (
    *SPECS,
    ToolSpec(write_when_told, "Write when told", "notes", writes=True),
    ToolSpec(be_stuck, "Be stuck", "notes"),
    ToolSpec(say_the_planted_sentence, "Crash", "notes"),
)


def main() -> None:
    settings = load(os.environ)
    logs.configure(logs.to_stdout(), level=settings.log_level, log_format=settings.log_format)
    over_http.serve(settings, ALL)
    process.leave()


if __name__ == "__main__":
    main()
