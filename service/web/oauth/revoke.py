"""POST /oauth/revoke: a client gives back what it has (RFC 7009), as when its user disconnects.

200 for everything that names a client and a token: what is not this client's, or no token at all, is as good as revoked (§2.2).
A client that we do not know has nothing, so it gets the same. `token_type_hint` is not needed to find a token.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from service.auth import tokens
from service.web.oauth import forms
from service.web.oauth.desk import Desk
from service.web.oauth.machine import Answer


def revoke(desk: Desk) -> Answer:
    """The endpoint."""

    async def answer(request: Request) -> Response:
        form = await forms.read(request)
        client_id, token_hash = form.client_id, tokens.digest(form.need("token"))
        await desk.do(lambda: _give_back(desk, token_hash, client_id))
        return Response(status_code=200)

    return answer


def _give_back(desk: Desk, token_hash: bytes, client_id: str) -> None:
    given_back = desk.grants.revoke_token(token_hash, client_id)
    if given_back is None:
        return
    # The second kind can be repeated at will by renewing, so it is traffic and not an event that takes the owner.
    event = "revoke" if given_back.has_grant_ended else "access_given_back"
    desk.audit.note(event, reason="client", grant=given_back.grant_id, client=client_id)
