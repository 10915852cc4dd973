"""Looking into the vault before anybody asks: once after the start, in a thread of its own.

First the picture of the vault, which searches need; then, slowly, what most other questions are about: links, tags and
tasks. Whoever asks earlier gets a whole answer all the same, since a question settles what is missing: it waits for the
picture, which this makes no slower, or finds the rest itself.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Final

import structlog

from service import starting
from service.errors import AppError, Closing
from service.vault import linking
from service.vault.picture.note import Note
from service.vault.picture.picture import Moment, Picture

HEAD_START_S: Final = 5.0
"""How long the commit at the start, which looks at all files as well, lets the picture go first: searches wait for it."""

_AT_ONCE_S: Final = 0.01
"""Seconds of the processor that are spent on facts before calls get a rest of the same length."""

_LAST_NOTE_S: Final = 0.2
"""How long `stop` waits for the note that is being looked at. A disk that hangs must not hold up the last commit."""

_log = structlog.get_logger()


class Warming:
    """Looks into one vault. `start` it once; `stop` it at any time."""

    def __init__(self, picture: Picture) -> None:
        self._picture = picture
        self._is_stopped, self._is_made = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="warming", daemon=True)

    def start(self) -> None:
        """Begin, and return at once."""
        self._thread.start()

    def wait(self) -> None:
        """Until the picture is made or cannot be, and no longer than HEAD_START_S."""
        self._is_made.wait(HEAD_START_S)

    def stop(self) -> None:
        """End it, but wait for no disk. Also before it was started."""
        self._is_stopped.set()
        self._is_made.set()
        if self._thread.is_alive():
            self._thread.join(_LAST_NOTE_S)

    def _run(self) -> None:
        try:
            began = time.monotonic()
            moment = self._picture.now(self._go_on)
            _log.info("picture.made", ms=round((time.monotonic() - began) * 1000))
            self._is_made.set()
            self._learn(moment)
            starting.settled()
        except Closing:
            return
        except (AppError, OSError) as error:  # whoever asks is told more
            _log.warning("picture.not_made", error=type(error).__name__, consequence="the first question takes longer")
        finally:
            self._is_made.set()

    def _learn(self, moment: Moment) -> None:
        rest_at = time.thread_time() + _AT_ONCE_S
        for note in _shown(moment):
            linking.learn(note)
            Note.tags.learn(note)
            Note.tasks.learn(note)
            self._go_on()
            if time.thread_time() > rest_at:
                self._is_stopped.wait(_AT_ONCE_S)
                rest_at = time.thread_time() + _AT_ONCE_S

    def _go_on(self) -> None:
        if self._is_stopped.is_set():
            raise Closing


def _shown(moment: Moment) -> Iterator[Note]:
    """The notes that are shown. One that changes meanwhile learns nothing more, and another stands for it."""
    for listing in moment.folders.values():
        yield from (note for note in listing.files.values() if note.version and note.is_shown)
