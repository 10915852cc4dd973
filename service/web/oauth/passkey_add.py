"""`/oauth/passkey/add`: with a code from the command line this browser makes a passkey.

    code ─► a page with what the browser needs, and its one script ─► the passkey ─► done

The code is used up as soon as it is right, and what follows is tied to the browser that gave it by a cookie of its own, so
that a sign-in which waits in another tab keeps its one.
"""

from __future__ import annotations

import secrets
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from service.auth.ceremonies import PasskeyRefused
from service.auth.passkeys import CHALLENGE_LIFETIME_S, CodeRefused
from service.auth.tokens import digest
from service.errors import Conflict
from service.web.oauth import door, messages
from service.web.oauth.desk import Desk

COOKIE: Final = "strongroom_passkey"
_COOKIE_BYTES: Final = 32
_NOT_THE_CODE: Final = "That code is not right, was used, or is older than ten minutes. Make another one there."


async def show(desk: Desk, _: Request) -> Response:
    """Ask for the code, or say why no browser could make a passkey here."""
    if desk.passkeys.site.hindrance is not None:
        return messages.no_passkeys_here(desk.pages, desk.passkeys.site.hindrance)
    return _ask_for_code(desk)


async def answer(desk: Desk, request: Request) -> Response:
    """Take the code, or the passkey that was made."""
    if not door.is_from_our_page(request, desk.base):
        return messages.foreign(desk.pages)
    fields = await door.form(request)
    if fields is None or not fields.keys() & {"code", "credential"}:
        return messages.unreadable(desk.pages)
    if desk.passkeys.site.hindrance is not None:
        return messages.no_passkeys_here(desk.pages, desk.passkeys.site.hindrance)
    if "credential" in fields:
        return await _keep(desk, request, fields["credential"])
    return await _begin(desk, request, fields["code"])


async def _begin(desk: Desk, request: Request, code: str) -> Response:
    cookie = secrets.token_urlsafe(_COOKIE_BYTES)
    try:
        options = await desk.do(lambda: desk.passkeys.begin_making(code, digest(cookie)), is_for_anybody=True)
    except CodeRefused:
        seen = door.seen_address(request, desk)
        await desk.do(lambda: desk.audit.note("passkey_code_refused", address=seen))
        return _ask_for_code(desk, problem=_NOT_THE_CODE)
    page = desk.pages.page("passkey_make.html", {"options": options}, script=desk.pages.passkey_script)
    return door.with_cookie(page, desk.base, cookie, CHALLENGE_LIFETIME_S, COOKIE)


async def _keep(desk: Desk, request: Request, credential: str) -> Response:
    cookie, seen = door.cookie_of(request, desk.base, COOKIE) or "", door.seen_address(request, desk)

    def keep() -> str:
        try:
            passkey = desk.passkeys.finish_making(credential, digest(cookie))
        except (PasskeyRefused, Conflict) as refused:
            why = refused.why if isinstance(refused, PasskeyRefused) else "its name was taken"
            desk.audit.note("passkey_refused", address=seen, why=why)
            raise
        desk.audit.note("passkey_added", name=passkey.name, address=seen)
        return passkey.name

    try:
        name = await desk.do(keep)
    except (PasskeyRefused, Conflict):
        return messages.passkey_not_added(desk.pages)
    return door.with_cookie(messages.passkey_added(desk.pages, name), desk.base, "", 0, COOKIE)


def _ask_for_code(desk: Desk, *, problem: str | None = None) -> Response:
    return desk.pages.page("passkey_code.html", {"problem": problem}, 200 if problem is None else 403)
