"""The routes: `/mcp` behind its guard, the two health paths, and nothing else.

A plain Starlette router without its application object: that adds error pages and redirects, and here is nothing that
should redirect (`/mcp/` answered with a 307 is a known killer of connectors) or explain itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager

from starlette.routing import BaseRoute, Route, Router
from starlette.types import ASGIApp

from service.auth import audience
from service.settings import Settings
from service.web import answers
from service.web.edge import Edge
from service.web.health import Healthz, Problems, Readyz

Lifespan = Callable[[object], AbstractAsyncContextManager[None]]


def build(
    mcp: ASGIApp,
    sign_in: Sequence[BaseRoute],
    problems: Problems,
    settings: Settings,
    lifespan: Lifespan,
    *,
    on_bad_secret: Callable[[int], None] = lambda _times: None,
) -> ASGIApp:
    """The whole ASGI application.

    Args:
        mcp: the protocol's endpoint, already behind its guard.
        sign_in: the routes of OAuth (`oauth.routes`); none when it is switched off.
        problems: what is wrong right now, for `/readyz`.
        lifespan: entered before the first request and left after the last.
        on_bad_secret: told now and then how many requests came without the origin secret; it must not block.
    """
    routes = [Route(audience.PATH, endpoint=mcp), *sign_in, *health_routes(problems)]
    router = Router(routes, redirect_slashes=False, default=answers.not_found, lifespan=lifespan)
    return Edge(router, settings, on_bad_secret)


def health_routes(problems: Problems) -> Sequence[BaseRoute]:
    """The two paths for this machine itself."""
    return Route("/healthz", endpoint=Healthz()), Route("/readyz", endpoint=Readyz(problems))
