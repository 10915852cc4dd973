"""Where an owner may be sent back to after signing in: addresses of known clients, and programs on the owner's machine.

Addresses are compared as the strings they are. Parsing and normalising is what lets `/x/../cb`, a homograph or a port in an
odd place through (auth.md 1.5 number 8, attack 8), so nothing is normalised: what is not written in one of the shapes below
is refused. There are no wildcard hosts.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final
from urllib.parse import parse_qsl

MAX_CHARS: Final = 1000

EXACT: Final = frozenset(
    (
        "https://claude.ai/api/mcp/auth_callback",
        "https://claude.com/api/mcp/auth_callback",
        "claude://claude.ai/mcp-auth-callback/sdk",
        "https://chatgpt.com/connector_platform_oauth_redirect",
        "https://vscode.dev/redirect",
        "https://insiders.vscode.dev/redirect",
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "https://www.cursor.com/agents/mcp/oauth/callback",
        "https://www.perplexity.ai/rest/connections/oauth_callback",
    )
)
"""auth.md 4.1 and 7.2. The two schemes of apps are opened by the app that owns them."""

ONE_WORD: Final = "{word}"
"""In an address of ours: one word of letters, digits, - and _, which the client chooses."""

PATTERNS: Final = (
    f"https://chatgpt.com/connector/oauth/{ONE_WORD}",
    f"cursor://anysphere.cursor-mcp/oauth/user-{ONE_WORD}/callback",
    f"cursor://anysphere.cursor-retrieval/oauth/user-{ONE_WORD}/callback",
)

_WORD: Final = r"[A-Za-z0-9_-]{1,128}"
_PATH: Final = r"(?:/(?!\.(?:[/?]|$))[A-Za-z0-9._~!$&'()*+,;=:@-]+)*/?"
_QUERY: Final = r"(?:\?(?:[A-Za-z0-9._~!$'()*+,;=:@/?&-]|%[0-9A-Fa-f]{2})*)?"
_HERE: Final = r"http://(?:localhost|127\.0\.0\.1|\[::1\])"
_LOOPBACK: Final = re.compile(rf"(?P<host>{_HERE})(?::(?P<port>[1-9][0-9]{{0,4}}))?(?P<rest>{_PATH}{_QUERY})")
_PORT: Final = re.compile(rf"^({_HERE}):[0-9]+")
_OURS: Final = frozenset(("code", "state", "iss", "error", "error_description", "error_uri"))
"""What the answer adds; a query that has one already would make it ambiguous which counts (attack 14)."""


def is_allowed(uri: str, more: Collection[str] = ()) -> bool:
    """Whether any client may have an owner sent back there.

    Args:
        more: what the owner allows besides (STRONGROOM_REDIRECTS), exactly.
    """
    return _is_plain(uri) and (
        uri in EXACT or uri in more or is_loopback(uri) or any(fits(pattern, uri) for pattern in PATTERNS)
    )


def matches(registered: str, asked: str) -> bool:
    """Whether `asked` is the address that a client registered.

    On this machine the port does not count, since a program takes whichever is free (RFC 8252 §7.3); elsewhere every
    character does. An address of ours may hold ONE_WORD.
    """
    if not _is_plain(asked):
        return False
    if registered == asked or fits(registered, asked):
        return True
    ours, theirs = _PORT.sub(r"\1", registered), _without_port(asked)
    return theirs is not None and (ours == theirs or fits(ours, theirs))


def is_loopback(uri: str) -> bool:
    """Whether it leads to a program on the owner's own machine: plain http, one of three spellings, any port."""
    return _is_plain(uri) and _without_port(uri) is not None


def is_native(uri: str) -> bool:
    """Whether an app on the owner's machine takes it, and not somebody's server: loopback or a scheme of its own."""
    return not uri.startswith("https://")


def is_on(uri: str, host: str) -> bool:
    """Whether it is a well-formed https address on exactly this host, at the usual port."""
    return _is_plain(uri) and re.fullmatch(rf"https://{re.escape(host)}{_PATH}{_QUERY}", uri) is not None


def _is_plain(uri: str) -> bool:
    """Whether it is short, climbs nowhere, and leaves the names of the answer's parameters to us."""
    _, _, query = uri.partition("?")
    names = {name for name, _ in parse_qsl(query, keep_blank_values=True)}
    return len(uri) <= MAX_CHARS and ".." not in uri and not names & _OURS


def _without_port(uri: str) -> str | None:
    """An address on this machine without its port; None for any other."""
    found = _LOOPBACK.fullmatch(uri)
    if found is None or int(found["port"] or 1) > 65535:
        return None
    return found["host"] + found["rest"]


def fits(pattern: str, uri: str) -> bool:
    """Whether `uri` is `pattern` with one word in place of ONE_WORD."""
    return ONE_WORD in pattern and re.fullmatch(_WORD.join(map(re.escape, pattern.split(ONE_WORD))), uri) is not None
