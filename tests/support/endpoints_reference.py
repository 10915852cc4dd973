"""docs/reference/endpoints.md: which paths there are, what is asked there and what comes back.

What a path is for is said here, in `PATHS`; a test compares its keys with the routes that the service really has.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import anyio
from starlette.types import Message

from service.auth import asking, catalogue, model, redirects
from service.web.oauth import metadata
from tests.support import lifetimes_reference


@dataclass(frozen=True, slots=True)
class Path:
    """What stands at a path. `methods` besides OPTIONS and HEAD; `who` may ask; `answers` in one sentence or more."""

    methods: str
    who: str
    answers: str


_RESOURCE: Final = Path(
    "GET", "anybody", "What `/mcp` is, and who gives access to it (RFC 9728). The same in both places."
)
_SERVER: Final = Path("GET", "anybody", "How to sign in (RFC 8414). The same in all three places.")
_AUTHORIZE: Final = Path(
    "GET",
    "a browser that a client sent",
    "The page that asks you. A request that is not sound gets a page with the reason, and leads nowhere; once client and "
    "redirect are known to belong together, errors go to the client, with `iss`.",
)
_TOKEN: Final = Path(
    "POST form",
    "a client",
    "200 with `access_token`, `token_type`, `expires_in`, `refresh_token`, `scope`; 400 or 401 with `error` (RFC 6749 §5.2).",
)
_REGISTER: Final = Path(
    "POST JSON",
    "anybody, as `STRONGROOM_REGISTRATION` says",
    "201 with a `client_id` and no secret (RFC 7591); 400; 403 when closed.",
)
_REVOKE: Final = Path(
    "POST form",
    "a client",
    "200, whatever became of it (RFC 7009). An access token ends alone, a refresh token with its grant.",
)

PATHS: Final[Mapping[str, Path]] = {
    "/mcp": Path(
        "POST",
        "whoever has a token",
        "MCP over streamable HTTP, stateless. 401 before anything else is said, then 405 for other methods.",
    ),
    **dict.fromkeys(metadata.RESOURCE_PATHS, _RESOURCE),
    **dict.fromkeys(metadata.SERVER_PATHS, _SERVER),
    "/oauth/authorize": _AUTHORIZE,
    "/authorize": _AUTHORIZE,
    "/oauth/consent": Path(
        "POST form",
        "the browser that began",
        "Your answer. 200 and a page that leads on to the client; never a redirect.",
    ),
    "/oauth/wait": Path(
        "GET",
        "the browser that began",
        "A page that looks every three seconds whether you approved its code at the machine.",
    ),
    "/oauth/passkey": Path("POST form", "the browser that began", "The page on which a passkey signs in."),
    "/oauth/passkey/add": Path(
        "GET, POST form",
        "whoever has a code from `strongroom auth passkey add`",
        "The page on which a passkey is made.",
    ),
    "/oauth/token": _TOKEN,
    "/token": _TOKEN,
    "/oauth/register": _REGISTER,
    "/register": _REGISTER,
    "/oauth/revoke": _REVOKE,
    "/revoke": _REVOKE,
    "/healthz": Path("GET", "this machine itself", "200 while the process answers."),
    "/readyz": Path("GET", "this machine itself", "200 when ready, else 503; `strongroom health` shows the same."),
}
"""Every path there is."""


def blocks(table: Callable[[Sequence[str], Sequence[Sequence[str]]], str]) -> Iterator[str]:
    """The page, piece by piece.

    Args:
        table: how a table is written.
    """
    yield "# Endpoints and lifetimes"
    yield (
        "BASE stands for `STRONGROOM_PUBLIC_URL`, or `http://127.0.0.1:8484` without it.\n"
        "It is never taken from a header.\n"
        "Whatever is not listed here is an empty 404; nothing redirects but `/oauth/authorize`, which tells a client its errors so.\n"
        "With `STRONGROOM_OAUTH=0` only `/mcp` and the two health paths are there."
    )
    yield "## Paths"
    yield table(
        ("Path", "Methods", "Who", "What comes back"),
        [(f"`{path}`", one.methods, one.who, one.answers) for path, one in PATHS.items()],
    )
    yield (
        "A path is spelled exactly so: `/mcp/`, `//mcp`, `/MCP` and `/mcp%2f` are other paths, and 404.\n"
        "HEAD works where GET does, save on pages that begin something.\n"
        "OPTIONS answers the preflight of web pages on this machine or at our own address; others get 403."
    )
    yield "## What clients read"
    yield "At the two places of `oauth-protected-resource`:"
    yield _json(metadata.protected_resource(_BASE))
    yield "At the three places of `oauth-authorization-server` and `openid-configuration`:"
    yield _json(metadata.authorization_server(_BASE))
    yield (
        "All with `Cache-Control: no-store`; with `STRONGROOM_REGISTRATION=off` no `registration_endpoint` is named.\n"
        "Without a token `/mcp` answers 401 with the way there:"
    )
    yield (
        f'```\nWWW-Authenticate: Bearer resource_metadata="{metadata.url(_BASE)}", scope="{" ".join(model.SCOPES)}"\n```'
    )
    yield (
        'With a token that is not good any more `error="invalid_token"` follows.\n'
        "There is no 403 for rights: a tool that a client may not use refuses by itself."
    )
    yield "## Asking to be let in"
    yield table(("Parameter of `/oauth/authorize`", "Must be"), _AUTHORIZATION)
    yield (
        "Each once, save `resource`; an empty one counts as left out.\n"
        "The answer is `code`, `state` and `iss`, or `error`, `state` and `iss`.\n"
        "A code is exchanged at `/oauth/token` with `grant_type=authorization_code`, `client_id`, `code`, `code_verifier`, and "
        "`redirect_uri` if you like.\n"
        "A refresh token is, with `grant_type=refresh_token`, `client_id`, `refresh_token`, and `scope` for less.\n"
        "Clients have no secret; HTTP Basic with an empty one is taken."
    )
    yield "## Lifetimes"
    yield table(("What", "How long", "Setting"), list(lifetimes_reference.lasting()))
    yield "## Limits"
    yield table(("What", "Limit"), list(lifetimes_reference.limits()))
    yield "## Where a client may have you sent back"
    yield "Exactly these:"
    yield _list(sorted(redirects.EXACT))
    yield "These, with one word of letters, digits, `-` and `_` for `{word}`:"
    yield _list(redirects.PATTERNS)
    yield (
        "Programs on the machine of the browser: `http://localhost`, `http://127.0.0.1` and `http://[::1]`, any port, any plain path.\n"
        "And what `STRONGROOM_REDIRECTS` names, exactly."
    )
    yield "## Clients that are known"
    yield table(
        ("Client", "Its document, by which it names itself", "Host"),
        [(one.name, f"`{one.id}`", one.domain or "") for one in catalogue.pinned()],
    )
    yield "## Headers"
    yield table(("Header", "Where", "What it does"), _HEADERS)
    yield "## Between the halves of a split Strongroom"
    yield table(("What", "How"), list(lifetimes_reference.split()))


_BASE: Final = "https://notes.example.org"

_AUTHORIZATION: Final = (
    ("`client_id`", "a client that is known, or the address of a known client's document"),
    (
        "`redirect_uri`",
        "one that this client registered, to the letter; on the machine of the browser the port may differ",
    ),
    ("`response_type`", "`code`"),
    ("`code_challenge`", "43 characters, the base64url of a SHA-256"),
    ("`code_challenge_method`", "`S256`, and not left out"),
    ("`state`", f"at most {asking.MAX_STATE_CHARS} characters; comes back as it was"),
    ("`scope`", "of `vault:read`, `vault:write`; `offline_access` is taken and means nothing; left out: both"),
    ("`resource`", "`BASE/mcp`, also with a slash behind it or without `/mcp`; may be left out, and repeated"),
    ("`request`, `request_uri`", "refused, and never fetched"),
)

_HEADERS: Final = (
    ("`Authorization: Bearer …`", "to `/mcp`", "the token; exactly one such header, and never in the query"),
    (
        "`x-origin-secret`",
        "to every path, from your proxy",
        "when `STRONGROOM_ORIGIN_SECRET` is set: without it everything is 404",
    ),
    (
        "the one named by `STRONGROOM_CLIENT_IP_HEADER`",
        "from your proxy",
        "the caller's address, for lists, audit and throttle",
    ),
    ("`Host`", "from everybody", "must name us, else 421"),
    ("`Origin`", "from web pages", "must be ours or this machine's, else 403"),
    ("`Mcp-Session-Id`", "from older clients", "ignored: there are no sessions"),
    ("`Retry-After`", "from us, with 429 and 503", "seconds"),
    ("`Cache-Control: no-store`", "from us, everywhere about signing in", "nothing is kept on the way"),
)


def _json(document: metadata.Document) -> str:
    return f"```json\n{json.dumps(json.loads(anyio.run(_body_of, document)), indent=2)}\n```"


async def _body_of(document: metadata.Document) -> bytes:
    body = b""

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        nonlocal body
        body += message.get("body", b"")

    await document({"type": "http", "method": "GET"}, receive, send)
    return body


def _list(items: Sequence[str]) -> str:
    return "\n".join(f"- `{item}`" for item in items)
