"""The public half of a split Strongroom: the same doors as one that stands alone, and behind them the way home.

client ─► TLS proxy ─► this: OAuth, consent, tokens, guard ─► tunnel ─► home: the vault and its tools

It needs no vault and keeps none of its text: state holds grants and the audit log. docs/explanation/sign-in.md.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager, closing

import anyio
import structlog

from service import face
from service.auth import audience, tables
from service.auth.audit import Audit
from service.auth.grants import Grants
from service.auth.live import Live
from service.auth.lookup import Lookup
from service.clock import Clock, SystemClock
from service.errors import Misconfigured
from service.settings import Settings
from service.store import mounts, one_server
from service.store.db import Database
from service.web import serving
from service.web.forward import Forward
from service.web.home import Home
from service.web.owner import OwnersDoor

_log = structlog.get_logger()


def serve(settings: Settings) -> None:
    """Run the edge until SIGTERM or SIGINT.

    Raises:
        Misconfigured: the key or home's address is not set, or as `serving.listen`.
        BadMount, NoSpace: the state cannot be used as it is mounted.
        AlreadyServed: another process serves this state.
    """
    if not settings.edge_keys or settings.home_url is None:
        raise Misconfigured(
            "an edge needs STRONGROOM_EDGE_KEY (the same as at home) and STRONGROOM_HOME_URL (where it reaches home)."
        )
    serving.allow_many_files()
    clock = SystemClock(settings.zone)
    mounts.prepare_state(settings.state)
    with ExitStack() as held:
        held.callback(one_server.be_it(settings.state))
        database = held.enter_context(closing(Database(settings.state, (tables.SCHEMA,))))
        listener = held.enter_context(serving.listen(settings.host, settings.port))
        face.warn_when_open(settings)
        host, port = listener.getsockname()[:2]

        def ready() -> None:
            _log.info("server.started", host=host, port=port, part="edge")

        anyio.run(_serve, settings, clock, database, listener, ready)
        _log.info("server.stopped")


async def _serve(
    settings: Settings, clock: Clock, database: Database, listener: serving.Listener, on_ready: Callable[[], None]
) -> None:
    base = settings.base_url(listener.getsockname()[1])
    grants = Grants(database, clock, audience.canonical(base))
    lookup = Lookup(grants)
    audit = Audit(settings.state, clock)
    live = Live(lookup, lambda grant, count: audit.note("stream_killed", grant=grant, streams=count))
    home = Home(settings, clock)
    door = OwnersDoor(None, settings.state, settings.vault, clock, {"streams": live.streams})

    @asynccontextmanager
    async def lifespan(_: object) -> AsyncIterator[None]:
        async with home.open(), anyio.create_task_group() as tasks:
            tasks.start_soon(live.watch)
            tasks.start_soon(home.watch)
            await tasks.start(door.serve)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()

    def problems() -> Sequence[str]:
        return () if home.problem is None else (home.problem,)

    doors = face.Doors(settings, clock, grants, audit, lookup, live, base)
    with ExitStack() as held:
        held.callback(lookup.close)
        app = held.enter_context(face.put_on(Forward(home), doors, problems, lifespan))
        await serving.serve(app, listener, live.stop, on_ready)
