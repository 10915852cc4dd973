"""The requests that are being served right now, so that a revocation can end them.

Each has a cancel scope under its token's hash. `watch` asks the database every POLL_S whether any grant was revoked and
cancels what it let in; when the database gives no answer for BLIND_S it cancels everything. Lives in one event loop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import anyio
import structlog

from service.auth.lookup import Lookup
from service.errors import Unavailable

POLL_S: Final = 0.25
"""Well under the second that is promised (decisions.md 20)."""

BLIND_S: Final = 5.0
"""Without a word from the database for this long, everybody is put out."""

MAX_REQUESTS: Final = 256
"""Requests in flight at once; each may hold a body of a few megabytes."""

MAX_REQUESTS_OF_ONE: Final = 64
"""Requests in flight at once with one token, and with all tokens of one grant (a client can have many: each refresh gives
one more), so that one client leaves room for the others."""

_log = structlog.get_logger()


@dataclass(eq=False, slots=True)
class Request:
    """One request in flight. `is_stream` marks one that only waits for news and is ended first when we stop.

    `grant_id` is known once its token was looked up.
    """

    token_hash: bytes
    is_stream: bool
    grant_id: str | None = None
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    was_revoked: bool = False


class Live:
    """All requests in flight.

    Args:
        on_killed: told of each grant whose requests were cut off, and of how many; it may wait for a disk.
    """

    def __init__(self, lookup: Lookup, on_killed: Callable[[str, int], None] = lambda _grant_id, _count: None) -> None:
        self._lookup, self._on_killed = lookup, on_killed
        self._requests: set[Request] = set()
        self.is_stopping = False

    def is_full(self, token_hash: bytes) -> bool:
        """Whether another request with this token would be one too many."""
        of_one = sum(request.token_hash == token_hash for request in self._requests)
        return len(self._requests) >= MAX_REQUESTS or of_one >= MAX_REQUESTS_OF_ONE

    def is_full_of(self, grant_id: str) -> bool:
        """Whether another request of this grant, with whichever of its tokens, would be one too many."""
        return sum(request.grant_id == grant_id for request in self._requests) >= MAX_REQUESTS_OF_ONE

    def streams(self) -> Mapping[str, int]:
        """How many requests of each grant are being answered now, by its id: each is an open stream."""
        return Counter(request.grant_id for request in self._requests if request.grant_id is not None)

    @contextmanager
    def serving(self, request: Request) -> Iterator[None]:
        """Count `request` as in flight. Register first and look the token up afterwards: whatever is revoked after the
        look is seen by the next poll."""
        self._requests.add(request)
        try:
            yield
        finally:
            self._requests.discard(request)

    async def watch(self) -> None:
        """Run for the life of the server."""
        epoch, last_answer = -1, anyio.current_time()
        while True:
            try:
                epoch, ended = await self._lookup.ended({one.token_hash for one in self._requests}, epoch)
                last_answer = anyio.current_time()
                self._end(ended)
            except Unavailable:
                if anyio.current_time() - last_answer > BLIND_S and self._requests:
                    _log.error("state.unreadable", streams_closed=len(self._requests))
                    self._end({one.token_hash for one in self._requests})
            await anyio.sleep(POLL_S)

    async def stop(self, grace_s: float) -> None:
        """Let nobody in any more; end waiting streams now, and calls at work after `grace_s` seconds or once done."""
        self.is_stopping = True
        for request in self._requests:
            if request.is_stream:
                request.scope.cancel()
        with anyio.move_on_after(grace_s):
            while self._requests:
                await anyio.sleep(0.02)
        for request in self._requests:
            request.scope.cancel()

    def _end(self, hashes: frozenset[bytes] | set[bytes]) -> None:
        killed: Counter[str] = Counter()
        for request in self._requests:
            if request.token_hash in hashes and not request.was_revoked:
                request.was_revoked = True
                request.scope.cancel()
                _log.info("stream.closed", reason="revoked")
                killed.update([request.grant_id or "unknown"])
        for grant_id, count in killed.items():
            self._lookup.later(partial(self._on_killed, grant_id, count))
