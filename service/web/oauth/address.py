"""Where a request comes from, in the one header that the owner named (STRONGROOM_CLIENT_IP_HEADER); else nobody knows.

The peer of the connection is a proxy or tunnel nearly always, so it stands for nobody. What a header says is used for the
log and for slowing down guesses; it never lets anybody in.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import Final

_LISTS: Final = (b"x-forwarded-for",)
"""Headers to which each proxy adds what it saw, at the right."""

_MAX_BYTES: Final = 2000


def client_address(headers: Iterable[tuple[bytes, bytes]], header: str) -> str | None:
    """The client's address in its usual spelling; None where no header was named or it does not say exactly one.

    Of X-Forwarded-For the last element counts: it is the one that the proxy next to us added (or wrote, where it replaces
    the header). All others are whatever the client liked to send. The header itself must come once: of two lines nobody
    knows which the proxy wrote.

    Args:
        headers: as ASGI has them, names in lower case.
        header: the name, in any case; empty: none.
    """
    wanted = header.lower().encode("latin-1")
    found = [value for name, value in headers if name == wanted] if wanted else []
    if len(found) != 1 or len(found[0]) > _MAX_BYTES:
        return None
    last = found[0].rsplit(b",", 1)[-1] if wanted in _LISTS else found[0]
    try:
        address = ipaddress.ip_address(last.strip().decode("ascii"))
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id is not None:
            return None
        return str(address.ipv4_mapped or address)
    return str(address)
