"""The service's public address, reached over loopback: what a client on the internet sees through a tunnel.

Requests to anywhere else fail, so a test that follows a URL from an answer also shows that it leads to us. So does a
redirect that keeps the method (307, 308) or that a client would remember (301): they are known killers of connectors.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

import httpx2

PATIENCE_S: Final = 10
"""What hosted clients give discovery, registration and token requests (auth.md 4.1)."""
_NEVER: Final = (301, 307, 308)
_NOBODY: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Trusts nobody, and is never asked; reading the machine's authorities for each request would take most of its time."""


@dataclass
class Internet:
    """A way to one service.

    Args:
        base: its public URL, without a slash at the end.
        port: where it really listens, on 127.0.0.1.
    """

    base: str
    port: int
    more_headers: Mapping[str, str] = field(default_factory=dict)
    """Sent with every request, as an edge would add them."""
    tls: ssl.SSLContext | None = None
    """When set, what listens there speaks TLS, with a certificate for localhost that this trusts."""

    def ask(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None = None,
        *,
        form: Mapping[str, str] | None = None,
        json: object = None,
        body: bytes | None = None,
    ) -> httpx2.Response:
        """One request, over a connection of its own.

        Raises:
            AssertionError: the URL is not ours, the answer is a redirect that must not be, or it took too long.
        """
        parts = urlsplit(url)
        assert f"{parts.scheme}://{parts.netloc}" == self.base, f"led away to {url}"
        where = "http://127.0.0.1" if self.tls is None else "https://localhost"
        target = f"{where}:{self.port}{parts.path}" + (f"?{parts.query}" if parts.query else "")
        everything = {"Host": parts.netloc, **self.more_headers, **(headers or {})}
        began = time.monotonic()
        with httpx2.Client(verify=self.tls or _NOBODY, timeout=30) as client:
            answer = client.request(method, target, headers=everything, data=form, json=json, content=body)
        assert time.monotonic() - began < PATIENCE_S, f"{method} {parts.path} took longer than clients wait"
        assert answer.status_code not in _NEVER, f"{method} {parts.path} redirects with {answer.status_code}"
        return answer


def free_port() -> int:
    """A port that nobody has right now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
