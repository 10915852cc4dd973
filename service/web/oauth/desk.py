"""What the doors of signing in work with: built once in `app.py`, handed to every endpoint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from service.auth.audit import Audit
from service.auth.grants import Grants
from service.auth.passkeys import Passkeys
from service.auth.passphrase import Owner
from service.auth.pending import Approvals
from service.auth.throttle import Throttle
from service.clock import Clock
from service.settings import Settings
from service.web.oauth.pages import Pages
from service.web.oauth.threads import Threads

T = TypeVar("T")
MissingFolders: TypeAlias = Callable[[Sequence[str]], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Desk:
    """The rooms behind the endpoints.

    Args:
        base: our public address without a path and without a slash at its end; the issuer. Never what a header says.
        approvals: the requests that wait for the owner.
        missing_folders: which of some folders are not in the vault; None where there is no vault (the edge of a split one).
        threads: where work with the database runs; endpoints say `await desk.do(work)`.
    """

    base: str
    settings: Settings
    clock: Clock
    grants: Grants
    audit: Audit
    threads: Threads
    approvals: Approvals
    owner: Owner
    throttle: Throttle
    passkeys: Passkeys
    pages: Pages
    missing_folders: MissingFolders | None = None

    @staticmethod
    def laid_out(
        *,
        base: str,
        settings: Settings,
        clock: Clock,
        grants: Grants,
        audit: Audit,
        threads: Threads,
        missing_folders: MissingFolders | None,
    ) -> Desk:
        """Build the rooms over one database and hand them to each other."""
        database = grants.database
        return Desk(
            base=base,
            settings=settings,
            clock=clock,
            grants=grants,
            audit=audit,
            threads=threads,
            approvals=Approvals(database, clock),
            owner=Owner(database, settings.state, clock),
            throttle=Throttle(database, clock),
            passkeys=Passkeys(database, clock, base),
            pages=Pages(base),
            missing_folders=missing_folders,
        )

    @property
    def resource(self) -> str:
        """What our tokens are good for (RFC 8707)."""
        return resource_of(self.base)

    def has_passkey(self) -> bool:
        """Whether the owner can sign in with a passkey at this address."""
        return bool(self.passkeys.usable())

    async def do(self, work: Callable[[], T]) -> T:
        """Run `work` in a thread and wait for what it returns or raises.

        Raises:
            Unavailable: the state cannot be read or written, or not in time.
        """
        return await self.threads.run(work)


def resource_of(base: str) -> str:
    """The canonical resource at `base`: byte by byte what a person types into a client."""
    return f"{base}/mcp"
