"""`/oauth/authorize`: a client has sent the owner here. Nothing is given yet: a row is made, and a page asks the owner.

Every time: there is no login session, no remembered consent and no client so well known that the page is left out
(attack 31, complaint 46).
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from service.auth.asked import Asked, SentBack, ShownError
from service.auth.pending import LIFETIME_S, Opened
from service.web.oauth import door, form, messages
from service.web.oauth.desk import Desk


async def show(desk: Desk, request: Request) -> Response:
    """Read what is asked: a page with the reason, a redirect with an error, or the page that asks the owner."""
    found = await desk.do(lambda: desk.asking.read(door.parameters(request)), is_for_anybody=True)
    match found:
        case ShownError():
            return messages.shown_error(desk.pages, found)
        case SentBack():
            return desk.pages.redirect(found.location)
        case Asked():
            return await _asked(desk, request, found)


async def _asked(desk: Desk, request: Request, asked: Asked) -> Response:
    told, seen = door.told_address(request, desk), door.seen_address(request, desk)
    cookie = door.cookie_of(request, desk.base)

    def begin() -> tuple[Opened, bool] | None:
        if not (desk.owner.has_passphrase() or desk.has_passkey()):
            return None
        is_again = desk.approvals.was_answered(asked, cookie)
        opened = desk.approvals.open(asked, told, cookie)
        desk.audit.note("authorize_view", client=asked.client.id, name=asked.client.name, address=seen)
        return opened, is_again

    begun = await desk.do(begin, is_for_anybody=True)
    if begun is None:
        return messages.no_way_in(desk.pages)
    opened, is_again = begun
    page = await form.first(desk, asked, opened.token, is_again=is_again)
    return door.with_cookie(page, desk.base, opened.cookie, LIFETIME_S)
