"""What a tool reaches through its context: the rooms it may use, and on whose word it acts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from mcp.server.mcpserver import Context

from service.auth.model import Grant, acting
from service.clock import Clock
from service.history.history import History
from service.settings import Settings
from service.vault.model import Actor, Vault


@dataclass(frozen=True, slots=True)
class Room:
    """Everything the tools work with, built once in `app.py`.

    Args:
        check: reads the grant again from the database; raises Forbidden once it is revoked or has expired.
    """

    vault: Vault
    history: History
    settings: Settings
    clock: Clock
    check: Callable[[Grant], None]


Ctx: TypeAlias = Context[Room, object]
"""The parameter by which a tool asks for its context; clients do not see it."""


def room(ctx: Ctx) -> Room:
    """The rooms behind this call."""
    return ctx.request_context.lifespan_context


def actor(ctx: Ctx) -> Actor:
    """On whose word this call changes something.

    `Actor.permit` looks the grant up again at the last moment before a change becomes visible, so a revocation that
    comes while the call runs still stops it.

    Raises:
        Forbidden: when the call carries no grant.
    """
    grant, check = acting(), room(ctx).check
    return Actor(grant.id, grant.name, permit=lambda: check(grant))
