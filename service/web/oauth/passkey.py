"""`/oauth/passkey`: the owner is recognised by a passkey instead of the passphrase, for one request in one browser.

    consent page ─► this page, with its one script ─► the device's own lock ─► this page ─► consent page, signed in

What may be allowed is chosen there and nowhere else. What a passkey says cannot be guessed, so a refusal counts for no
throttle: a stranger who posts nonsense here must not be able to make the owner's passphrase wait (docs/explanation/sign-in.md).
"""

from __future__ import annotations

import structlog
from starlette.requests import Request
from starlette.responses import Response

from service.auth.ceremonies import COPIED, PasskeyRefused
from service.auth.passkeys import is_known
from service.auth.pending import Pending
from service.auth.tokens import digest
from service.web.oauth import door, form, messages, waiting
from service.web.oauth.desk import Desk
from service.web.oauth.destination import destination
from service.web.oauth.pages import shown
from service.web.oauth.waiting import Waiting

_log = structlog.get_logger()


async def sign_in(desk: Desk, request: Request) -> Response:
    """Ask for a passkey, or look at what one has signed."""
    found = await waiting.read(desk, request)
    if isinstance(found, Response):
        return found
    if not await desk.do(desk.has_passkey):
        return messages.no_passkey(desk.pages)
    if "credential" not in found.fields:
        return await _page(desk, found)
    address = door.seen_address(request, desk)
    try:
        signed_in = await desk.do(lambda: _recognise(desk, found, address))
    except PasskeyRefused as refused:
        return await _page(desk, found, problem=str(refused))
    return messages.gone(desk.pages) if signed_in is None else await form.page(desk, signed_in, found.token)


def _recognise(desk: Desk, found: Waiting, address: str | None) -> Pending | None:
    """The sign-in once it is noted that the owner was here; None if it ended meanwhile.

    Raises:
        PasskeyRefused: no passkey of the owner's signed.
    """
    client = found.pending.asked.client.id
    try:
        passkey = desk.passkeys.finish_signing_in(found.fields["credential"], digest(found.token), digest(found.cookie))
    except PasskeyRefused as refused:
        is_copied = refused.why == COPIED
        event = "passkey_copied" if is_copied else "passkey_refused"
        desk.audit.note(event, client=client, address=address, why=refused.why)
        if is_copied:
            _log.warning("passkey.copied", way_out="another device has its key: strongroom auth passkey remove")
        raise
    if not desk.approvals.sign_in(found.token, found.cookie, lambda connection: is_known(connection, passkey)):
        return None
    desk.audit.note("login_ok", client=client, address=address, method="passkey", passkey=passkey.name)
    return desk.approvals.find(found.token, found.cookie)


async def _page(desk: Desk, found: Waiting, *, problem: str | None = None) -> Response:
    asked = found.pending.asked
    options = await desk.do(lambda: desk.passkeys.begin_signing_in(digest(found.token), digest(found.cookie)))
    words = {
        "client": {"name": shown(asked.client.name)},
        "to": destination(asked.redirect_uri),
        "token": found.token,
        "options": options,
        "problem": problem,
    }
    return desk.pages.page("passkey.html", words, 200 if problem is None else 403, script=desk.pages.passkey_script)
