"""`strongroom auth`: how the owner is known, who may ask to be let in, and what happened at the door.

What was given and can be taken back is listed by `strongroom tokens`. A command lives in a module of its own, `ops.auth_NAME`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import click

from ops.commands import LazyGroup, Row

TABLE: Final[Sequence[Row]] = (
    Row("approve", "ops.auth_approve", "Let a client in by the code on its sign-in page, without the passphrase."),
    Row("passphrase", "ops.auth_passphrase", "Show the first passphrase, set a new one, switch it off or on."),
    Row("passkey", "ops.auth_passkey", "Add, list and remove passkeys, with which you sign in instead."),
    Row("clients", "ops.auth_clients", "The clients that may ask to be let in: list, add, remove."),
    Row("open", "ops.auth_open", "Let new clients introduce themselves for some minutes."),
    Row("lockdown", "ops.auth_lockdown", "After a theft: end everything, with a new passphrase and origin secret."),
    Row("log", "ops.auth_log", "Show the audit log: sign-ins, grants, refusals, changes by clients."),
)


class Auth(LazyGroup):
    """The commands of `TABLE`."""

    rows = TABLE


@click.group(cls=Auth)
def command() -> None:
    """Signing in: approve, passphrase, passkeys, clients, the audit log.

    What clients came in with is listed and revoked by `strongroom tokens`. Works beside a running server, which follows
    within a second.
    """
