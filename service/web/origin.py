"""The half at home of a split Strongroom: `/mcp` for what the edge signed, an empty 404 for everybody and everything else.

No Host or Origin is looked at: a browser cannot sign. A stranger learns nothing, neither a 401 nor a 405 nor which paths
there are; even the health paths answer only this machine itself. The order of the looks: the origin secret, the signature
over the head, then the body. What follows is the protocol, under the grant that the edge vouches for.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections import OrderedDict
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import anyio
import structlog
from starlette.responses import Response
from starlette.routing import Router
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.auth import assertion, audience, tokens
from service.auth.assertion import Assertion, Call, Heard, Keys, Once
from service.auth.guard import LAST_WORD_S, Reply, only_listens, unavailable
from service.auth.live import Live, Request
from service.auth.model import Grant
from service.auth.vouching import Pulse, Vouched, vouched_for
from service.clock import Clock
from service.logs import Sparingly
from service.settings import Settings
from service.web import answers
from service.web.body import WholeBody
from service.web.edge import HEALTH_PATHS, Secret, is_from_here, without_crashing
from service.web.health import Problems
from service.web.http import Lifespan, health_routes

PING_PATH: Final = "/edge/ping"
SILENT_S: Final = 5.0
"""The edge pings twice a second while requests are in flight. When nothing was heard of it for this long, what it vouched for
is over: a connection that it has closed meanwhile would not be seen to be closed. It changes nothing long before
(`vouching.FRESH_S`)."""

MAX_PING_BYTES: Final = 64 * 1024
MAX_EDGES: Final = 16
"""Starts of the edge that are remembered, the latest: there is one at a time, and one more while it is changed."""

_ASKED: Final = "strongroom.asked"
_PINGED: Final = "strongroom.pinged"
_log = structlog.get_logger()


class Origin:
    """The outermost ASGI layer at home.

    Args:
        mcp: the protocol's endpoint; it gets a grant of kind `edge` to act under.
        live: counts the requests in flight and ends them when we stop; not asked who was revoked.
        problems: what is wrong right now, for `/readyz`.
        lifespan: entered before the first request and left after the last.
        on_bad_secret: as in `http.build`.
    """

    def __init__(
        self,
        mcp: ASGIApp,
        live: Live,
        settings: Settings,
        clock: Clock,
        *,
        problems: Problems,
        lifespan: Lifespan,
        on_bad_secret: Callable[[int], None] = lambda _times: None,
    ) -> None:
        self._mcp, self._live, self._clock = mcp, live, clock
        self._keys, self._once, self._secret = Keys(settings.edge_keys), Once(clock), Secret(settings.origin_secrets)
        self._health = Router(health_routes(problems), redirect_slashes=False, lifespan=lifespan)
        self._whole = WholeBody(self._with_body)
        self._pinged = WholeBody(self._ping, max_bytes=MAX_PING_BYTES)
        self._in_flight: dict[Request, _Asked] = {}
        self._pulses: OrderedDict[str, Pulse] = OrderedDict()
        self._refused = Sparingly(_log, "request.refused")
        self._strangers = Sparingly(_log, "request.refused", also=on_bad_secret)
        self.start = secrets.token_hex(16)
        """Which start of home this is. What was signed for another one is refused, for its nonces are forgotten."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._health(scope, receive, send)
        elif scope["type"] == "http":
            await without_crashing(self._http, scope, receive, send)

    async def watch(self) -> None:
        """End what the edge vouched for when it is not heard of any more. Run for the life of the server."""
        while True:
            await anyio.sleep(SILENT_S / 5)
            unheard = [one for one, asked in self._in_flight.items() if asked.vouched.pulse.age_s > SILENT_S]
            if closed := self._end(unheard):
                _log.warning("edge.silent", streams_closed=closed)

    def _end(self, requests: Sequence[Request]) -> int:
        """End those that are not ended yet; how many there were."""
        living = [request for request in requests if not request.was_revoked]
        for request in living:
            request.was_revoked = True
            self._in_flight[request].vouched.is_over = True
            request.scope.cancel()
        return len(living)

    def _pulse(self, one: Assertion) -> Pulse:
        """That of the start of the edge which says this."""
        found = self._pulses.pop(one.by, None) or Pulse()
        self._pulses[one.by] = found
        while len(self._pulses) > MAX_EDGES:
            self._pulses.popitem(last=False)
        return found

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] in HEALTH_PATHS:
            await (self._health if self._is_our_health_check(scope) else answers.not_found)(scope, receive, send)
            return
        heard = self._believed(scope)
        if heard is None:
            await answers.not_found(scope, receive, send)
            return
        one, marked = heard.one, partial(_marked, send, heard.answer(self.start).encode())
        sends = _Sends(send, marked)
        if one.grant is None:
            await self._pinged({**scope, _PINGED: (one, sends)}, receive, send)
        else:
            await self._admit(one, one.grant, scope, receive, sends)

    async def _ping(self, scope: Scope, receive: Receive, _send: Send) -> None:
        """Say that we are here; end what came from the same start of the edge earlier and is no longer at work there."""
        one, sends = scope.pop(_PINGED)
        body = (await receive())["body"]
        if not _is_signed(one, body):
            self._refused.note(reason="signed for another body")
            await answers.not_found(scope, receive, sends.plain)
            return
        living = assertion.still_at_work(body)
        self._end([request for request, asked in self._in_flight.items() if _is_dropped(asked.one, one, living)])
        self._pulse(one).beat()
        await Response(status_code=204)(scope, receive, sends.marked)

    def _is_our_health_check(self, scope: Scope) -> bool:
        """Whether this machine itself asks, with the key: the tunnel's far end also comes out on loopback."""
        given = [value for name, value in scope["headers"] if name == assertion.HEALTH_HEADER]
        candidate = given[0] if len(given) == 1 else b""
        matches = [hmac.compare_digest(candidate, word) for word in self._keys.health]
        return any(matches) and is_from_here(scope)

    def _believed(self, scope: Scope) -> Heard | None:
        """What the edge says about this request, its body left aside; None when it is not the edge who says it."""
        headers = scope["headers"]
        if not self._secret.is_known(headers):
            self._strangers.note(reason="origin secret missing or wrong")
            return None
        heard = self._keys.read([value for name, value in headers if name == assertion.HEADER])
        if heard is None:
            self._refused.note(reason="not signed by the edge with this STRONGROOM_EDGE_KEY")
            return None
        one = heard.one
        path = audience.PATH if one.grant is not None else PING_PATH
        seen = Call.of(scope["method"], scope["raw_path"].decode("latin-1"), assertion.meaningful(headers), b"")
        is_same = (one.call.method, one.call.path, one.call.headers) == (seen.method, seen.path, seen.headers)
        if not is_same or (seen.method, seen.path) != ("POST", path) or scope.get("query_string"):
            self._refused.note(reason="signed for another request")
            return None
        if one.grant is not None and one.to != self.start:
            self._refused.note(reason="signed for an earlier start of this server")
            return None
        if (why := self._once.why_not(one)) is not None:
            self._refused.note(reason=why)
            return None
        return heard

    async def _admit(self, one: Assertion, grant: Grant, scope: Scope, receive: Receive, sends: _Sends) -> None:
        whose = tokens.digest(grant.id)
        if self._live.is_stopping or self._live.is_full(whose):
            await unavailable()(scope, receive, sends.marked)
            return
        request = Request(whose, is_stream=only_listens(scope))
        pulse = self._pulse(one)
        pulse.beat()
        asked = _Asked(request, one, Vouched(grant, pulse), sends)
        with self._live.serving(request):
            self._in_flight[request] = asked
            try:
                await self._whole({**scope, _ASKED: asked}, receive, sends.marked)
            finally:
                del self._in_flight[request]

    async def _with_body(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked: _Asked = scope.pop(_ASKED)
        first = await receive()
        if not _is_signed(asked.one, first["body"]):
            self._refused.note(reason="signed for another body")
            await answers.not_found(scope, receive, asked.sends.plain)
            return
        request, vouched, reply = asked.request, asked.vouched, Reply(send)
        if vouched.grant.expires is not None:
            left_s = (vouched.grant.expires - self._clock.now()).total_seconds()
            request.scope.deadline = anyio.current_time() + left_s
        inside = {**scope, "headers": assertion.meaningful(scope["headers"])}
        connection = _Connection(vouched, first, receive)
        with request.scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(connection.watch, request.scope)
                with vouched_for(vouched):
                    await self._mcp(inside, connection.receive, reply.send)
                tasks.cancel_scope.cancel()
        if not reply.is_done and not connection.is_gone.is_set():
            with anyio.move_on_after(LAST_WORD_S, shield=True):
                if reply.has_begun:
                    await send({"type": "http.response.body", "body": b"", "more_body": False})
                else:
                    await unavailable()(scope, receive, send)


@dataclass(frozen=True, slots=True)
class _Sends:
    """The way back, with the mark that home itself answers and without it."""

    plain: Send
    marked: Send


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is known about a request while its body is read."""

    request: Request
    one: Assertion
    vouched: Vouched
    sends: _Sends


class _Connection:
    """Notices at once that the edge has hung up, whether or not the protocol is listening just then."""

    def __init__(self, vouched: Vouched, first: Message, receive: Receive) -> None:
        self._vouched, self._pending, self._receive = vouched, [first], receive
        self.is_gone = anyio.Event()

    async def watch(self, scope: anyio.CancelScope) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._vouched.is_over = True
        self.is_gone.set()
        scope.cancel()

    async def receive(self) -> Message:
        if self._pending:
            return self._pending.pop()
        await self.is_gone.wait()
        return {"type": "http.disconnect"}


def _is_signed(one: Assertion, body: bytes) -> bool:
    return hmac.compare_digest(hashlib.sha256(body).hexdigest(), one.call.body)


def _is_dropped(one: Assertion, ping: Assertion, living: Container[str]) -> bool:
    """Whether a ping says that the edge does not stand for `one` any more; what was said after it, it cannot know."""
    return one.by == ping.by and one.at_ms < ping.at_ms and one.nonce not in living


async def _marked(send: Send, mark: bytes, message: Message) -> None:
    """Send, and let the edge see that home itself answers."""
    if message["type"] == "http.response.start":
        message = {**message, "headers": [*message.get("headers", ()), (assertion.ANSWER_HEADER, mark)]}
    await send(message)
