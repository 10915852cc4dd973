"""JSON or a stream: which it is, and what JSON alone would lack (decisions.md 7; docs/explanation/http.md)."""

from __future__ import annotations

import anyio
import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.web.answering import Answering

pytestmark = pytest.mark.anyio

BOTH = b"application/json, text/event-stream"
CALL = b'{"method":"tools/call"}'


class Protocol:
    """Stands for the protocol: answers `{"ok":1}` as JSON, once it is let."""

    def __init__(self, *, is_let: bool) -> None:
        self.let, self.begun, self.ended = anyio.Event(), anyio.Event(), anyio.Event()
        self.got = b""
        if is_let:
            self.let.set()

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self.got = (await receive())["body"]
            self.begun.set()
            await self.let.wait()
            await send(
                {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]}
            )
            await send({"type": "http.response.body", "body": b'{"ok":1}'})
        finally:
            self.ended.set()


class Client:
    """One request of a client that stays until `leave` is set."""

    def __init__(self, body: bytes = CALL, accept: bytes = BOTH, *more: tuple[bytes, bytes]) -> None:
        self._scope: Scope = {"type": "http", "method": "POST", "headers": [(b"accept", accept), *more]}
        self._body: bytes | None = body
        self.leave, self.heard = anyio.Event(), anyio.Event()
        self.said: list[Message] = []

    async def ask(self, app: ASGIApp) -> None:
        with anyio.fail_after(10):
            await app(self._scope, self._receive, self._send)

    async def _receive(self) -> Message:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self.leave.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        self.said.append(message)
        if message["type"] == "http.response.body":
            self.heard.set()

    @property
    def kind(self) -> bytes:
        return dict(self.said[0]["headers"])[b"content-type"]

    @property
    def body(self) -> bytes:
        return b"".join(message["body"] for message in self.said[1:])


async def never(_scope: Scope, _receive: Receive, _send: Send) -> None:
    raise AssertionError("the other one was to answer")


async def test_an_answer_in_time_is_json() -> None:
    """decisions.md 7: measured at half the cost of a stream."""
    client, protocol = Client(), Protocol(is_let=True)
    await client.ask(Answering(protocol, never))
    assert (protocol.got, client.kind, client.body) == (CALL, b"application/json", b'{"ok":1}')


@pytest.mark.parametrize(
    ("body", "header"),
    [
        (b'{"method":"tools/call","params":{"_meta":{"progressToken":7}}}', (b"x-other", b"1")),
        (b'{"method":"subscriptions/listen"}', (b"mcp-method", b"subscriptions/listen")),
        (CALL, (b"mcp-protocol-version", b"2026-07-28")),
    ],
    ids=["progress", "news", "the SDK chooses"],
)
async def test_who_asks_for_more_than_the_answer_gets_the_protocols_stream(
    body: bytes, header: tuple[bytes, bytes]
) -> None:
    """MCP 2025-11-25, progress; MCP 2026-07-28, subscriptions."""
    client, stream = Client(body, BOTH, header), Protocol(is_let=True)
    await client.ask(Answering(never, stream))
    assert stream.got == body


async def test_a_client_that_takes_no_stream_gets_json_though_it_asks_for_progress() -> None:
    """http.md, Answers: who accepts only JSON gets JSON; the SDK's stream would refuse the call with 406."""
    body = b'{"method":"tools/call","params":{"_meta":{"progressToken":7}}}'
    client, protocol = Client(body, b"application/json"), Protocol(is_let=True)
    await client.ask(Answering(protocol, never, ["tools/call"]))
    assert (protocol.got, client.kind, client.body) == (body, b"application/json", b'{"ok":1}')


async def test_a_tool_that_says_something_before_it_answers_gets_a_stream() -> None:
    """MCP 2025-11-25, logging: in JSON there is no place for it, and the SDK would drop it."""
    body = b'{"method":"tools/call","params":{"name":"talk"}}'
    client, stream = Client(body), Protocol(is_let=True)
    await client.ask(Answering(never, stream, ["talk"]))
    assert stream.got == body
    client, quiet = Client(body.replace(b"talk", b"talker")), Protocol(is_let=True)
    await client.ask(Answering(quiet, never, ["talk"]))
    assert client.body == b'{"ok":1}'


async def test_a_client_that_leaves_ends_its_call() -> None:
    """auth.md 1.3: the SDK's JSON answers alone would let it run on."""
    client, protocol = Client(), Protocol(is_let=False)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(client.ask, Answering(protocol, never))
        await protocol.begun.wait()
        client.leave.set()
        with anyio.fail_after(1):
            await protocol.ended.wait()
    assert client.said == []


async def test_an_answer_that_is_long_in_coming_is_one_event_of_a_stream_that_shows_life() -> None:
    """decisions.md 7: nothing is lost; proxies give a silent connection up."""
    client, protocol = Client(), Protocol(is_let=False)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(client.ask, Answering(protocol, never, late_s=0))
        await client.heard.wait()
        protocol.let.set()
    assert client.kind == b"text/event-stream"
    assert client.body.startswith(b": ping\r\n\r\n")
    assert client.body.endswith(b'event: message\r\ndata: {"ok":1}\r\n\r\n')
    assert client.said[-1]["more_body"] is False


async def test_signs_of_life_go_on_until_the_answer_comes() -> None:
    """The SDK's streams do the same, every 15 s."""
    client, protocol = Client(), Protocol(is_let=False)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(client.ask, Answering(protocol, never, late_s=0, ping_s=0))
        with anyio.fail_after(5):
            while client.body.count(b": ping") < 3:
                client.heard = anyio.Event()
                await client.heard.wait()
        protocol.let.set()
    assert client.body.endswith(b'data: {"ok":1}\r\n\r\n')


async def test_a_client_that_takes_no_stream_gets_json_however_late() -> None:
    """RFC 9110 §12.5.1: what was not accepted is not sent."""
    client, protocol = Client(accept=b"application/json"), Protocol(is_let=False)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(client.ask, Answering(protocol, never, late_s=0))
        await protocol.begun.wait()
        await anyio.wait_all_tasks_blocked()
        protocol.let.set()
    assert (client.kind, client.body) == (b"application/json", b'{"ok":1}')


async def test_a_client_that_leaves_a_late_stream_ends_its_call() -> None:
    """decisions.md 7: real cancellation, on both ways of answering."""
    client, protocol = Client(), Protocol(is_let=False)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(client.ask, Answering(protocol, never, late_s=0))
        await client.heard.wait()
        client.leave.set()
        with anyio.fail_after(1):
            await protocol.ended.wait()
    assert b"data:" not in client.body
