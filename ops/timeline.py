"""What `commit`, `history` and `restore` share: history opened for one command, and how times and ids are shown."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from service.history.history import History
    from service.history.model import Revision

ID_CHARS: Final = 10
"""Digits of a revision's id that are shown; any command takes them back."""


@contextmanager
def opened() -> Iterator[History]:
    """History, for the length of one command. Works beside a running server.

    Raises:
        BadSettings, BadMount, VaultMissing, Misconfigured: as their makers.
    """
    from ops.opened import settings_with_notes
    from service.clock import SystemClock
    from service.history import opening
    from service.history.model import Setup
    from service.store import mounts

    settings = settings_with_notes()
    mounts.prepare_state(settings.state, settings.vault)
    with opening.opened(Setup.of(settings), SystemClock(settings.zone)) as history:
        yield history


def local(history: History, moment: datetime) -> str:
    """A moment on the owner's wall clock, to the minute."""
    return f"{moment.astimezone(history.clock.zone):%Y-%m-%d %H:%M}"


def by(revision: Revision) -> str:
    """Whose change it was: the token's name, or what made us look."""
    if revision.grant is not None:
        return revision.grant
    return {"restore": "restore", "before-restore": "outside"}.get(revision.reason or "", "outside")
