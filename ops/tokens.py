"""`strongroom tokens`: make, list and take back what clients come in with, static tokens and sign-ins alike.

Works beside a running server, which notices a revocation within a second.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from ops import output

if TYPE_CHECKING:
    from ops.grant_list import Listing
    from ops.permits import Permits
    from service.auth.model import Grant


@click.group()
def command() -> None:
    """Make, list and revoke what clients come in with: tokens and sign-ins."""


@command.command()
@click.option("--name", required=True, help="Your word for it, such as laptop; history shows it.")
@click.option("--read-only", "is_read_only", is_flag=True, help="It may read, and change nothing.")
@click.option("--folder", "folders", multiple=True, help="The only folder it may see; may be given several times.")
@click.option("--days", type=int, help="How long it lasts; without it, until you revoke it.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def create(name: str, is_read_only: bool, folders: Sequence[str], days: int | None, as_json: bool) -> None:
    """Make a token and show it, this once."""
    from ops import permits

    with permits.opened() as here:
        from service.auth import static

        grant, token = static.create(here.grants, name, is_read_only=is_read_only, days=days, folders=folders)
        here.audit.note(
            "token_created", grant=grant.id, name=grant.name, write=grant.may_write, folders=", ".join(grant.folders)
        )
        listing = _listing(here, (grant,), is_live=False)
        misspelt = here.missing_folders(grant.folders)
    if misspelt:
        output.say(permits.not_there(misspelt))
    if as_json:
        output.print_json({**listing.facts(grant), "token": token})
        return
    click.echo(token)
    may = "read" if is_read_only else "read and write"
    where = f" in {', '.join(grant.folders)}" if grant.folders else ""
    until = f"until {listing.row(grant)[-1]}" if grant.expires else "until you revoke it"
    output.say(f"{grant.name!r} ({grant.id}) may {may}{where} {until}. This is the only time the token is shown.")


@command.command("list")
@click.option("--all", "with_ended", is_flag=True, help="Also those that were revoked or have expired.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(with_ended: bool, as_json: bool) -> None:
    """Show what can come in: tokens, and sign-ins of clients.

    Live is how many requests of it are being answered this moment, as the running service says; ? when none runs. A name in
    (brackets) is the host that stands for a client; `unverified` is a client whose name is its own claim. Last used and
    From are noted once a minute.
    """
    from ops import permits
    from ops.grant_list import HEADINGS

    with permits.opened() as here:
        listing = _listing(here, here.grants.all(), is_live=True)
    shown = [grant for grant in listing.grants if with_ended or listing.state(grant) == "alive"]
    if as_json:
        output.print_json([listing.facts(grant) for grant in shown])
        return
    if shown:
        output.print_table(HEADINGS, [listing.row(grant) for grant in shown])
    else:
        output.say(
            "nothing can come in: add the address to a client and let it in on the page that opens, or make a token with: "
            "strongroom tokens create --name laptop"
        )
    if listing.streams is None:
        output.say("no service answers on this state, so what is live cannot be told.")


@command.command()
@click.argument("word", metavar="ID|NAME", required=False)
@click.option("--client", metavar="X", help="Everything of one client, by id, name or host; and switch it off.")
@click.option("--all", "is_all", is_flag=True, help="Everything there is.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def revoke(word: str | None, client: str | None, is_all: bool, as_json: bool) -> None:
    """Take back a token or a sign-in, all of a client, or everything.

    A running server stops serving it within a second, streams included. A client that is switched off has to introduce
    itself anew; to be only signed out, revoke its sign-in. ID may also be a token that was found somewhere.
    """
    if (word is not None) + (client is not None) + is_all != 1:
        raise click.UsageError("Name one by its id or name, or give --client X, or --all.")
    from ops import permits

    with permits.opened() as here:
        ended = _ended(here, word) if client is None else ended_of_client(here, client)
        listing = _listing(here, ended, is_live=False)
    if as_json:
        output.print_json([listing.facts(grant) for grant in ended])
    elif ended:
        output.say(f"revoked: {', '.join(f'{grant.name!r} ({grant.id})' for grant in ended)}")
    else:
        output.say(
            "nothing to revoke: it ended before." if client is None else "no sign-in was left; it is switched off."
        )


def ended_of_client(here: Permits, word: str) -> tuple[Grant, ...]:
    """Switch a client off and revoke all it has; the grants that ended now.

    Raises:
        GrantNotFound, Conflict: no client, or several, answer to the word.
    """
    from ops import grant_list
    from service.auth import ending
    from service.errors import NotFound

    used = (grant.client_id for grant in here.grants.all() if grant.client_id)
    client_id = grant_list.meant_client(word, (known.client for known in here.clients.all()), used)
    with contextlib.suppress(NotFound):  # forgotten, and its grants are left
        here.clients.disable(client_id)
    with here.database.transaction() as connection:
        ended = ending.end_client(connection, client_id, here.clock.now())
    here.audit.note("client_removed", client=client_id, grants=", ".join(sorted(ended)))
    return tuple(grant for grant in here.grants.all() if grant.id in ended)


def _ended(here: Permits, word: str | None) -> tuple[Grant, ...]:
    """Revoke what the word means, or everything; the grants that ended now."""
    from ops import grant_list
    from service.auth import ending, grants, tokens

    now = here.clock.now()
    ids: tuple[str, ...] = ()
    if word is not None:
        found = (_behind(here, word),) if tokens.is_shaped(word) else grant_list.meant(word, here.grants.all())
        ids = tuple(grant.id for grant in found)
    with here.database.transaction() as connection:
        is_all = word is None
        ended = ending.end_everything(connection, now, "owner") if is_all else grants.end(connection, ids, now, "owner")
    here.audit.note("revoke", what="all" if word is None else "grant", grants=", ".join(sorted(ended)))
    return tuple(grant for grant in here.grants.all() if grant.id in ended)


def _behind(here: Permits, token: str) -> Grant:
    """What a token stands for. It is not repeated in what is said: it may be good elsewhere."""
    from service.auth import tokens
    from service.errors import NotFound

    found = here.grants.grant_behind(tokens.digest(token))
    if found is None:
        raise NotFound("that token was not made here, or is forgotten; what there is: strongroom tokens list --all")
    return found


def _listing(here: Permits, grants: Sequence[Grant], *, is_live: bool) -> Listing:
    from ops import door, grant_list

    streams = door.streams(here.settings.state) if is_live else None
    clients, hosted = grant_list.clients(here.clients, grants), grant_list.hosted(here.database)
    return grant_list.Listing(grants, clients, here.clock.now(), hosted, streams)
