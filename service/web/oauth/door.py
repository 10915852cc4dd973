"""What every page of signing in has in common: its methods, the size of what it reads, a page for each failure."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from service.auth import address
from service.errors import AppError
from service.web.body import WholeBody
from service.web.oauth import messages
from service.web.oauth.desk import Desk
from service.web.oauth.threads import is_closed_state

MAX_BODY_BYTES: Final = 16 * 1024
READ_WITHIN_S: Final = 10.0
CONSENT_COOKIE: Final = "strongroom_consent"
"""Tells which browser a sign-in waits in."""

_MAX_FIELDS: Final = 64
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_FORM: Final = "application/x-www-form-urlencoded"

Page = Callable[[Desk, Request], Awaitable[Response]]


def door(desk: Desk, pages: Mapping[str, Page]) -> ASGIApp:
    """An endpoint for a route.

    Args:
        pages: by method. HEAD is none of them: it would begin or end a sign-in that nobody sees.
    """
    return WholeBody(_Door(desk, pages), READ_WITHIN_S, MAX_BODY_BYTES)


class _Door:
    def __init__(self, desk: Desk, pages: Mapping[str, Page]) -> None:
        self._desk, self._pages = desk, pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = await self._answer(Request(scope, receive))
        if answer is not None:
            await answer(scope, receive, send)

    async def _answer(self, request: Request) -> Response | None:
        page = self._pages.get(request.method)
        if page is None:
            return messages.wrong_method(self._desk.pages, ", ".join(self._pages))
        try:
            return await page(self._desk, request)
        except ClientDisconnect:
            return None
        except AppError as error:
            if not is_closed_state(error):
                raise
            return messages.closed(self._desk.pages)


async def form(request: Request) -> Mapping[str, str] | None:
    """The fields of a form as our own page sends it; None when it cannot have sent this."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _FORM:
        return None
    try:
        pairs = parse_qsl((await request.body()).decode("ascii"), keep_blank_values=True, max_num_fields=_MAX_FIELDS)
    except ValueError:  # not ASCII, or too many
        return None
    fields = dict(pairs)
    return fields if len(fields) == len(pairs) else None


def is_from_our_page(request: Request, base: str) -> bool:
    """Whether a page of ours sent the form (auth.md 7.3): its Origin is exactly us, and the browser does not say otherwise.

    A browser without Origin headers is told apart by Sec-Fetch-Site, where it has that; the cookie is looked at in any case.
    """
    origins, sites = request.headers.getlist("origin"), request.headers.getlist("sec-fetch-site")
    return origins in ([], [_origin_of(base)]) and sites in ([], ["same-origin"])


def told_address(request: Request, desk: Desk) -> str | None:
    """The visitor, for counting: what the owner's proxy says, or nobody."""
    return address.told(request.scope, desk.settings.client_ip_header)


def seen_address(request: Request, desk: Desk) -> str | None:
    """Where the request came from, for the log."""
    return address.seen(request.scope, desk.settings.client_ip_header)


def cookie_name(base: str, name: str = CONSENT_COOKIE) -> str:
    """`__Host-` keeps other hosts and paths from setting it, and needs TLS (auth.md 2.7)."""
    return f"{'__Host-' if base.startswith('https://') else ''}{name}"


def cookie_of(request: Request, base: str, name: str = CONSENT_COOKIE) -> str | None:
    """The value our browser brought; None when there is none, or more than one and so nobody knows which is ours."""
    start = f"{cookie_name(base, name)}="
    parts = [part.strip() for line in request.headers.getlist("cookie") for part in line.split(";")]
    found = [part[len(start) :] for part in parts if part.startswith(start)]
    return found[0] if len(found) == 1 else None


def with_cookie(answer: Response, base: str, value: str, lasts_s: int, name: str = CONSENT_COOKIE) -> Response:
    """Have the browser keep `value`, for requests to us alone; 0 seconds: forget it."""
    secure = "; Secure" if base.startswith("https://") else ""
    answer.headers["set-cookie"] = (
        f"{cookie_name(base, name)}={value}; Path=/; Max-Age={lasts_s}; HttpOnly; SameSite=Lax{secure}"
    )
    return answer


def _origin_of(base: str) -> str:
    parts = urlsplit(base)
    return f"{parts.scheme}://{parts.netloc.removesuffix(f':{_DEFAULT_PORTS[parts.scheme]}')}"


def parameters(request: Request) -> Sequence[tuple[str, str]]:
    """The query as it came, repetitions and all."""
    return parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True)
