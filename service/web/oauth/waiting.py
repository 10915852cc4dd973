"""A form of ours and the sign-in that it answers: what every page after the first looks at before anything else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from service.auth.pending import Pending
from service.web.oauth import door, messages
from service.web.oauth.desk import Desk


@dataclass(frozen=True, slots=True)
class Waiting:
    """A sign-in that waits for its answer in the browser that asks. `token` and `cookie` are the secrets it is known by."""

    pending: Pending
    token: str
    cookie: str
    fields: Mapping[str, str]


async def read(desk: Desk, request: Request) -> Waiting | Response:
    """The sign-in of this form, or the page that says why there is none (attacks 18 to 23)."""
    if not door.is_from_our_page(request, desk.base):
        return messages.foreign(desk.pages)
    fields = await door.form(request)
    if fields is None:
        return messages.unreadable(desk.pages)
    token, cookie = fields.get("request", ""), door.cookie_of(request, desk.base) or ""
    pending = await desk.do(lambda: desk.approvals.find(token, cookie))
    if pending is None:
        return messages.gone(desk.pages)
    if pending.is_used:
        return messages.used(desk.pages)
    return Waiting(pending, token, cookie, fields)
