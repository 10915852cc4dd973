"""POST /oauth/token: a code or a refresh token for new tokens (RFC 6749 §4.1.3 and §6)."""

from __future__ import annotations

import json
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from service.auth import audience
from service.auth.minting import Issued
from service.auth.refusal import Refusal
from service.web.oauth import forms
from service.web.oauth.desk import Desk
from service.web.oauth.forms import Form
from service.web.oauth.machine import Answer, json_answer


def token(desk: Desk) -> Answer:
    """The endpoint."""

    async def answer(request: Request) -> Response:
        form = await forms.read(request)
        work = _work(desk, form)
        return json_answer(_worded(await desk.do(work)))

    return answer


def _work(desk: Desk, form: Form) -> Callable[[], Issued]:
    """What is to be done for the form. Fields are read here, before anything waits for the database."""
    client_id, kind = form.client_id, form.need("grant_type")

    def known() -> str:
        return desk.clients.living(client_id).id

    match kind:
        case "authorization_code":
            code, verifier, redirect_uri = form.need("code"), form.need("code_verifier"), form.get("redirect_uri")
            work = lambda: desk.exchange.redeem(known(), code, verifier, redirect_uri)  # noqa: E731
        case "refresh_token":
            refresh, scope = form.need("refresh_token"), form.get("scope")
            work = lambda: desk.refresh.renew(known(), refresh, scope)  # noqa: E731
        case _:
            raise Refusal("unsupported_grant_type", "only authorization_code and refresh_token are supported.")
    if not audience.are_ours(desk.base, form.resources):
        raise Refusal("invalid_target", "resource is not this server; its metadata names the one there is.")
    return work


def _worded(issued: Issued) -> bytes:
    """RFC 6749 §5.1; `scope` always, since the owner may have allowed less than was asked (§3.3)."""
    members = {
        "access_token": issued.access_token,
        "token_type": "Bearer",
        "expires_in": issued.expires_in_s,
        "refresh_token": issued.refresh_token,
        "scope": " ".join(sorted(issued.scopes)),
    }
    return json.dumps(members, separators=(",", ":")).encode()
