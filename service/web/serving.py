"""Running the server: the listening socket, the signals, and a stop that is over in time.

    SIGTERM ─► nobody new is let in, streams that wait are ended ─► calls at work get GRACE_S, then are cut off
            ─► uvicorn closes the connections ─► the lifespan's end (the last commit) ─► exit

However long that takes, the process is gone EXIT_WITHIN_S after the signal: what is not committed by then lies in the
vault, and the next start commits it.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import os
import resource
import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Final

import structlog
import uvicorn
from starlette.types import ASGIApp

from service.errors import Misconfigured, Unavailable
from service.web import protocol

GRACE_S: Final = 2.0
CLOSE_CONNECTIONS_S: Final = 2
EXIT_WITHIN_S: Final = 9.5
_BACKLOG: Final = 256
_WANTED_FILES: Final = 4096

_log = structlog.get_logger()


Listener = socket.socket


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens on `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listen(host: str, port: int) -> Listener:
    """Open the listening socket. Port 0 takes any free one.

    Raises:
        Unavailable: the port is taken.
        Misconfigured: the address is none of this machine's, or the port needs a privilege.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        family = address[0]
        listener = socket.create_server(
            (host, port),
            family=family,
            backlog=_BACKLOG,
            dualstack_ipv6=host == "::" and socket.has_dualstack_ipv6(),
        )
        # Connections inherit it. asyncio sets it only on sockets that say they are TCP, and Python's do not by themselves:
        # each answer in more than one piece then waits 40 ms for the client's delayed acknowledgement.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
    except PermissionError as error:
        raise Misconfigured(f"port {port} needs a privilege; set STRONGROOM_PORT above 1023.") from error
    except socket.gaierror as error:
        raise Misconfigured(f"{host!r} is no address of this machine; look at STRONGROOM_HOST.") from error
    except OSError as error:
        if isinstance(error, OSError) and "in use" in (error.strerror or ""):
            raise Unavailable(
                f"port {port} on {host} is in use by another program; stop it, or set STRONGROOM_PORT."
            ) from error
        raise Misconfigured(f"cannot listen on {host}:{port} ({error.strerror}); look at STRONGROOM_HOST.") from error


async def serve(
    app: ASGIApp, listener: Listener, stop: Callable[[float], Awaitable[None]], on_ready: Callable[[], None]
) -> None:
    """Serve until SIGTERM or SIGINT. Call it from the main thread's event loop.

    Args:
        stop: lets nobody in any more and ends what is running within the grace (seconds) it is given.
        on_ready: called once requests are answered.
    """
    config = uvicorn.Config(
        app,
        http=protocol.bounded(),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=protocol.KEEP_ALIVE_S,
        timeout_graceful_shutdown=CLOSE_CONNECTIONS_S,
    )
    server = _Server(config, on_ready)
    loop = asyncio.get_running_loop()
    stopping: list[asyncio.Task[None]] = []

    async def wind_down() -> None:
        await stop(GRACE_S)
        server.should_exit = True

    def begin(number: int) -> None:
        if not stopping:
            _log.info("server.stopping", signal=signal.Signals(number).name)
            _exit_in_time()
            stopping.append(loop.create_task(wind_down()))

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, begin, number)
    await server.serve(sockets=[listener])


def finish_on_signal(last_words: Callable[[], None]) -> None:
    """On SIGTERM or SIGINT run `last_words` in a thread and end the process. For stdio, where the thread that waits for
    a line of stdin cannot be interrupted. Call it from the event loop.
    """
    loop = asyncio.get_running_loop()
    finishing: list[asyncio.Future[None]] = []

    def finish() -> None:
        try:
            last_words()
        finally:
            os._exit(0)

    def begin() -> None:
        if not finishing:
            _exit_in_time()
            finishing.append(loop.run_in_executor(None, finish))

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, begin)


class _Server(uvicorn.Server):
    """uvicorn without its own signal handlers."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_ready()


def allow_many_files() -> None:
    """Raise the soft limit of open files: a thousand connections and the database need more than the usual 1024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _WANTED_FILES if hard == resource.RLIM_INFINITY else min(_WANTED_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _exit_in_time() -> None:
    timer = threading.Timer(EXIT_WITHIN_S, _exit_now)
    timer.daemon = True
    timer.start()


def _exit_now() -> None:
    _log.warning("server.stop_forced", after_s=EXIT_WITHIN_S, next_start="commits what is left")
    os._exit(0)
