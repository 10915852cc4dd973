"""The public face of a server: the doors of signing in, the guard, and what is behind it. With what every server begins.

The Strongroom that stands alone (`app.py`) and the edge of a split one (`edge.py`) have the same face.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from functools import partial

import anyio
import structlog
from starlette.types import ASGIApp

from service.auth.audit import Audit
from service.auth.grants import Grants
from service.auth.guard import Guard
from service.auth.live import Live
from service.auth.lookup import Lookup
from service.auth.passphrase import Owner
from service.clock import Clock
from service.errors import AppError
from service.settings import Settings
from service.web import body, http, serving
from service.web.oauth import metadata
from service.web.oauth.cors import Readable
from service.web.oauth.desk import Desk, MissingFolders
from service.web.oauth.housekeeping import keep_house
from service.web.oauth.routes import routes
from service.web.oauth.threads import Threads

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Doors:
    """What a public face needs to know whom it lets in. `missing_folders` as in `Desk`."""

    settings: Settings
    clock: Clock
    grants: Grants
    audit: Audit
    lookup: Lookup
    live: Live
    base: str
    missing_folders: MissingFolders | None = None


@contextmanager
def put_on(
    endpoint: ASGIApp, doors: Doors, look: Callable[[], Sequence[str]], lifespan: http.Lifespan
) -> Iterator[ASGIApp]:
    """The whole ASGI application of a Strongroom that clients call: sign-in, the guard, and `endpoint` behind it.

    The one that stands alone and the edge of a split one have the same.
    """
    settings = doors.settings
    with _desk(doors) as desk:
        guard = Guard(
            body.WholeBody(endpoint),
            doors.lookup,
            doors.live,
            doors.clock,
            None if desk is None else metadata.url(doors.base),
            client_ip_header=settings.client_ip_header,
        )
        sign_in = () if desk is None else routes(desk)
        on_bad_secret = partial(note_strangers, doors.lookup, doors.audit)
        living = _with_house_kept(desk, lifespan)
        yield http.build(Readable(guard), sign_in, look, settings, living, on_bad_secret=on_bad_secret)


def _with_house_kept(desk: Desk | None, lifespan: http.Lifespan) -> http.Lifespan:
    if desk is None:
        return lifespan

    @asynccontextmanager
    async def kept(app: object) -> AsyncIterator[None]:
        async with lifespan(app), anyio.create_task_group() as tasks:
            tasks.start_soon(keep_house, desk)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()

    return kept


@contextmanager
def _desk(doors: Doors) -> Iterator[Desk | None]:
    """What the doors of signing in work with; None when nobody can sign in."""
    if not doors.settings.has_oauth:
        yield None
        return
    with closing(Threads(doors.grants.path)) as threads:
        desk = Desk.laid_out(
            base=doors.base,
            settings=doors.settings,
            clock=doors.clock,
            grants=doors.grants,
            audit=doors.audit,
            threads=threads,
            missing_folders=doors.missing_folders,
        )
        _make_first_passphrase(desk.owner)
        yield desk


def _make_first_passphrase(owner: Owner) -> None:
    """At the first start. It waits in the state and never comes here (decisions.md 8); without one nobody can sign in, and
    whoever tries is told what to type, so a state that refuses is no reason not to start."""
    try:
        if owner.prepare():
            _log.info("passphrase.made", show="strongroom auth passphrase --show-initial")
    except (AppError, OSError, sqlite3.Error) as error:
        _log.error("passphrase.not_made", error=type(error).__name__, way_out="strongroom auth passphrase")


def note_strangers(lookup: Lookup, audit: Audit, times: int) -> None:
    lookup.later(partial(audit.note, "origin_secret_bad", times=times))


def warn_when_open(settings: Settings) -> None:
    """Say it when others can reach the port and nothing but the tokens stands before it (decisions.md 9)."""
    if not settings.origin_secrets and not serving.is_loopback(settings.host):
        _log.warning(
            "server.reachable_from_outside",
            host=settings.host,
            way_out="set STRONGROOM_ORIGIN_SECRET and let your proxy send it, or publish the port on 127.0.0.1 only",
        )
