"""What the commands work on: settings, state, vault and locks, each opened when it is first asked for.

A command that needs the vault alone opens no state, so `doctor` can look at what is broken. Works beside a running
server: the locks hold between processes, and the database takes several readers and writers.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

from service import settings as settings_
from service.clock import Clock, SystemClock
from service.errors import Misconfigured
from service.settings import Settings
from service.store.files import VaultFiles
from service.store.lock import Lock
from service.store.root import Root


@dataclass
class Opened:
    """The parts of one appliance, for the length of one command. Close it, or use `opened()`."""

    settings: Settings
    clock: Clock
    _root: Root | None = field(default=None, init=False)

    @property
    def files(self) -> VaultFiles:
        """The vault's files.

        Raises:
            VaultMissing: when the folder is not there.
        """
        if self._root is None:
            self._root = Root(self.settings.vault)
        return VaultFiles(self._root, follows_links=self.settings.symlinks == "inside")

    @cached_property
    def writer_lock(self) -> Lock:
        """The lock for every change of the vault. Taken after `history_lock` where both are needed."""
        return Lock(self.settings.state / "writer.lock", "the vault")

    @cached_property
    def history_lock(self) -> Lock:
        """The lock for every change of the history."""
        return Lock(self.settings.state / "history.lock", "the history")

    def close(self) -> None:
        """Give back what was opened."""
        if self._root is not None:
            self._root.close()
            self._root = None


def load_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """The settings of this process; what our libraries log goes to stderr from here on, warnings and worse only.

    Raises:
        BadSettings: naming every problem.
    """
    from service import logs

    settings = settings_.load(os.environ if environ is None else environ)
    logs.configure(
        sys.stderr, level="debug" if settings.log_level == "debug" else "warning", log_format=settings.log_format
    )
    return settings


def settings_with_notes(environ: Mapping[str, str] | None = None) -> Settings:
    """The settings, for a command that is about notes.

    Raises:
        BadSettings: naming every problem.
        Misconfigured: they are those of an edge.
    """
    settings = load_settings(environ)
    if settings.is_edge:
        raise Misconfigured(
            "this is the edge of a split Strongroom, which has no notes and no history; type it at home, where they are."
        )
    return settings


@contextmanager
def opened(environ: Mapping[str, str] | None = None) -> Iterator[Opened]:
    """Open what the settings name, and close it afterwards.

    Raises:
        BadSettings, Misconfigured: as `settings_with_notes`.
    """
    settings = settings_with_notes(environ)
    parts = Opened(settings, SystemClock(settings.zone))
    try:
        yield parts
    finally:
        parts.close()
