"""What the doors of signing in work with: built once in `app.py`, handed to every endpoint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from service.auth import audience
from service.auth.asking import Asking
from service.auth.audit import Audit
from service.auth.clients import Clients
from service.auth.exchange import Exchange
from service.auth.flow import Flow
from service.auth.grants import Grants
from service.auth.lifetimes import Lifetimes
from service.auth.passkeys import Passkeys
from service.auth.passphrase import Owner
from service.auth.pending import Approvals
from service.auth.refresh import Refresh
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
    clients: Clients
    asking: Asking
    flow: Flow
    exchange: Exchange
    refresh: Refresh
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
        database, lifetimes = grants.database, Lifetimes.of(settings)
        clients, resource = Clients(database, clock, settings), audience.canonical(base)
        return Desk(
            base=base,
            settings=settings,
            clock=clock,
            grants=grants,
            audit=audit,
            threads=threads,
            clients=clients,
            asking=Asking(base, clients, audit, settings.redirects),
            flow=Flow(base, database, clock, audit, lifetimes),
            exchange=Exchange(resource, database, clock, audit, lifetimes),
            refresh=Refresh(resource, database, clock, audit, lifetimes),
            approvals=Approvals(database, clock),
            owner=Owner(database, settings.state, clock),
            throttle=Throttle(database, clock),
            passkeys=Passkeys(database, clock, base),
            pages=Pages(base),
            missing_folders=missing_folders,
        )

    def has_passkey(self) -> bool:
        """Whether the owner can sign in with a passkey at this address."""
        return bool(self.passkeys.usable())

    async def do(self, work: Callable[[], T], *, is_for_anybody: bool = False) -> T:
        """Run `work` in a thread and wait for what it returns or raises.

        Args:
            is_for_anybody: it writes something down for whoever asks, so it has a share of the line of its own.

        Raises:
            Unavailable: the state cannot be read or written, or not in time.
        """
        return await self.threads.run(work, is_for_anybody=is_for_anybody)
