"""Asking the database from the event loop: in one thread, with a deadline, and never taking silence for a yes.

Questions never wait for another program that writes (WAL lets readers pass); what we write ourselves has its own thread.

The database sits on a disk that may hang or vanish. Whoever asks gets an answer within ANSWER_S or `Unavailable`. A file
that was deleted or put in another's place counts as unreadable too: revocations would go into the new one, unseen.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias, TypeVar

from service.auth.grants import Grants
from service.auth.model import Grant
from service.errors import AppError, Unavailable

ANSWER_S: Final = 2.0
_MAX_SEEN: Final = 10_000
T = TypeVar("T")


class Lookup:
    """`Grants`, asked from the event loop. Close it when the loop ends."""

    def __init__(self, grants: Grants) -> None:
        self._grants = grants
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="grants")
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="grants-used")  # may wait for other writers
        self._to_note: set[str] = set()
        self._seen: set[bytes] = set()
        self._file = _identity(grants)
        self._line: list[_Asked] = []
        self._is_asking = False

    async def find(self, token_hash: bytes) -> Grant | None:
        """The living grant behind a token.

        Raises:
            Unavailable: the database gave no answer in time.
        """
        return await self._ask(lambda: self._grants.find(token_hash))

    async def ended(self, hashes: Collection[bytes], since_epoch: int) -> tuple[int, frozenset[bytes]]:
        """The epoch now, and those of `hashes` whose grants ended; they are looked at only when the epoch has moved.

        Raises:
            Unavailable: the database gave no answer in time.
        """

        def look() -> tuple[int, frozenset[bytes]]:
            epoch = self._grants.epoch()
            if epoch == since_epoch:
                return epoch, frozenset()
            return epoch, frozenset(one for one in hashes if self._grants.find(one) is None)

        return await self._ask(look)

    def note_use(self, grant: Grant, address: str | None = None) -> None:
        """Write down that the grant was used, later and in its turn; a failure loses only that."""
        if grant.id not in self._to_note:
            self._to_note.add(grant.id)
            self._writer.submit(self._touch, grant, address)

    def later(self, work: Callable[[], None]) -> None:
        """Write something else down, in its turn: a disk that hangs must not stop the event loop."""
        self._writer.submit(work)

    def note_first_use(self, token_hash: bytes) -> None:
        """Write down that an access token was used, once; what failed is tried again at its next use."""
        if token_hash in self._seen:
            return
        if len(self._seen) >= _MAX_SEEN:
            self._seen.clear()
        self._seen.add(token_hash)
        self._writer.submit(self._first_use, token_hash)

    def close(self) -> None:
        """Let the threads end; does not wait for a database that hangs."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._writer.shutdown(wait=False, cancel_futures=True)

    def _touch(self, grant: Grant, address: str | None) -> None:
        try:
            self._grants.touch(grant, address)
        except (AppError, sqlite3.Error):
            return  # the time of the last use is a comfort, not worth a word
        finally:
            self._to_note.discard(grant.id)

    def _first_use(self, token_hash: bytes) -> None:
        try:
            self._grants.note_first_use(token_hash)
        except (AppError, sqlite3.Error):
            self._seen.discard(token_hash)

    async def _ask(self, question: Callable[[], T]) -> T:
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._line.append(_Asked(question, answer))
        self._go_on()
        try:
            async with asyncio.timeout(ANSWER_S):
                return await answer
        except (AppError, sqlite3.Error, OSError) as error:  # TimeoutError is an OSError
            raise Unavailable("the state cannot be read, so nobody is let in; see strongroom doctor.") from error

    def _go_on(self) -> None:
        """Ask all that stand in line, unless the thread is at work: it comes back here.

        A change of threads costs more than a question, so a crowd shares it. Each is still asked after it came in.
        """
        self._line = [asked for asked in self._line if not asked.answer.done()]
        if self._line and not self._is_asking:
            self._is_asking, line, self._line = True, self._line, []
            work = asyncio.get_running_loop().run_in_executor(self._thread, self._answers, line)
            work.add_done_callback(partial(self._told, line))

    def _answers(self, line: Sequence[_Asked]) -> list[_Answer]:
        return [_answered(self._checked, asked.question) for asked in line]

    def _told(self, line: Sequence[_Asked], work: asyncio.Future[list[_Answer]]) -> None:
        self._is_asking = False
        if work.cancelled():
            return
        for asked, (found, failure) in zip(line, work.result(), strict=True):
            if not asked.answer.done():
                asked.answer.set_exception(failure) if failure is not None else asked.answer.set_result(found)
        self._go_on()

    def _checked(self, question: Callable[[], object]) -> object:
        if _identity(self._grants) != self._file:
            raise FileNotFoundError("the database file is another one now")
        return question()


@dataclass(frozen=True, slots=True)
class _Asked:
    question: Callable[[], object]
    answer: asyncio.Future[Any]  # each question has an answer of its own kind; `_ask` knows which


_Answer: TypeAlias = tuple[object, Exception | None]


def _answered(ask: Callable[[Callable[[], object]], object], question: Callable[[], object]) -> _Answer:
    try:
        return ask(question), None
    except Exception as failure:  # noqa: BLE001  # raised again where it was asked
        return None, failure


def _identity(grants: Grants) -> tuple[int, int]:
    seen = os.stat(grants.path)
    return seen.st_dev, seen.st_ino
