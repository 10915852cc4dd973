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
        ended = await desk.do(lambda: desk.grants.revoke_token(token_hash, client_id))
        if ended is not None:
            desk.audit.note("revoke", reason="client", grant=ended, client=client_id)
        return Response(status_code=200)

    return answer
