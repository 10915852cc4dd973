"""What a request presents: RFC 6750 bearer tokens in the Authorization header, and nowhere else.

A token in the query string or in a form is ignored: such places end up in logs and histories.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from service.auth import tokens

Headers = Sequence[tuple[bytes, bytes]]
"""As ASGI gives them: names in lower case."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """No Authorization header at all: the client does not know yet that it needs one."""


@dataclass(frozen=True, slots=True)
class Malformed:
    """Two headers, another scheme, or no token behind it."""


@dataclass(frozen=True, slots=True)
class Presented:
    """The hash of a token. The token itself is not kept."""

    token_hash: bytes


def presented(headers: Headers) -> Nothing | Malformed | Presented:
    """Read the Authorization header. The scheme's letter case does not matter (RFC 9110 §11.1)."""
    values = [value for name, value in headers if name == b"authorization"]
    if not values:
        return Nothing()
    scheme, _, token = values[0].strip(b" \t").partition(b" ")
    if len(values) > 1 or scheme.lower() != b"bearer" or not token.strip(b" "):
        return Malformed()
    return Presented(tokens.digest(token.strip(b" ").decode("latin-1")))


def without_credentials(headers: Headers) -> list[tuple[bytes, bytes]]:
    """The headers for what runs inside: what let the request in is no longer needed, so it cannot leak."""
    return [(name, value) for name, value in headers if name not in (b"authorization", b"cookie")]
