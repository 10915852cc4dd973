"""The edge's side of the way home: one pool of connections, what is signed for it, and whether home answers.

Home is pinged: every PING_S seconds, every BUSY_PING_S while requests are in flight or while it is away. A ping tells which
requests are still at work here: home ends all others, and changes nothing on the word of an edge that it has not heard of just
now. Each answer of home tells which start of it answers; a request is signed for that one.
"""

from __future__ import annotations

import contextlib
import secrets
import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Final

import anyio
import httpx2
import structlog

from service.auth import assertion
from service.auth.assertion import Assertion, Call, Headers, Keys
from service.auth.live import MAX_REQUESTS
from service.auth.model import Grant
from service.clock import Clock
from service.settings import Settings
from service.web.edge import SECRET_HEADER

PING_PATH: Final = "/edge/ping"
PING_S: Final = 5.0
BUSY_PING_S: Final = 0.5
PING_WITHIN_S: Final = 3.0
CONNECT_S: Final = 5.0
IDLE_S: Final = 60.0
"""Without a byte for this long home is taken to be gone; it sends a comment every 15 s on a stream that waits."""

KEPT_CONNECTIONS: Final = 32
KEPT_FOR_S: Final = 30.0
"""Less than home keeps its side open (`protocol.KEEP_ALIVE_S`), so that none is used that home is just closing."""

_OWN_HEADERS: Final = {"accept-encoding": "identity", "user-agent": "strongroom-edge"}
_log = structlog.get_logger()


class NotHomeError(Exception):
    """Something answered, but it does not know the key: a tunnel's error page, another program, another start of home.

    Args:
        status: of what was answered.
    """

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Home:
    """Home, as seen from the edge. Lives in one event loop; use it as `async with home.open():`."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._url, self._clock = settings.home_url or "", clock
        self._secret = {SECRET_HEADER.decode(): settings.home_secret} if settings.home_secret else {}
        self._keys = Keys(settings.edge_keys)
        self._client: httpx2.AsyncClient | None = None
        self._wake, self._pinged = anyio.Event(), anyio.Event()
        self._in_flight = 0
        self._by, self._at_work = secrets.token_hex(8), set[str]()
        self._start = ""
        self.problem: str | None = "home was not asked yet"
        """Why home cannot be reached, a sentence for the owner; None while it answers."""

    async def is_there(self) -> bool:
        """Whether home answers. When it did not of late, the next ping is waited for."""
        if self.problem is not None:
            self.look_again()
            await self._pinged.wait()
        return self.problem is None

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Home]:
        """Hold the pool of connections."""
        limits = httpx2.Limits(
            max_connections=MAX_REQUESTS + 8, max_keepalive_connections=KEPT_CONNECTIONS, keepalive_expiry=KEPT_FOR_S
        )
        timeout = httpx2.Timeout(IDLE_S, connect=CONNECT_S, pool=CONNECT_S)
        # The environment's proxies are left aside: notes go where STRONGROOM_HOME_URL says and nowhere else. No cookie is taken:
        # a tunnel's own would be sent on with every request, and are not what was signed.
        async with httpx2.AsyncClient(
            verify=ssl.create_default_context(),
            trust_env=False,
            limits=limits,
            timeout=timeout,
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        ) as self._client:
            yield self

    async def watch(self) -> None:
        """Ping for the life of the server."""
        while True:
            await self.ping()
            pinged, self._pinged = self._pinged, anyio.Event()
            pinged.set()
            await self._until_it_is_time()

    async def _until_it_is_time(self) -> None:
        """Not a ping for each request: they would cost as much as the requests."""
        since = anyio.current_time()
        is_time = False
        while not is_time:
            with anyio.move_on_after(BUSY_PING_S):
                await self._wake.wait()
            is_busy = self._in_flight or self.problem is not None or self._wake.is_set()
            is_time = bool(is_busy) or anyio.current_time() - since >= PING_S
        self._wake = anyio.Event()

    def look_again(self) -> None:
        """Ping now: something suggests that home went away or was restarted."""
        self._wake.set()

    @contextmanager
    def in_flight(self) -> Iterator[None]:
        """Count one request, so that home keeps hearing of us."""
        self._in_flight += 1
        try:
            yield
        finally:
            self._in_flight -= 1

    async def ping(self) -> None:
        """Ask home whether it is there, and which start of it; `problem` is the answer. Never raises."""
        before, why = self.problem, f"nothing answers within {PING_WITHIN_S:g} s"
        try:
            with anyio.fail_after(PING_WITHIN_S):
                async with self.request(PING_PATH, None, (), assertion.at_work(self._at_work)):
                    why = ""
        except NotHomeError:
            why = "what answers there is not home, or has another STRONGROOM_EDGE_KEY, or a clock that is a minute off"
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
            why = f"no connection ({type(error).__name__})"
        except TimeoutError:
            pass
        self.problem = f"home does not answer at {self._url}: {why}; is the tunnel up?" if why else None
        if (before is None) is not (self.problem is None):
            _log.info("home.found") if self.problem is None else _log.warning("home.lost", why=why)

    @asynccontextmanager
    async def request(
        self, path: str, grant: Grant | None, headers: Headers, body: bytes
    ) -> AsyncIterator[httpx2.Response]:
        """POST to home, signed; its answer, not yet read. Leaving closes the connection unless all was read.

        Raises:
            NotHomeError: the answer is not home's; nothing of it is to be believed.
            httpx2.ConnectError, ConnectTimeout, PoolTimeout: home was not reached and got nothing.
            httpx2.HTTPError: of another kind: home may have got it all.
            assertion.TooLongError: the grant does not fit into a request's head.
        """
        passed = assertion.meaningful(headers)
        call = Call.of("POST", path, passed, body)
        one = assertion.said(call, grant, self._start if grant else "", self._clock, self._by)
        signed = self._keys.sign(one)
        given: Mapping[str, str] = {**_OWN_HEADERS, **self._secret, assertion.HEADER.decode(): signed}
        if self._client is None:
            raise RuntimeError("used outside `open`")
        request = self._client.build_request(
            "POST",
            self._url + path,
            headers=[*((name.encode(), value.encode()) for name, value in given.items()), *passed],
            content=body,
        )
        for name in ("accept", "connection"):  # the library's own; it would be another request than the one signed
            if name.encode() not in dict(passed):
                request.headers.pop(name, None)
        self._at_work.add(one.nonce)
        try:
            answer = await self._client.send(request, stream=True)
            try:
                self._recognise(one, answer)
                yield answer
            finally:
                self._at_work.discard(one.nonce)
                with contextlib.suppress(httpx2.HTTPError):
                    await answer.aclose()
        finally:
            self._at_work.discard(one.nonce)

    def _recognise(self, one: Assertion, answer: httpx2.Response) -> None:
        start = self._keys.answered(one, answer.headers.get(assertion.ANSWER_HEADER.decode(), ""))
        if start is None:
            self.look_again()
            raise NotHomeError(answer.status_code)
        self._start = start
