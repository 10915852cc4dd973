"""POST /oauth/register: a client introduces itself (RFC 7591). It gets an id, and nothing else."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from service.auth.refusal import Refusal
from service.auth.registration import Registered
from service.web.oauth.desk import Desk
from service.web.oauth.machine import Answer, json_answer


def register(desk: Desk) -> Answer:
    """The endpoint."""

    async def answer(request: Request) -> Response:
        kinds = request.headers.getlist("content-type")
        if len(kinds) != 1 or kinds[0].partition(";")[0].strip().lower() != "application/json":
            raise Refusal("invalid_client_metadata", "send a JSON object as application/json.")
        body = await request.body()
        return json_answer((await desk.do(lambda: _taken(desk, body), is_for_anybody=True)).to_json(), 201)

    return answer


def _taken(desk: Desk, body: bytes) -> Registered:
    registered = desk.clients.register(body)
    desk.audit.note("register", client=registered.client.id, name=registered.client.name)
    return registered
