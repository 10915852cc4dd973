"""What a request has to pass before any route: the origin secret, the Host it names, the page it comes from.

The order is part of the promise (auth.md 7.1): without the secret every path is the same empty 404, so a stranger does
not even learn which Host would be right. No forwarded header is believed, ever.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
from collections.abc import Callable, Sequence
from typing import Final
from urllib.parse import urlsplit

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.logs import Sparingly, places
from service.settings import Settings
from service.web import answers

SECRET_HEADER: Final = b"x-origin-secret"
HEALTH_PATHS: Final = ("/healthz", "/readyz")
_LOOPBACK_NAMES: Final = frozenset(("localhost", "127.0.0.1", "::1"))
_PROXY_HEADERS: Final = frozenset((b"forwarded", b"x-forwarded-for", b"x-real-ip", b"cf-connecting-ip", b"via"))
_NAME_AND_PORT: Final = re.compile(r"(?:\[(?P<v6>[^]]*)\]|(?P<name>[^:\[\]]*))(?::[0-9]+)?")
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}

_log = structlog.get_logger()


class Edge:
    """The outermost ASGI layer."""

    def __init__(
        self, app: ASGIApp, settings: Settings, on_bad_secret: Callable[[int], None] = lambda _times: None
    ) -> None:
        self._app = app
        self._secret = Secret(settings.origin_secrets)
        self._hosts = Hosts(settings.public_url, settings.allowed_hosts)
        self._refused = Sparingly(_log, "request.refused")
        self._strangers = Sparingly(_log, "request.refused", also=on_bad_secret)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers: Sequence[tuple[bytes, bytes]] = scope["headers"]
        if scope["path"] in HEALTH_PATHS:
            inner = self._app if is_from_here(scope) else answers.not_found
        elif not self._secret.is_known(headers):
            self._strangers.note(reason="origin secret missing or wrong")
            inner = answers.not_found
        elif not self._hosts.knows_host([value for name, value in headers if name == b"host"]):
            self._refused.note(reason="unknown Host; name it in STRONGROOM_PUBLIC_URL or STRONGROOM_ALLOWED_HOSTS")
            inner = answers.misdirected
        elif not self._hosts.knows_origin([value for name, value in headers if name == b"origin"]):
            self._refused.note(reason="foreign Origin")
            inner = answers.foreign_origin
        elif scope["raw_path"] != scope["path"].encode():
            inner = answers.not_found  # another spelling (%2f, %6d) of a path is another path
        else:
            inner = self._app
        inside = {**scope, "headers": [(name, value) for name, value in headers if name != SECRET_HEADER]}
        await without_crashing(inner, inside, receive, send)


class Secret:
    """The origin secret, or the two of a change. None of them: everybody knows it."""

    def __init__(self, secrets: Sequence[str]) -> None:
        self._secrets = tuple(secret.encode() for secret in secrets)

    def is_known(self, headers: Sequence[tuple[bytes, bytes]]) -> bool:
        """Whether exactly one header holds it, letter for letter."""
        if not self._secrets:
            return True
        given = [value for name, value in headers if name == SECRET_HEADER]
        candidate = given[0] if len(given) == 1 else b""
        matches = [hmac.compare_digest(candidate, secret) for secret in self._secrets]  # all of them, every time
        return any(matches)


class Hosts:
    """Which names this service answers to, and whose pages may call it."""

    def __init__(self, public_url: str | None, allowed: Sequence[str]) -> None:
        self._exact = {host.lower() for host in allowed}
        self._origins = {f"{scheme}://{host.lower()}" for host in allowed for scheme in ("https", "http")}
        if public_url is not None:
            parts = urlsplit(public_url)
            port = _DEFAULT_PORTS[parts.scheme]
            self._exact |= {parts.netloc, parts.netloc.removesuffix(f":{port}")}
            self._exact |= {f"{parts.netloc}:{port}"} if parts.port is None else set()
            self._origins |= {f"{parts.scheme}://{parts.netloc.removesuffix(f':{port}')}"}

    def knows_host(self, values: Sequence[bytes]) -> bool:
        """Whether there is exactly one Host header and it names us: a loopback name with any port, or a name given."""
        if len(values) != 1:
            return False
        host = values[0].decode("latin-1").lower()
        return host in self._exact or _name_of(host) in _LOOPBACK_NAMES

    def knows_origin(self, values: Sequence[bytes]) -> bool:
        """Whether no page is asking, or one of our own or of this machine."""
        if not values:
            return True
        if len(values) > 1:
            return False
        origin = values[0].decode("latin-1").lower()
        scheme, _, host = origin.partition("://")
        return origin in self._origins or (scheme in ("http", "https") and _name_of(host) in _LOOPBACK_NAMES)


def _name_of(host: str) -> str | None:
    """The name in `name`, `name:port` or `[v6]:port`; None when it is none of them."""
    found = _NAME_AND_PORT.fullmatch(host)
    return None if found is None else found["v6"] or found["name"]


def is_from_here(scope: Scope) -> bool:
    """Whether the peer is this machine itself, asking for itself: a tunnel beside us also connects from loopback, but
    names another Host and says whom it speaks for."""
    client = scope.get("client")
    hosts = [value.decode("latin-1").lower() for name, value in scope["headers"] if name == b"host"]
    return (
        client is not None
        and _is_loopback(client[0])
        and len(hosts) == 1
        and _name_of(hosts[0]) in _LOOPBACK_NAMES
        and not any(name in _PROXY_HEADERS for name, _ in scope["headers"])
    )


def _is_loopback(address: str) -> bool:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return (mapped or found).is_loopback


async def without_crashing(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Keep a bug's own words out of the log and away from the client."""
    has_begun = False

    async def watched(message: Message) -> None:
        nonlocal has_begun
        has_begun = True
        await send(message)

    try:
        await app(scope, receive, watched)
    except Exception as error:  # noqa: BLE001  # the last door of a request
        _log.error("request.crashed", **places(error))
        if not has_begun:
            await answers.crashed(scope, receive, send)
