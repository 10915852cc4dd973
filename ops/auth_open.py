"""`strongroom auth open`: let clients that are not known here introduce themselves, for some minutes."""

from __future__ import annotations

import click

from ops import output


@click.command()
@click.option("--minutes", type=int, default=10, show_default=True, help="How long; 0 shuts it now.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(minutes: int, as_json: bool) -> None:
    """Let new clients introduce themselves for some minutes.

    Only where STRONGROOM_REGISTRATION is `window`. To be introduced gives no access: each client still has to be let in.
    """
    from ops import permits
    from service.auth import window
    from service.errors import Conflict

    with permits.opened() as here:
        if here.settings.registration != "window":
            raise Conflict(
                f"STRONGROOM_REGISTRATION is {here.settings.registration!r}, so there is no window to open; set it to "
                "'window' and start the server again."
            )
        until = window.open_for(here.database, here.clock, minutes)
        here.audit.note("registration_opened", minutes=minutes)
        zone = here.settings.zone
    if as_json:
        output.print_json({"until": until.isoformat(), "minutes": minutes})
    elif minutes:
        output.say(f"new clients may introduce themselves until {until.astimezone(zone):%H:%M}. Add the connector now.")
    else:
        output.say("shut: no new client may introduce itself.")
