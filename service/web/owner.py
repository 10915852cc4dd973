"""The owner's door: a socket in the state folder, through which `strongroom stdio` joins the running service.

No network is involved: the socket lies in a folder of mode 0700 and has mode 0600, so whoever can open it could read the
state anyway. Each connection is one MCP session with the owner's local grant. It begins with one line of JSON from the
client and one from us; then come the lines of the stdio transport, both ways. A client that says `ask` instead wants to know
one thing about the running service, such as how many streams each grant has open: it is told, and that is all.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias

import anyio
import anyio.abc
import structlog
from anyio.streams.buffered import BufferedByteReceiveStream
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from service.auth import model
from service.auth.model import acting_as
from service.clock import Clock
from service.web.body import MAX_BODY_BYTES

SOCKET_NAME: Final = "strongroom.sock"
MAX_LINE_BYTES: Final = MAX_BODY_BYTES
MAX_SESSIONS: Final = 32
MAX_CONNECTIONS: Final = MAX_SESSIONS + 16
"""Sessions, and those that have not yet said what they want."""

_HELLO_WITHIN_S: Final = 5.0

Session: TypeAlias = Callable[
    [MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]], Awaitable[None]
]
"""Serves one MCP session over two streams of messages until the first ends; closes both."""

Asks: TypeAlias = Mapping[str, Callable[[], Mapping[str, int]]]
"""What may be asked about the running service, and what answers."""

_log = structlog.get_logger()


class OwnersDoor:
    """The socket and its sessions.

    Args:
        serve_session: what is behind the door: the same tools as over HTTP. None at the edge of a split Strongroom, which
            has no vault.
        vault: the vault that is served; a client that means another one is turned away.
        asks: what may be asked without a session.
    """

    def __init__(self, serve_session: Session | None, state: Path, vault: Path, clock: Clock, asks: Asks) -> None:
        self._serve_session, self._state, self._vault, self._clock = serve_session, state, vault.resolve(), clock
        self._asks = asks
        self._connections = self._sessions = 0

    async def serve(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Take connections until cancelled. Without a file system that holds sockets, say so and do without."""
        with _short_path(self._state) as path:
            try:
                listener = await anyio.create_unix_listener(path, mode=0o600)
            except OSError as error:
                _log.warning("socket.refused", error=error.strerror, consequence="strongroom stdio cannot join in")
                task_status.started()
                return
            try:
                async with listener:
                    task_status.started()
                    await listener.serve(self._session)
            finally:
                with contextlib.suppress(OSError):
                    os.unlink(path)

    async def _session(self, stream: anyio.abc.SocketStream) -> None:
        async with stream:
            if self._connections >= MAX_CONNECTIONS:
                return
            self._connections += 1
            lines = BufferedByteReceiveStream(stream)
            try:
                with contextlib.suppress(anyio.BrokenResourceError, anyio.EndOfStream, anyio.ClosedResourceError):
                    await self._talk(lines, stream)
            finally:
                self._connections -= 1

    async def _talk(self, lines: BufferedByteReceiveStream, stream: anyio.abc.SocketStream) -> None:
        hello: Mapping[str, object] = {}
        with anyio.move_on_after(_HELLO_WITHIN_S):
            hello = _read(await _line(lines))
        if "ask" in hello:
            await stream.send(json.dumps(self._answer(hello["ask"])).encode() + b"\n")
            return
        is_read_only = self._understood(hello)
        if self._serve_session is None or is_read_only is None:
            why = f"this service keeps the vault {str(self._vault)!r}, not the one that was named"
            if self._serve_session is None:
                why = "this is the edge of a split Strongroom; run `strongroom stdio` at home, where the vault is"
            await stream.send(json.dumps({"error": why}).encode() + b"\n")
            return
        if self._sessions >= MAX_SESSIONS:
            return
        self._sessions += 1
        try:
            await stream.send(b'{"ok": true}\n')
            _log.info("session.opened", read_only=is_read_only)
            with acting_as(model.local(self._clock.now(), is_read_only=is_read_only)):
                await _converse(self._serve_session, lines, stream)
            _log.info("session.closed")
        finally:
            self._sessions -= 1

    def _answer(self, ask: object) -> Mapping[str, object]:
        answer = self._asks.get(ask) if isinstance(ask, str) else None
        if answer is None:
            return {"error": "this service does not know what was asked"}
        return {"ok": True, "answer": answer()}

    def _understood(self, hello: Mapping[str, object]) -> bool | None:
        """Whether the session is to be read-only; None when it does not mean this vault."""
        if hello.get("vault") != str(self._vault):
            return None
        return hello.get("read_only") is not False


def _read(hello: bytes) -> Mapping[str, object]:
    try:
        said = json.loads(hello)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


async def _converse(serve_session: Session, lines: BufferedByteReceiveStream, stream: anyio.abc.SocketStream) -> None:
    to_server, from_client = anyio.create_memory_object_stream[SessionMessage | Exception]()
    to_client, from_server = anyio.create_memory_object_stream[SessionMessage]()

    async def read() -> None:
        async with to_server:
            while True:
                try:
                    line = await _line(lines)
                except (anyio.EndOfStream, anyio.IncompleteRead, anyio.DelimiterNotFound):
                    return
                try:
                    message: SessionMessage | Exception = SessionMessage(
                        jsonrpc_message_adapter.validate_json(line, by_name=False)
                    )
                except ValueError as error:
                    message = error
                await to_server.send(message)

    async def write() -> None:
        async with from_server:
            async for answer in from_server:
                await stream.send(answer.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        tasks.start_soon(write)
        await serve_session(from_client, to_client)
        # The write side ends by itself once the server has closed its end; what it still holds must get out.


async def _line(lines: BufferedByteReceiveStream) -> bytes:
    return await lines.receive_until(b"\n", MAX_LINE_BYTES)


@contextlib.contextmanager
def _short_path(folder: Path) -> Iterator[str]:
    """A name for the socket that fits into the 107 bytes a socket's address has, however deep the folder lies."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        through = f"/proc/self/fd/{descriptor}"
        yield f"{through if os.path.isdir(through) else folder}/{SOCKET_NAME}"
    finally:
        os.close(descriptor)
