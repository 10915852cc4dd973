"""Where a request came from, as far as that can be known.

Only the one header that the owner named is believed (STRONGROOM_CLIENT_IP_HEADER), since anybody can send the others; of
several addresses the last one, which is the one that the owner's own proxy added. Without it, or when it holds none, it is
the connection's other end.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Final

from starlette.types import Scope

MAX_CHARS: Final = 45
"""An IPv6 address that ends in an IPv4 one."""

_LIST: Final = b"x-forwarded-for"
"""Each proxy adds at the right what it saw; what stands left of the last is whatever the client liked to send."""

_WITH_PORT: Final = re.compile(r"\[(?P<v6>[^]]+)\](?::\d{1,5})?|(?P<v4>[\d.]+):\d{1,5}")


def seen(scope: Scope, header: str) -> str | None:
    """The address of the client of this request; None where there is none (a unix socket).

    Args:
        header: the name of the header to believe, in any case; empty for none.
    """
    client = scope.get("client")
    peer = None if client is None else parsed(str(client[0]))
    if not header:
        return peer
    name = header.lower().encode("latin-1")
    values = [value for found, value in scope["headers"] if found == name]
    if not values:
        return peer
    return parsed(values[-1].decode("latin-1").rsplit(",", 1)[-1]) or peer


def told(scope: Scope, header: str) -> str | None:
    """The address that the owner's proxy tells; None where no header was named or it does not tell exactly one.

    As `seen`, for what counts visitors: there the connection's other end must not stand in, since it is the proxy nearly
    always, and everybody would share one count. Only X-Forwarded-For is a list, and may come on several lines.
    """
    name = header.lower().encode("latin-1")
    values = [value.decode("latin-1") for found, value in scope["headers"] if found == name] if name else []
    if name == _LIST and values:
        values = [values[-1].rsplit(",", 1)[-1]]
    return parsed(values[0]) if len(values) == 1 else None


def parsed(text: str) -> str | None:
    """An address as Python writes it, so that one has one spelling; None for anything else. A port is left off."""
    text = text.strip()
    if match := _WITH_PORT.fullmatch(text):
        text = match["v6"] or match["v4"]
    if len(text) > MAX_CHARS or "%" in text:
        return None
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return None
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return str(mapped or found)
