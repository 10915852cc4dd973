"""`strongroom tokens`: make, list and take back the tokens with which clients sign in.

Works beside a running server, which notices a revocation within a second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from ops import output

if TYPE_CHECKING:
    from service.auth.grants import Grants
    from service.auth.model import Grant


@click.group()
def command() -> None:
    """Make, list and revoke the tokens clients sign in with."""


@command.command()
@click.option("--name", required=True, help="Your word for it, such as laptop; history shows it.")
@click.option("--read-only", "is_read_only", is_flag=True, help="It may read, and change nothing.")
@click.option("--days", type=int, help="How long it lasts; without it, until you revoke it.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def create(name: str, is_read_only: bool, days: int | None, as_json: bool) -> None:
    """Make a token and show it, this once."""
    with _grants() as grants:
        from service.auth import static

        grant, token = static.create(grants, name, is_read_only=is_read_only, days=days)
    if as_json:
        output.print_json({**_facts(grant), "token": token})
        return
    click.echo(token)
    may = "read" if is_read_only else "read and write"
    until = f"until {_shown(grant.expires)}" if grant.expires else "until you revoke it"
    output.say(f"{grant.name!r} ({grant.id}) may {may} {until}. This is the only time the token is shown.")


@command.command("list")
@click.option("--all", "with_ended", is_flag=True, help="Also those that were revoked or have expired.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(with_ended: bool, as_json: bool) -> None:
    """Show the tokens there are."""
    with _grants() as grants:
        shown = [grant for grant in grants.all() if with_ended or _state(grant) == "alive"]
    if as_json:
        output.print_json([_facts(grant) for grant in shown])
        return
    rows = [
        (grant.id, grant.name, _may(grant), _shown(grant.created), _shown(grant.last_used), _ends(grant))
        for grant in shown
    ]
    if rows:
        output.print_table(("ID", "Name", "May", "Made", "Last used", "Ends"), rows)
    else:
        output.say("there are no tokens; make one with: strongroom tokens create --name laptop")


@command.command()
@click.argument("word", metavar="ID|NAME", required=False)
@click.option("--all", "is_all", is_flag=True, help="Every token there is.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def revoke(word: str | None, is_all: bool, as_json: bool) -> None:
    """Take a token back. A running server stops serving it within a second."""
    if (word is None) is not is_all:
        raise click.UsageError("Name one token by its id or name, or give --all.")
    with _grants() as grants:
        ended = grants.revoke_all() if word is None else grants.revoke(word)
    if as_json:
        output.print_json([_facts(grant) for grant in ended])
    elif ended:
        output.say(f"revoked: {', '.join(f'{grant.name!r} ({grant.id})' for grant in ended)}")
    else:
        output.say("nothing to revoke: it ended before.")


@contextmanager
def _grants() -> Iterator[Grants]:
    from ops.opened import load_settings
    from service.auth.grants import Grants
    from service.auth.tables import SCHEMA
    from service.clock import SystemClock
    from service.store import mounts
    from service.store.db import Database

    settings = load_settings()
    mounts.prepare_state(settings.state)
    database = Database(settings.state, (SCHEMA,))
    try:
        yield Grants(database, SystemClock(settings.zone))
    finally:
        database.close()


def _facts(grant: Grant) -> dict[str, str | Sequence[str] | None]:
    return {
        "id": grant.id,
        "name": grant.name,
        "kind": grant.kind,
        "scopes": sorted(grant.scopes),
        "created": grant.created.isoformat(),
        "expires": _iso(grant.expires),
        "last_used": _iso(grant.last_used),
        "revoked": _iso(grant.revoked),
        "state": _state(grant),
    }


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _state(grant: Grant) -> str:
    if grant.revoked is not None:
        return "revoked"
    return "alive" if grant.is_alive(datetime.now(UTC)) else "expired"


def _may(grant: Grant) -> str:
    return "read, write" if grant.may_write else "read"


def _ends(grant: Grant) -> str:
    if _state(grant) == "revoked":
        return f"revoked {_shown(grant.revoked)}"
    return _shown(grant.expires) if grant.expires else "when revoked"


def _shown(moment: datetime | None) -> str:
    return "never" if moment is None else moment.astimezone().strftime("%Y-%m-%d %H:%M")
