"""`/oauth/consent`: the owner's answer. Yes needs the passphrase (or a passkey), each time; no needs nothing.

    form ─► from our page? ─► the row of this token and cookie ─► deny ───────────────────────────────► back to the client
                                                               └► choices ─► throttle ─► passphrase ─► folders ─┘

The order matters: what costs nothing comes first, a guess is counted before it is looked at, and which folders exist is
said only to whoever was recognised. What fails shows the form again as it was filled in. A passkey (`passkey.py`) recognises
the owner in the same row, and then shows the same form.
"""

from __future__ import annotations

from typing import Final

import structlog
from starlette.requests import Request
from starlette.responses import Response

from service.auth.passphrase import counts
from service.web.oauth import choices, door, finish, form, messages, waiting
from service.web.oauth.choices import Filled, Problem
from service.web.oauth.desk import Desk
from service.web.oauth.waiting import Waiting

MAX_IN_LINE: Final = 4
"""Passphrases that wait to be looked at. One takes a tenth of a second; so whoever is let wait has his answer within one or
two (auth.md 4.1: clients give us ten)."""

COME_BACK_S: Final = 2

_WRONG = Problem("passphrase", "That is not the passphrase. Nothing was allowed; try again.")
_log = structlog.get_logger()


async def answer(desk: Desk, request: Request) -> Response:
    """The owner's yes or no, as our page sent it."""
    sent = await waiting.read(desk, request)
    if isinstance(sent, Response):
        return sent
    match sent.fields.get("decision"):
        case "deny":
            return await finish.deny(desk, request, sent)
        case "allow":
            return await _allow(desk, request, sent)
        case _:
            return messages.unreadable(desk.pages)


async def _allow(desk: Desk, request: Request, sent: Waiting) -> Response:
    lifetime_s, look = desk.settings.grant_lifetime_s, desk.missing_folders
    token, cookie, fields, pending = sent.token, sent.cookie, sent.fields, sent.pending
    filled = choices.filled(fields, pending.asked, lifetime_s)
    choice = choices.read(filled, pending.asked, lifetime_s)
    if isinstance(choice, Problem):
        return await form.page(desk, pending, token, filled=filled, problem=choice)
    if not pending.is_signed_in:
        refused = await _recognised(desk, request, sent, filled)
        if refused is not None:
            return refused
        if not await desk.do(lambda: desk.approvals.sign_in(token, cookie, counts)):
            return messages.gone(desk.pages)
    missing = () if look is None else await desk.do(lambda: look(choice.folders))
    if missing:
        again = await desk.do(lambda: desk.approvals.find(token, cookie))
        return await form.page(desk, again or pending, token, filled=filled, problem=choices.missing(missing))
    return await finish.allow(desk, request, sent, choice)


async def _recognised(desk: Desk, request: Request, sent: Waiting, filled: Filled) -> Response | None:
    """None when the passphrase is the owner's; else what to answer."""
    told, seen = door.told_address(request, desk), door.seen_address(request, desk)
    client = sent.pending.asked.client.id
    if desk.owner.turn.statistics().tasks_waiting >= MAX_IN_LINE:
        return await _later(desk, sent, filled, COME_BACK_S, "Many passphrases came at once. Try again in a moment.")
    wait_s = await desk.do(lambda: desk.throttle.wait_s(told))
    is_right = False
    if not wait_s:
        async with desk.owner.turn:
            wait_s = await desk.do(lambda: desk.throttle.guess(told))
            is_right = not wait_s and await desk.owner.verify(sent.fields.get("passphrase", ""))
            if is_right:
                await desk.do(lambda: desk.throttle.right(told))
    if is_right:
        await desk.do(lambda: desk.audit.note("login_ok", client=client, address=seen, method="passphrase"))
        return None
    if wait_s:
        await desk.do(lambda: desk.audit.note("login_throttled", client=client, address=seen, wait_s=wait_s))
        why = f"Too many wrong passphrases. Wait {in_words(wait_s)}, or allow it from the machine (below)."
        return await _later(desk, sent, filled, wait_s, why)
    await desk.do(lambda: desk.audit.note("login_fail", client=client, address=seen))
    fails = await desk.do(desk.throttle.fails)
    _log.warning("login.failed", address=seen, in_a_row=fails, way_out="not you? see: strongroom auth log")
    return await form.page(desk, sent.pending, sent.token, filled=filled, problem=_WRONG, status=403)


async def _later(desk: Desk, sent: Waiting, filled: Filled, wait_s: int, why: str) -> Response:
    problem = Problem("throttle", why)
    page = await form.page(desk, sent.pending, sent.token, filled=filled, problem=problem, status=429)
    page.headers["retry-after"] = str(wait_s)
    return page


def in_words(wait_s: int) -> str:
    """A wait for people: seconds up to two minutes, then whole minutes, rounded up."""
    return f"{wait_s} second{'' if wait_s == 1 else 's'}" if wait_s <= 120 else f"{-(-wait_s // 60)} minutes"
