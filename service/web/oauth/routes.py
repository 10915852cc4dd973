"""Which path leads to which door of signing in (auth.md 7.1). Without OAuth there are none, and all is the empty 404."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.routing import BaseRoute, Route

from service.web.oauth import metadata, passkey, passkey_add
from service.web.oauth.cors import Readable
from service.web.oauth.desk import Desk
from service.web.oauth.door import door


def routes(desk: Desk) -> Sequence[BaseRoute]:
    """All routes of signing in."""
    return [*_documents(desk.base), *_passkeys(desk)]


def _documents(base: str) -> list[BaseRoute]:
    resource = Readable(metadata.protected_resource(base), ("GET", "HEAD"))
    server = Readable(metadata.authorization_server(base), ("GET", "HEAD"))
    return [
        *(Route(path, endpoint=resource) for path in metadata.RESOURCE_PATHS),
        *(Route(path, endpoint=server) for path in metadata.SERVER_PATHS),
    ]


def _passkeys(desk: Desk) -> list[BaseRoute]:
    return [
        Route("/oauth/passkey", endpoint=door(desk, {"POST": passkey.sign_in})),
        Route("/oauth/passkey/add", endpoint=door(desk, {"GET": passkey_add.show, "POST": passkey_add.answer})),
    ]
