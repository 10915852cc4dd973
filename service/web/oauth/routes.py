"""Which path leads to which door of signing in (auth.md 7.1). Without OAuth there are none, and all is the empty 404."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starlette.routing import BaseRoute, Route

from service.web.oauth import authorize, consent, metadata, passkey, passkey_add, wait
from service.web.oauth.cors import Readable
from service.web.oauth.desk import Desk
from service.web.oauth.door import Page, door
from service.web.oauth.machine import machine_door
from service.web.oauth.register import register
from service.web.oauth.revoke import revoke
from service.web.oauth.token import token


def routes(desk: Desk) -> Sequence[BaseRoute]:
    """All routes of signing in."""
    return [*_documents(desk), *_machine_doors(desk), *_pages(desk)]


def _machine_doors(desk: Desk) -> list[BaseRoute]:
    """What programs call, each also at the root, where some look without asking (auth.md 4.4 claude-ai-mcp#846)."""
    doors = {"token": token(desk), "register": register(desk), "revoke": revoke(desk)}
    return [
        Route(f"{where}/{name}", endpoint=machine_door(answer))
        for name, answer in doors.items()
        for where in ("/oauth", "")
    ]


def _documents(desk: Desk) -> list[BaseRoute]:
    has_registration = desk.settings.registration != "off"
    resource = Readable(metadata.protected_resource(desk.base), ("GET", "HEAD"))
    server = Readable(metadata.authorization_server(desk.base, has_registration=has_registration), ("GET", "HEAD"))
    return [
        *(Route(path, endpoint=resource) for path in metadata.RESOURCE_PATHS),
        *(Route(path, endpoint=server) for path in metadata.SERVER_PATHS),
    ]


def _pages(desk: Desk) -> list[BaseRoute]:
    """What the owner sees. Some clients send him to the root without asking (auth.md 4.4 claude-ai-mcp#846)."""
    pages: Mapping[str, Mapping[str, Page]] = {
        "/oauth/authorize": {"GET": authorize.show},
        "/authorize": {"GET": authorize.show},
        "/oauth/consent": {"POST": consent.answer},
        "/oauth/wait": {"GET": wait.show},
        "/oauth/passkey": {"POST": passkey.sign_in},
        "/oauth/passkey/add": {"GET": passkey_add.show, "POST": passkey_add.answer},
    }
    return [Route(path, endpoint=door(desk, by_method)) for path, by_method in pages.items()]
