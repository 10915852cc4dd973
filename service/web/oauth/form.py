"""The page that asks the owner: who wants what, where the answer goes, and what may be chosen."""

from __future__ import annotations

from starlette.responses import Response

from service.auth.asked import Asked
from service.auth.model import READ, WRITE
from service.auth.passphrase import MAX_CHARS
from service.auth.pending import Pending, code_of
from service.web.oauth import choices
from service.web.oauth.choices import Filled, Problem
from service.web.oauth.desk import Desk
from service.web.oauth.destination import destination
from service.web.oauth.pages import shown


async def first(desk: Desk, asked: Asked, token: str, *, is_again: bool = False) -> Response:
    """The page as it is shown first.

    Args:
        is_again: this browser has answered this very request before (the back button); the page says so.
    """
    filled = choices.untouched(asked, desk.settings.grant_lifetime_s)
    return await _page(desk, asked, token, filled, is_again=is_again)


async def page(
    desk: Desk,
    pending: Pending,
    token: str,
    *,
    filled: Filled | None = None,
    problem: Problem | None = None,
    status: int | None = None,
) -> Response:
    """The page again, as it was filled in; with `problem`, what to mend.

    Args:
        filled: None: as it is shown first.
        status: None: 400 with a problem, 200 without.
    """
    filled = filled or choices.untouched(pending.asked, desk.settings.grant_lifetime_s)
    if status is None:
        status = 400 if problem else 200
    signed_in = pending.is_signed_in
    return await _page(desk, pending.asked, token, filled, is_signed_in=signed_in, problem=problem, status=status)


async def _page(
    desk: Desk,
    asked: Asked,
    token: str,
    filled: Filled,
    *,
    is_signed_in: bool = False,
    is_again: bool = False,
    problem: Problem | None = None,
    status: int = 200,
) -> Response:
    has_passphrase, has_passkey = await desk.do(lambda: (desk.owner.has_passphrase(), desk.has_passkey()))
    offered = choices.offered_days(desk.settings.grant_lifetime_s)
    chosen = choices.number(filled.days)
    if chosen is not None and chosen not in offered:
        offered = sorted({*offered, min(chosen, offered[-1])})
    words = {
        "client": {"name": shown(asked.client.name), "domain": asked.client.domain and shown(asked.client.domain)},
        "to": destination(asked.redirect_uri),
        "token": token,
        "approve_code": code_of(token),
        "filled": filled,
        "problem": problem,
        "may_choose_access": asked.scopes >= {READ, WRITE},
        "asks_to_read": READ in asked.scopes,
        "offered_days": offered,
        "days_in_words": [choices.in_words(days, desk.settings.grant_lifetime_s) for days in offered],
        "is_signed_in": is_signed_in,
        "is_again": is_again,
        "has_passphrase": has_passphrase,
        "has_passkey": has_passkey,
        "is_door_open": not has_passphrase or (problem is not None and problem.field == "throttle"),
        "max_passphrase_chars": MAX_CHARS,
    }
    return desk.pages.page("consent.html", words, status)
