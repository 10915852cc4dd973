"""The end of a sign-in: its row is used up, once, and the browser is sent back to the client.

By a page, not by a redirect: the policy `form-action 'self'` of the form would block that in Chromium, and a link that can be
pressed is what opens an app (auth.md 2.6).
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from service.auth.asked import Asked, Choice
from service.errors import Refused
from service.web.oauth import door, messages
from service.web.oauth.desk import Desk
from service.web.oauth.destination import destination
from service.web.oauth.pages import NO_REFERRER, shown
from service.web.oauth.waiting import Waiting


async def allow(desk: Desk, request: Request, waiting: Waiting, choice: Choice) -> Response:
    """Give what was chosen to the client of this form. The owner has been recognised."""
    asked = await desk.do(lambda: desk.approvals.take(waiting.token, waiting.cookie, needs_sign_in=True))
    return messages.used(desk.pages) if asked is None else await allow_taken(desk, request, asked, choice)


async def allow_taken(desk: Desk, request: Request, asked: Asked, choice: Choice) -> Response:
    """As `allow`, for a row that the caller has used up."""
    address = door.seen_address(request, desk)
    try:
        location = await desk.do(lambda: desk.flow.allow(asked, choice, address))
    except Refused:
        return messages.taken_back(desk.pages)
    return _sent(desk, asked, location, is_allowed=True)


async def deny(desk: Desk, request: Request, waiting: Waiting) -> Response:
    """Tell the client no."""
    asked = await desk.do(lambda: desk.approvals.take(waiting.token, waiting.cookie))
    if asked is None:
        return messages.used(desk.pages)
    address = door.seen_address(request, desk)
    await desk.do(lambda: desk.audit.note("deny", client=asked.client.id, name=asked.client.name, address=address))
    location = await desk.do(lambda: desk.flow.deny(asked))
    return _sent(desk, asked, location, is_allowed=False)


def _sent(desk: Desk, asked: Asked, location: str, *, is_allowed: bool) -> Response:
    words = {
        "client": {"name": shown(asked.client.name)},
        "to": destination(asked.redirect_uri),
        "location": location,
        "is_allowed": is_allowed,
    }
    return desk.pages.page("sent.html", words, referrer=NO_REFERRER)
