"""Where the owner will be sent after the answer, in words that he can judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Destination:
    """A place that is told yes or no.

    Args:
        kind: `site` (a web site), `device` (a program on the device with the browser) or `app` (one that the device opens
            for links of its own kind).
        name: the host, with its port where it has one, or the app's scheme: ASCII, as the browser will see it.
    """

    kind: str
    name: str


def destination(redirect_uri: str) -> Destination:
    """The place behind a redirect URI that has been checked."""
    parts = urlsplit(redirect_uri)
    if parts.scheme not in ("http", "https"):
        return Destination("app", f"{parts.scheme}:")
    host = parts.netloc.rpartition("@")[2]
    return Destination("device" if parts.scheme == "http" and parts.hostname in _LOOPBACK else "site", host)
