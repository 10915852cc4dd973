"""The documents by which clients find us: what `/mcp` is and who gives tokens for it (RFC 9728), and how (RFC 8414).

Clients look in different places (auth.md 4.1), so each document answers in all of them, the same byte by byte. It is made
once from our own address; no header can change a word of it.
"""

from __future__ import annotations

import json
from typing import Final, TypeAlias

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from service.auth import audience
from service.auth.model import SCOPES
from service.auth.registration import OFFLINE_ACCESS

RESOURCE_PATHS: Final = ("/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp")
SERVER_PATHS: Final = (
    "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-authorization-server/mcp",
    "/.well-known/openid-configuration",
)

Members: TypeAlias = dict[str, str | list[str] | bool]

_RESOURCE_NAME: Final = "Strongroom"


def url(base: str) -> str:
    """Where the 401 of `/mcp` sends a client (RFC 9728 §3.1: the resource's path comes after the well-known part)."""
    return base + RESOURCE_PATHS[1]


def protected_resource(base: str) -> Document:
    """RFC 9728 §2. `resource` is byte by byte what a person types; `offline_access` has no place here (MCP 2026-07-28)."""
    return Document(
        {
            "resource": audience.canonical(base),
            "authorization_servers": [base],
            "scopes_supported": list(SCOPES),
            "bearer_methods_supported": ["header"],
            "resource_name": _RESOURCE_NAME,
        }
    )


def authorization_server(base: str, *, has_registration: bool = True) -> Document:
    """RFC 8414 §2, RFC 9207 §3. All clients are public: `none` is the only way to authenticate (python-sdk#2260)."""
    registration: Members = {"registration_endpoint": f"{base}/oauth/register"} if has_registration else {}
    return Document(
        {
            "issuer": base,
            "authorization_endpoint": f"{base}/oauth/authorize",
            "token_endpoint": f"{base}/oauth/token",
            **registration,
            "revocation_endpoint": f"{base}/oauth/revoke",
            "scopes_supported": [*SCOPES, OFFLINE_ACCESS],
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_methods_supported": ["none"],
            "revocation_endpoint_auth_methods_supported": ["none"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
            "client_id_metadata_document_supported": True,
            "request_uri_parameter_supported": False,
        }
    )


class Document:
    """An ASGI endpoint that shows one JSON document to everybody. `no-store`: a wrong value must not stick."""

    def __init__(self, members: Members) -> None:
        self._app: ASGIApp = Response(
            json.dumps(members, separators=(",", ":")).encode(),
            media_type="application/json",
            headers={"cache-control": "no-store"},
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)
