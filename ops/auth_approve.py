"""`strongroom auth approve`: let a client in from the machine, without the passphrase. The second door (auth.md 7.3).

Guesses at the passphrase slow everybody down, so a stranger could keep the owner out of the page; nobody can keep him out
of his machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from ops import output

if TYPE_CHECKING:
    from service.auth.asked import Asked, Choice
    from service.settings import Settings


@click.command()
@click.argument("code")
@click.option("--read-only", "is_read_only", is_flag=True, help="It may read, and change nothing.")
@click.option("--folder", "folders", multiple=True, help="The only folder it may see; may be given several times.")
@click.option("--days", type=int, help="How long until it has to sign in again; 90 unless the settings say less.")
@click.option("--yes", "is_yes", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    code: str, *, is_read_only: bool, folders: Sequence[str], days: int | None, is_yes: bool, as_json: bool
) -> None:
    """Let the client in whose sign-in page shows CODE, without the passphrase.

    The page goes on by itself within seconds. Only approve a code from a page that you opened yourself, a moment ago.
    """
    from ops import permits
    from service.auth.pending import Approvals
    from service.errors import Conflict, NotFound

    with permits.opened() as here:
        approvals = Approvals(here.database, here.clock)
        found = approvals.find_by_code(code)
        if found is None:
            raise NotFound(
                "no sign-in waits with that code; a page is good for ten minutes: reload it, and take the code that it shows."
            )
        if found.is_used:
            raise Conflict("that sign-in has had its answer already; begin again at the client.")
        choice = _choice(found.asked, here.settings, folders, days, is_read_only=is_read_only)
        for line in _told(found.asked, choice, found.address):
            output.say(line)
        if misspelt := here.missing_folders(choice.folders):
            output.say(permits.not_there(misspelt))
        output.confirm("Let it in?", is_yes=is_yes)
        if approvals.approve_by_code(code, choice) is None:
            raise Conflict("that sign-in has ended meanwhile; begin again at the client.")
        client = found.asked.client
        here.audit.note(
            "approve_cli",
            client=client.id,
            name=client.name,
            write=_may_write(choice),
            folders=", ".join(choice.folders),
            days=choice.days,
        )
    if as_json:
        output.print_json(
            {
                "client": client.id,
                "client_name": client.name,
                "domain": client.domain,
                "scopes": sorted(choice.scopes),
                "folders": list(choice.folders),
                "days": choice.days,
            }
        )
    else:
        output.say("approved: the page in the browser goes on by itself.")


def _choice(
    asked: Asked, settings: Settings, folders: Sequence[str], days: int | None, *, is_read_only: bool
) -> Choice:
    from service.auth.asked import Choice
    from service.auth.model import READ
    from service.errors import BadArgument
    from service.guards import folders as folders_
    from service.web.oauth.choices import USUAL_DAYS, max_days

    longest = max_days(settings.grant_lifetime_s)
    days = min(USUAL_DAYS, longest) if days is None else days
    if not 1 <= days <= longest:
        raise BadArgument(f"choose 1 to {longest} days; STRONGROOM_GRANT_LIFETIME sets the longest.")
    scopes = asked.scopes & {READ} if is_read_only else asked.scopes
    if READ not in scopes:
        raise BadArgument("it did not ask to read, and writing without reading is not given; nothing was approved.")
    return Choice(scopes, folders_.parse(folders), days)


def _told(asked: Asked, choice: Choice, address: str | None) -> Sequence[str]:
    """What a person has to know before saying yes."""
    from service.web.oauth.destination import destination

    client, goal = asked.client, destination(asked.redirect_uri)
    is_known = f"verified: {client.domain}" if client.domain else "unverified: the name is its own claim"
    where = {
        "site": f"the web site {goal.name}",
        "device": f"a program on the device with the browser ({goal.name})",
        "app": f"an app on the device with the browser ({goal.name})",
    }[goal.kind]
    wants = "read and write" if len(asked.scopes) > 1 else "read" if not _writes(asked.scopes) else "write"
    return (
        f"Client    {client.name} ({is_known})",
        f"Answer to {where}",
        *((f"From      {address}",) if address else ()),
        f"Wants to  {wants}",
        f"Gets      {'read and write' if _may_write(choice) else 'read only'}, "
        f"{', '.join(choice.folders) or 'the whole vault'}, for {choice.days} days",
    )


def _may_write(choice: Choice) -> bool:
    return _writes(choice.scopes)


def _writes(scopes: frozenset[str]) -> bool:
    from service.auth.model import WRITE

    return WRITE in scopes
