"""What is opened once, by the first who needs it, and given back at the end.

Between the first answer of a server and its first work lie tenths of a second of imports and of looking at the disk. They
are spent in a thread of their own, while the server answers what it can answer without.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack
from types import TracebackType
from typing import Generic, TypeVar

T = TypeVar("T")


class Opening(Generic[T]):
    """Opens something in a thread, at most once. Thread-safe. Use it as a context that gives back what was opened.

    Args:
        build: imports what is needed and opens it; called in the thread.
    """

    def __init__(self, build: Callable[[], AbstractContextManager[T]]) -> None:
        self._build = build
        self._held = ExitStack()
        self._result: Future[T] = Future()
        self._begun = threading.Lock()

    def begin(self) -> None:
        """Open it without waiting, unless somebody has begun to."""
        if self._begun.acquire(blocking=False):
            threading.Thread(target=self._open, name="opening", daemon=True).start()

    def get(self) -> T:
        """What was opened; waits until it is. Raises what opening it raised, each time anew."""
        self.begin()
        return self._result.result()

    def known(self) -> T | None:
        """What was opened; None when it is not there (yet)."""
        return self._result.result() if self._result.done() and self._result.exception() is None else None

    def last(self) -> T | None:
        """What was opened, waiting if it is just being opened; None when nobody began, or it failed. It stays so."""
        if self._begun.acquire(blocking=False):
            self._result.cancel()
        return None if self._result.cancelled() or self._result.exception() is not None else self._result.result()

    def failure(self) -> BaseException | None:
        """What kept it from being opened, if it has failed."""
        is_over = self._result.done() and not self._result.cancelled()
        return self._result.exception() if is_over else None

    def __enter__(self) -> Opening[T]:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.last()
        self._held.close()

    def _open(self) -> None:
        try:
            self._result.set_result(self._held.enter_context(self._build()))
        except BaseException as error:  # noqa: BLE001  # it belongs to whoever asks for the result
            self._result.set_exception(error)
