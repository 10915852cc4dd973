"""What the doors of signing in work with: built once in `app.py`, handed to every endpoint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from service.auth.audit import Audit
from service.auth.grants import Grants
from service.clock import Clock
from service.settings import Settings
from service.web.oauth.threads import Threads

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Desk:
    """The rooms behind the endpoints.

    Args:
        base: our public address without a path and without a slash at its end; the issuer. Never what a header says.
        threads: where work with the database runs; endpoints say `await desk.do(work)`.
    """

    base: str
    settings: Settings
    clock: Clock
    grants: Grants
    audit: Audit
    threads: Threads

    @property
    def resource(self) -> str:
        """What our tokens are good for (RFC 8707)."""
        return resource_of(self.base)

    async def do(self, work: Callable[[], T]) -> T:
        """Run `work` in a thread and wait for what it returns or raises.

        Raises:
            Unavailable: the state cannot be read or written, or not in time.
        """
        return await self.threads.run(work)


def resource_of(base: str) -> str:
    """The canonical resource at `base`: byte by byte what a person types into a client."""
    return f"{base}/mcp"
