"""Fetching a client's metadata document (CIMD) at the owner's word: the one request that a command makes to the internet.

The service itself fetches nothing (attack 58). What a URL may lead to here (attack 59): https, no redirect, at most 5 KB,
ten seconds in all, and only addresses of the internet. The name is looked up once, every address that it has is checked, and
the connection goes to one that was checked; so an answer that changes between the check and the connection (DNS rebinding)
changes nothing.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import re
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

import httpx2

from service.errors import Refused, Unavailable

MAX_BYTES: Final = 5120
WITHIN_S: Final = 10.0
MAX_URL_CHARS: Final = 500

_HOST: Final = re.compile(r"(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,62}")
_JSON: Final = re.compile(r"application/(?:[a-z0-9.+-]+\+)?json\s*(?:;.*)?", re.IGNORECASE)


async def _looked_up(host: str, port: int) -> Sequence[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


def is_public(address: str) -> bool:
    """Whether an address is one of the internet, and neither of this machine nor of a private network or relay into one."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address):
        inner = (
            found.ipv4_mapped or found.sixtofour or (found.teredo[1] if found.teredo else None) or _translated(found)
        )
        if inner is not None:
            return is_public(str(inner))
    return found.is_global and not found.is_multicast


def _translated(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address behind a NAT64 one (RFC 6052); the local prefix (RFC 8215) is private anyway."""
    prefix = ipaddress.IPv6Network("64:ff9b::/96")
    return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) if address in prefix else None


@dataclass(frozen=True, slots=True)
class Way:
    """How the internet is reached; tests bring one of their own."""

    look_up: Callable[[str, int], Awaitable[Sequence[str]]] = _looked_up
    may_connect: Callable[[str], bool] = is_public
    tls: ssl.SSLContext = field(default_factory=ssl.create_default_context)
    within_s: float = WITHIN_S
    port: int = 443


def fetch(url: str, way: Way | None = None) -> Mapping[str, object]:
    """The document at `url`, which names itself by this very URL.

    Raises:
        Refused: the URL, where it leads, or what is there may not be used; says why.
        Unavailable: nothing answers, or not in time.
    """
    way = way or Way()
    host = _host_of(url)
    try:
        return _document(url, asyncio.run(asyncio.wait_for(_fetched(url, host, way), way.within_s)))
    except TimeoutError:
        raise Unavailable(
            f"{host} did not give its document within {way.within_s:g} seconds; try again later."
        ) from None
    except socket.gaierror:
        raise Unavailable(
            f"there is no address of {host} to be found; check the URL, and this machine's DNS."
        ) from None
    except (httpx2.HTTPError, OSError) as error:
        raise Unavailable(f"{host} could not be asked ({type(error).__name__}); check the URL, or try later.") from None


def _host_of(url: str) -> str:
    """The host of a URL that may name a client (draft-ietf-oauth-client-id-metadata-document §3)."""
    why = None
    try:
        parts = urlsplit(url)
    except ValueError:
        raise Refused("that is no URL; a client's URL looks like https://app.example/oauth/client.json.") from None
    if len(url) > MAX_URL_CHARS or not url.isascii() or not url.isprintable() or re.search(r"[\s\\]", url):
        why = f"it is longer than {MAX_URL_CHARS} characters, or holds what no URL holds"
    elif parts.scheme != "https" or not url.startswith("https://"):
        why = "it does not begin with https://"
    elif "@" in parts.netloc or "#" in url:
        why = "it holds a user name or a fragment"
    elif not _HOST.fullmatch(parts.netloc):
        why = "its host is no plain name in lower case, without a port"
    elif parts.path in ("", "/") or {".", ".."} & set(re.sub("%2e", ".", parts.path, flags=re.IGNORECASE).split("/")):
        why = "it has no path of its own"
    if why is not None:
        raise Refused(f"that URL cannot name a client: {why}. It looks like https://app.example/oauth/client.json.")
    return parts.netloc


async def _fetched(url: str, host: str, way: Way) -> bytes:
    addresses = list(dict.fromkeys(await way.look_up(host, way.port)))
    if not addresses or not all(way.may_connect(address) for address in addresses):
        raise Refused(f"{host} leads to an address that is none of the internet; nothing was asked of it.")
    parts = urlsplit(url)
    async with httpx2.AsyncClient(verify=way.tls, trust_env=False, follow_redirects=False, timeout=None) as client:
        for address in addresses:
            there = f"[{address}]" if ":" in address else address
            target = f"https://{there}:{way.port}{parts.path}" + (f"?{parts.query}" if parts.query else "")
            headers = {"Host": host, "Accept": "application/json", "Accept-Encoding": "identity"}
            request = client.build_request("GET", target, headers=headers, extensions={"sni_hostname": host})
            try:
                answer = await client.send(request, stream=True)
            except httpx2.ConnectError:
                if address == addresses[-1]:
                    raise
                continue
            try:
                return await _body(answer, host)
            finally:
                await answer.aclose()
    raise AssertionError("unreachable: the last address answers or raises")


async def _body(answer: httpx2.Response, host: str) -> bytes:
    if answer.status_code != 200:
        what = "a redirect, which is not followed" if answer.is_redirect else f"status {answer.status_code}"
        raise Refused(f"{host} answered with {what}; the URL has to be the document's own.")
    if not _JSON.fullmatch(answer.headers.get("content-type", "")):
        raise Refused(f"{host} answered with something that is no JSON document.")
    body = b""
    async for piece in answer.aiter_raw():
        body += piece
        if len(body) > MAX_BYTES:
            raise Refused(f"the document is longer than {MAX_BYTES} bytes, as no client's is.")
    return body


def _document(url: str, body: bytes) -> Mapping[str, object]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Refused("what is there is no JSON object, so it describes no client.")
    if found.get("client_id") != url:
        raise Refused(
            "the document there is another client's: its client_id is not the URL that you gave, letter by letter."
        )
    if "client_secret" in found or "client_secret_expires_at" in found:
        raise Refused(
            "the document there holds a secret for everybody to read; it describes no client that can be trusted."
        )
    return found
