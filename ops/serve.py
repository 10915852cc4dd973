"""`strongroom serve`: the appliance over HTTP, until SIGTERM.

SIGTERM has a handler from the first line of `ops.__main__`; until the server takes it over, it ends the start at once.
"""

from __future__ import annotations

import os

import click

from ops import process


@click.command()
@click.option(
    "--origin",
    "is_origin",
    is_flag=True,
    help="Be the half at home of a split Strongroom: refuse to start without STRONGROOM_EDGE_KEY.",
)
def command(is_origin: bool) -> None:
    """Run the appliance: MCP over HTTP, scheduler, history.

    With STRONGROOM_EDGE_KEY it is the half at home of a split Strongroom, and answers nobody but `strongroom edge`.
    Settings are STRONGROOM_* environment variables; see `strongroom settings`. Stops on SIGTERM within 10 seconds.
    """
    from service import starting

    with starting.quickly():
        from service import logs, over_http
        from service import settings as settings_
        from service.errors import Misconfigured

    settings = settings_.load(os.environ)
    if is_origin and not settings.edge_keys:
        raise Misconfigured(
            "--origin needs STRONGROOM_EDGE_KEY, the same as at the edge; without it anybody could ask."
        )
    logs.configure(logs.to_stdout(), level=settings.log_level, log_format=settings.log_format)

    over_http.serve(settings)
    process.leave()
