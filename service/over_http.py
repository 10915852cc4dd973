"""The appliance over HTTP: the doors, the guard, and the protocol's endpoint behind it; beside it the owner's socket."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import ExitStack, asynccontextmanager
from functools import partial

import anyio
import structlog
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp

from service import app as app_
from service import face
from service.app import Appliance
from service.auth import audience
from service.auth.grants import Grants
from service.auth.live import Live
from service.auth.lookup import Lookup
from service.settings import Settings
from service.tools.register import ToolSpec
from service.tools.server import StrongroomServer
from service.web import body, serving
from service.web.answering import Answering
from service.web.origin import Origin
from service.web.owner import OwnersDoor

_log = structlog.get_logger()


def serve(settings: Settings, specs: Sequence[ToolSpec] | None = None) -> None:
    """Run the appliance until SIGTERM or SIGINT.

    Raises:
        As `app.assembled` and `serving.listen`; and whatever opening the inside raised, once the server has stopped for it.
    """
    serving.allow_many_files()
    with app_.assembled(settings, specs) as appliance, serving.listen(settings.host, settings.port) as listener:
        face.warn_when_open(settings)
        host, port = listener.getsockname()[:2]

        def opened() -> None:
            tools = len(appliance.server.tool_names)
            _log.info("server.started", host=host, port=port, tools=tools, part="home" if settings.edge_keys else "all")

        anyio.run(_serve, appliance, listener, opened)
        if (failure := appliance.inside.failure()) is not None:
            raise failure
        _log.info("server.stopped")


async def _serve(appliance: Appliance, listener: serving.Listener, on_open: Callable[[], None]) -> None:
    settings = appliance.settings
    base = settings.base_url(listener.getsockname()[1])
    grants = Grants(appliance.grants.database, appliance.clock, audience.canonical(base))
    lookup = Lookup(grants)
    live = Live(lookup, lambda grant, count: appliance.audit.note("stream_killed", grant=grant, streams=count))
    as_json, as_stream = (session_manager(appliance.server, as_json=is_json) for is_json in (True, False))
    door = OwnersDoor(
        appliance.server.serve_streams, settings.state, settings.vault, appliance.clock, {"streams": live.streams}
    )
    is_ready = anyio.Event()
    watches: list[Callable[[], Coroutine[object, object, None]]] = [partial(_open, appliance, is_ready, on_open)]

    @asynccontextmanager
    async def lifespan(_: object) -> AsyncIterator[None]:
        async with as_json.run(), as_stream.run(), anyio.create_task_group() as tasks:
            for watch in watches:
                tasks.start_soon(watch)
            await tasks.start(door.serve)
            try:
                yield
            finally:
                # Inside the session manager's run: a stuck tool would hold up what comes after it (house.md fact 4).
                tasks.cancel_scope.cancel()
                with anyio.CancelScope(shield=True):
                    await app_.in_thread(lambda: app_.finish(appliance))

    endpoint = Answering(
        StreamableHTTPASGIApp(as_json), StreamableHTTPASGIApp(as_stream), appliance.server.speaking_tools
    )
    look = partial(app_.problems, appliance)
    with ExitStack() as held:
        held.callback(lookup.close)
        if settings.edge_keys:
            origin = Origin(
                endpoint,
                live,
                settings,
                appliance.clock,
                problems=look,
                lifespan=lifespan,
                on_bad_secret=partial(face.note_strangers, lookup, appliance.audit),
            )
            watches.append(origin.watch)
            app: ASGIApp = origin
        else:
            watches.append(live.watch)
            doors = face.Doors(
                settings, appliance.clock, grants, appliance.audit, lookup, live, base, partial(_missing, appliance)
            )
            app = held.enter_context(face.put_on(endpoint, doors, look, lifespan))
        await serving.serve(app, listener, live.stop, is_ready.set)


async def _open(appliance: Appliance, is_ready: anyio.Event, on_open: Callable[[], None]) -> None:
    """Open what is inside once requests are answered. When that fails the server stops, and `serve` says why."""
    await is_ready.wait()
    try:
        await app_.open_soon(appliance, on_open)
    except Exception:
        if appliance.inside.failure() is None:
            raise
        signal.raise_signal(signal.SIGTERM)


def _missing(appliance: Appliance, names: Sequence[str]) -> Sequence[str]:
    return appliance.inside.get().missing_folders(names)


def session_manager(server: StrongroomServer, *, as_json: bool) -> StreamableHTTPSessionManager:
    """What the SDK speaks the protocol with."""
    # Called for the session manager alone: the application it returns would redirect and knows no guard. Stateless, because
    # only so a call ends when its grant is revoked (auth.md 1.3). The Host and Origin are checked at the edge, for every path.
    server.streamable_http_app(
        stateless_http=True,
        json_response=as_json,
        max_request_body_size=body.MAX_BODY_BYTES,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return server.session_manager
