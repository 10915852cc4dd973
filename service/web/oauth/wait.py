"""`/oauth/wait`: the second door. The page looks again every few seconds whether the request was allowed at the machine.

No throttle stands before it and nothing can be guessed at: to allow takes the machine, and to take what was allowed takes the
cookie of the browser that began. The approve code in the address is worth nothing by itself.
"""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from service.web.oauth import door, finish, messages
from service.web.oauth.desk import Desk
from service.web.oauth.pages import shown

EVERY_S: Final = 3
"""How often (seconds) the page looks. Whom that disturbs (a screen reader begins anew) can have a page that looks when he
presses a link (WCAG 2.2.1, 2.2.2)."""

BY_HAND: Final = "by-hand"


async def show(desk: Desk, request: Request) -> Response:
    """The page, or the way on once it was allowed."""
    codes = [value for name, value in door.parameters(request) if name == "approval"]
    cookie = door.cookie_of(request, desk.base)
    if len(codes) != 1 or cookie is None:
        return messages.gone(desk.pages)
    pending = await desk.do(lambda: desk.approvals.find_by_code(codes[0], cookie))
    if pending is None:
        return messages.gone(desk.pages)
    if pending.is_used:
        return messages.used(desk.pages)
    taken = None
    if pending.decision is not None and not _is_only_looking_ahead(request):
        taken = await desk.do(lambda: desk.approvals.take_approved(codes[0], cookie))
    if taken is not None:
        return await finish.allow_taken(desk, request, *taken)
    is_by_hand = ("look", BY_HAND) in door.parameters(request)
    words = {
        "client": {"name": shown(pending.asked.client.name)},
        "approve_code": pending.approve_code,
        "until": pending.expires.astimezone(desk.clock.zone).strftime("%H:%M %Z"),
        "is_by_hand": is_by_hand,
    }
    return desk.pages.page("wait.html", words, headers={} if is_by_hand else {"refresh": str(EVERY_S)})


def _is_only_looking_ahead(request: Request) -> bool:
    """Whether a browser loads the page before anybody wants to see it; that must use nothing up."""
    return any("prefetch" in request.headers.get(name, "") for name in ("sec-purpose", "purpose"))
